//! The sections of DWARF, decompressed.

use super::super::image::Image;
use super::Slice;
use crate::error::{Error, Result};
use flate2::bufread::ZlibDecoder;
use gimli::{EndianSlice, RunTimeEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection};
use std::borrow::Cow;
use std::io::Read;

#[derive(Debug, Default)]
pub(in super::super) struct Sections<'a> {
    list: Vec<(&'static str, Cow<'a, [u8]>)>,
    big_endian: bool,
}

/// The most bytes that each byte of a compressed section may become; zlib reaches 1032.
const MAX_RATIO: u64 = 64;

impl<'a> Sections<'a> {
    /// Decompresses the sections of DWARF. `None` if there is no `.debug_info`.
    ///
    /// # Errors
    /// `Corrupt` if a section cannot be decompressed.
    pub(in super::super) fn load(image: &Image<'a>) -> Result<Option<Self>> {
        let mut sections = Self { list: Vec::new(), big_endian: image.big_endian };
        for name in IDS.iter().map(|id| id.name()) {
            if let Some(bytes) = section(image, name)? {
                sections.list.push((name, bytes));
            }
        }
        let has_info = sections
            .list
            .iter()
            .any(|(name, bytes)| *name == SectionId::DebugInfo.name() && !bytes.is_empty());
        Ok(has_info.then_some(sections))
    }

    pub(super) fn length(&self) -> u64 {
        self.get(SectionId::DebugInfo).len() as u64
    }

    pub(super) fn get(&self, id: SectionId) -> Slice<'_> {
        let bytes = self
            .list
            .iter()
            .find(|(name, _)| *name == id.name())
            .map_or(&[][..], |(_, bytes)| bytes);
        EndianSlice::new(
            bytes,
            if self.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little },
        )
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
    let found = image
        .file
        .sections()
        .find(|section| section.name().is_ok_and(|found| names.iter().any(|name| name == found)));
    let Some(section) = found else { return Ok(None) };
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
        (CompressionFormat::None, None) => return Ok(Some(Cow::Borrowed(stored.data))),
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
    Ok(Some(Cow::Owned(bytes)))
}
