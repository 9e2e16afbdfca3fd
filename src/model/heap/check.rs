//! The invariants of a heap.

use super::{Ephemeron, Heap, Ids, MAX_OBJECTS, ObjectId};
use crate::model::names::NameId;

impl Heap<'_> {
    /// Verifies the invariants.
    ///
    /// # Errors
    /// A description of the first invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.check_objects()?;
        self.check_references()?;
        self.check_roots()?;
        self.check_classes()
    }

    fn exists(&self, object: ObjectId) -> bool {
        object.index() < self.len()
    }

    fn is_named(&self, name: NameId) -> bool {
        (name.0 as usize) < self.names.len()
    }

    fn check_objects(&self) -> Result<(), &'static str> {
        let objects = self.len();
        holds(objects as u64 <= MAX_OBJECTS, "there are too many objects")?;
        holds(self.shallow.len() == objects, "a size for each object")?;
        holds(
            self.type_of.iter().all(|type_id| (type_id.0 as usize) < self.types.len()),
            "the types of objects exist",
        )?;
        holds(
            self.types.iter().all(|kind| self.is_named(kind.name) && self.is_named(kind.namespace)),
            "the names of types exist",
        )?;
        holds(
            self.external.is_sorted_by(|a, b| a.0 < b.0)
                && self.external.iter().all(|(object, _)| self.exists(*object)),
            "external sizes are sorted",
        )?;
        match &self.ids {
            Ids::Rows(_) => Ok(()),
            Ids::Numbers(numbers) => holds(numbers.len() == objects, "a number for each object"),
            Ids::Addresses(addresses) => {
                holds(addresses.len() == objects, "an address for each object")
            }
        }
    }

    fn check_references(&self) -> Result<(), &'static str> {
        let (objects, references) = (self.len(), self.references.len());
        holds(self.references.first.len() == objects + 1, "one more first reference than objects")?;
        let mut first = (0..=objects).map(|row| self.references.first.get(row));
        holds(
            first.next() == Some(0) && first.next_back().unwrap_or(0) == references as u64,
            "references begin at 0 and end at their number",
        )?;
        holds(
            (0..objects)
                .all(|row| self.references.first.get(row) <= self.references.first.get(row + 1)),
            "first references never fall",
        )?;
        holds(
            self.references.label.is_empty() || self.references.label.len() == references,
            "a label for each reference or for none",
        )?;
        holds(
            self.references.weak.is_empty()
                || self.references.weak.len() == references.div_ceil(64),
            "a bit for each reference or for none",
        )?;
        holds(self.references.target.iter().all(|target| self.exists(*target)), "targets exist")?;
        holds(self.ephemerons.is_sorted_by_key(|pair| pair.holder), "ephemerons are sorted")?;
        let exist = |pair: &Ephemeron| {
            [pair.holder, pair.key, pair.value].into_iter().all(|object| self.exists(object))
        };
        holds(self.ephemerons.iter().all(exist), "ephemerons are of objects")
    }

    fn check_roots(&self) -> Result<(), &'static str> {
        holds(
            self.roots.iter().all(|root| {
                self.exists(root.object)
                    && self.is_named(root.group)
                    && root.variable.is_none_or(|name| self.is_named(name))
            }),
            "roots hold objects and have names",
        )?;
        holds(
            self.roots
                .iter()
                .all(|root| root.frame.is_none_or(|frame| (frame as usize) < self.frames.len())),
            "frames of roots exist",
        )?;
        holds(
            self.roots.iter().all(|root| {
                root.thread.is_none_or(|thread| (thread as usize) < self.threads.len())
            }),
            "threads of roots exist",
        )?;
        holds(
            self.threads.iter().all(|thread| thread.frames.end as usize <= self.frames.len()),
            "frames of threads exist",
        )
    }

    fn check_classes(&self) -> Result<(), &'static str> {
        holds(self.classes.is_sorted_by(|a, b| a.object < b.object), "class objects are sorted")?;
        holds(
            self.classes.iter().all(|class| {
                let has_type = class.instances.is_none_or(|id| (id.0 as usize) < self.types.len());
                self.exists(class.object) && self.is_named(class.name) && has_type
            }),
            "class objects, their names and types exist",
        )
    }
}

fn holds(condition: bool, what: &'static str) -> Result<(), &'static str> {
    if condition { Ok(()) } else { Err(what) }
}
