//! Loading a dump into the model: all lines in parallel, then references in the order of addresses.
//!
//! An object holds its class by a reference `class`. Values of dictionaries are labelled by their
//! keys where the dictionary is the `__dict__` of a module, class or instance; the names of others
//! are read from the keys when they are shown.

use super::SPEC;
use super::line::{Kind, Line};
use super::roots::{Roots, ThreadLine, add_roots, hold_by_native_code};
use super::types::{Contents, Known, Scopes, TypeLine, add_types};
use super::values::Texts;
use crate::error::Result;
use crate::input::histogram::{TypeCounts, TypeSums};
use crate::input::json_lines::{Place, places, read_all};
use crate::input::load::{LoadOptions, Loaded, check_count, only_snapshot};
use crate::model::addresses::{Addresses, AddressesBuilder};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{
    ClassObject, ClassReferences, Ids, KeyName, Label, LabelKind, ObjectId, Offsets, TypeId,
    TypeKind, Unreached, WarningKind,
};
use crate::model::names::NameId;
use crate::model::sum::Sum;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn load<'a>(bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    SPEC.check_magic(bytes)?;
    only_snapshot(options.snapshot)?;
    let (parts, skipped) = read_all(bytes, options.progress, Part::add);
    let count: usize = parts.iter().map(|part| part.objects.len()).sum();
    check_count(count)?;
    let mut loader = Loader::new(bytes, parts, count);
    loader.add_objects();
    loader.note_keys();
    let Loader { mut builder, texts, addresses, roots, pointer_size, counts, .. } = loader;
    builder.warn(WarningKind::MalformedLines, skipped.count);
    add_roots(roots, &addresses, &mut builder);
    hold_by_native_code(&counts, &mut builder);
    builder.heap().unreached = Unreached::Cycles;
    builder.set_pointer_size(pointer_size);
    let heap = builder.finish(Ids::Addresses(addresses), Some(Box::new(texts)));
    let incomplete = skipped.cut.is_some();
    Ok(Loaded { incomplete, damage: skipped.damage(), ..Loaded::of(heap) })
}

struct Object {
    address: u64,
    position: u64,
    size: u64,
    of_type: u32,
    /// The number of the list of names for its first references, or [`NAMELESS`].
    names: u32,
    /// References that the interpreter has counted.
    count: u32,
    /// The counts of its references, with names or without, and of its elements (`items`). The rest
    /// are keys and values.
    named: u32,
    items: u32,
    /// The end of its references in those of its part.
    references: u32,
}

/// The number of no list of names.
const NAMELESS: u32 = u32::MAX;

/// The contents of a part of the lines.
#[derive(Default)]
struct Part {
    objects: Vec<Object>,
    /// The references of all objects, in their order.
    references: Vec<u64>,
    external: Vec<(u64, u64)>,
    types: Vec<TypeLine>,
    names: Vec<(u64, Vec<String>)>,
    roots: Roots,
    pointer_size: u64,
}

impl Part {
    fn add(&mut self, position: u64, line: &Line<'_>) {
        match line.kind {
            Kind::Object => self.add_object(position, line),
            Kind::Type => self.types.push(TypeLine::new(line)),
            Kind::Names => {
                let names =
                    line.other().list.iter().map(|name| name.decode().into_owned()).collect();
                self.names.push((line.number, names));
            }
            Kind::Thread => self.roots.threads.push(ThreadLine::new(line)),
            Kind::Root => self.roots.add(line),
            Kind::Header => {
                self.pointer_size = line.other().header.pointer;
            }
            Kind::End | Kind::Unknown => {}
        }
    }

    fn add_object(&mut self, position: u64, line: &Line<'_>) {
        let mut put = |addresses: super::line::Addresses<'_>| {
            let before = self.references.len();
            self.references.extend(addresses.iter());
            u32::try_from(self.references.len().saturating_sub(before)).unwrap_or(u32::MAX)
        };
        let (named, items) = (put(line.named), put(line.items));
        put(line.entries);
        let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        if line.external > 0 {
            self.external.push((line.address, line.external));
        }
        self.objects.push(Object {
            address: line.address,
            position,
            size: line.size,
            of_type: narrow(line.of_type),
            names: line.names.map_or(NAMELESS, narrow),
            count: u32::try_from(line.count).unwrap_or(0),
            named,
            items,
            references: narrow(self.references.len() as u64),
        });
    }
}

/// The name by which an object holds the dictionary of its attributes.
const DICTIONARY: &str = "__dict__";

struct Loader<'a> {
    parts: Vec<Part>,
    builder: HeapBuilder<'a>,
    addresses: Addresses,
    texts: Texts<'a>,
    types: FxHashMap<u64, Known>,
    /// Labels of objects' first references, by the number of the list of names.
    names: FxHashMap<u64, Vec<Label>>,
    /// Dictionaries whose keys are names of attributes.
    namespaces: FxHashMap<u64, Namespace>,
    scopes: Scopes,
    /// Names of attributes of instances, and those of variables and attributes of classes.
    attributes: FxHashSet<NameId>,
    declared: FxHashSet<NameId>,
    /// The numbers of the lists of names that instances have.
    of_instances: FxHashSet<u32>,
    /// Names by the text objects that contain them.
    key_names: FxHashMap<ObjectId, Option<NameId>>,
    roots: Roots,
    /// References to each object that the interpreter has counted; 0 if it never dies.
    counts: Vec<u32>,
    pointer_size: u8,
}

impl<'a> Loader<'a> {
    fn new(bytes: &'a [u8], mut parts: Vec<Part>, count: usize) -> Self {
        let references: usize = parts.iter().map(|part| part.references.len()).sum();
        let mut builder = HeapBuilder::with_capacity(count, references.saturating_add(count));
        let mut addresses = AddressesBuilder::default();
        let (mut lines, mut names) = (Vec::new(), FxHashMap::default());
        let mut roots = Roots::default();
        let mut pointer_size = 0;
        let dictionary = Label::field(builder.names().intern(DICTIONARY));
        for part in &mut parts {
            part.objects.iter().for_each(|object| addresses.add(object.address));
            lines.append(&mut part.types);
            for (number, texts) in part.names.drain(..) {
                let labels = texts.iter().map(|name| Label::field(builder.names().intern(name)));
                names.insert(number, labels.collect());
            }
            roots.append(&mut part.roots);
            pointer_size = u8::try_from(part.pointer_size).unwrap_or(0).max(pointer_size);
        }
        let types = add_types(lines, &mut builder);
        let scopes = Scopes::new(&types, &roots, &mut builder);
        let addresses = addresses.finish();
        let repeated = (count as u64).saturating_sub(addresses.len() as u64);
        builder.warn(WarningKind::RepeatedAddresses, repeated);
        let namespaces = namespaces(&parts, &names, dictionary, &types);
        let mut contents: FxHashMap<TypeId, Contents> =
            types.values().map(|known| (known.id, known.kind)).collect();
        contents.extend([scopes.outer, scopes.inside].map(|id| (id, Contents::Dictionary)));
        let texts = Texts::new(bytes, Offsets::with_capacity(addresses.len(), u64::MAX), contents);
        let counts = Vec::with_capacity(addresses.len());
        Self {
            parts,
            builder,
            addresses,
            texts,
            types,
            names,
            namespaces,
            scopes,
            attributes: FxHashSet::default(),
            declared: FxHashSet::default(),
            of_instances: FxHashSet::default(),
            key_names: FxHashMap::default(),
            roots,
            counts,
            pointer_size,
        }
    }

    /// Adds objects and references in the order of addresses.
    fn add_objects(&mut self) {
        let places =
            places(&self.parts, &self.addresses, |part| &part.objects, |object| object.address);
        self.texts.positions = Offsets::with_capacity(places.len(), u64::MAX);
        for place in &places {
            let object = found(&self.parts, *place);
            self.texts.positions.push(object.map_or(0, |(object, _)| object.position));
        }
        let labels = Labels::new(&mut self.builder);
        let mut dangling = 0u64;
        let unknown = self.builder.add_type("(unknown)", "", TypeKind::Instance);
        let parts = std::mem::take(&mut self.parts);
        for place in places {
            let Some((object, references)) = found(&parts, place) else { continue };
            let known = self.types.get(&u64::from(object.of_type)).copied();
            let class = known.and_then(|known| known.class);
            let row = self.builder.add_object(unknown, object.size);
            if let Some(class) = class.and_then(|class| self.addresses.at(class)) {
                self.builder.add_reference(class, labels.class, false);
            }
            let contents = known.map(|known| known.kind);
            let missing = self.add_references(object, contents, references, labels);
            dangling = dangling.saturating_add(missing);
            if let Some(type_id) = self.type_of(row, object, known) {
                self.builder.set_type(row, type_id);
            }
            self.counts.push(object.count);
        }
        for (address, bytes) in parts.iter().flat_map(|part| &part.external) {
            if let Some(object) = self.addresses.at(*address) {
                self.builder.add_external(object, *bytes);
            }
        }
        self.builder.warn(WarningKind::DanglingReferences, dangling);
        self.builder.heap().class_references = ClassReferences::Labelled(labels.class);
    }

    /// The type of an object. Notes what represents a class or a module.
    fn type_of(&mut self, row: ObjectId, object: &Object, known: Option<Known>) -> Option<TypeId> {
        let known = known?;
        let mut represents = |name: &str, instances| {
            let name = self.builder.names().intern(name);
            self.builder.heap().classes.push(ClassObject { object: row, name, instances });
        };
        let namespace = match known.kind {
            Contents::Dictionary => self.namespaces.get(&object.address),
            Contents::Class => None,
            _ => return Some(known.id),
        };
        match (known.kind, namespace) {
            (Contents::Class, _) => {
                let name = self.texts.text(row).unwrap_or_default();
                let instances = self.scopes.of_classes.get(&object.address).copied();
                represents(&format!("{}class {name}", self.scopes.library(&name)), instances);
            }
            (Contents::Dictionary, Some(Namespace { owner, is_scope: true })) => {
                let name = self.addresses.at(*owner).and_then(|owner| self.texts.text(owner));
                let name = name.unwrap_or_default();
                represents(&format!("{}{name}", self.scopes.library(&name)), None);
                return Some(self.scopes.outer);
            }
            (Contents::Dictionary, Some(_)) => return Some(self.scopes.inside),
            _ => {}
        }
        Some(known.id)
    }

    /// Adds the references of the last object. Returns the number of those that lead to no object.
    fn add_references(
        &mut self,
        object: &Object,
        contents: Option<Contents>,
        references: &[u64],
        labels: Labels,
    ) -> u64 {
        let namespace = match contents {
            Some(Contents::Dictionary) => self.namespaces.get(&object.address).copied(),
            _ => None,
        };
        let names = match object.names {
            NAMELESS => None,
            names => self.names.get(&u64::from(names)),
        };
        if let (Some(Contents::Instance), Some(names)) = (contents, names)
            && self.of_instances.insert(object.names)
        {
            let fields = names.iter().filter_map(|label| match label.kind() {
                LabelKind::Field(name) => Some(name),
                _ => None,
            });
            self.attributes.extend(fields);
        }
        let (named, items) = (object.named as usize, object.items as usize);
        let (mut key, mut dangling) = (labels.value, 0u64);
        for (index, &address) in references.iter().enumerate() {
            let Some(target) = self.addresses.at(address) else {
                dangling = dangling.saturating_add(1);
                continue;
            };
            let beyond = index.saturating_sub(named);
            let label = if index < named {
                names.and_then(|names| names.get(index)).copied().unwrap_or(Label::NONE)
            } else if beyond < items {
                Label::index(beyond as u64)
            } else if beyond.saturating_sub(items).is_multiple_of(2) {
                key = labels.value;
                if let Some(namespace) = namespace
                    // The instances of a class share their keys, which are read once.
                    && let Some(name) = *self.key_names.entry(target).or_insert_with(|| {
                        let text = self.texts.text(target)?;
                        Some(self.builder.names().intern(&text))
                    })
                {
                    let set =
                        if namespace.is_scope { &mut self.declared } else { &mut self.attributes };
                    set.insert(name);
                    key = Label::field(name);
                }
                labels.key
            } else {
                key
            };
            self.builder.add_reference(target, label, false);
        }
        dangling
    }
}

impl Loader<'_> {
    /// Notes names of attributes that occur nowhere in the program's source, so that they may be
    /// data: `setattr(row, column, value)`.
    fn note_keys(&mut self) {
        let dictionary = self.builder.names().intern(DICTIONARY);
        let names = Label::field(self.builder.names().intern("co_names"));
        let heap = self.builder.heap();
        let references = &heap.references;
        let rows = (0..references.len()).filter(|row| references.label.get(*row) == Some(&names));
        let lists: FxHashSet<ObjectId> = rows.map(|row| references.target(row)).collect();
        let texts = lists.iter().flat_map(|list| references.stored(*list));
        let texts: FxHashSet<ObjectId> = texts.map(|reference| reference.target).collect();
        for text in texts.into_iter().filter_map(|object| self.texts.text(object)) {
            self.declared.insert(self.builder.names().intern(&text));
        }
        let keys = self.attributes.difference(&self.declared).copied();
        let mut keys: Vec<NameId> = keys.filter(|name| *name != dictionary).collect();
        keys.sort_unstable();
        let names = self.builder.names();
        let is_like_code = |name| {
            let text = names.text(name);
            !text.starts_with(|c: char| c.is_numeric())
                && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        let keys = keys.into_iter().map(|name| KeyName { name, is_like_code: is_like_code(name) });
        let keys = keys.collect();
        self.builder.heap().keys = keys;
    }
}

/// The labels that many objects share.
#[derive(Clone, Copy)]
struct Labels {
    class: Label,
    key: Label,
    value: Label,
}

impl Labels {
    fn new(builder: &mut HeapBuilder<'_>) -> Self {
        let mut label = |name| Label::field(builder.names().intern(name));
        Self { class: label("class"), key: label("key"), value: label("value") }
    }
}

impl Part {
    /// The object of a row, and its references.
    fn at(&self, row: u32) -> Option<(&Object, &[u64])> {
        let object = self.objects.get(row as usize)?;
        let before = row.checked_sub(1).and_then(|before| self.objects.get(before as usize));
        let start = before.map_or(0, |before| before.references as usize);
        Some((object, self.references.get(start..object.references as usize).unwrap_or_default()))
    }
}

/// An object of these parts, and its references.
fn found(parts: &[Part], (part, row): Place) -> Option<(&Object, &[u64])> {
    parts.get(part as usize)?.at(row)
}

/// A dictionary that holds the attributes of an object.
#[derive(Clone, Copy)]
struct Namespace {
    /// The address of the object.
    owner: u64,
    /// Whether the object is a module or class.
    is_scope: bool,
}

/// The dictionaries that hold attributes, by address.
fn namespaces(
    parts: &[Part],
    names: &FxHashMap<u64, Vec<Label>>,
    dictionary: Label,
    types: &FxHashMap<u64, Known>,
) -> FxHashMap<u64, Namespace> {
    let mut namespaces = FxHashMap::default();
    let places: FxHashMap<u32, usize> = names
        .iter()
        .filter_map(|(names, labels)| {
            let place = labels.iter().position(|label| *label == dictionary)?;
            Some((u32::try_from(*names).ok()?, place))
        })
        .collect();
    for part in parts {
        for (object, references) in (0u32..).map_while(|row| part.at(row)) {
            if object.names == NAMELESS {
                continue;
            }
            let place = places.get(&object.names);
            if let Some(&dictionary) = place.and_then(|place| references.get(*place)) {
                let kind = types.get(&u64::from(object.of_type)).map(|known| known.kind);
                let is_scope = matches!(kind, Some(Contents::Class | Contents::Module));
                namespaces.insert(dictionary, Namespace { owner: object.address, is_scope });
            }
        }
    }
    namespaces
}

pub(super) fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    SPEC.check_magic(bytes)?;
    only_snapshot(options.snapshot)?;
    #[derive(Default)]
    struct Counts {
        sums: FxHashMap<u64, Sum>,
        types: Vec<TypeLine>,
    }
    let (parts, skipped) =
        read_all(bytes, options.progress, |counts: &mut Counts, _, line: &Line<'_>| {
            match line.kind {
                Kind::Type => counts.types.push(TypeLine::new(line)),
                Kind::Object => {
                    counts.sums.entry(line.of_type).or_default().add(line.size, line.external);
                }
                _ => {}
            }
        });
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let (mut lines, mut counted) = (Vec::new(), Vec::new());
    for mut part in parts {
        lines.append(&mut part.types);
        counted.extend(part.sums);
    }
    let types = add_types(lines, &mut builder);
    let unknown = builder.add_type("(unknown)", "", TypeKind::Instance);
    let mut sums = TypeSums::default();
    for (number, sum) in counted {
        sums.add(types.get(&number).map_or(unknown, |known| known.id), &sum);
    }
    Ok(sums.finish(builder, skipped.damage()))
}
