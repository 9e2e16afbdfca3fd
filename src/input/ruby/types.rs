//! The type names of objects, which are those of their classes.

use super::line::Line;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{TypeId, TypeKind};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub(super) name: Option<String>,
    pub(super) superclass: Option<u64>,
    /// The address of its own class.
    class: Option<u64>,
    pub(super) singleton: bool,
}

impl Class {
    /// The class that a line represents. `None` if it is another object.
    pub(super) fn of(line: &Line<'_>) -> Option<Self> {
        let name = || line.name.map(|name| name.decode().into_owned());
        matches!(line.kind, b"CLASS" | b"MODULE" | b"ICLASS").then(|| Self {
            name: name(),
            superclass: line.superclass,
            class: line.class,
            singleton: line.singleton,
        })
    }
}

/// The type of an object, as far as its line states it. The most selective fields are compared
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TypeKey<'a> {
    /// The address of the class, if the object has one.
    pub(super) class: Option<u64>,
    pub(super) kind: &'a [u8],
    /// `imemo_type` or `struct`.
    pub(super) detail: &'a [u8],
}

impl<'a> TypeKey<'a> {
    pub(super) fn of(line: &Line<'a>) -> Self {
        let detail = line.imemo_type.or(line.structure).map_or(&b""[..], |detail| detail.raw());
        Self { class: line.real_class(), kind: line.kind, detail }
    }
}

#[derive(Default)]
pub(super) struct Types<'a> {
    classes: FxHashMap<u64, Class>,
    /// The class or module that each singleton class is the class of.
    attached: FxHashMap<u64, u64>,
    known: FxHashMap<TypeKey<'a>, TypeId>,
    named: FxHashMap<(String, TypeKind), TypeId>,
}

/// The maximum number of superclasses to search for a name.
const MOST_SUPERCLASSES: usize = 100;

impl<'a> Types<'a> {
    pub(super) fn new(classes: FxHashMap<u64, Class>) -> Self {
        let mut attached: FxHashMap<u64, u64> = FxHashMap::default();
        for (own, class) in classes.iter().filter(|(_, class)| class.name.is_some()) {
            let is_singleton =
                |class: &u64| classes.get(class).is_some_and(|class| class.singleton);
            if let Some(singleton) = class.class.filter(is_singleton) {
                // A damaged dump may name a singleton class for several classes.
                let first = attached.entry(singleton).or_insert(*own);
                *first = (*own).min(*first);
            }
        }
        Self { classes, attached, ..Self::default() }
    }

    pub(super) fn of(&mut self, key: TypeKey<'a>, builder: &mut HeapBuilder<'_>) -> TypeId {
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let name = self.name(key);
        let kind = type_kind(key.kind);
        // An array or a hash without a class is a part of the runtime.
        let noun = key.class.and(collection(key.kind));
        let type_id = *self.named.entry((name, kind)).or_insert_with_key(|(name, kind)| {
            let type_id = builder.add_type(name, "", *kind);
            builder.heap().collection_types.extend(noun.map(|noun| (type_id, noun)));
            type_id
        });
        self.known.insert(key, type_id);
        type_id
    }

    fn name(&self, key: TypeKey<'_>) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match (key.kind, key.class.filter(|class| self.classes.contains_key(class))) {
            (b"CLASS", _) => "Class".to_owned(),
            (b"MODULE", _) => "Module".to_owned(),
            (b"ICLASS", _) => "included module".to_owned(),
            (b"IMEMO", _) => format!("imemo {}", text(key.detail)),
            (b"DATA", Some(class)) if !key.detail.is_empty() => match self.class_name(class) {
                name if name == "Object" => text(key.detail),
                name => name,
            },
            (_, Some(class)) => self.class_name(class),
            (_, None) if !key.detail.is_empty() => text(key.detail),
            (kind, None) => format!("(internal {})", text(kind)),
        }
    }

    /// The name of a class; of one without a name, that of the nearest superclass which has one.
    fn class_name(&self, class: u64) -> String {
        let mut next = Some(class);
        let mut is_anonymous = false;
        for _ in 0..MOST_SUPERCLASSES {
            let Some(class) = next.and_then(|address| self.classes.get(&address)) else { break };
            match &class.name {
                Some(name) if is_anonymous => return format!("(anonymous {name})"),
                Some(name) => return name.clone(),
                // The class of a single object has the name of the class that it extends.
                None => is_anonymous |= !class.singleton,
            }
            next = class.superclass;
        }
        "(anonymous)".to_owned()
    }

    pub(super) fn name_of_class(&self, address: u64) -> Option<Cow<'_, str>> {
        let class = self.classes.get(&address)?;
        match (&class.name, class.singleton) {
            (Some(name), _) => Some(name.as_str().into()),
            (None, true) => {
                let attached = self.attached.get(&address).copied();
                Some(format!("#<Class:{}>", self.class_name(attached.unwrap_or(address))).into())
            }
            (None, false) => None,
        }
    }
}

/// The word for the objects of a class that extends Array or Hash.
fn collection(kind: &[u8]) -> Option<&'static str> {
    match kind {
        b"ARRAY" => Some("array"),
        b"HASH" => Some("hash"),
        _ => None,
    }
}

fn type_kind(kind: &[u8]) -> TypeKind {
    match kind {
        b"CLASS" | b"MODULE" | b"ICLASS" => TypeKind::Class,
        b"STRING" | b"SYMBOL" => TypeKind::Text,
        b"ARRAY" | b"HASH" => TypeKind::Array,
        b"FLOAT" | b"BIGNUM" | b"COMPLEX" | b"RATIONAL" => TypeKind::Number,
        _ => TypeKind::Instance,
    }
}
