//! Objects by what can be told of their types without following a pointer.

use super::pointers::header;
use super::shape::{Shape, Signature};
use super::survey::{Survey, Take};
use super::typing::{Typed, types_without_hints};
use crate::error::Result;
use crate::input::go::object::Object;
use crate::input::histogram::{Counts, Histogram};
use crate::input::load::{LoadOptions, only_snapshot};
use crate::model::names::Names;
use rustc_hash::FxHashMap;

/// Counts objects by type in one pass; in two when the statistics in the file show that its version tells the wrong phantoms.
///
/// The types of objects are those of [`super::load`] as long as no pointer says more: type records of 1.3, malloc headers,
/// otherwise the size and where the pointers are. The loader also takes types from interfaces and from the records of goroutines,
/// so that there are more names in the loaded heap; number and size of all objects are the same.
///
/// # Errors
/// When the magic is not one of a Go heap dump, or another snapshot than the only one is asked for.
pub fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<Histogram> {
    only_snapshot(options.snapshot)?;
    let (mut survey, mut shapes) = Survey::with(bytes, options.progress, Shapes::default)?;
    shapes.add_old(&survey);
    let mut names = Names::default();
    let types = types_without_hints(&shapes.found, &survey, &mut names);
    Ok(Histogram::new(&types, &names, &shapes.counts, 0, survey.damage.take()))
}

/// The shapes so far, and their objects.
#[derive(Default)]
struct Shapes {
    found: Typed,
    counts: Vec<Counts>,
    last: Option<(u64, u32)>,
    /// Objects of the draft and of 1.3 by layout and size: what a layout is shows when all types are known.
    old: FxHashMap<(u32, u64), Counts>,
}

impl<'a> Take<'a> for Shapes {
    #[inline]
    fn take(&mut self, _: u64, size: u64, object: Option<&Object<'a>>, survey: &Survey<'a>) {
        if let Some(typed) = object.and_then(|object| object.typed) {
            self.old.entry((survey.old.number(typed), size)).or_default().add(size, 0);
            return;
        }
        let shape = object.map_or(Shape::Plain { size }, |object| shape(object, survey));
        let row = self.row(shape);
        if let Some(counts) = self.counts.get_mut(row) {
            counts.add(size, 0);
        }
    }
}

impl Shapes {
    /// The row of a shape.
    #[inline]
    fn row(&mut self, shape: Shape) -> usize {
        let key = shape.key();
        let number = match self.last {
            // Neighbours are of one size, and often of one type.
            Some((last, number)) if last == key => number,
            _ => self.found.add(shape),
        };
        self.last = Some((key, number));
        let row = number as usize;
        if row >= self.counts.len() {
            self.counts.resize(row + 1, Counts::default());
        }
        row
    }

    /// Adds the objects of the draft and of 1.3.
    fn add_old(&mut self, survey: &Survey<'_>) {
        let mut old: Vec<_> = std::mem::take(&mut self.old).into_iter().collect();
        old.sort_unstable_by_key(|(key, _)| *key);
        for ((number, size), counts) in old {
            let shape = match survey.old.layout(number) {
                Some(layout) if layout.is_typed() => Shape::Old { number },
                Some(layout) if layout.conservative => Shape::Conservative { size },
                _ => Shape::Plain { size },
            };
            let row = self.row(shape);
            if let Some(sum) = self.counts.get_mut(row) {
                sum.merge(counts);
            }
        }
    }
}

#[inline]
fn shape(object: &Object<'_>, survey: &Survey<'_>) -> Shape {
    let size = object.size();
    let mut signature = Signature::new(size);
    let mut type_address = None;
    for field in object.fields.iter() {
        if signature.pointers == 0 {
            type_address = header(survey, object.contents, field.offset);
        }
        signature.add(field);
    }
    match (signature.pointers, type_address) {
        (0, _) => Shape::Plain { size },
        (_, Some(address)) => Shape::Type { address },
        (_, None) => signature.shape(),
    }
}
