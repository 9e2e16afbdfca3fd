//! Objects by class, without their references.

use super::direct::DirectBuffer;
use super::objects::Object;
use super::scan::Scan;
use super::sizes::positive_int;
use super::types::Types;
use crate::error::Result;
use crate::input::histogram::{TypeCounts, TypeSums};
use crate::input::load::{LoadOptions, only_snapshot};
use crate::java::PRIMITIVES;
use crate::model::builder::HeapBuilder;
use crate::model::heap::TypeId;
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;
use std::num::Saturating;

/// Counts objects by class. Sizes are known only at the end of the file, so the parts of objects
/// are counted until then.
pub fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    only_snapshot(options.snapshot)?;
    let mut objects = Objects::default();
    // The scan reports progress as the first of three passes, but there is only this one.
    let progress = |offset: u64| (options.progress)(offset.saturating_mul(3));
    let mut scan = Scan::with(bytes, options.layout, &progress, |scan, object, row| {
        objects.add(object, row, scan)
    })?;
    if let Some(mapping) = options.mapping {
        scan.rename(mapping);
    }
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let types = Types::new(&scan, &mut builder);
    let mut sums = Sums::default();
    objects.sum(&scan, &types, &mut sums);
    Ok(sums.0.finish(builder, scan.damage.take()))
}

/// Objects by class, and primitive arrays by type of element.
#[derive(Default)]
struct Objects {
    /// The objects of each class, by the class's row in the scan.
    classes: Vec<Class>,
    /// In the order of [`PRIMITIVES`].
    primitives: [Lengths; PRIMITIVES.len()],
}

#[derive(Default)]
struct Class {
    id: u64,
    instances: Saturating<u64>,
    /// Bytes of the instances' fields in the file, used if the class is unknown.
    values: u64,
    arrays: Lengths,
    stacks: Option<Stacks>,
    direct: Option<DirectBuffer>,
    /// Bytes that direct buffers have allocated.
    external: u64,
}

/// Objects with stacks of virtual threads.
struct Stacks {
    /// The position of the words of the stack among the values.
    offset: usize,
    /// The number of objects for each number of words. There are few different ones.
    counts: FxHashMap<u64, u64>,
}

impl Objects {
    #[inline(always)]
    fn add(&mut self, object: &Object<'_>, row: Option<usize>, scan: &Scan<'_>) {
        match object {
            Object::Instance(instance) => {
                if let Some(class) = self.class(instance.class, row, scan) {
                    class.instances += 1;
                    class.values = class.values.saturating_add(instance.values.len() as u64);
                    if let Some(stacks) = &mut class.stacks {
                        let count = stacks
                            .counts
                            .entry(positive_int(instance.values, stacks.offset))
                            .or_default();
                        *count = count.saturating_add(1);
                    }
                    if let Some(direct) = &class.direct {
                        let bytes = direct.bytes(instance.values, scan.ids);
                        class.external = class.external.saturating_add(bytes);
                    }
                }
            }
            Object::ObjectArray(array) => {
                if let Some(class) = self.class(array.class, row, scan) {
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
    fn class(&mut self, id: u64, row: Option<usize>, scan: &Scan<'_>) -> Option<&mut Class> {
        let row = row?;
        if row >= self.classes.len() {
            let stacks =
                scan.words_field(id).map(|offset| Stacks { offset, counts: FxHashMap::default() });
            let direct = scan.direct_buffer(id);
            self.classes.push(Class { id, stacks, direct, ..Class::default() });
        }
        self.classes.get_mut(row)
    }

    /// Sums up all objects, once all classes and the rule for sizes are known.
    fn sum(&self, scan: &Scan<'_>, types: &Types, sums: &mut Sums) {
        let (rule, ids) = (scan.sizes.rule, scan.ids);
        for class in scan.classes.iter() {
            sums.add(types.class, 1, rule.class(&class.dump.statics, ids, &scan.strings));
        }
        for class in &self.classes {
            let known = scan
                .classes
                .index(class.id)
                .and_then(|row| Some((scan.classes.get(row)?, *types.of_class.get(row)?)));
            let instances = class.instances.0;
            match known {
                Some((known, type_id)) => {
                    sums.add(type_id, instances, known.size.saturating_mul(instances));
                    // In files that dumptool wrote, an array represents these bytes.
                    sums.add_external(type_id, if scan.ours { 0 } else { class.external });
                    let stacks = class
                        .stacks
                        .iter()
                        .filter(|_| known.words.is_some())
                        .flat_map(|stacks| &stacks.counts);
                    stacks.for_each(|(&words, &count)| {
                        sums.add(type_id, 0, rule.stack(words).saturating_mul(count))
                    });
                }
                None => sums.add(
                    types.unknown,
                    instances,
                    rule.base().saturating_mul(instances).saturating_add(class.values),
                ),
            }
            let array = known.map_or(types.unknown_array, |(_, type_id)| type_id);
            sums.add_arrays(array, &class.arrays, |length| rule.object_array(length, ids));
        }
        for (element, lengths) in PRIMITIVES.into_iter().zip(&self.primitives) {
            let width = element.size(ids) as u64;
            sums.add_arrays(types.primitive_array(element), lengths, |length| {
                rule.numbers(length.into(), width)
            });
        }
    }
}

/// The number of arrays for each length modulo [`STEP`], the largest unit to which sizes are
/// rounded up.
#[derive(Clone, Default)]
struct Lengths {
    /// Counts by the length modulo `STEP`. `None` if there are no arrays, as for most classes.
    counts: Option<Box<[u64; STEP as usize]>>,
    /// Sum of the lengths divided by `STEP`.
    rest: u64,
}

/// The largest alignment of HotSpot.
const STEP: u64 = 256;

impl Lengths {
    #[inline]
    fn add(&mut self, length: u64) {
        let counts = self.counts.get_or_insert_with(|| Box::new([0; STEP as usize]));
        if let Some(count) = counts.get_mut((length % STEP) as usize) {
            *count = count.saturating_add(1);
        }
        self.rest = self.rest.saturating_add(length / STEP);
    }
}

#[derive(Default)]
struct Sums(TypeSums);

impl Sums {
    fn add(&mut self, type_id: TypeId, objects: u64, shallow: u64) {
        self.0.add(type_id, &Sum { count: objects, shallow_bytes: shallow, external_bytes: 0 });
    }

    fn add_external(&mut self, type_id: TypeId, external_bytes: u64) {
        self.0.add(type_id, &Sum { external_bytes, ..Sum::default() });
    }

    /// Adds arrays. `size` returns the size of an array of a given length.
    fn add_arrays(&mut self, type_id: TypeId, lengths: &Lengths, size: impl Fn(u32) -> u64) {
        for (length, &count) in (0..).zip(lengths.counts.iter().flat_map(|counts| counts.iter())) {
            self.add(type_id, count, size(length).saturating_mul(count));
        }
        let step = size(STEP as u32).saturating_sub(size(0));
        self.add(type_id, 0, lengths.rest.saturating_mul(step));
    }
}
