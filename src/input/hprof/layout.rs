//! Classes with their chains of superclasses: the positions of the fields of an object, and its
//! size.

use super::classes::ClassDump;
use super::fields::Widths;
use super::hidden::{Hidden, hidden, is};
use super::naming::Strings;
use super::primitives::IdSize;
use super::sizes::{Layout, Rule, positive_int};
use crate::java::FieldType;
use crate::model::heap::Label;
use crate::model::names::Names;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A class with the places of its fields in instances.
#[derive(Clone, Debug)]
pub struct Class<'a> {
    pub dump: ClassDump<'a>,
    pub offset: u64,
    /// The id of the string with the class's name; 0 if unknown.
    pub name: u64,
    /// The position of the superclass in the table. `None` if the file has no such class.
    pub parent: Option<usize>,
    /// Whether inherited fields are unknown: a superclass is missing, or the chain of superclasses
    /// is cyclic or too long.
    pub broken: bool,
    /// Bytes of all fields of an instance in the file, as far as known.
    pub data: u64,
    /// Bytes of an instance in memory. If the class has `words`, of an instance without a stack.
    pub size: u64,
    /// The position of the words of a StackChunk's stack among its values.
    pub(super) words: Option<usize>,
    /// The fields that the JVM adds to the class itself.
    pub(super) hidden: Hidden,
    /// Whether the JVM adds an amount that depends on the version to this class or a superclass.
    pub(super) larger: bool,
    own: Widths,
    depth: u32,
    layout: Option<Range<usize>>,
}

/// The most superclasses that a class may have. Bounds the work of following the same chains again
/// and again.
const MAX_DEPTH: u32 = 1024;

/// A field that holds a reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReferenceField {
    /// The offset of the field's value in the data of an instance.
    pub offset: usize,
    pub label: Label,
    pub weak: bool,
}

/// The classes in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct ClassTable<'a> {
    classes: Vec<Class<'a>>,
    by_id: FxHashMap<u64, usize>,
    fields: Vec<ReferenceField>,
    /// The positions of all classes, superclasses before their subclasses.
    order: Vec<usize>,
}

impl<'a> ClassTable<'a> {
    /// Adds a class. Returns `false` and adds nothing if the table has a class with the same id.
    pub(super) fn add(&mut self, dump: ClassDump<'a>, offset: u64) -> bool {
        let index = self.classes.len();
        if *self.by_id.entry(dump.id).or_insert(index) != index {
            return false;
        }
        self.classes.push(Class {
            dump,
            offset,
            name: 0,
            parent: None,
            broken: false,
            data: 0,
            size: 0,
            words: None,
            hidden: Hidden::default(),
            larger: false,
            own: Widths::of(&dump.fields),
            depth: 0,
            layout: None,
        });
        true
    }

    /// The classes in the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, Class<'a>> {
        self.classes.iter()
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Class<'a>> {
        self.classes.iter_mut()
    }

    pub fn len(&self) -> usize {
        self.classes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The place of the class with an id.
    #[inline]
    pub fn index(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    #[inline]
    pub fn get(&self, index: usize) -> Option<&Class<'a>> {
        self.classes.get(index)
    }

    #[inline]
    pub(super) fn of_id(&self, id: u64) -> Option<&Class<'a>> {
        self.get(self.index(id)?)
    }

    /// The first class with a name. The file may have it with dots or with slashes.
    pub(super) fn named(&self, name: &str, strings: &Strings<'_>) -> Option<&Class<'a>> {
        self.classes.iter().find(|class| is(strings.text(class.name), name))
    }

    /// Sets the names of classes, given as string ids by class id.
    pub(super) fn set_names(&mut self, names: &FxHashMap<u64, u64>) {
        for class in &mut self.classes {
            class.name = names.get(&class.dump.id).copied().unwrap_or(0);
        }
    }

    /// Follows all chains of superclasses.
    pub(super) fn resolve(&mut self, ids: IdSize) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.classes.len()];
        let mut path = Vec::new();
        for start in 0..self.classes.len() {
            let mut next = Some(start);
            while let Some(index) = next {
                let (Some(state), Some(class)) =
                    (states.get_mut(index), self.classes.get_mut(index))
                else {
                    break;
                };
                if *state != State::New {
                    break;
                }
                *state = State::Open;
                path.push(index);
                next = self.by_id.get(&class.dump.super_class).copied();
                class.parent = next;
                class.broken = next.is_none() && class.dump.super_class != 0;
            }
            while let Some(index) = path.pop() {
                let parent = self.classes.get(index).and_then(|class| class.parent);
                // A parent that is not resolved yet is part of a cycle.
                let settled = parent.filter(|&parent| states.get(parent) == Some(&State::Done));
                let parent = settled
                    .and_then(|parent| self.classes.get(parent))
                    .filter(|parent| parent.depth < MAX_DEPTH);
                let inherited = parent.map(|parent| (parent.data, parent.depth, parent.broken));
                if let Some(class) = self.classes.get_mut(index) {
                    class.settle(inherited, ids);
                }
                self.order.push(index);
                if let Some(state) = states.get_mut(index) {
                    *state = State::Done;
                }
            }
        }
    }

    /// Sets the sizes of classes to those that the class records state.
    pub(super) fn state_sizes(&mut self) {
        self.classes.iter_mut().for_each(|class| class.size = class.dump.instance_size.into());
    }

    /// Finds the additions of the JVM to its own classes.
    pub(super) fn find_hidden(&mut self, strings: &Strings<'_>, ids: IdSize) {
        for position in 0..self.order.len() {
            let Some(&index) = self.order.get(position) else { return };
            let Some(class) = self.classes.get(index) else { return };
            let hidden = hidden(strings.text(class.name));
            let parent = class.parent.and_then(|parent| self.classes.get(parent));
            let larger = hidden.larger || parent.is_some_and(|parent| parent.larger);
            let words = class.words_field(hidden, strings, ids);
            if let Some(class) = self.classes.get_mut(index) {
                (class.hidden, class.larger, class.words) = (hidden, larger, words);
            }
        }
    }

    /// Returns the end of the fields of each class in memory. `settle` receives the position of
    /// each class, superclasses first, the class, and the end of its fields by the rules, and
    /// returns the real end.
    pub(super) fn ends(
        &self,
        layout: &Layout,
        mut settle: impl FnMut(usize, &Class<'a>, u64) -> u64,
    ) -> Vec<u64> {
        let mut ends = vec![0; self.classes.len()];
        for &index in &self.order {
            let Some(class) = self.classes.get(index) else { continue };
            let inherited = class.parent.and_then(|parent| ends.get(parent).copied());
            // java.lang.Object has no fields, so any stated for it do not count. Those of a class
            // whose superclass is missing do.
            let end = match inherited {
                None if !class.broken => layout.header,
                _ => {
                    let own = class.own.and(class.hidden.fields);
                    layout.gaps.extend(
                        inherited.unwrap_or(layout.header),
                        &own,
                        layout.reference,
                        class.hidden.fixed,
                    )
                }
            };
            let end = settle(index, class, end);
            if let Some(place) = ends.get_mut(index) {
                *place = end;
            }
        }
        ends
    }

    /// Passes each class with its superclass, subclasses first, as positions.
    pub(super) fn for_each_parent(&self, mut each: impl FnMut(usize, usize)) {
        for &index in self.order.iter().rev() {
            if let Some(parent) = self.classes.get(index).and_then(|class| class.parent) {
                each(index, parent);
            }
        }
    }

    /// Sets the size of each class, given the ends of the classes' fields.
    pub(super) fn set_sizes(&mut self, ends: &[u64], layout: &Layout) {
        for (class, end) in self.classes.iter_mut().zip(ends) {
            class.size = layout.up(*end);
        }
    }

    /// The chain of a class, itself first.
    pub(super) fn chain(&self, index: usize) -> impl Iterator<Item = &Class<'a>> + '_ {
        std::iter::successors(self.classes.get(index), |class| self.classes.get(class.parent?))
    }

    /// The number of fields with references that an instance of each class has. Classes of arrays
    /// have none.
    pub(super) fn reference_fields(&self) -> Vec<u64> {
        let mut counts = vec![0_u64; self.classes.len()];
        for &row in &self.order {
            let Some(class) = self.classes.get(row) else { continue };
            let is_reference = |kind: FieldType| kind == FieldType::Object;
            let own = class.dump.fields.iter().filter(|field| is_reference(field.kind)).count();
            let inherited =
                class.parent.and_then(|parent| counts.get(parent)).copied().unwrap_or(0);
            if let Some(count) = counts.get_mut(row) {
                *count = inherited.saturating_add(own as u64);
            }
        }
        counts
    }

    /// Returns the range in [`Self::fields`] of a class's reference fields, its own first. The
    /// caller must have seen an object with that many bytes of data: otherwise a class with many
    /// fields and many subclasses could take more memory than the file justifies.
    pub(super) fn references(
        &mut self,
        index: usize,
        ids: IdSize,
        strings: &Strings<'_>,
        names: &mut Names,
    ) -> Range<usize> {
        match self.classes.get(index).map(|class| class.layout.clone()) {
            Some(Some(layout)) => layout,
            Some(None) => {
                let layout = self.lay_out(index, ids, strings, names);
                if let Some(class) = self.classes.get_mut(index) {
                    class.layout = Some(layout.clone());
                }
                layout
            }
            None => 0..0,
        }
    }

    #[inline]
    pub(super) fn fields(&self, range: &Range<usize>) -> &[ReferenceField] {
        self.fields.get(range.clone()).unwrap_or_default()
    }

    fn lay_out(
        &mut self,
        index: usize,
        ids: IdSize,
        strings: &Strings<'_>,
        names: &mut Names,
    ) -> Range<usize> {
        let mut fields = Vec::new();
        let mut offset = 0usize;
        let mut strong = false;
        for class in self.chain(index) {
            let name = strings.text(class.name);
            let is_reference = is(name, "java.lang.ref.Reference");
            // A soft reference keeps its object until memory is short, so it counts as strong, as
            // in MAT. A finalizer keeps its object until `finalize` has run.
            strong |=
                is(name, "java.lang.ref.SoftReference") || is(name, "java.lang.ref.Finalizer");
            for field in class.dump.fields.iter() {
                if field.kind == FieldType::Object {
                    let text = strings.field(class.dump.id, field.name);
                    let label = if text.is_empty() {
                        Label::NONE
                    } else {
                        Label::field(names.intern_bytes(text))
                    };
                    fields.push(ReferenceField {
                        offset,
                        label,
                        weak: is_reference && !strong && text == b"referent",
                    });
                }
                offset = offset.saturating_add(field.kind.size(ids));
            }
        }
        let start = self.fields.len();
        self.fields.append(&mut fields);
        start..self.fields.len()
    }
}

impl Class<'_> {
    /// Bytes of an instance with these values.
    #[inline]
    pub(super) fn instance_size(&self, rule: &Rule, values: &[u8]) -> u64 {
        match self.words {
            None => self.size,
            Some(offset) => self.size.saturating_add(rule.stack(positive_int(values, offset))),
        }
    }

    /// Computes the properties of the chain once the superclass is resolved. `inherited` is the
    /// superclass's data, depth, and whether its chain is broken.
    fn settle(&mut self, inherited: Option<(u64, u32, bool)>, ids: IdSize) {
        let own = self.own.total(ids.bytes() as u64);
        let Some((data, depth, broken)) = inherited else {
            self.broken |= self.parent.is_some();
            self.parent = None;
            self.data = own;
            return;
        };
        self.data = data.saturating_add(own);
        self.depth = depth.saturating_add(1);
        self.broken |= broken;
    }

    /// The position of the words of a StackChunk's stack among its values.
    pub(super) fn words_field(
        &self,
        hidden: Hidden,
        strings: &Strings<'_>,
        ids: IdSize,
    ) -> Option<usize> {
        let (offset, kind) = self.own_field(b"size", strings, ids).filter(|_| hidden.chunk)?;
        (kind == FieldType::Int).then_some(offset)
    }

    /// Bytes of the fields that the class itself declares.
    pub(super) fn own_data(&self, ids: IdSize) -> usize {
        usize::try_from(self.own.total(ids.bytes() as u64)).unwrap_or(usize::MAX)
    }

    /// The position of a field that the class declares itself, counted from its first own field.
    pub(super) fn own_field(
        &self,
        name: &[u8],
        strings: &Strings<'_>,
        ids: IdSize,
    ) -> Option<(usize, FieldType)> {
        let mut offset = 0usize;
        for field in self.dump.fields.iter() {
            if strings.text(field.name) == name {
                return Some((offset, field.kind));
            }
            offset = offset.saturating_add(field.kind.size(ids));
        }
        None
    }
}
