//! Classes as types, and their properties for loading: labels of slots, weak slots.

use crate::input::dart::class::{Class as ClassRecord, ClassKind};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Label, TypeId, TypeKind};
use crate::model::names::Names;

/// The most labels that a class may have for each of its fields, which take 4 bytes of the file.
/// Slots of real classes are nearly dense.
const LABELS_PER_FIELD: u64 = 16;

#[derive(Default)]
pub(super) struct Classes {
    classes: Vec<Option<Class>>,
    /// Labels of the named slots of all classes.
    labels: Vec<Label>,
    /// The kind of each class, by type.
    kinds: Vec<ClassKind>,
    unknown: Option<Class>,
}

/// The properties of a class that are needed to load its objects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    pub(super) type_id: TypeId,
    /// The position of the class's first label in the list of all labels.
    labels: usize,
    labelled: u64,
    /// The slot of the first element.
    elements: u64,
    /// Whether elements are labelled with their index.
    numbered: bool,
    pub(super) has_weak: bool,
    weak_slots: [Option<u64>; 2],
    weak_elements: bool,
    /// The slots of an ephemeron's key and value: the value is alive only if the key is.
    pub(super) ephemeron: Option<(u64, u64)>,
}

impl Class {
    fn new(type_id: TypeId) -> Self {
        Self {
            type_id,
            labels: 0,
            labelled: 0,
            elements: 0,
            numbered: true,
            has_weak: false,
            weak_slots: [None; 2],
            weak_elements: false,
            ephemeron: None,
        }
    }
}

impl Classes {
    /// The class with an id; `None` for unused ids too, which no object has.
    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<&Class> {
        self.classes.get(usize::try_from(id.wrapping_sub(1)).ok()?)?.as_ref()
    }

    /// The labels of the first slots of a class.
    #[inline]
    pub(super) fn labels(&self, class: &Class) -> &[Label] {
        self.labels
            .get(class.labels..)
            .and_then(|labels| labels.get(..class.labelled as usize))
            .unwrap_or_default()
    }

    /// The name of a slot of an object. Slots after the last named one are elements.
    #[inline]
    pub(super) fn label(&self, class: &Class, slot: u64) -> Label {
        let label = usize::try_from(slot).ok().and_then(|slot| self.labels(class).get(slot));
        label.copied().unwrap_or_else(|| class.element_label(slot))
    }

    /// Whether a slot does not keep its target alive. Does not consider ephemerons.
    pub(super) fn is_weak(&self, class: &Class, slot: u64) -> bool {
        class.weak_slots.contains(&Some(slot)) || (class.weak_elements && slot >= class.elements)
    }

    pub(super) fn kinds(&mut self) -> Vec<ClassKind> {
        std::mem::take(&mut self.kinds)
    }

    pub(super) fn add(&mut self, class: &ClassRecord<'_>, builder: &mut HeapBuilder<'_>) {
        if class.is_hole() {
            self.classes.push(None);
            return;
        }
        let kind = type_kind(class);
        let mut entry = Class::new(self.add_type(
            &String::from_utf8_lossy(class.name),
            &String::from_utf8_lossy(class.library_uri),
            kind,
            ClassKind::of(class),
            builder,
        ));
        // The only reference of typed data is its length, which is not an element.
        entry.numbered = kind != TypeKind::Bytes;
        entry.elements =
            class.fields.iter().map(|field| field.index.saturating_add(1)).max().unwrap_or(0);
        entry.labels = self.labels.len();
        entry.labelled = entry.elements.min(class.fields.count().saturating_mul(LABELS_PER_FIELD));
        self.add_labels(&entry, class, builder.names());
        entry.find_weak_slots(class);
        self.classes.push(Some(entry));
    }

    /// If several fields share a slot, the first one names it.
    fn add_labels(&mut self, entry: &Class, class: &ClassRecord<'_>, names: &mut Names) {
        self.labels.resize(entry.labels.saturating_add(entry.labelled as usize), Label::NONE);
        for field in class.fields.iter().filter(|field| field.index < entry.labelled) {
            let label = self.labels.get_mut(entry.labels.wrapping_add(field.index as usize));
            match label.filter(|label| **label == Label::NONE) {
                Some(label) if field.name.is_empty() => *label = Label::index(field.index),
                Some(label) => *label = Label::field(names.intern_bytes(field.name)),
                None => {}
            }
        }
    }

    fn add_type(
        &mut self,
        name: &str,
        namespace: &str,
        kind: TypeKind,
        class_kind: ClassKind,
        builder: &mut HeapBuilder<'_>,
    ) -> TypeId {
        self.kinds.push(class_kind);
        builder.add_type(name, namespace, kind)
    }

    /// The class of objects whose class is not in the file, which is normal for the root in files
    /// of Dart 2.12 and before.
    pub(super) fn substitute(&mut self, is_root: bool, builder: &mut HeapBuilder<'_>) -> Class {
        if let Some(unknown) = self.unknown.filter(|_| !is_root) {
            return unknown;
        }
        let (name, kind) = if is_root {
            ("Root", TypeKind::Synthetic)
        } else {
            ("<unknown class>", TypeKind::Instance)
        };
        let class = Class::new(self.add_type(name, "", kind, ClassKind::Other, builder));
        if !is_root {
            self.unknown = Some(class);
        }
        class
    }
}

impl Class {
    /// The name of a slot after the labelled ones.
    #[inline]
    pub(super) fn element_label(&self, slot: u64) -> Label {
        match slot.checked_sub(self.elements) {
            Some(index) if self.numbered => Label::index(index),
            _ => Label::NONE,
        }
    }

    /// Finds the weak slots, which the file does not mark, by the classes of the VM's libraries.
    /// The underscores of field names have changed between releases, but not their words.
    fn find_weak_slots(&mut self, class: &ClassRecord<'_>) {
        if !matches!(class.library_uri, b"" | b"dart:core" | b"dart:_internal") {
            return;
        }
        let slot = |name: &str| {
            let is_named = |field: &[u8]| String::from_utf8_lossy(field).trim_matches('_') == name;
            class.fields.iter().find(|field| is_named(field.name)).map(|field| field.index)
        };
        match class.name {
            b"_WeakReference" | b"_WeakReferenceImpl" => self.weak_slots = [slot("target"), None],
            b"FinalizerEntry" => self.weak_slots = [slot("value"), slot("detach")],
            b"_WeakProperty" => self.ephemeron = slot("key").zip(slot("value")),
            b"WeakArray" => self.weak_elements = true,
            _ => {}
        }
        self.has_weak = self.weak_elements
            || self.ephemeron.is_some()
            || self.weak_slots.iter().any(Option::is_some);
    }
}

fn type_kind(class: &ClassRecord<'_>) -> TypeKind {
    match (class.library_uri, class.name) {
        (b"", b"Root" | b"Read-Only Pages" | b"Isolate") if class.id <= 3 => TypeKind::Synthetic,
        (b"dart:core", b"_Smi" | b"_Mint" | b"_Double" | b"bool" | b"Null") => TypeKind::Number,
        (b"dart:core", name) if name.starts_with(b"_") && name.ends_with(b"ByteString") => {
            TypeKind::Text
        }
        (b"dart:core", b"_List" | b"_ImmutableList") => TypeKind::Array,
        (b"", b"WeakArray" | b"TypeArguments" | b"ObjectPool" | b"ContextScope") => TypeKind::Array,
        (
            b"dart:core",
            b"_Type" | b"_FunctionType" | b"_RecordType" | b"_TypeParameter" | b"_TypeRef",
        ) => TypeKind::Class,
        (b"", b"Class") => TypeKind::Class,
        (b"", b"Context") => TypeKind::Frame,
        (b"dart:typed_data", name) if is_typed_data(name) => TypeKind::Bytes,
        _ => TypeKind::Instance,
    }
}

/// Whether a class such as `_Uint8List`, `_ExternalFloat64Array` or `_Int32x4List` owns its memory,
/// rather than being a view of another object's.
fn is_typed_data(name: &[u8]) -> bool {
    let Some(name) = name.strip_prefix(b"_") else { return false };
    let name = name.strip_prefix(b"External").unwrap_or(name);
    [&b"Int"[..], b"Uint", b"Float"].iter().any(|element| name.starts_with(element))
        && (name.ends_with(b"List") || name.ends_with(b"Array"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_no_typed_data() {
        for name in ["_Uint8List", "_ExternalUint8Array", "_Float32x4List", "_Uint8ClampedList"] {
            assert!(is_typed_data(name.as_bytes()), "{name}");
        }
        for name in [
            "_Uint8ArrayView",
            "_ByteDataView",
            "_UnmodifiableUint8ArrayView",
            "Uint8List",
            "_TypedListBase",
        ] {
            assert!(!is_typed_data(name.as_bytes()), "{name}");
        }
    }
}
