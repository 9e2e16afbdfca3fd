//! The types of a program, whether a descriptor or DWARF describes them.

use super::descriptors::{self, Descriptor, Reader};
use super::image::Memory;
use super::program::Program;
use rustc_hash::FxHashMap;

/// A type by its position in [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TypeRef(pub(super) u32);

/// A type: its name, size and parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Type {
    /// The name with the full paths of packages, such as `map[string]*example.com/shop.Item`.
    pub(super) name: String,
    /// The full path of the package of a named type.
    pub(super) package: Option<String>,
    pub(super) size: u64,
    pub(super) kind: Kind,
    /// The words of a value that are pointers, one bit each. `None` if the kind determines them.
    pub(super) mask: Option<Box<[u64]>>,
    /// Whether an interface holds the value itself, not a pointer to it.
    pub(super) direct: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number or truth value; the kind of `abi.Kind`, 1 (`bool`) to 16 (`complex128`).
    Number(u8),
    Array {
        element: TypeRef,
        length: u64,
    },
    Channel {
        element: TypeRef,
    },
    Function,
    /// Whether it has methods, so that values begin with an itab rather than a type.
    Interface {
        has_methods: bool,
    },
    /// `group` is the bucket of classic maps.
    Map {
        key: TypeRef,
        element: TypeRef,
        group: TypeRef,
    },
    Pointer {
        element: TypeRef,
    },
    Slice {
        element: TypeRef,
    },
    String,
    Struct {
        fields: Box<[Field]>,
    },
    UnsafePointer,
    /// A part that the executable does not describe.
    #[default]
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) ty: TypeRef,
    pub(super) offset: u64,
}

/// All types, in the order of their descriptors' addresses, followed by those of DWARF alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Types {
    list: Vec<Type>,
    by_address: FxHashMap<u64, TypeRef>,
    by_name: FxHashMap<String, TypeRef>,
}

/// The deepest nesting of types in a name. Deeper types are abbreviated to `…`.
const MAX_NESTING: usize = 64;
/// Bytes in the longest name that is composed.
const MAX_COMPOSED: usize = 4096;
/// Bytes of the fields in the name of a struct that was made at run time, before `…`.
const MAX_FIELDS_TEXT: usize = 1024;
/// The most pointer words that a mask describes. Larger types are described by their parts.
const MAX_MASK_WORDS: u64 = 1 << 16;

impl Types {
    /// The type of descriptors that refer to nothing known.
    pub(super) const UNKNOWN: TypeRef = TypeRef(0);
    /// The type of a word of which nothing else is known.
    pub(super) const WORD: TypeRef = TypeRef(1);
    /// The target of a `weak.Pointer`: the address of its object, for as long as that lives.
    pub(super) const WEAK_HANDLE: TypeRef = TypeRef(2);

    pub(super) fn of_program(program: &Program<'_>) -> Self {
        let reader = Reader::of_program(program);
        let mut types = Self::default();
        // Before 1.26, handles shared blocks with other small values.
        let handle = if program.at_least(26) { 16 } else { program.image.pointer_size };
        let known = [("", 0), ("", program.image.pointer_size), ("(weak handle)", handle)];
        for (name, size) in known {
            types.add(Type { name: name.to_owned(), size, ..Type::default() });
        }
        let addresses = reader.addresses();
        types.add_described(&reader, &addresses, program.image.pointer_size);
        types
    }

    /// Adds the types whose descriptors have these addresses.
    pub(super) fn add_described(
        &mut self,
        reader: &Reader<'_, '_, impl Memory>,
        addresses: &[u64],
        word: u64,
    ) {
        let found: Vec<Descriptor> =
            addresses.iter().filter_map(|address| reader.read(*address)).collect();
        let first = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let names = names(&found, self, reader);
        let numbers = (first..).map(TypeRef).zip(&found);
        self.by_address.extend(numbers.map(|(number, found)| (found.address, number)));
        self.list.reserve(found.len());
        for (descriptor, name) in found.iter().zip(names) {
            let described = Type {
                package: if descriptor.is_named { descriptor.package.clone() } else { None },
                size: descriptor.size,
                kind: self.kind(descriptor, reader),
                mask: mask(descriptor, reader, word),
                direct: descriptor.direct,
                name: name.clone(),
            };
            let number = self.add(described);
            self.set_name(name, number);
        }
        self.name_groups();
    }

    /// Names the groups of maps by the full names of keys and elements, because the original names
    /// have packages without paths.
    fn name_groups(&mut self) {
        let name_of = |ty: TypeRef| self.get(ty).map_or("", |ty| ty.name.as_str());
        let named = |ty: &Type| match ty.kind {
            Kind::Map { key, element, group } => {
                let (kind, _) = name_of(group).split_once('[')?;
                let is_made = kind.starts_with("struct {");
                let has_control = || self.get(group).is_some_and(is_swiss);
                let kind = match is_made {
                    true if has_control() => "map.group",
                    true => "map.bucket",
                    false => kind,
                };
                let name = format!("{kind}[{}]{}", name_of(key), name_of(element));
                (name.len() <= MAX_COMPOSED && kind.contains("map.")).then_some((group, name))
            }
            _ => None,
        };
        let names: Vec<(TypeRef, String)> = self.list.iter().filter_map(named).collect();
        for (group, name) in names {
            self.by_name.entry(name.clone()).or_insert(group);
            if let Some(group) = self.list.get_mut(group.0 as usize) {
                group.name = name;
            }
        }
    }

    fn kind(&self, descriptor: &Descriptor, reader: &Reader<'_, '_, impl Memory>) -> Kind {
        let at = |address: &u64| self.at(*address).unwrap_or(Self::UNKNOWN);
        match &descriptor.kind {
            descriptors::Kind::Number => {
                Kind::Number(reader.number_kind(descriptor.address).unwrap_or(0) as u8)
            }
            descriptors::Kind::Array { element, length } => {
                Kind::Array { element: at(element), length: *length }
            }
            descriptors::Kind::Channel { element, .. } => Kind::Channel { element: at(element) },
            descriptors::Kind::Function { .. } => Kind::Function,
            descriptors::Kind::Interface { methods } => {
                Kind::Interface { has_methods: *methods > 0 }
            }
            descriptors::Kind::Map { key, element, group } => {
                Kind::Map { key: at(key), element: at(element), group: at(group) }
            }
            descriptors::Kind::Pointer { element } => Kind::Pointer { element: at(element) },
            descriptors::Kind::Slice { element } => Kind::Slice { element: at(element) },
            descriptors::Kind::String => Kind::String,
            descriptors::Kind::Struct { fields } => {
                let field = |field: &descriptors::Field| Field {
                    name: field.name.as_str().into(),
                    ty: at(&field.type_address),
                    offset: field.offset,
                };
                Kind::Struct { fields: fields.iter().map(field).collect() }
            }
            descriptors::Kind::UnsafePointer => Kind::UnsafePointer,
        }
    }

    /// The type whose descriptor has this link address.
    pub(super) fn at(&self, address: u64) -> Option<TypeRef> {
        self.by_address.get(&address).copied()
    }

    pub(super) fn address_of(&self, ty: TypeRef) -> Option<u64> {
        self.by_address.iter().find_map(|(address, known)| (*known == ty).then_some(*address))
    }

    /// The first type with a descriptor that has this name.
    pub(super) fn named(&self, name: &str) -> Option<TypeRef> {
        self.by_name.get(name).copied()
    }

    /// Registers the name of a type, unless another type has the same name.
    pub(super) fn set_name(&mut self, name: String, ty: TypeRef) {
        self.by_name.entry(name).or_insert(ty);
    }

    pub(super) fn get(&self, ty: TypeRef) -> Option<&Type> {
        self.list.get(ty.0 as usize)
    }

    pub(super) fn size(&self, ty: TypeRef) -> u64 {
        self.get(ty).map_or(0, |ty| ty.size)
    }

    /// The fields of a struct. Empty for other types.
    pub(super) fn fields(&self, ty: TypeRef) -> &[Field] {
        match self.get(ty).map(|ty| &ty.kind) {
            Some(Kind::Struct { fields }) => fields,
            _ => &[],
        }
    }

    pub(super) fn target(&self, pointer: TypeRef) -> Option<TypeRef> {
        match self.get(pointer)?.kind {
            Kind::Pointer { element } => Some(element),
            _ => None,
        }
    }

    pub(super) fn group(&self, map: TypeRef) -> Option<TypeRef> {
        match self.get(map)?.kind {
            Kind::Map { group, .. } => Some(group),
            _ => None,
        }
    }

    /// The number of descriptors.
    pub(super) fn described(&self) -> u64 {
        self.by_address.len() as u64
    }

    pub(super) fn add(&mut self, described: Type) -> TypeRef {
        let number = TypeRef(u32::try_from(self.list.len()).unwrap_or(0));
        self.list.push(described);
        number
    }

    /// Replaces a type that was added before its parts were known.
    pub(super) fn set(&mut self, ty: TypeRef, described: Type) {
        if let Some(place) = self.list.get_mut(ty.0 as usize) {
            *place = described;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (TypeRef, &Type)> {
        (0u32..).map(TypeRef).zip(&self.list)
    }
}

/// Whether a map type is a Swiss map, as since Go 1.24 unless an experiment disables it: its groups
/// begin with control bytes, buckets of classic maps with an array of hashes. Package reflect calls
/// the field `Ctrl`.
pub(super) fn is_swiss(group: &Type) -> bool {
    matches!(&group.kind, Kind::Struct { fields } if fields.first().is_some_and(|field| field.name.eq_ignore_ascii_case("ctrl")))
}

/// The pointer words of a type with a bitmap.
fn mask(
    descriptor: &Descriptor,
    reader: &Reader<'_, '_, impl Memory>,
    word: u64,
) -> Option<Box<[u64]>> {
    let words = descriptor.pointer_bytes.checked_div(word)?;
    if words == 0 {
        return Some(Box::default());
    }
    let bitmap = descriptor.bitmap.filter(|_| words <= MAX_MASK_WORDS)?;
    let bits = |first: u64| {
        let in_word = words.wrapping_sub(first).min(64);
        (0..in_word)
            .filter(|bit| reader.is_pointer(bitmap, first.wrapping_add(*bit)))
            .fold(0u64, |bits, bit| bits | 1u64.wrapping_shl(bit as u32))
    };
    Some((0..words).step_by(64).map(bits).collect())
}

/// Names descriptors. The parts of a name are other descriptors in `found`, or known types.
fn names(found: &[Descriptor], known: &Types, reader: &Reader<'_, '_, impl Memory>) -> Vec<String> {
    let mut names = vec![String::new(); found.len()];
    let places: FxHashMap<u64, usize> =
        found.iter().enumerate().map(|(index, found)| (found.address, index)).collect();
    let mut open: Vec<usize> = Vec::new();
    for first in 0..found.len() {
        open.push(first);
        while let Some(&index) = open.last() {
            let Some(descriptor) = found.get(index) else { break };
            if names.get(index).is_none_or(|text| !text.is_empty()) {
                open.pop();
                continue;
            }
            let missing =
                parts(descriptor).iter().filter_map(|part| places.get(part)).find(|part| {
                    names.get(**part).is_some_and(String::is_empty) && !open.contains(part)
                });
            if let Some(part) = missing.filter(|_| open.len() < MAX_NESTING) {
                open.push(*part);
                continue;
            }
            let name = |address: &u64| {
                let text = match places.get(address) {
                    Some(part) => names.get(*part),
                    None => known.at(*address).and_then(|ty| known.get(ty)).map(|ty| &ty.name),
                };
                text.map(String::as_str).filter(|text| !text.is_empty()).unwrap_or("…")
            };
            let text = composed(descriptor, name).filter(|text| text.len() <= MAX_COMPOSED);
            let is_made = descriptor.short_name.is_empty();
            let text = text
                .filter(|text| !is_made || reader.spend(text.len() as u64).is_some())
                .unwrap_or_else(|| descriptor.short_name.clone());
            if let Some(place) = names.get_mut(index) {
                *place = if text.is_empty() { "?".to_owned() } else { text };
            }
            open.pop();
        }
    }
    names
}

/// The descriptors whose names are parts of a descriptor's name. Empty for named types.
fn parts(descriptor: &Descriptor) -> Vec<u64> {
    if descriptor.is_named {
        return Vec::new();
    }
    match &descriptor.kind {
        descriptors::Kind::Array { element, .. }
        | descriptors::Kind::Channel { element, .. }
        | descriptors::Kind::Pointer { element }
        | descriptors::Kind::Slice { element } => vec![*element],
        descriptors::Kind::Map { key, element, .. } => vec![*key, *element],
        descriptors::Kind::Function { parameters, results, .. } => {
            parameters.iter().chain(results).copied().collect()
        }
        descriptors::Kind::Struct { fields } if descriptor.short_name.is_empty() => {
            fields.iter().map(|field| field.type_address).collect()
        }
        _ => Vec::new(),
    }
}

/// Composes the name with full paths, of which the descriptor only has the last elements. `None` if
/// the name cannot be composed.
fn composed<'n>(descriptor: &Descriptor, name: impl Fn(&u64) -> &'n str) -> Option<String> {
    let short = &descriptor.short_name;
    if descriptor.is_named {
        let package = descriptor.package.as_ref()?;
        // The name of a package may differ from the last element of its path. Only a name that is
        // the same can contain a dot.
        let last = package.rsplit('/').next().unwrap_or(package);
        let own = match short.strip_prefix(last).and_then(|own| own.strip_prefix('.')) {
            Some(own) => own,
            None => short.split_once('.')?.1,
        };
        return Some(format!("{package}.{own}"));
    }
    Some(match &descriptor.kind {
        descriptors::Kind::Array { element, length } => format!("[{length}]{}", name(element)),
        descriptors::Kind::Pointer { element } => format!("*{}", name(element)),
        descriptors::Kind::Slice { element } => format!("[]{}", name(element)),
        descriptors::Kind::Map { key, element, .. } => {
            format!("map[{}]{}", name(key), name(element))
        }
        descriptors::Kind::Channel { element, direction: 1 } => format!("<-chan {}", name(element)),
        descriptors::Kind::Channel { element, direction: 2 } => format!("chan<- {}", name(element)),
        descriptors::Kind::Channel { element, .. } => match name(element) {
            element if element.starts_with("<-") => format!("chan ({element})"),
            element => format!("chan {element}"),
        },
        descriptors::Kind::Function { parameters, results, is_variadic } => {
            let mut list: Vec<String> =
                parameters.iter().map(|part| name(part).to_owned()).collect();
            if let Some(last) = list.last_mut().filter(|_| *is_variadic) {
                *last = format!("...{}", last.strip_prefix("[]").unwrap_or(last));
            }
            let results: Vec<&str> = results.iter().map(name).collect();
            let results = match results.as_slice() {
                [] => String::new(),
                [one] => format!(" {one}"),
                many => format!(" ({})", many.join(", ")),
            };
            format!("func({}){results}", list.join(", "))
        }
        descriptors::Kind::Struct { fields } if short.is_empty() => composed_struct(fields, name),
        // Unnamed structs and interfaces are spelled as in the descriptor; groups of maps contain
        // the full names of their parts.
        _ => return None,
    })
}

/// The name of a struct as Go spells it, without the fields beyond [`MAX_FIELDS_TEXT`].
fn composed_struct<'n>(fields: &[descriptors::Field], name: impl Fn(&u64) -> &'n str) -> String {
    let mut text = "struct {".to_owned();
    for (index, field) in fields.iter().enumerate() {
        text.push_str(if index == 0 { " " } else { "; " });
        if text.len() > MAX_FIELDS_TEXT {
            text.push('…');
            break;
        }
        if !field.is_embedded {
            text.push_str(&field.name);
            text.push(' ');
        }
        text.push_str(name(&field.type_address));
        if !field.tag.is_empty() {
            text.push_str(&format!(" {:?}", field.tag));
        }
    }
    text.push_str(if fields.is_empty() { "}" } else { " }" });
    text
}
