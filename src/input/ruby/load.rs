//! Loading a dump into the model: all lines in parallel, then references in the order of addresses.
//!
//! An object is a line with an address that is not a shape. It holds its class by a reference
//! `class`, and what `references` lists, with the names of instance variables where the dump has
//! shapes and all of an object's variables are references.

use super::SPEC;
use super::line::Line;
use super::sites::{PartSites, Sites};
use super::types::{Class, TypeKey, Types};
use super::values::Lines;
use crate::error::Result;
use crate::input::histogram::{TypeCounts, TypeSums};
use crate::input::json_lines::{places, read_all};
use crate::input::load::{LoadOptions, Loaded, check_count, only_snapshot};
use crate::model::addresses::AddressesBuilder;
use crate::model::builder::HeapBuilder;
use crate::model::distinct::Distinct;
use crate::model::heap::{
    ClassReferences, Ids, Label, ObjectId, Offsets, Root, RootKind, TypeId, WarningKind,
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
    let mut loader = Loader::new(parts, count);
    let roots = loader.add_roots();
    loader.add_objects();
    loader.builder.warn(WarningKind::MalformedLines, skipped.count);
    if !roots {
        loader.root_everything();
    }
    let Loader { mut builder, positions, addresses, types, .. } = loader;
    builder.heap().pointer_size = 0;
    let values = Lines { bytes, positions, types };
    let heap = builder.finish(Ids::Addresses(addresses), Some(Box::new(values)));
    let incomplete = skipped.cut.is_some();
    Ok(Loaded { incomplete, damage: skipped.damage(), ..Loaded::of(heap) })
}

struct Object {
    address: u64,
    position: u64,
    memsize: u64,
    /// The row of its type in the keys of its part.
    key: u32,
    /// The end of its references in those of its part.
    references: u32,
    /// The row of its site in the sites of its part, or [`PartSites::NONE`].
    site: u32,
    names: Named,
}

/// The names of an object's references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    No,
    /// Elements of an array, of this length.
    Elements(u64),
    /// Keys and values of a hash of this size, with the address of its default value or 0.
    Entries(u64),
    Shape(u64),
    /// The address of the superclass of a class.
    Superclass(u64),
}

/// The contents of a part of the lines.
#[derive(Default)]
struct Part<'a> {
    objects: Vec<Object>,
    keys: Distinct<TypeKey<'a>>,
    references: Vec<u64>,
    roots: Vec<(String, Vec<u64>)>,
    /// Number, parent, and name of the instance variable that is added.
    shapes: Vec<(u64, Option<u64>, Option<String>)>,
    classes: Vec<(u64, Class)>,
    sites: PartSites<'a>,
}

impl<'a> Part<'a> {
    /// The addresses that the object of a row refers to.
    #[inline]
    fn references_of(&self, row: u32) -> &[u64] {
        let end = |row: u32| {
            self.objects.get(row as usize).map_or(0, |object| object.references as usize)
        };
        let start = row.checked_sub(1).map_or(0, end);
        self.references.get(start..end(row)).unwrap_or_default()
    }

    /// Reserves room for as many objects and references as usual parts have. Columns that grow are
    /// copied, and the kernel clears their memory again and again.
    fn make_room(&mut self) {
        self.objects.reserve(16 << 10);
        self.references.reserve(64 << 10);
    }

    fn add(&mut self, position: u64, line: &Line<'a>) {
        match (line.kind, line.address) {
            (b"ROOT", _) => {
                let name = line.root.map_or_else(String::new, |root| root.decode().into_owned());
                self.roots.push((name, line.references.iter().collect()));
            }
            (b"SHAPE", _) => {
                let adds = line.shape_type.is_some_and(|of| of.raw() == b"IVAR");
                let name = line.edge_name.filter(|_| adds).map(|name| name.decode().into_owned());
                self.shapes.extend(line.id.map(|id| (id, line.parent_id, name)));
            }
            (kind, Some(address)) => {
                if self.objects.capacity() == 0 {
                    self.make_room();
                }
                self.classes.extend(Class::of(line).map(|class| (address, class)));
                self.references.extend(line.references.iter());
                let key = self.keys.number_again(TypeKey::of(line));
                let names = match kind {
                    b"ARRAY" => line.length.map_or(Named::No, Named::Elements),
                    b"HASH" => line.size.map_or(Named::No, Named::Entries),
                    b"OBJECT" => line.shape_id.map_or(Named::No, Named::Shape),
                    b"CLASS" => line.superclass.map_or(Named::No, Named::Superclass),
                    _ => Named::No,
                };
                let references = u32::try_from(self.references.len()).unwrap_or(u32::MAX);
                self.objects.push(Object {
                    address,
                    position,
                    memsize: line.memsize,
                    key,
                    references,
                    site: self.sites.of(line),
                    names,
                });
            }
            (_, None) => {}
        }
    }
}

/// The class of objects with a key, if it is an object of the dump, and their type.
type ClassAndType = (Option<ObjectId>, TypeId);

struct Loader<'a> {
    parts: Vec<Part<'a>>,
    builder: HeapBuilder<'a>,
    addresses: crate::model::addresses::Addresses,
    positions: Offsets,
    types: Types<'a>,
    /// Labels of the references of objects of each shape.
    shapes: FxHashMap<u64, Vec<Label>>,
}

impl<'a> Loader<'a> {
    fn new(mut parts: Vec<Part<'a>>, count: usize) -> Self {
        let mut addresses = AddressesBuilder::default();
        let mut classes = FxHashMap::default();
        let references: usize = parts.iter().map(|part| part.references.len()).sum();
        let mut builder = HeapBuilder::with_capacity(count, references.saturating_add(count));
        let mut by_id: FxHashMap<u64, (Option<u64>, Option<String>)> = FxHashMap::default();
        for part in &mut parts {
            part.objects.iter().for_each(|object| addresses.add(object.address));
            classes.extend(part.classes.drain(..));
            by_id.extend(part.shapes.drain(..).map(|(id, parent, name)| (id, (parent, name))));
        }
        let addresses = addresses.finish();
        builder.warn(
            WarningKind::RepeatedAddresses,
            (count as u64).saturating_sub(addresses.len() as u64),
        );
        let shapes = labels(&by_id, &mut builder);
        let positions = Offsets::with_capacity(addresses.len(), u64::MAX);
        Self { parts, builder, addresses, positions, types: Types::new(classes), shapes }
    }

    /// Adds the roots. Returns `false` if the dump has none.
    fn add_roots(&mut self) -> bool {
        let mut any = false;
        let mut dangling = 0u64;
        let mut seen: FxHashSet<(ObjectId, NameId)> = FxHashSet::default();
        for (name, references) in self.parts.iter_mut().flat_map(|part| part.roots.drain(..)) {
            any = true;
            let group = self.builder.names().intern(&name);
            let kind = match &*name {
                "vm" | "global_list" => RootKind::Runtime,
                "global_tbl" => RootKind::Global,
                "machine_context" => RootKind::Frame,
                "finalizers" => RootKind::Finalizer,
                _ => RootKind::Other,
            };
            for address in references {
                match self.addresses.at(address) {
                    // An object may be there many times.
                    Some(object) if seen.insert((object, group)) => {
                        let is_exact = name != "machine_context";
                        self.builder.add_root(Root { is_exact, ..Root::new(object, kind, group) });
                    }
                    Some(_) => {}
                    None => dangling = dangling.saturating_add(1),
                }
            }
        }
        self.builder.warn(WarningKind::DanglingRoots, dangling);
        any
    }

    /// Adds objects and references in the order of addresses.
    fn add_objects(&mut self) {
        let places =
            places(&self.parts, &self.addresses, |part| &part.objects, |object| object.address);
        let class_label = Label::field(self.builder.names().intern("class"));
        let names = ["key", "value", "superclass"]
            .map(|name| Label::field(self.builder.names().intern(name)));
        let mut dangling = 0u64;
        let mut sites = Sites::new(self.parts.iter().map(|part| &part.sites));
        // Class and type by part and key.
        let mut keys: Vec<Vec<Option<ClassAndType>>> =
            self.parts.iter().map(|part| vec![None; part.keys.all.len()]).collect();
        for (number, row) in places {
            let Some(part) = self.parts.get(number as usize) else { continue };
            let Some(object) = part.objects.get(row as usize) else { continue };
            let known =
                keys.get_mut(number as usize).and_then(|keys| keys.get_mut(object.key as usize));
            let key = part.keys.all.get(object.key as usize).copied();
            let (Some(known), Some(key)) = (known, key) else { continue };
            let (class, type_id) = *known.get_or_insert_with(|| {
                let class = key.class.and_then(|class| self.addresses.at(class));
                (class, self.types.of(key, &mut self.builder))
            });
            let added = self.builder.add_object(type_id, object.memsize);
            if let Some(class) = class {
                self.builder.add_reference(class, class_label, false);
            }
            let own = part.references_of(row);
            for (index, &address) in own.iter().enumerate() {
                let Some(target) = self.addresses.at(address) else {
                    dangling = dangling.saturating_add(1);
                    continue;
                };
                let (name, length) = (object.names, own.len());
                let label = reference_label(name, index, address, length, &self.shapes, names);
                self.builder.add_reference(target, label, false);
            }
            sites.add(added, number, object.site, self.builder.names());
            self.positions.push(object.position);
        }
        self.builder.warn(WarningKind::DanglingReferences, dangling);
        let heap = self.builder.heap();
        heap.sites = sites.finish();
        heap.class_references = ClassReferences::Labelled(class_label);
    }

    /// Makes roots of all objects that nothing refers to, for a dump without roots.
    fn root_everything(&mut self) {
        let group = self.builder.names().intern("(no roots in the dump)");
        let heap = self.builder.heap();
        let mut referred = vec![false; heap.type_of.len()];
        for object in 0..heap.type_of.len() {
            for reference in heap
                .references
                .stored(ObjectId(object as u32))
                .filter(|reference| reference.target.index() != object)
            {
                referred
                    .get_mut(reference.target.index())
                    .into_iter()
                    .for_each(|referred| *referred = true);
            }
        }
        let tops = referred
            .iter()
            .enumerate()
            .filter(|(_, referred)| !**referred)
            .map(|(object, _)| ObjectId(object as u32));
        heap.roots = tops.map(|object| Root::new(object, RootKind::Unowned, group)).collect();
        self.builder.warn(WarningKind::OmittedRoots, 1);
    }
}

#[inline]
fn reference_label(
    names: Named,
    index: usize,
    address: u64,
    count: usize,
    shapes: &FxHashMap<u64, Vec<Label>>,
    [key, value, superclass]: [Label; 3],
) -> Label {
    match names {
        // Numbers, nil and similar values are not references: with fewer references than elements,
        // the indexes are unknown.
        Named::Elements(length) if length == count as u64 => Label::index(index as u64),
        Named::Entries(size) if size.saturating_mul(2) == count as u64 => {
            if index.is_multiple_of(2) { key } else { value }
        }
        Named::Shape(shape) => match shapes.get(&shape) {
            Some(labels) if labels.len() == count => {
                labels.get(index).copied().unwrap_or(Label::NONE)
            }
            _ => Label::NONE,
        },
        Named::Superclass(class) if class == address => superclass,
        _ => Label::NONE,
    }
}

/// Instance variables that a shape may have.
const MOST_VARIABLES: usize = 1 << 10;

/// The names of the instance variables of each shape, the first one first.
fn labels(
    by_id: &FxHashMap<u64, (Option<u64>, Option<String>)>,
    builder: &mut HeapBuilder<'_>,
) -> FxHashMap<u64, Vec<Label>> {
    let mut ids: Vec<u64> = by_id.keys().copied().collect();
    ids.sort_unstable();
    let mut shapes = FxHashMap::default();
    for id in ids {
        let mut labels = Vec::new();
        let mut next = Some(id);
        while let Some((parent, name)) =
            next.and_then(|id| by_id.get(&id)).filter(|_| labels.len() < MOST_VARIABLES)
        {
            labels.push(name.as_ref().map(|name| Label::field(builder.names().intern(name))));
            next = *parent;
        }
        let labels: Vec<Label> = labels.into_iter().rev().flatten().collect();
        if !labels.is_empty() {
            shapes.insert(id, labels);
        }
    }
    shapes
}

pub(super) fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    SPEC.check_magic(bytes)?;
    only_snapshot(options.snapshot)?;
    #[derive(Default)]
    struct Counts<'a> {
        sums: FxHashMap<TypeKey<'a>, Sum>,
        classes: Vec<(u64, Class)>,
    }
    let (parts, skipped) =
        read_all(bytes, options.progress, |counts: &mut Counts<'_>, _, line: &Line<'_>| {
            let Some(address) = line.address.filter(|_| line.is_object()) else { return };
            counts.classes.extend(Class::of(line).map(|class| (address, class)));
            counts.sums.entry(TypeKey::of(line)).or_default().add(line.memsize, 0);
        });
    let mut types =
        Types::new(parts.iter().flat_map(|part| part.classes.iter().cloned()).collect());
    let mut keys: Vec<(TypeKey<'_>, Sum)> =
        parts.iter().flat_map(|part| part.sums.iter().map(|(key, sum)| (*key, *sum))).collect();
    keys.sort_unstable_by_key(|(key, _)| (key.kind, key.class, key.detail));
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let mut sums = TypeSums::default();
    keys.into_iter().for_each(|(key, sum)| sums.add(types.of(key, &mut builder), &sum));
    Ok(sums.finish(builder, skipped.damage()))
}
