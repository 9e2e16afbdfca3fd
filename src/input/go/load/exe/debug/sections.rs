//! The sections of DWARF, decompressed.

use super::super::image::Image;
use super::Slice;
use crate::error::{Error, Result};
use flate2::bufread::ZlibDecoder;
use gimli::{Dwarf, DwarfSections, EndianSlice, RunTimeEndian, Section, SectionId};
use object::{CompressionFormat, Object, ObjectSection};
use std::borrow::Cow;
use std::io::Read;

#[derive(Debug)]
pub(in super::super) struct Sections<'a> {
    sections: DwarfSections<Cow<'a, [u8]>>,
    endian: RunTimeEndian,
}

/// The largest accepted compression ratio of a section. zlib itself can reach 1032.
const MAX_RATIO: u64 = 64;

impl<'a> Sections<'a> {
    /// Decompresses the sections of DWARF. `None` if there is no `.debug_info`. Fails with
    /// `Corrupt` if a section cannot be decompressed.
    pub(in super::super) fn load(image: &Image<'a>) -> Result<Option<Self>> {
        let load = |id: SectionId| {
            if IDS.contains(&id) { section(image, id.name()) } else { Ok(Cow::default()) }
        };
        let endian = if image.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
        let sections = Self { sections: DwarfSections::load(load)?, endian };
        let has_info = !sections.dwarf().debug_info.reader().is_empty();
        Ok(has_info.then_some(sections))
    }

    pub(super) fn dwarf(&self) -> Dwarf<Slice<'_>> {
        self.sections.borrow(|section| EndianSlice::new(section, self.endian))
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

/// A section by its ELF name. Also finds it as `.zdebug_…`, and as Mach-O spells it in 16 bytes.
fn section<'a>(image: &Image<'a>, name: &str) -> Result<Cow<'a, [u8]>> {
    let old = name.replacen(".debug_", ".zdebug_", 1);
    let mach = name.replacen(".debug_", "__debug_", 1);
    let old_mach = name.replacen(".debug_", "__zdebug_", 1);
    let cut = |name: &str| name.get(..16).unwrap_or(name).to_owned();
    let names = [name.to_owned(), old, cut(&mach), cut(&old_mach)];
    let found = image
        .file
        .sections()
        .find(|section| section.name().is_ok_and(|found| names.iter().any(|name| name == found)));
    let Some(section) = found else { return Ok(Cow::default()) };
    let damaged =
        |why: String| Error::executable(format!("damaged section {name} of the executable: {why}"));
    let stored = section.compressed_data().map_err(|error| damaged(error.to_string()))?;
    let (data, size) = match (stored.format, stored.data.strip_prefix(b"ZLIB")) {
        (CompressionFormat::None, Some(rest)) => {
            let Some((size, data)) = rest.split_first_chunk() else {
                return Err(damaged("its header is cut short".to_owned()));
            };
            (data, u64::from_be_bytes(*size))
        }
        (CompressionFormat::None, None) => return Ok(Cow::Borrowed(stored.data)),
        (CompressionFormat::Zlib, _) => (stored.data, stored.uncompressed_size),
        (format, _) => {
            return Err(damaged(format!("its compression ({format:?}) is not supported")));
        }
    };
    if size > (data.len() as u64).saturating_mul(MAX_RATIO) {
        return Err(damaged(format!("{} bytes claim to be {size}", data.len())));
    }
    let mut bytes = Vec::new();
    ZlibDecoder::new(data)
        .take(size)
        .read_to_end(&mut bytes)
        .map_err(|error| damaged(error.to_string()))?;
    Ok(Cow::Owned(bytes))
}
