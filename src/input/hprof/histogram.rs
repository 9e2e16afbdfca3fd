//! Objects by class, without their references.

use super::load::Types;
use super::objects::Object;
use super::scan::Scan;
use crate::error::Result;
use crate::input::histogram::TypeCounts;
use crate::input::load::{LoadOptions, only_snapshot};
use crate::java::PRIMITIVES;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Ids, TypeId};
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;
use std::num::Saturating;

/// Counts objects by the types that [`super::load()`] gives them, with the same sizes.
///
/// How large objects are shows at the end of the file only, so that what sizes are made of is counted.
///
/// # Errors
/// When the header cannot be read, or another snapshot than the first is asked for.
pub fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    only_snapshot(options.snapshot)?;
    let mut objects = Objects::default();
    // The scan takes itself for the first of three passes.
    let progress = |offset: u64| (options.progress)(offset.saturating_mul(3));
    let mut scan = Scan::with(bytes, &progress, |scan, object| objects.add(object, scan))?;
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let types = Types::new(&scan, &mut builder);
    let heap = builder.finish(Ids::Rows(0), None);
    let mut sums = Sums(vec![Sum::default(); heap.types.len()]);
    objects.sum(&scan, &types, &mut sums);
    Ok(TypeCounts::new(&heap.types, &heap.names, &sums.0, 0, scan.damage.take()))
}

/// Objects by class and by type of element.
#[derive(Default)]
struct Objects {
    rows: FxHashMap<u64, usize>,
    classes: Vec<Class>,
    /// The last class, of instances and of arrays: neighbours are often of one.
    last: [Option<(u64, usize)>; 2],
    /// In the order of [`PRIMITIVES`].
    primitives: [Lengths; PRIMITIVES.len()],
}

/// The objects of a class.
#[derive(Default)]
struct Class {
    id: u64,
    instances: Saturating<u64>,
    /// Bytes of their fields in the file, which count where the class is not known.
    values: u64,
    arrays: Lengths,
}

/// How often each length occurs, as far as sizes depend on it: they are rounded up to 8.
#[derive(Clone, Copy, Default)]
struct Lengths {
    /// By the length modulo 8.
    counts: [u64; 8],
    /// Sum of the lengths divided by 8.
    rest: u64,
}

impl Objects {
    #[inline]
    fn add(&mut self, object: &Object<'_>, scan: &Scan<'_>) {
        match object {
            Object::Instance(instance) => {
                if let Some(class) = self.class(instance.class, 0) {
                    class.instances += 1;
                    class.values = class.values.saturating_add(instance.values.len() as u64);
                }
            }
            Object::ObjectArray(array) => {
                if let Some(class) = self.class(array.class, 1) {
                    class.arrays.add(array.count.into());
                }
            }
            Object::PrimitiveArray(array) => {
                if let Some(lengths) = self.primitives.get_mut(array.element.index()) {
                    lengths.add(array.size(scan.ids));
                }
            }
        }
    }

    #[inline]
    fn class(&mut self, id: u64, last: usize) -> Option<&mut Class> {
        let row = match self.last.get(last).copied().flatten() {
            Some((known, row)) if known == id => row,
            _ => {
                let row = *self.rows.entry(id).or_insert_with(|| {
                    let number = self.classes.len();
                    self.classes.push(Class { id, ..Class::default() });
                    number
                });
                self.last.get_mut(last).into_iter().for_each(|last| *last = Some((id, row)));
                row
            }
        };
        self.classes.get_mut(row)
    }

    /// Adds everything up, now that all classes and the rule of sizes are known.
    fn sum(&self, scan: &Scan<'_>, types: &Types, sums: &mut Sums) {
        let (rule, ids) = (scan.rule, scan.ids);
        for class in scan.classes.iter() {
            sums.add(types.class, 1, rule.class(&class.dump.statics, ids));
        }
        for class in &self.classes {
            let known = scan.classes.index(class.id).and_then(|row| Some((scan.classes.get(row)?, *types.of_class.get(row)?)));
            let instances = class.instances.0;
            match known {
                Some((known, type_id)) => {
                    let size = rule.instance(known.dump.instance_size, known.memory);
                    sums.add(type_id, instances, size.saturating_mul(instances));
                }
                None => sums.add(types.unknown, instances, rule.base().saturating_mul(instances).saturating_add(class.values)),
            }
            let array = known.map_or(types.unknown_array, |(_, type_id)| type_id);
            let width = rule.object_array(8, ids).saturating_sub(rule.object_array(0, ids));
            sums.add_arrays(array, &class.arrays, width, |length| rule.object_array(length, ids));
        }
        for (element, lengths) in PRIMITIVES.into_iter().zip(&self.primitives) {
            sums.add_arrays(types.primitive_array(element), lengths, 8, |length| rule.primitive_array(length.into()));
        }
    }
}

impl Lengths {
    #[inline]
    fn add(&mut self, length: u64) {
        if let Some(count) = self.counts.get_mut((length % 8) as usize) {
            *count = count.saturating_add(1);
        }
        self.rest = self.rest.saturating_add(length / 8);
    }
}

/// By type.
struct Sums(Vec<Sum>);

impl Sums {
    fn add(&mut self, type_id: TypeId, objects: u64, shallow: u64) {
        if let Some(sum) = self.0.get_mut(type_id.0 as usize) {
            sum.add_sum(&Sum { count: objects, shallow_bytes: shallow, external_bytes: 0 });
        }
    }

    /// Adds arrays, which take `width` bytes more for each 8 of their length.
    fn add_arrays(&mut self, type_id: TypeId, lengths: &Lengths, width: u64, size: impl Fn(u32) -> u64) {
        for (length, &count) in (0..).zip(&lengths.counts) {
            self.add(type_id, count, size(length).saturating_mul(count));
        }
        self.add(type_id, 0, lengths.rest.saturating_mul(width));
    }
}
