//! The objects of a snapshot by class.

use super::ROOT;
use super::classes::Classes;
use crate::error::Result;
use crate::input::dart::object::Head;
use crate::input::dart::records::{Rec, Records};
use crate::input::histogram::{TypeCounts, TypeSums};
use crate::input::load::{LoadOptions, only_snapshot};
use crate::input::read::ReadOptions;
use crate::model::builder::HeapBuilder;
use crate::model::heap::TypeId;
use crate::model::sum::Sum;
use std::num::Saturating;

/// Counts objects by class. External sizes follow all objects and refer to them by id. If there are
/// any, the objects are read again for their classes, instead of storing a class for each.
pub fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    let mut records = Records::new(bytes)?;
    only_snapshot(options.snapshot)?;
    let mut pass = Pass {
        classes: Classes::default(),
        types: HeapBuilder::with_capacity(0, 0),
        sums: TypeSums::default(),
        objects: Saturating(0),
        root: None,
    };
    let mut external = Vec::new();
    let damage = pass.read(&mut records, &mut external, options).err();
    external.retain(|&(id, size)| size > 0 && (1..=pass.objects.0).contains(&id));
    if !external.is_empty() {
        external.sort_unstable();
        pass.add_external(bytes, &external);
    }
    Ok(pass.sums.finish(pass.types, damage))
}

struct Pass {
    classes: Classes,
    types: HeapBuilder<'static>,
    sums: TypeSums,
    objects: Saturating<u64>,
    /// The type of a root without a class.
    root: Option<TypeId>,
}

impl Pass {
    fn read(
        &mut self,
        records: &mut Records<'_>,
        external: &mut Vec<(u64, u64)>,
        options: LoadOptions<'_>,
    ) -> Result<()> {
        loop {
            records.for_each_object(|_, offset, head, cursor| {
                if self.objects.0.is_multiple_of(65536) {
                    (options.progress)(offset);
                }
                let count = cursor.uleb128("the reference count of an object")?;
                cursor.skip_uleb128s(count, "the references of an object")?;
                self.objects += 1;
                let own = Sum { count: 1, shallow_bytes: head.shallow_size, external_bytes: 0 };
                let type_id = self.type_id(head, self.objects.0);
                self.sums.add(type_id, &own);
                Ok(())
            })?;
            match records.next().transpose()? {
                Some((_, Rec::Class(class))) => self.classes.add(&class, &mut self.types),
                Some((_, Rec::ExternalProperty(property))) => {
                    external.push((property.object_id, property.external_size))
                }
                // Objects were all read before.
                Some((_, Rec::Object(_))) => {}
                None => break,
            }
        }
        records.tail(ReadOptions::default().progress(options.progress)).map(drop)
    }

    /// Adds external sizes, given as object id and size and sorted by id. Reads the objects again,
    /// up to the last one with an external size.
    fn add_external(&mut self, bytes: &[u8], external: &[(u64, u64)]) {
        let Ok(mut records) = Records::new(bytes) else { return };
        let mut external = external.iter().peekable();
        let mut id = 0;
        loop {
            let read = records.for_each_object(|_, offset, head, cursor| {
                if external.peek().is_none() {
                    return Err(crate::error::Error::limit(
                        offset,
                        "no object is looked for any more",
                    ));
                }
                let count = cursor.uleb128("the reference count of an object")?;
                cursor.skip_uleb128s(count, "the references of an object")?;
                id = u64::saturating_add(id, 1);
                while let Some((_, size)) = external.next_if(|(owner, _)| *owner == id) {
                    let type_id = self.type_id(head, id);
                    self.sums.add(type_id, &Sum { external_bytes: *size, ..Sum::default() });
                }
                Ok(())
            });
            if read.is_err()
                || external.peek().is_none()
                || !matches!(records.next(), Some(Ok((_, Rec::Class(_)))))
            {
                return;
            }
        }
    }

    #[inline]
    fn type_id(&mut self, head: &Head<'_>, id: u64) -> TypeId {
        if let Some(class) = self.classes.get(head.class_id) {
            return class.type_id;
        }
        if id != u64::from(ROOT.0) + 1 {
            return self.classes.substitute(false, &mut self.types).type_id;
        }
        // Each call of `substitute` for the root adds a type, so the first one is kept.
        let (classes, types) = (&mut self.classes, &mut self.types);
        *self.root.get_or_insert_with(|| classes.substitute(true, types).type_id)
    }
}
