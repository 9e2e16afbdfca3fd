//! The owner of a class or a type: a class loader (JVM) or a library (Dart).

use crate::model::heap::{Heap, Label, ObjectId, ThreadKind, TypeKind};
use crate::model::names::NameId;
use rustc_hash::FxHashMap;

/// A class loader or a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeOwner {
    /// The display name: `boot class loader`, `class loader app.Plugins`, `library
    /// package:app/main.dart`.
    pub name: String,
    /// The object that represents the class loader or library.
    pub object: Option<ObjectId>,
}

/// The owner of each type. Empty for formats without owners.
#[derive(Clone, Debug, Default)]
pub struct TypeOwners {
    /// The owners, in the order of the types.
    pub list: Vec<TypeOwner>,
    /// The owner of each type, as an index into the list.
    of_type: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Boot,
    Loader(ObjectId),
    Library(NameId),
}

impl TypeOwners {
    /// Collects the class loaders of a Java heap, or the libraries of a Dart one.
    pub fn of(heap: &Heap<'_>) -> Self {
        let keys = match heap.classes.iter().any(|class| class.instances.is_some()) {
            true => by_loader(heap),
            false if heap.threads.iter().any(|thread| thread.kind == ThreadKind::Isolate) => {
                heap.types.iter().map(|type_row| Key::Library(type_row.namespace)).collect()
            }
            false => return Self::default(),
        };
        let mut owners = Self::default();
        let mut numbers = FxHashMap::default();
        for key in keys {
            let list = &mut owners.list;
            let number = *numbers.entry(key).or_insert_with(|| {
                list.push(owner(heap, key));
                list.len() as u32 - 1
            });
            owners.of_type.push(number);
        }
        owners
    }

    /// Whether there are at least two owners.
    pub fn divide(&self) -> bool {
        self.list.len() > 1
    }

    /// The owner of an object: that of its class, or for a class object of the class it represents.
    #[inline]
    pub fn owner(&self, heap: &Heap<'_>, object: ObjectId) -> u32 {
        let own = heap.type_id(object);
        let type_id = heap.class_object(object).and_then(|class| class.instances).unwrap_or(own);
        self.of_type.get(type_id.0 as usize).copied().unwrap_or(0)
    }
}

/// Classes without a loader, and arrays without a class object, are those of the boot loader.
fn by_loader(heap: &Heap<'_>) -> Vec<Key> {
    let mut keys = vec![Key::Boot; heap.types.len()];
    // All loaders have the same label, which is looked for once.
    let mut label: Option<Label> = None;
    for class in &heap.classes {
        let Some(type_id) = class.instances else { continue };
        let is_loader = |found: Label| match label {
            Some(known) => found == known,
            None => found.field_name(&heap.names) == Some("<loader>"),
        };
        if let Some(reference) =
            heap.references_of(class.object).find(|reference| is_loader(reference.label))
        {
            label = Some(reference.label);
            keys[type_id.0 as usize] = Key::Loader(reference.target);
        }
    }
    keys
}

fn owner(heap: &Heap<'_>, key: Key) -> TypeOwner {
    match key {
        Key::Boot => TypeOwner { name: "boot class loader".to_owned(), object: None },
        Key::Loader(object) => TypeOwner {
            name: format!("class loader {}", heap.type_name(object)),
            object: Some(object),
        },
        Key::Library(name) => {
            let name = match heap.names.text(name) {
                "" => "objects of the VM".to_owned(),
                library => format!("library {library}"),
            };
            TypeOwner { name, object: None }
        }
    }
}

/// A class that several class loaders have defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedClass {
    /// The name of the class.
    pub name: NameId,
    /// The number of loaders that defined it.
    pub loaders: u64,
}

/// Returns the classes that several loaders have defined, those with most loaders first.
pub fn repeated_classes(heap: &Heap<'_>) -> Vec<RepeatedClass> {
    let mut counts: FxHashMap<NameId, u64> = FxHashMap::default();
    for class in &heap.classes {
        if let Some(type_row) = class.instances.map(|type_id| &heap.types[type_id.0 as usize])
            && matches!(type_row.kind, TypeKind::Instance | TypeKind::Text | TypeKind::Number)
        {
            *counts.entry(type_row.name).or_default() += 1;
        }
    }
    let repeated = counts.into_iter().filter(|(_, loaders)| *loaders > 1);
    let mut repeated: Vec<_> =
        repeated.map(|(name, loaders)| RepeatedClass { name, loaders }).collect();
    repeated.sort_by_key(|class| (std::cmp::Reverse(class.loaders), class.name));
    repeated
}
