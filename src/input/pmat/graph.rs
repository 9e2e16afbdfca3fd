//! Everything of a file that is needed to find the references of an SV, collected in one pass.

use super::layout::Layout;
use super::records::{Rec, Records};
use super::sv::{Body, Item, Structs, Sv, class_field, entry, kind};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::load::check_count;
use crate::input::read::Progress;
use crate::model::addresses::{Addresses, AddressesBuilder};
use crate::model::heap::{ObjectId, Offsets};
use rustc_hash::FxHashMap;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    /// Fixed words, such as `the glob`.
    Words(&'static str),
    /// A name from the file: of a lexical, of a field, or of the value that an extension holds.
    Own(&'a [u8]),
    Key(&'a [u8]),
    /// A position in an array.
    Index(u64),
    /// The pad of a call at this depth.
    Pad(u64),
    /// Magic of this type, and the name of the pointer in it.
    Magic(u8, &'static str),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Link<'a> {
    pub(super) target: u64,
    pub(super) name: Name<'a>,
    pub(super) weak: bool,
}

/// A call or an `eval` under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) kind: u8,
    pub(super) file: &'a [u8],
    pub(super) line: u64,
    /// The addresses of the CODE and, before Perl 5.24, of its arguments; or 0.
    pub(super) holds: [u64; 2],
}

pub(super) struct Graph<'a> {
    bytes: &'a [u8],
    pub(super) layout: Layout,
    structs: Structs<'a>,
    pub(super) addresses: Addresses,
    /// The offset of the SV of each object.
    positions: Offsets,
    /// SVs with the address of an earlier one.
    pub(super) repeated: u64,
    pub(super) packages: FxHashMap<u64, &'a [u8]>,
    /// The ranges of `names` that belong to the elements of a PAD or to the objects of a CLASS.
    named: FxHashMap<u64, Range<usize>>,
    /// Positions and names, sorted in each range.
    names: Vec<(u64, &'a [u8])>,
    /// References that are extensions, sorted by their owner.
    pub(super) extensions: Vec<(u64, Link<'a>)>,
    pub(super) roots: Vec<(&'a [u8], u64)>,
    pub(super) stack: Vec<u64>,
    pub(super) mortals: Vec<u64>,
    pub(super) contexts: Vec<Context<'a>>,
    pub(super) damage: Option<Error>,
    /// Bytes after the last record.
    pub(super) rest: u64,
}

impl<'a> Graph<'a> {
    /// Reads a file. Fails when its header cannot be read, or it has too many objects.
    pub(super) fn read(bytes: &'a [u8], progress: Progress<'_>) -> Result<Self> {
        let mut records = Records::new(bytes)?;
        let mut graph = Self {
            bytes,
            layout: records.layout.clone(),
            structs: Structs::default(),
            addresses: AddressesBuilder::default().finish(),
            positions: Offsets::with_capacity(0, u64::MAX),
            repeated: 0,
            packages: FxHashMap::default(),
            named: FxHashMap::default(),
            names: Vec::new(),
            extensions: Vec::new(),
            roots: Vec::new(),
            stack: Vec::new(),
            mortals: Vec::new(),
            contexts: Vec::new(),
            damage: None,
            rest: 0,
        };
        let mut objects: Vec<(u64, u64)> = Vec::new();
        for (number, record) in records.by_ref().enumerate() {
            match record {
                Ok((offset, record)) => {
                    if let Rec::Sv { sv, .. } = record {
                        objects.push((sv.address, offset));
                    }
                    graph.add(record);
                    if number.is_multiple_of(65536) {
                        progress(offset);
                    }
                }
                Err(damage) => graph.damage = Some(damage),
            }
        }
        graph.rest = if graph.damage.is_none() { records.rest() } else { 0 };
        graph.structs = records.structs;
        check_count(objects.len())?;
        let count = objects.len();
        objects.sort_unstable();
        objects.dedup_by_key(|(address, _)| *address);
        graph.repeated = count.saturating_sub(objects.len()) as u64;
        let mut addresses = AddressesBuilder::default();
        graph.positions = Offsets::with_capacity(objects.len(), bytes.len() as u64);
        for (address, offset) in objects {
            addresses.add(address);
            graph.positions.push(offset);
        }
        graph.addresses = addresses.finish();
        graph.extensions.sort_by_key(|(owner, _)| *owner);
        Ok(graph)
    }

    fn add(&mut self, record: Rec<'a>) {
        match record {
            Rec::Root { name, address } => self.roots.push((name, address)),
            Rec::Stack(pointers) => self.stack.extend(pointers.iter()),
            Rec::Mortals(pointers) => self.mortals.extend(pointers.iter()),
            Rec::Struct { .. } => {}
            Rec::Context { kind, line, file, own } => {
                let holds = [own.pointers.get(0), own.pointers.get(1)];
                self.contexts.push(Context { kind, file, line, holds });
            }
            Rec::Extension { kind, owner, own } => {
                let weak = own.header.get(1).is_some_and(|flags| flags & 1 == 0);
                let letter = own.header.first().copied().unwrap_or(0);
                let [first, second] = [own.pointers.get(0), own.pointers.get(1)];
                let mut add = |target, name, weak| {
                    if target != 0 {
                        self.extensions.push((owner, Link { target, name, weak }));
                    }
                };
                match kind {
                    0x80 => {
                        add(first, Name::Magic(letter, "object"), weak);
                        add(second, Name::Magic(letter, "pointer"), false);
                    }
                    0x85 => {
                        add(first, Name::Words("key of a saved value"), false);
                        add(second, Name::Words("saved value"), false);
                    }
                    0x81..=0x86 => add(first, Name::Words("saved value"), false),
                    0x87 => add(first, Name::Own(own.strings[0].unwrap_or_default()), false),
                    _ => {}
                }
            }
            Rec::Sv { sv, .. } => self.add_names(&sv),
        }
    }

    /// Keeps the names in an SV that belong to others: of a package, of lexicals and of fields.
    fn add_names(&mut self, sv: &Sv<'a>) {
        let (words, start) = (self.layout.words, self.names.len());
        if matches!(sv.kind, kind::STASH | kind::CLASS) {
            let name = sv.own.strings[0].unwrap_or_default();
            self.packages.entry(sv.address).or_insert(name);
        }
        let mut owners = Vec::new();
        match sv.body {
            Body::Items(mut items) => {
                while let Ok(Some(item)) = Item::read(&mut items, words) {
                    match item {
                        Item::PadName(index, name) => self.names.push((index, name)),
                        Item::Pad(1.., pad) => owners.push(pad),
                        _ => {}
                    }
                }
            }
            Body::Entries(count, mut cursor) if sv.kind == kind::CLASS => {
                (0..count).for_each(|_| _ = entry(&mut cursor, words));
                while let Ok(Some(field)) = class_field(&mut cursor, words) {
                    self.names.push(field);
                }
                owners.push(sv.address);
            }
            _ => {}
        }
        if owners.is_empty() {
            self.names.truncate(start);
            return;
        }
        self.names.get_mut(start..).unwrap_or_default().sort_by_key(|(index, _)| *index);
        for owner in owners {
            self.named.entry(owner).or_insert(start..self.names.len());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.addresses.len()
    }

    pub(super) fn sv(&self, object: ObjectId) -> Option<Sv<'a>> {
        if object.index() >= self.positions.len() {
            return None;
        }
        let mut cursor = Cursor::at(self.bytes, self.positions.get(object.index()));
        let kind = cursor.u8("an SV").ok()?;
        Sv::read(&mut cursor, kind, &self.layout, &self.structs).ok()
    }

    pub(super) fn at(&self, address: u64) -> Option<Sv<'a>> {
        self.sv(self.addresses.at(address)?)
    }

    /// Whether the type of the SV at an address is `kind`.
    fn is(&self, address: u64, kind: u8) -> bool {
        let object = self.addresses.at(address);
        let at = object.and_then(|object| usize::try_from(self.positions.get(object.index())).ok());
        at.and_then(|at| self.bytes.get(at)) == Some(&kind)
    }

    /// Whether an ARRAY has the lexicals of a CODE.
    pub(super) fn is_pad(&self, sv: &Sv<'_>) -> bool {
        sv.kind == kind::ARRAY && self.named.contains_key(&sv.address)
    }

    /// The structure that a STRUCT is of.
    pub(super) fn struct_name(&self, sv: &Sv<'_>) -> Option<&'a [u8]> {
        let structure = self.structs.get(&sv.blessed).filter(|_| sv.kind == kind::STRUCT)?;
        Some(structure.name)
    }

    /// The fields of a STRUCT: names and types.
    pub(super) fn struct_fields(&self, sv: &Sv<'_>) -> &[(&'a [u8], u8)] {
        self.structs.get(&sv.blessed).map_or(&[], |structure| &structure.fields)
    }

    /// The names of the elements of a PAD or OBJECT, with their positions, in order.
    pub(super) fn names(&self, sv: &Sv<'_>) -> &[(u64, &'a [u8])] {
        let owner = if sv.kind == kind::OBJECT { sv.blessed } else { sv.address };
        let range = self.named.get(&owner).cloned().unwrap_or_default();
        self.names.get(range).unwrap_or_default()
    }

    /// The name of a CODE with its package: `main::work`.
    pub(super) fn code_name(&self, address: u64) -> Option<String> {
        let code = self.at(address).filter(|sv| sv.kind == kind::CODE)?;
        match code.own.strings[1] {
            Some(name) => Some(self.qualified(code.own.pointers.get(0), name)),
            None => self.glob_name(&self.at(code.own.pointers.get(1))?),
        }
    }

    /// The name of a GLOB with its package.
    pub(super) fn glob_name(&self, glob: &Sv<'a>) -> Option<String> {
        let name = glob.own.strings[0].filter(|_| glob.kind == kind::GLOB)?;
        Some(self.qualified(glob.own.pointers.get(0), name))
    }

    fn qualified(&self, package: u64, name: &[u8]) -> String {
        let package = self.packages.get(&package).copied().unwrap_or_default();
        let [package, name] = [package, name].map(String::from_utf8_lossy);
        format!("{package}::{name}")
    }

    /// Whether there is an SV at an address, and it is an ARRAY.
    pub(super) fn is_array(&self, address: u64) -> bool {
        self.is(address, kind::ARRAY)
    }
}
