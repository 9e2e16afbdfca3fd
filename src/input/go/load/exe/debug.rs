//! The DWARF data of a program: types that have no descriptor, globals (here), and the variables
//! of functions (`variables`).
//!
//! Facts about Go's DWARF are from `cmd/link/internal/ld/dwarf.go` and `cmd/internal/dwarf`,
//! verified on executables of Go 1.19 to 1.27: version 4 up to 1.24 and in Mach-O, 5 since 1.25.

mod sections;
mod variables;

use super::image::Image;
use super::types::{Field, Kind, Type, TypeRef, Types};
use crate::error::{Error, Result};
use gimli::{
    AttributeValue, DebugInfoOffset, DebuggingInformationEntry, DwAt, Dwarf, EndianSlice,
    Expression, Operation, RunTimeEndian, Section, Unit, UnitOffset, constants as dw,
};
use rustc_hash::FxHashMap;
pub(super) use sections::Sections;
use std::cell::Cell;
use variables::Known;
pub(super) use variables::{Capture, Piece, Variable};

type Slice<'d> = EndianSlice<'d, RunTimeEndian>;
type Entry<'d> = DebuggingInformationEntry<Slice<'d>>;

/// Attributes of Go (`cmd/internal/dwarf`).
mod go {
    use gimli::DwAt;
    pub(super) const KIND: DwAt = DwAt(0x2900);
    pub(super) const KEY: DwAt = DwAt(0x2901);
    pub(super) const ELEMENT: DwAt = DwAt(0x2902);
    /// The offset of the type's descriptor from the first descriptor; 0 if the type has none.
    pub(super) const RUNTIME_TYPE: DwAt = DwAt(0x2904);
    /// Since 1.23: where a closure keeps a variable that it captured.
    pub(super) const CLOSURE_OFFSET: DwAt = DwAt(0x2907);
}

/// A global variable. The address is a link address.
#[derive(Clone, Debug)]
pub(super) struct Global {
    pub(super) name: String,
    pub(super) address: u64,
    pub(super) ty: TypeRef,
}

pub(super) struct Debug<'d> {
    dwarf: Dwarf<Slice<'d>>,
    units: Vec<Unit<Slice<'d>>>,
    /// Unit and DWARF entry of each function, by the address of its first instruction.
    functions: FxHashMap<u64, (u32, UnitOffset)>,
    /// Variables outside functions.
    globals: Vec<(u32, UnitOffset)>,
    /// The offset of each struct in `.debug_info`, by name.
    structs: FxHashMap<String, usize>,
    /// Link address of the first descriptor.
    descriptors: u64,
    pointer_size: u64,
    /// The types that have been requested, by the offset of their entry in `.debug_info`.
    known: FxHashMap<usize, TypeRef>,
    /// Types whose parts have not been read yet.
    open: Vec<(usize, TypeRef)>,
    /// Variables of functions that have been read.
    variables: Known,
    /// The number of entries and locations that may still be read. In a hostile file each could
    /// contain all others.
    budget: Cell<u64>,
}

/// The longest chain of typedefs that is followed.
const MAX_TYPEDEFS: usize = 16;
/// The most entries of one function that are read.
const MAX_ENTRIES: usize = 1 << 16;
/// The most entries and locations that are read beyond one for each byte of `.debug_info`. Stacks
/// of many functions need to read entries again.
const MAX_READ_AGAIN: u64 = 1 << 24;

impl<'d> Debug<'d> {
    /// Finds all units, functions and globals. Fails with `Corrupt` if the structure of
    /// `.debug_info` is damaged.
    pub(super) fn new(
        sections: &'d Sections<'_>,
        image: &Image<'_>,
        descriptors: u64,
    ) -> Result<Self> {
        let dwarf = sections.dwarf();
        let length = dwarf.debug_info.reader().len() as u64;
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
            variables: Known::default(),
            budget: Cell::new(MAX_READ_AGAIN.saturating_add(length)),
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

    /// Records the functions and the globals of a unit.
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
                        let entry_address = entry
                            .attr_value(dw::DW_AT_low_pc)
                            .map(|value| self.dwarf.attr_address(unit, value));
                        if let Some(address) = entry_address.transpose()?.flatten() {
                            self.functions.entry(address).or_insert((number, offset));
                        }
                    }
                    dw::DW_TAG_structure_type => {
                        if let (Some(name), Some(place)) =
                            (self.name(unit, &entry), offset.to_debug_info_offset(&unit.header))
                        {
                            self.structs.entry(name).or_insert(place.0);
                        }
                    }
                    dw::DW_TAG_variable if entry.attr(dw::DW_AT_location).is_some() => {
                        self.globals.push((number, offset))
                    }
                    _ => {}
                }
            } else if let Some(abbreviation) = entries.read_abbreviation()? {
                entries.skip_attributes(abbreviation.attributes())?;
            }
        }
        Ok(())
    }

    /// Takes `count` from the budget. `None` if too little is left.
    fn spend(&self, count: u64) -> Option<()> {
        self.budget.set(self.budget.get().checked_sub(count)?);
        Some(())
    }

    fn name(&self, unit: &Unit<Slice<'d>>, entry: &Entry<'d>) -> Option<String> {
        let value = entry.attr_value(dw::DW_AT_name)?;
        let name = self.dwarf.attr_string(unit, value).ok()?;
        Some(String::from_utf8_lossy(name.slice()).into_owned())
    }

    /// The offset in `.debug_info` that an attribute refers to.
    fn target(&self, unit: &Unit<Slice<'d>>, entry: &Entry<'d>, name: DwAt) -> Option<usize> {
        match entry.attr_value(name)? {
            AttributeValue::UnitRef(offset) => {
                offset.to_debug_info_offset(&unit.header).map(|offset| offset.0)
            }
            AttributeValue::DebugInfoRef(offset) => Some(offset.0),
            _ => None,
        }
    }

    /// The entry at an offset in `.debug_info`, with the number of its unit.
    fn entry(&self, offset: usize) -> Option<(u32, Entry<'d>)> {
        let start = |unit: &Unit<Slice<'d>>| {
            unit.header.debug_info_offset().map_or(usize::MAX, |offset| offset.0)
        };
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
        let descriptor = self
            .entry(offset)
            .and_then(|(_, entry)| self.descriptor(&entry))
            .and_then(|at| types.at(at));
        let ty = descriptor.unwrap_or_else(|| {
            let ty = types.add(Type::default());
            self.open.push((offset, ty));
            ty
        });
        self.known.insert(offset, ty);
        ty
    }

    /// The link address of the descriptor of a type entry.
    fn descriptor(&self, entry: &Entry<'d>) -> Option<u64> {
        let offset = match entry.attr_value(go::RUNTIME_TYPE)? {
            AttributeValue::Addr(offset) | AttributeValue::Udata(offset) => offset,
            value => value.udata_value()?,
        };
        (offset != 0).then(|| self.descriptors.wrapping_add(offset))
    }

    /// Reads the parts of all types that have been requested.
    pub(super) fn finish(&mut self, types: &mut Types) {
        while let Some((offset, ty)) = self.open.pop() {
            if let Some(described) = self.describe(offset, types) {
                types.set(ty, described);
            }
        }
    }

    fn describe(&mut self, offset: usize, types: &mut Types) -> Option<Type> {
        let (mut number, mut entry) = self.entry(offset)?;
        let name = self.name(self.units.get(number as usize)?, &entry).unwrap_or_default();
        for _ in 0..MAX_TYPEDEFS {
            if entry.tag() != dw::DW_TAG_typedef
                || matches!(self.number(&entry, go::KIND), Some(18 | 20 | 21))
            {
                break;
            }
            let target = self.target(self.units.get(number as usize)?, &entry, dw::DW_AT_type)?;
            (number, entry) = self.entry(target)?;
        }
        let size = self.number(&entry, dw::DW_AT_byte_size);
        let word = self.pointer_size;
        let (kind, size) = self.kind(number, &entry, size, types)?;
        let package = match &kind {
            Kind::Struct { .. } | Kind::Number(_) | Kind::String if !name.contains(' ') => {
                package_of(&name)
            }
            _ => None,
        };
        let direct = match &kind {
            Kind::Pointer { .. }
            | Kind::Map { .. }
            | Kind::Channel { .. }
            | Kind::Function
            | Kind::UnsafePointer => true,
            Kind::Struct { fields } => {
                size == word
                    && fields.iter().filter(|field| field.offset == 0).count() == 1
                    && fields.len() == 1
            }
            _ => false,
        };
        Some(Type { name, package, size, kind, direct, ..Type::default() })
    }

    fn number(&self, entry: &Entry<'d>, name: DwAt) -> Option<u64> {
        entry.attr_value(name)?.udata_value()
    }

    fn kind(
        &mut self,
        number: u32,
        entry: &Entry<'d>,
        size: Option<u64>,
        types: &mut Types,
    ) -> Option<(Kind, u64)> {
        let word = self.pointer_size;
        let target =
            |debug: &Self, name| debug.target(debug.units.get(number as usize)?, entry, name);
        let go_kind = self.number(entry, go::KIND).unwrap_or(0);
        let mut part = |debug: &mut Self, name| match target(debug, name) {
            Some(offset) => debug.of(offset, types),
            None => Types::UNKNOWN,
        };
        Some(match (entry.tag(), go_kind) {
            (dw::DW_TAG_base_type, kind) => (Kind::Number(kind as u8), size?),
            (dw::DW_TAG_structure_type, 24) => (Kind::String, word.wrapping_mul(2)),
            (dw::DW_TAG_structure_type, 23) => {
                (Kind::Slice { element: part(self, go::ELEMENT) }, word.wrapping_mul(3))
            }
            (dw::DW_TAG_structure_type, _) => {
                (Kind::Struct { fields: self.fields(number, entry, types)? }, size?)
            }
            (dw::DW_TAG_pointer_type, 26) => (Kind::UnsafePointer, word),
            (dw::DW_TAG_pointer_type, _) if target(self, dw::DW_AT_type).is_none() => {
                (Kind::UnsafePointer, word)
            }
            (dw::DW_TAG_pointer_type, _) => {
                (Kind::Pointer { element: part(self, dw::DW_AT_type) }, word)
            }
            (dw::DW_TAG_subroutine_type, _) => (Kind::Function, word),
            (dw::DW_TAG_array_type, _) => {
                let element = part(self, dw::DW_AT_type);
                let length = self.length(number, entry)?;
                (Kind::Array { element, length }, size?)
            }
            (dw::DW_TAG_typedef, 18) => (Kind::Channel { element: part(self, go::ELEMENT) }, word),
            (dw::DW_TAG_typedef, 20) => {
                let base = target(self, dw::DW_AT_type).and_then(|offset| self.entry(offset));
                let name = base.and_then(|(number, entry)| {
                    self.name(self.units.get(number as usize)?, &entry)
                });
                (
                    Kind::Interface {
                        has_methods: name.is_none_or(|name| name != "runtime.eface"),
                    },
                    word.wrapping_mul(2),
                )
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
            self.spend(1)?;
            let depth = entries.next_depth();
            if entries.read_entry(&mut child).ok()? && depth == level {
                children.push(child.clone());
            }
        }
        Some(children)
    }

    fn fields(
        &mut self,
        number: u32,
        entry: &Entry<'d>,
        types: &mut Types,
    ) -> Option<Box<[Field]>> {
        let mut fields = Vec::new();
        for child in self.children(number, entry)? {
            if child.tag() != dw::DW_TAG_member {
                continue;
            }
            let unit = self.units.get(number as usize)?;
            let (name, target) =
                (self.name(unit, &child)?, self.target(unit, &child, dw::DW_AT_type)?);
            let offset = self.number(&child, dw::DW_AT_data_member_location)?;
            fields.push(Field { name: name.into(), ty: self.of(target, types), offset });
        }
        Some(fields.into())
    }

    fn length(&self, number: u32, entry: &Entry<'d>) -> Option<u64> {
        let children = self.children(number, entry)?;
        let range = children.iter().find(|child| child.tag() == dw::DW_TAG_subrange_type)?;
        self.number(range, dw::DW_AT_count)
            .or_else(|| self.number(range, dw::DW_AT_upper_bound)?.checked_add(1))
    }

    pub(super) fn globals(&mut self, types: &mut Types) -> Vec<Global> {
        let list = std::mem::take(&mut self.globals);
        let mut globals = Vec::with_capacity(list.len());
        for (number, offset) in list {
            let found = || {
                let unit = self.units.get(number as usize)?;
                let entry = unit.entry(offset).ok()?;
                let location = entry.attr_value(dw::DW_AT_location)?.exprloc_value()?;
                let address = self.address(unit, location)?;
                Some((
                    self.name(unit, &entry)?,
                    address,
                    self.target(unit, &entry, dw::DW_AT_type)?,
                ))
            };
            if let Some((name, address, target)) = found() {
                let ty = self.of(target, types);
                globals.push(Global { name, address, ty });
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

    pub(super) fn named(&mut self, name: &str, types: &mut Types) -> Option<TypeRef> {
        let offset = *self.structs.get(name)?;
        let ty = self.of(offset, types);
        self.finish(types);
        Some(ty)
    }

    /// The names of all structs that begin with a prefix, sorted.
    pub(super) fn struct_names(&self, prefix: &str) -> Vec<String> {
        let mut names: Vec<String> =
            self.structs.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
        names.sort_unstable();
        names
    }
}

/// The package of a qualified name: the part before the first dot after the last slash that is
/// outside of type arguments.
pub(super) fn package_of(name: &str) -> Option<String> {
    let bare = name.split('[').next().unwrap_or(name);
    let start = bare.rfind('/').map_or(0, |slash| slash.wrapping_add(1));
    let dot = bare.get(start..)?.find('.')?;
    bare.get(..start.wrapping_add(dot)).filter(|package| !package.is_empty()).map(str::to_owned)
}

fn damaged(error: gimli::Error) -> Error {
    Error::executable(format!("damaged debugging information in the executable: {error}"))
}
