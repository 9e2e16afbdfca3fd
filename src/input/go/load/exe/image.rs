//! The memory of a program as its executable describes it: segments at their link addresses.

use crate::error::{Error, Result};
use object::macho::MachHeader64;
use object::read::macho::{Fixup, MachOFile};
use object::{
    Architecture, Endianness, FileKind, Object, ObjectSection, ObjectSegment, ObjectSymbol,
    RelocationFlags, elf,
};
use std::borrow::Cow;

/// The segments and sections of an executable.
///
/// All addresses are link addresses. The words of a position-independent executable are relocated
/// for a load address of 0, so that pointers hold link addresses, too.
pub(super) struct Image<'a> {
    pub(super) file: object::File<'a>,
    /// Bytes of a pointer: 4 or 8.
    pub(super) pointer_size: u64,
    pub(super) big_endian: bool,
    segments: Vec<Segment<'a>>,
}

struct Segment<'a> {
    address: u64,
    /// The part that the file stores. Reads beyond it, where a loader puts zeros, return `None`.
    bytes: Cow<'a, [u8]>,
    size: u64,
}

/// The relocation type that sets a word to a link address (`R_*_RELATIVE`), for the architectures
/// of Go with explicit addends.
fn relative(architecture: Architecture) -> Option<elf::RelocationType> {
    match architecture {
        Architecture::X86_64 => Some(elf::R_X86_64_RELATIVE),
        Architecture::Aarch64 => Some(elf::R_AARCH64_RELATIVE),
        Architecture::S390x => Some(elf::R_390_RELATIVE),
        Architecture::PowerPc64 => Some(elf::R_PPC64_RELATIVE),
        Architecture::Riscv64 => Some(elf::R_RISCV_RELATIVE),
        _ => None,
    }
}

/// Memory of a program by its link addresses.
pub(super) trait Memory {
    /// The executable, which has the size and the byte order of words.
    fn image(&self) -> &Image<'_>;

    /// The bytes from an address to the end of the stored part of memory that it lies in.
    fn tail(&self, address: u64) -> Option<&[u8]>;

    /// Whether an address lies in a part of memory, stored or not.
    fn contains(&self, address: u64) -> bool;

    fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        self.tail(address)?.get(..usize::try_from(length).ok()?)
    }

    /// An unsigned number of 1 to 8 bytes.
    fn number(&self, address: u64, size: u64) -> Option<u64> {
        Some(number(self.bytes(address, size)?, self.image().big_endian))
    }

    /// A word of pointer size. Addresses are link addresses.
    fn word(&self, address: u64) -> Option<u64> {
        self.number(address, self.image().pointer_size)
    }
}

impl Memory for Image<'_> {
    fn image(&self) -> &Image<'_> {
        self
    }

    fn tail(&self, address: u64) -> Option<&[u8]> {
        let segment = self.segments.get(self.segment_at(address)?)?;
        segment.bytes.get(usize::try_from(address.wrapping_sub(segment.address)).ok()?..)
    }

    fn contains(&self, address: u64) -> bool {
        self.segment_at(address).is_some()
    }
}

impl<'a> Image<'a> {
    /// Reads the headers of an ELF, Mach-O or PE file and applies its relative relocations. Fails
    /// with `Unsupported` if the file is not an executable of one of these kinds, with `Corrupt` if
    /// its headers are damaged.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let file = object::File::parse(bytes).map_err(|error| match FileKind::parse(bytes) {
            Ok(FileKind::Elf32 | FileKind::Elf64 | FileKind::MachO32 | FileKind::MachO64)
            | Ok(FileKind::Pe32 | FileKind::Pe64) => {
                corrupt(&error).hint("the file may be truncated")
            }
            _ => Error::executable("not an executable")
                .expected("an ELF, Mach-O or PE file")
                .hint("use the executable that wrote the dump"),
        })?;
        let mut segments = Vec::new();
        for segment in file.segments() {
            let data = segment.data().map_err(|error| corrupt(&error))?;
            segments.push(Segment {
                address: segment.address(),
                bytes: Cow::Borrowed(data),
                size: segment.size(),
            });
        }
        segments.sort_by_key(|segment| segment.address);
        let pointer_size = if file.is_64() { 8 } else { 4 };
        let big_endian = file.endianness() == Endianness::Big;
        let mut image = Self { file, pointer_size, big_endian, segments };
        image.relocate();
        Ok(image)
    }

    /// Sets the words that the dynamic linker would set to link addresses.
    ///
    /// Relocations with implicit addends (386, ARM) need nothing: the word already holds the
    /// address.
    fn relocate(&mut self) {
        let words = match &self.file {
            object::File::MachO64(file) => chained_fixups(file).unwrap_or_default(),
            file => {
                let relative = relative(file.architecture());
                let is_relative = |flags| matches!(flags, RelocationFlags::Elf { r_type, .. } if Some(r_type) == relative);
                let relocations = file.dynamic_relocations().into_iter().flatten();
                let relocations = relocations.filter(|(_, found)| {
                    !found.has_implicit_addend() && is_relative(found.flags())
                });
                relocations
                    .map(|(address, relocation)| (address, relocation.addend() as u64))
                    .collect()
            }
        };
        for (address, value) in words {
            self.set_word(address, value);
        }
    }

    fn set_word(&mut self, address: u64, value: u64) -> Option<()> {
        let (size, big_endian) = (usize::try_from(self.pointer_size).ok()?, self.big_endian);
        let index = self.segment_at(address)?;
        let segment = self.segments.get_mut(index)?;
        let start = usize::try_from(address.wrapping_sub(segment.address)).ok()?;
        let end = start.checked_add(size)?;
        segment.bytes.get(start..end)?;
        let place = segment.bytes.to_mut().get_mut(start..end)?;
        if big_endian {
            place.copy_from_slice(value.to_be_bytes().get(8usize.checked_sub(size)?..)?)
        } else {
            place.copy_from_slice(value.to_le_bytes().get(..size)?)
        }
        Some(())
    }

    fn segment_at(&self, address: u64) -> Option<usize> {
        let after = self.segments.partition_point(|segment| segment.address <= address);
        let index = after.checked_sub(1)?;
        let segment = self.segments.get(index)?;
        (address.wrapping_sub(segment.address) < segment.size).then_some(index)
    }

    /// Address and size of the first section with one of these names.
    pub(super) fn section(&self, names: &[&str]) -> Option<(u64, u64)> {
        names.iter().find_map(|name| {
            let section = self.file.section_by_name(name)?;
            Some((section.address(), section.size()))
        })
    }

    /// The section of constants, which contains the text of strings: its address in the process and
    /// a copy.
    pub(super) fn constants(&self, slide: u64) -> (u64, Box<[u8]>) {
        let found = self.section(&[".rodata", "__rodata", ".rdata"]);
        let bytes = found.and_then(|(address, size)| {
            let stored = self.tail(address)?;
            stored.get(..usize::try_from(size).ok()?.min(stored.len()))
        });
        (
            found.map_or(0, |(address, _)| address.wrapping_add(slide)),
            bytes.unwrap_or_default().into(),
        )
    }

    /// The address of a symbol, with or without the underscore of Mach-O.
    pub(super) fn symbol(&self, name: &str) -> Option<u64> {
        let is = |found: &str| found == name || found.strip_prefix('_') == Some(name);
        self.file
            .symbols()
            .find(|symbol| symbol.name().is_ok_and(is))
            .map(|symbol| symbol.address())
    }

    /// Returns the addresses at which an aligned word is stored.
    pub(super) fn places_of(&self, word: u64) -> impl Iterator<Item = u64> {
        let bytes = if self.big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
        let width = self.pointer_size as usize;
        let skipped = if self.big_endian { bytes.len().saturating_sub(width) } else { 0 };
        let wanted = bytes.get(skipped..skipped.saturating_add(width)).unwrap_or_default().to_vec();
        self.find(wanted, self.pointer_size)
    }

    /// The addresses, multiples of `alignment`, at which bytes are stored.
    pub(super) fn find(&self, wanted: Vec<u8>, alignment: u64) -> impl Iterator<Item = u64> {
        let finder = memchr::memmem::Finder::new(&wanted).into_owned();
        self.segments.iter().flat_map(move |segment| {
            let places: Vec<u64> = finder
                .find_iter(&segment.bytes)
                .map(|at| segment.address.wrapping_add(at as u64))
                .filter(|at| at.is_multiple_of(alignment))
                .collect();
            places
        })
    }
}

/// The unsigned number that bytes represent.
pub(super) fn number(bytes: &[u8], big_endian: bool) -> u64 {
    let add = |value: u64, byte: &u8| value.wrapping_shl(8) | u64::from(*byte);
    if big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}

/// An unsigned LEB128 number of at most 32 bits, taken from the front.
pub(super) fn uvarint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in [0u32, 7, 14, 21, 28] {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The words that the chained fixups of a Mach-O file rebase, with their link addresses. `None` if
/// it has none.
fn chained_fixups(file: &MachOFile<'_, MachHeader64<Endianness>>) -> Option<Vec<(u64, u64)>> {
    let endian = file.endian();
    let mut commands = file.macho_load_commands().ok()?;
    let command = loop {
        if let Some(command) = commands.next().ok()??.dyld_chained_fixups().ok()? {
            break command;
        }
    };
    let fixups = command.chained_fixups(endian, file.data()).ok()?;
    // Pointers are counted from the beginning of the image, which is that of its first segment with
    // contents.
    let is_text = |segment: &object::read::macho::MachOSegment<'_, '_, _>| {
        segment.name().ok().flatten() == Some("__TEXT")
    };
    let base = file.segments().find(is_text)?.address();
    let mut words = Vec::new();
    let mut starts = fixups.segments(endian).ok()?;
    while let Some(start) = starts.next().ok()? {
        let Some(segment) = file.segments().nth(start.index() as usize) else { continue };
        let mut chain = start.fixups(endian, base, segment.data().ok()?);
        while let Some((offset, fixup)) = chain.next().ok()? {
            if let Fixup::Rebase(rebase) = fixup {
                words.push((
                    segment.address().wrapping_add(offset),
                    base.wrapping_add(rebase.target_offset),
                ));
            }
        }
    }
    Some(words)
}

fn corrupt(error: &object::Error) -> Error {
    Error::executable(format!("damaged executable: {error}"))
}
