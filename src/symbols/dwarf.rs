//! Debug information: inlined functions, source files and lines.

use super::demangle::demangle;
use super::{Function, Functions};
use crate::source::Limits;
use addr2line::{Context, LookupResult};
use gimli::{Dwarf, DwarfSections, EndianSlice, RunTimeEndian};
use object::read::CompressionFormat;
use object::{Object, ObjectSection};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::Read;

type Bytes<'s> = EndianSlice<'s, RunTimeEndian>;

pub(super) struct Lines<'s> {
    context: Context<Bytes<'s>>,
    /// Whether each unit may be read, by offset, for units whose nesting has been measured.
    units: RefCell<rustc_hash::FxHashMap<usize, bool>>,
}

/// The sections of debug information, decompressed.
pub(super) struct Sections<'a> {
    sections: DwarfSections<Cow<'a, [u8]>>,
    endian: RunTimeEndian,
}

/// The maximum nesting of entries. Compilers nest less. Functions are read by recursion over them.
const DEEPEST: isize = 512;

/// The maximum number of functions that are inlined into each other at one address.
const MOST_INLINED: usize = 128;

impl<'s> Lines<'s> {
    /// The sections of a file, if it has debug information.
    pub(super) fn sections<'a>(file: &object::File<'a>) -> Option<Sections<'a>> {
        file.section_by_name(".debug_info")
            .or_else(|| file.section_by_name("__debug_info"))
            .filter(|section| section.size() > 0)?;
        let endian =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let section = |id: gimli::SectionId| {
            let found = file.section_by_name(id.name());
            Ok::<_, gimli::Error>(found.and_then(|section| contents(&section)).unwrap_or_default())
        };
        Some(Sections { sections: DwarfSections::load(section).ok()?, endian })
    }

    /// Reads the list of units. `None` if it is damaged.
    pub(super) fn open(sections: &'s Sections<'_>) -> Option<Self> {
        let dwarf: Dwarf<Bytes<'s>> =
            sections.sections.borrow(|section| EndianSlice::new(section, sections.endian));
        let context = Context::from_dwarf(dwarf).ok()?;
        Some(Self { context, units: RefCell::default() })
    }

    /// The functions at an address, outermost first. `None` if the address is unknown.
    pub(super) fn functions(&self, address: u64) -> Option<Functions> {
        if !self.is_readable(address) {
            return None;
        }
        let mut frames = self.context.find_frames(address).skip_all_loads().ok()?;
        let mut functions = Vec::new();
        while let Some(frame) = frames.next().ok()? {
            if functions.len() == MOST_INLINED {
                return None;
            }
            let raw = frame.function.as_ref().and_then(|function| function.raw_name().ok());
            let name = raw.map(|name| demangle(&name)).unwrap_or_default();
            let place = frame.location.as_ref();
            let file = place.and_then(|place| place.file).unwrap_or_default().to_owned();
            let line = place.and_then(|place| place.line).unwrap_or(0);
            functions.push(Function { name, file, line });
        }
        functions.reverse();
        Some(functions).filter(|functions| !functions.is_empty())
    }

    /// Whether the unit of an address is nested no deeper than compilers nest.
    fn is_readable(&self, address: u64) -> bool {
        let LookupResult::Output(Some(unit)) = self.context.find_dwarf_and_unit(address) else {
            return true;
        };
        let offset = unit.header.offset();
        *self
            .units
            .borrow_mut()
            .entry(offset.0)
            .or_insert_with(|| is_shallow(&unit).unwrap_or(true))
    }
}

/// Whether a unit is nested no deeper than compilers nest, as far as it can be read.
fn is_shallow<'s>(unit: &gimli::UnitRef<'_, Bytes<'s>>) -> gimli::Result<bool> {
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        if entries.next_depth() > DEEPEST {
            return Ok(false);
        }
        if let Some(abbreviation) = entries.read_abbreviation()? {
            entries.skip_attributes(abbreviation.attributes())?;
        }
    }
    Ok(true)
}

/// The bytes of a section, decompressed unless they would exceed the maximum size of a file.
fn contents<'a>(section: &object::Section<'a, '_>) -> Option<Cow<'a, [u8]>> {
    let stored = section.compressed_data().ok()?;
    let size = stored.uncompressed_size;
    if stored.format == CompressionFormat::None {
        return Some(Cow::Borrowed(stored.data));
    }
    if size > Limits::default().allowed(stored.data.len() as u64) {
        return None;
    }
    let mut bytes = Vec::new();
    let read = match stored.format {
        CompressionFormat::Zlib => {
            flate2::read::ZlibDecoder::new(stored.data).take(size).read_to_end(&mut bytes)
        }
        CompressionFormat::Zstandard => zstd::stream::read::Decoder::new(stored.data)
            .and_then(|decoder| decoder.take(size).read_to_end(&mut bytes)),
        _ => return None,
    };
    read.ok().map(|_| Cow::Owned(bytes))
}
