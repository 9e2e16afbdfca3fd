//! What DWARF says of a program: types that have no descriptor, globals, and the variables of functions.
//!
//! Facts about Go's DWARF are from `cmd/link/internal/ld/dwarf.go` and `cmd/internal/dwarf`, verified on executables of
//! Go 1.19 to 1.27: version 4 up to 1.24 and in Mach-O, 5 since 1.25.

use super::image::Image;
use super::types::{Field, Kind, Type, TypeRef, Types};
use crate::error::{Error, Result};
use flate2::bufread::ZlibDecoder;
use gimli::{
    AttributeValue, DebugInfoOffset, DebuggingInformationEntry, DwAt, Dwarf, EndianSlice, Expression, Operation, RunTimeEndian,
    SectionId, Unit, UnitOffset, constants as dw,
};
use object::{CompressionFormat, Object, ObjectSection};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::io::Read;

type Slice<'d> = EndianSlice<'d, RunTimeEndian>;
type Entry<'d> = DebuggingInformationEntry<Slice<'d>>;

/// Attributes of Go (`cmd/internal/dwarf`).
mod go {
    use gimli::DwAt;
    pub(super) const KIND: DwAt = DwAt(0x2900);
    pub(super) const KEY: DwAt = DwAt(0x2901);
    pub(super) const ELEMENT: DwAt = DwAt(0x2902);
    /// Offset of the type's descriptor from the first one; 0 for none.
    pub(super) const RUNTIME_TYPE: DwAt = DwAt(0x2904);
    /// Since 1.23: where a closure keeps a variable that it captured.
    pub(super) const CLOSURE_OFFSET: DwAt = DwAt(0x2907);
}

/// The sections of DWARF, decompressed.
#[derive(Debug, Default)]
pub(super) struct Sections<'a> {
    list: Vec<(&'static str, Cow<'a, [u8]>)>,
    big_endian: bool,
}

/// What a compressed section may grow to for each of its bytes; zlib reaches 1032.
const MAX_RATIO: u64 = 64;

impl<'a> Sections<'a> {
    /// Decompresses the sections of DWARF. `None` if there is no `.debug_info`.
    ///
    /// # Errors
    /// `Corrupt` if a section cannot be decompressed.
    pub(super) fn load(image: &Image<'a>) -> Result<Option<Self>> {
        let mut sections = Self { list: Vec::new(), big_endian: image.big_endian };
        for name in IDS.iter().map(|id| id.name()) {
            if let Some(bytes) = section(image, name)? {
                sections.list.push((name, bytes));
            }
        }
        let has_info = sections.list.iter().any(|(name, bytes)| *name == SectionId::DebugInfo.name() && !bytes.is_empty());
        Ok(has_info.then_some(sections))
    }

    fn get(&self, id: SectionId) -> Slice<'_> {
        let bytes = self.list.iter().find(|(name, _)| *name == id.name()).map_or(&[][..], |(_, bytes)| bytes);
        EndianSlice::new(bytes, if self.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little })
    }
}

const IDS: [SectionId; 10] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugLoc,
    SectionId::DebugLocLists,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// A section by its ELF name, also as `.zdebug_…` and as Mach-O spells it in 16 bytes.
fn section<'a>(image: &Image<'a>, name: &str) -> Result<Option<Cow<'a, [u8]>>> {
    let old = name.replacen(".debug_", ".zdebug_", 1);
    let mach = name.replacen(".debug_", "__debug_", 1);
    let old_mach = name.replacen(".debug_", "__zdebug_", 1);
    let cut = |name: &str| name.get(..16).unwrap_or(name).to_owned();
    let names = [name.to_owned(), old, cut(&mach), cut(&old_mach)];
    let found = image.file.sections().find(|section| section.name().is_ok_and(|found| names.iter().any(|name| name == found)));
    let Some(section) = found else { return Ok(None) };
    let damaged = |why: String| Error::executable(format!("damaged section {name} of the executable: {why}"));
    let stored = section.compressed_data().map_err(|error| damaged(error.to_string()))?;
    let (data, size) = match (stored.format, stored.data.strip_prefix(b"ZLIB")) {
        (CompressionFormat::None, Some(rest)) => {
            let Some((size, data)) = rest.split_first_chunk() else { return Err(damaged("its header is cut short".to_owned())) };
            (data, u64::from_be_bytes(*size))
        }
        (CompressionFormat::None, None) => return Ok(Some(Cow::Borrowed(stored.data))),
        (CompressionFormat::Zlib, _) => (stored.data, stored.uncompressed_size),
        (format, _) => return Err(damaged(format!("its compression ({format:?}) is not supported"))),
    };
    if size > (data.len() as u64).saturating_mul(MAX_RATIO) {
        return Err(damaged(format!("{} bytes claim to be {size}", data.len())));
    }
    let mut bytes = Vec::new();
    ZlibDecoder::new(data).take(size).read_to_end(&mut bytes).map_err(|error| damaged(error.to_string()))?;
    Ok(Some(Cow::Owned(bytes)))
}

/// A global variable. The address is a link address.
#[derive(Clone, Debug)]
pub(super) struct Global {
    pub(super) name: String,
    pub(super) address: u64,
    pub(super) of: TypeRef,
}

/// A variable of a function at a place in its code.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) of: TypeRef,
    /// Where its parts are in memory. Parts in registers are left out: a dump has no registers.
    pub(super) pieces: Vec<Piece>,
    /// Its address is taken, so that the frame does not list its words as pointers although they are alive.
    pub(super) is_stack_object: bool,
}

/// A part of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Offset of the part in the value.
    pub(super) offset: u64,
    /// Its bytes; `None` for the whole value.
    pub(super) size: Option<u64>,
    /// Its address less the canonical frame address, which is the end of the frame's contents.
    pub(super) from_cfa: i64,
}

/// A variable that a closure captured.
#[derive(Clone, Debug)]
pub(super) struct Capture {
    pub(super) name: String,
    pub(super) of: TypeRef,
    pub(super) offset: u64,
}

/// The debugging information of a program.
pub(super) struct Debug<'d> {
    dwarf: Dwarf<Slice<'d>>,
    units: Vec<Unit<Slice<'d>>>,
    /// Functions by entry: unit and entry.
    functions: FxHashMap<u64, (u32, UnitOffset)>,
    /// Variables outside of functions.
    globals: Vec<(u32, UnitOffset)>,
    /// Structs by name, by their offset in `.debug_info`.
    structs: FxHashMap<String, usize>,
    /// Link address of the first descriptor.
    descriptors: u64,
    pointer_size: u64,
    /// Types by the offset of their entry in `.debug_info`.
    known: FxHashMap<usize, TypeRef>,
    /// Types whose parts have not been read yet.
    open: Vec<(usize, TypeRef)>,
}

/// Typedefs that may follow each other.
const MAX_TYPEDEFS: usize = 16;
/// Entries of one function that are read at most.
const MAX_ENTRIES: usize = 1 << 16;

impl<'d> Debug<'d> {
    /// Finds all units, functions and globals.
    ///
    /// # Errors
    /// `Corrupt` if the structure of `.debug_info` is damaged.
    pub(super) fn new(sections: &'d Sections<'_>, image: &Image<'_>, descriptors: u64) -> Result<Self> {
        let dwarf = Dwarf::load(|id| Ok::<_, gimli::Error>(sections.get(id))).map_err(damaged)?;
        let mut debug = Self {
            dwarf,
            units: Vec::new(),
            functions: FxHashMap::default(),
            globals: Vec::new(),
            structs: FxHashMap::default(),
            descriptors,
            pointer_size: image.pointer_size,
            known: FxHashMap::default(),
            open: Vec::new(),
        };
        let mut headers = debug.dwarf.units();
        while let Some(header) = headers.next().map_err(damaged)? {
            let unit = debug.dwarf.unit(header).map_err(damaged)?;
            if debug.is_go(&unit) {
                debug.index(&unit).map_err(damaged)?;
            }
            // Units of C stay in the list, so that offsets find their unit.
            debug.units.push(unit);
        }
        Ok(debug)
    }

    fn is_go(&self, unit: &Unit<Slice<'d>>) -> bool {
        let producer = || {
            let root = unit.entry(unit.header.root_offset()).ok()?;
            Some(self.dwarf.attr_string(unit, root.attr_value(dw::DW_AT_producer)?).ok()?.slice())
        };
        producer().is_none_or(|producer| producer.starts_with(b"Go "))
    }

    /// Notes the functions and the globals of a unit.
    fn index(&mut self, unit: &Unit<Slice<'d>>) -> gimli::Result<()> {
        let number = self.units.len() as u32;
        let mut entries = unit.entries_raw(None)?;
        let mut entry = DebuggingInformationEntry::null();
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            if depth == 1 {
                if !entries.read_entry(&mut entry)? {
                    continue;
                }
                match entry.tag() {
                    dw::DW_TAG_subprogram => {
                        let entry_address = entry.attr_value(dw::DW_AT_low_pc).map(|value| self.dwarf.attr_address(unit, value));
                        if let Some(address) = entry_address.transpose()?.flatten() {
                            self.functions.entry(address).or_insert((number, offset));
                        }
                    }
                    dw::DW_TAG_structure_type => {
                        if let (Some(name), Some(place)) = (self.name(unit, &entry), offset.to_debug_info_offset(&unit.header)) {
                            self.structs.entry(name).or_insert(place.0);
                        }
                    }
                    dw::DW_TAG_variable if entry.attr(dw::DW_AT_location).is_some() => self.globals.push((number, offset)),
                    _ => {}
                }
            } else if let Some(abbreviation) = entries.read_abbreviation()? {
                entries.skip_attributes(abbreviation.attributes())?;
            }
        }
        Ok(())
    }

    fn name(&self, unit: &Unit<Slice<'d>>, entry: &Entry<'d>) -> Option<String> {
        let value = entry.attr_value(dw::DW_AT_name)?;
        let name = self.dwarf.attr_string(unit, value).ok()?;
        Some(String::from_utf8_lossy(name.slice()).into_owned())
    }

    /// The offset in `.debug_info` that an attribute refers to.
    fn target(&self, unit: &Unit<Slice<'d>>, entry: &Entry<'d>, name: DwAt) -> Option<usize> {
        match entry.attr_value(name)? {
            AttributeValue::UnitRef(offset) => offset.to_debug_info_offset(&unit.header).map(|offset| offset.0),
            AttributeValue::DebugInfoRef(offset) => Some(offset.0),
            _ => None,
        }
    }

    /// The entry at an offset in `.debug_info`, with the number of its unit.
    fn entry(&self, offset: usize) -> Option<(u32, Entry<'d>)> {
        let start = |unit: &Unit<Slice<'d>>| unit.header.debug_info_offset().map_or(usize::MAX, |offset| offset.0);
        let number = self.units.partition_point(|unit| start(unit) <= offset).checked_sub(1)?;
        let unit = self.units.get(number)?;
        let place = DebugInfoOffset(offset).to_unit_offset(&unit.header)?;
        Some((number as u32, unit.entry(place).ok()?))
    }

    /// The type at an offset in `.debug_info`. Its parts are read by [`Debug::finish`].
    fn of(&mut self, offset: usize, types: &mut Types) -> TypeRef {
        if let Some(known) = self.known.get(&offset) {
            return *known;
        }
        let descriptor = self.entry(offset).and_then(|(_, entry)| self.descriptor(&entry)).and_then(|at| types.at(at));
        let of = descriptor.unwrap_or_else(|| {
            let of =
                types.add(Type { name: String::new(), package: None, size: 0, kind: Kind::Unknown, mask: None, direct: false });
            self.open.push((offset, of));
            of
        });
        self.known.insert(offset, of);
        of
    }

    /// The link address of the descriptor of a type entry.
    fn descriptor(&self, entry: &Entry<'d>) -> Option<u64> {
        let offset = match entry.attr_value(go::RUNTIME_TYPE)? {
            AttributeValue::Addr(offset) | AttributeValue::Udata(offset) => offset,
            value => value.udata_value()?,
        };
        (offset != 0).then(|| self.descriptors.wrapping_add(offset))
    }

    /// Reads the parts of all types that were met.
    pub(super) fn finish(&mut self, types: &mut Types) {
        while let Some((offset, of)) = self.open.pop() {
            if let Some(described) = self.describe(offset, types) {
                types.set(of, described);
            }
        }
    }

    fn describe(&mut self, offset: usize, types: &mut Types) -> Option<Type> {
        let (mut number, mut entry) = self.entry(offset)?;
        let name = self.name(self.units.get(number as usize)?, &entry).unwrap_or_default();
        for _ in 0..MAX_TYPEDEFS {
            if entry.tag() != dw::DW_TAG_typedef || matches!(self.number(&entry, go::KIND), Some(18 | 20 | 21)) {
                break;
            }
            let target = self.target(self.units.get(number as usize)?, &entry, dw::DW_AT_type)?;
            (number, entry) = self.entry(target)?;
        }
        let size = self.number(&entry, dw::DW_AT_byte_size);
        let word = self.pointer_size;
        let (kind, size) = self.kind(number, &entry, size, types)?;
        let package = match &kind {
            Kind::Struct { .. } | Kind::Number(_) | Kind::String if !name.contains(' ') => package_of(&name),
            _ => None,
        };
        let direct = match &kind {
            Kind::Pointer { .. } | Kind::Map { .. } | Kind::Channel { .. } | Kind::Function | Kind::UnsafePointer => true,
            Kind::Struct { fields } => {
                size == word && fields.iter().filter(|field| field.offset == 0).count() == 1 && fields.len() == 1
            }
            _ => false,
        };
        Some(Type { name, package, size, kind, mask: None, direct })
    }

    fn number(&self, entry: &Entry<'d>, name: DwAt) -> Option<u64> {
        entry.attr_value(name)?.udata_value()
    }

    fn kind(&mut self, number: u32, entry: &Entry<'d>, size: Option<u64>, types: &mut Types) -> Option<(Kind, u64)> {
        let word = self.pointer_size;
        let target = |debug: &Self, name| debug.target(debug.units.get(number as usize)?, entry, name);
        let go_kind = self.number(entry, go::KIND).unwrap_or(0);
        let mut part = |debug: &mut Self, name| match target(debug, name) {
            Some(offset) => debug.of(offset, types),
            None => Types::UNKNOWN,
        };
        Some(match (entry.tag(), go_kind) {
            (dw::DW_TAG_base_type, kind) => (Kind::Number(kind as u8), size?),
            (dw::DW_TAG_structure_type, 24) => (Kind::String, word.wrapping_mul(2)),
            (dw::DW_TAG_structure_type, 23) => (Kind::Slice { element: part(self, go::ELEMENT) }, word.wrapping_mul(3)),
            (dw::DW_TAG_structure_type, _) => (Kind::Struct { fields: self.fields(number, entry, types)? }, size?),
            (dw::DW_TAG_pointer_type, 26) => (Kind::UnsafePointer, word),
            (dw::DW_TAG_pointer_type, _) if target(self, dw::DW_AT_type).is_none() => (Kind::UnsafePointer, word),
            (dw::DW_TAG_pointer_type, _) => (Kind::Pointer { element: part(self, dw::DW_AT_type) }, word),
            (dw::DW_TAG_subroutine_type, _) => (Kind::Function, word),
            (dw::DW_TAG_array_type, _) => {
                let element = part(self, dw::DW_AT_type);
                let length = self.length(number, entry)?;
                (Kind::Array { element, length }, size?)
            }
            (dw::DW_TAG_typedef, 18) => (Kind::Channel { element: part(self, go::ELEMENT) }, word),
            (dw::DW_TAG_typedef, 20) => {
                let base = target(self, dw::DW_AT_type).and_then(|offset| self.entry(offset));
                let name = base.and_then(|(number, entry)| self.name(self.units.get(number as usize)?, &entry));
                (Kind::Interface { has_methods: name.is_none_or(|name| name != "runtime.eface") }, word.wrapping_mul(2))
            }
            (dw::DW_TAG_typedef, 21) => {
                let (key, element) = (part(self, go::KEY), part(self, go::ELEMENT));
                (Kind::Map { key, element, group: Types::UNKNOWN }, word)
            }
            _ => return None,
        })
    }

    /// The children of an entry, one level deep.
    fn children(&self, number: u32, entry: &Entry<'d>) -> Option<Vec<Entry<'d>>> {
        let unit = self.units.get(number as usize)?;
        let mut entries = unit.entries_raw(Some(entry.offset())).ok()?;
        let mut child = DebuggingInformationEntry::null();
        entries.read_entry(&mut child).ok()?;
        let mut children = Vec::new();
        if !entry.has_children() {
            return Some(children);
        }
        let level = entries.next_depth();
        while !entries.is_empty() && entries.next_depth() >= level && children.len() < MAX_ENTRIES {
            let depth = entries.next_depth();
            if entries.read_entry(&mut child).ok()? && depth == level {
                children.push(child.clone());
            }
        }
        Some(children)
    }

    fn fields(&mut self, number: u32, entry: &Entry<'d>, types: &mut Types) -> Option<Box<[Field]>> {
        let mut fields = Vec::new();
        for child in self.children(number, entry)? {
            if child.tag() != dw::DW_TAG_member {
                continue;
            }
            let unit = self.units.get(number as usize)?;
            let (name, target) = (self.name(unit, &child)?, self.target(unit, &child, dw::DW_AT_type)?);
            let offset = self.number(&child, dw::DW_AT_data_member_location)?;
            fields.push(Field { name: name.into(), of: self.of(target, types), offset });
        }
        Some(fields.into())
    }

    fn length(&self, number: u32, entry: &Entry<'d>) -> Option<u64> {
        let children = self.children(number, entry)?;
        let range = children.iter().find(|child| child.tag() == dw::DW_TAG_subrange_type)?;
        self.number(range, dw::DW_AT_count).or_else(|| self.number(range, dw::DW_AT_upper_bound)?.checked_add(1))
    }

    /// All globals with a fixed address and a type.
    pub(super) fn globals(&mut self, types: &mut Types) -> Vec<Global> {
        let list = std::mem::take(&mut self.globals);
        let mut globals = Vec::with_capacity(list.len());
        for (number, offset) in list {
            let found = || {
                let unit = self.units.get(number as usize)?;
                let entry = unit.entry(offset).ok()?;
                let location = entry.attr_value(dw::DW_AT_location)?.exprloc_value()?;
                let address = self.address(unit, location)?;
                Some((self.name(unit, &entry)?, address, self.target(unit, &entry, dw::DW_AT_type)?))
            };
            if let Some((name, address, target)) = found() {
                let of = self.of(target, types);
                globals.push(Global { name, address, of });
            }
        }
        self.finish(types);
        globals
    }

    fn address(&self, unit: &Unit<Slice<'d>>, location: Expression<Slice<'d>>) -> Option<u64> {
        match location.operations(unit.encoding()).next().ok()?? {
            Operation::Address { address } => Some(address),
            Operation::AddressIndex { index } => self.dwarf.address(unit, index).ok(),
            _ => None,
        }
    }

    /// The struct of this name.
    pub(super) fn named(&mut self, name: &str, types: &mut Types) -> Option<TypeRef> {
        let offset = *self.structs.get(name)?;
        let of = self.of(offset, types);
        self.finish(types);
        Some(of)
    }

    /// The names of all structs that begin so, sorted.
    pub(super) fn struct_names(&self, prefix: &str) -> Vec<String> {
        let mut names: Vec<String> = self.structs.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
        names.sort_unstable();
        names
    }

    /// The variables of the function with this entry that are in memory at `pc`, inlined calls included.
    pub(super) fn variables(&mut self, entry: u64, pc: u64, types: &mut Types) -> Vec<Variable> {
        let mut variables = Vec::new();
        self.each_variable(entry, |debug, unit, child, declared| {
            let (is_stack_object, pieces) = debug.pieces(unit, child, pc)?;
            let target = debug.target(unit, declared, dw::DW_AT_type)?;
            variables.push((debug.name(unit, declared)?, target, is_stack_object, pieces));
            Some(())
        });
        let typed = variables.into_iter().map(|(name, target, is_stack_object, pieces)| Variable {
            name,
            of: self.of(target, types),
            pieces,
            is_stack_object,
        });
        let variables = typed.collect();
        self.finish(types);
        variables
    }

    /// The types of all variables of a function, whether they are in memory or not.
    pub(super) fn variable_types(&mut self, entry: u64, types: &mut Types) -> Vec<TypeRef> {
        let mut targets = Vec::new();
        self.each_variable(entry, |debug, unit, _, declared| {
            targets.push(debug.target(unit, declared, dw::DW_AT_type)?);
            Some(())
        });
        let list = targets.into_iter().map(|target| self.of(target, types)).collect();
        self.finish(types);
        list
    }

    /// The variables that closures of a function capture, by offset; since Go 1.23.
    pub(super) fn captures(&mut self, entry: u64, types: &mut Types) -> Vec<Capture> {
        let mut captures = Vec::new();
        self.each_variable(entry, |debug, unit, child, declared| {
            let offset = debug.number(child, go::CLOSURE_OFFSET)?;
            captures.push((debug.name(unit, declared)?, debug.target(unit, declared, dw::DW_AT_type)?, offset));
            Some(())
        });
        let mut captures: Vec<Capture> =
            captures.into_iter().map(|(name, target, offset)| Capture { name, of: self.of(target, types), offset }).collect();
        self.finish(types);
        captures.sort_by_key(|capture| capture.offset);
        captures
    }

    /// Visits every variable and parameter below a function: the entry itself, and the one that declares its name and type,
    /// which is another one where a call was inlined.
    fn each_variable(&self, entry: u64, mut visit: impl FnMut(&Self, &Unit<Slice<'d>>, &Entry<'d>, &Entry<'d>) -> Option<()>) {
        let mut walk = || -> Option<()> {
            let (number, offset) = self.functions.get(&entry).copied()?;
            let unit = self.units.get(number as usize)?;
            let mut entries = unit.entries_raw(Some(offset)).ok()?;
            let mut child = DebuggingInformationEntry::null();
            let level = entries.next_depth();
            entries.read_entry(&mut child).ok()?;
            for _ in 0..MAX_ENTRIES {
                if entries.is_empty() || entries.next_depth() <= level {
                    return Some(());
                }
                if !entries.read_entry(&mut child).ok()? {
                    continue;
                }
                if !matches!(child.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter) {
                    continue;
                }
                match self.target(unit, &child, dw::DW_AT_abstract_origin).and_then(|origin| self.entry(origin)) {
                    Some((number, origin)) => visit(self, self.units.get(number as usize)?, &child, &origin),
                    None => visit(self, unit, &child, &child),
                };
            }
            Some(())
        };
        walk();
    }

    /// Where a variable is in memory at `pc`, and whether it is there in the whole function.
    fn pieces(&self, unit: &Unit<Slice<'d>>, entry: &Entry<'d>, pc: u64) -> Option<(bool, Vec<Piece>)> {
        let value = entry.attr_value(dw::DW_AT_location)?;
        if let Some(location) = value.exprloc_value() {
            return Some((true, pieces(unit, location)));
        }
        let mut list = self.dwarf.attr_locations(unit, value).ok()??;
        while let Some(range) = list.next().ok()? {
            if (range.range.begin..range.range.end).contains(&pc) {
                return Some((false, pieces(unit, range.data)));
            }
        }
        None
    }
}

/// The parts of a location that are in memory.
fn pieces(unit: &Unit<Slice<'_>>, location: Expression<Slice<'_>>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut operations = location.operations(unit.encoding());
    let (mut offset, mut place) = (0u64, None);
    while let Ok(Some(operation)) = operations.next() {
        match operation {
            Operation::CallFrameCFA => place = Some(0i64),
            Operation::FrameOffset { offset } => place = Some(offset),
            Operation::PlusConstant { value } => place = place.map(|place: i64| place.wrapping_add(value as i64)),
            Operation::Piece { size_in_bits, .. } => {
                let size = size_in_bits / 8;
                pieces.extend(place.take().map(|from_cfa| Piece { offset, size: Some(size), from_cfa }));
                offset = offset.wrapping_add(size);
            }
            _ => place = None,
        }
    }
    pieces.extend(place.map(|from_cfa| Piece { offset, size: None, from_cfa }));
    pieces
}

/// The package of a qualified name: all before the first dot after the last slash that is outside of type arguments.
pub(super) fn package_of(name: &str) -> Option<String> {
    let bare = name.split('[').next().unwrap_or(name);
    let start = bare.rfind('/').map_or(0, |slash| slash.wrapping_add(1));
    let dot = bare.get(start..)?.find('.')?;
    bare.get(..start.wrapping_add(dot)).filter(|package| !package.is_empty()).map(str::to_owned)
}

fn damaged(error: gimli::Error) -> Error {
    Error::executable(format!("damaged debugging information in the executable: {error}"))
}
