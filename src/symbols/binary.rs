//! Looks up addresses in an executable.

use super::Functions;
use super::dwarf::Lines;
use super::table::Table;
use crate::error::{Error, Result};
use object::{BinaryFormat, Object, ObjectSegment};

/// An executable, with the separate file of its debug information if there is one.
pub(super) struct Binary<'a> {
    file: object::File<'a>,
    debug: Option<object::File<'a>>,
    segments: Segments,
}

/// The parts of a file that are mapped: offset, size and address.
pub(super) struct Segments(Vec<(u64, u64, u64)>);

impl Segments {
    pub(super) fn of(file: &object::File<'_>) -> Self {
        let segments = file.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            (offset, size, segment.address())
        });
        Self(segments.collect())
    }

    /// Converts an offset in the file to the address that symbols use.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        self.0.iter().find_map(|&(start, size, address)| {
            let inside = offset.checked_sub(start)?;
            (inside < size).then(|| address.wrapping_add(inside))
        })
    }
}

impl<'a> Binary<'a> {
    /// Reads the headers of an ELF, Mach-O or PE file. Fails when it is not one of these.
    pub(super) fn parse(bytes: &'a [u8], debug: Option<&'a [u8]>) -> Result<Self> {
        let file = object::File::parse(bytes)
            .map_err(|error| Error::other_kind(format!("it is not an executable ({error})")))?;
        let segments = Segments::of(&file);
        let debug = debug.and_then(|bytes| object::File::parse(bytes).ok());
        Ok(Self { file, debug, segments })
    }

    /// Converts an offset in the file to the address that symbols use. A file that has only debug
    /// information does not contain its segments.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        if self.file.format() == BinaryFormat::Pe {
            // A PE file is mapped by its sections: the offset is one from the first address.
            return Some(self.file.relative_address_base().wrapping_add(offset));
        }
        let is_debug = || self.segments.0.iter().all(|(_, size, _)| *size == 0);
        self.segments.address(offset).or_else(|| is_debug().then_some(offset))
    }

    /// The functions at these addresses, which must be sorted.
    pub(super) fn functions(&self, addresses: &[u64]) -> Vec<Functions> {
        let table = Table::of(std::iter::once(&self.file).chain(&self.debug));
        let with_lines = self.debug.iter().chain([&self.file]).find_map(Lines::sections);
        let lines = with_lines.as_ref().and_then(Lines::open);
        let look_up = |&address: &u64| {
            let symbol = table.name(address);
            let mut functions =
                lines.as_ref().and_then(|lines| lines.functions(address)).unwrap_or_default();
            // The linker, and so the profiler, knows the function by its symbol.
            match (functions.first_mut(), symbol) {
                (Some(first), Some(name)) => first.name = name,
                (None, Some(name)) => {
                    functions.push(super::Function { name, ..Default::default() })
                }
                (Some(_) | None, None) => {}
            }
            functions.retain(|function| !function.name.is_empty());
            functions
        };
        addresses.iter().map(look_up).collect()
    }
}
