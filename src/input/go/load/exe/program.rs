//! Facts about an executable: the version of Go, the places of its segments and types, and its
//! functions.
//!
//! Sources: `cmd/link/internal/ld/{data,pcln,symtab}.go`, `runtime/symtab.go` and `debug/buildinfo`
//! of Go 1.18 to 1.27, verified on executables of 1.19 to 1.27 for amd64, 386 and s390x.

use super::functions::Functions;
use super::image::{Image, Memory, uvarint};
use crate::error::{Error, Result};

pub(super) struct Program<'a> {
    pub(super) image: Image<'a>,
    /// The version of Go that the file states, such as `go1.27.3` or `devel go1.28-…`.
    pub(super) version: String,
    pub(super) module: Module,
    /// The source of the module data: its `section`, its `symbol` or a `scan`.
    pub(super) module_by: &'static str,
    pub(super) functions: Functions,
}

/// The addresses in `runtime.moduledata`, as link addresses. Ends are exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Module {
    pub(super) text: (u64, u64),
    pub(super) data: (u64, u64),
    pub(super) bss: (u64, u64),
    pub(super) types: (u64, u64),
    /// The constants that the masks of stack objects are counted from.
    pub(super) constants: u64,
    /// The base address of the tables of functions.
    pub(super) function_data: u64,
}

/// First released version whose layouts are read.
const OLDEST: u32 = 18;

impl<'a> Program<'a> {
    /// Finds the tables of a Go program in an executable. Fails with `Unsupported` if the file is
    /// not an executable, not one of Go, or one of Go 1.17 or older; with `Corrupt` if its tables
    /// contradict each other.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let image = Image::parse(bytes)?;
        let version = build_version(&image).ok_or_else(|| {
            Error::executable("not a Go program")
                .expected("the build information of Go")
                .hint("use the executable that wrote the dump, not a script that starts it or a file with only debugging symbols")
        })?;
        let minor = minor(&version).unwrap_or(u32::MAX);
        if minor < OLDEST {
            return Err(Error::executable(format!(
                "a program of {version}, whose tables dumptool cannot read"
            ))
            .expected("Go 1.18 or later"));
        }
        let tables = function_tables(&image);
        let found = tables.into_iter().find_map(|table| {
            let (address, by) = module_address(&image, table)?;
            Some((table, module(&image, address, minor)?, by))
        });
        let (table, module, module_by) = found.ok_or_else(|| {
            Error::executable(format!("the tables of {version} were not found in the executable"))
                .hint("the file may be packed, or contain only debugging symbols")
        })?;
        let functions = Functions::parse(&image, table, module.text, module.function_data, minor)
            .ok_or_else(|| Error::executable("damaged table of functions"))?;
        Ok(Self { image, version, module, module_by, functions })
    }

    /// Whether a function begins at a link address.
    pub(super) fn is_entry(&self, address: u64) -> bool {
        self.functions.find(&self.image, address).is_some_and(|found| found.entry == address)
    }

    /// Whether the version is 1.`minor_version` or later. Unknown versions count as later.
    pub(super) fn at_least(&self, minor_version: u32) -> bool {
        minor(&self.version).is_none_or(|minor| minor >= minor_version)
    }
}

/// The N of `go1.N…`. `None` if the text does not contain it.
fn minor(version: &str) -> Option<u32> {
    let after = version.split_once("go1.")?.1;
    let digits = after.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

const BUILD_MAGIC: &[u8] = b"\xff Go buildinf:";

/// The version of Go in the build information. Since 1.18 the text itself is there; before, there
/// were pointers to it.
fn build_version(image: &Image<'_>) -> Option<String> {
    let named = image.section(&[".go.buildinfo", "__go_buildinfo"]).map(|(address, _)| address);
    let mut places = named.into_iter().chain(image.find(BUILD_MAGIC.to_vec(), 16));
    places.find_map(|address| {
        let bytes = image.tail(address)?.strip_prefix(BUILD_MAGIC)?;
        let flags = *bytes.get(1)?;
        if flags & 2 == 0 {
            let pointer = image.word(address.wrapping_add(16))?;
            let (data, length) =
                (image.word(pointer)?, image.word(pointer.wrapping_add(image.pointer_size))?);
            return version(image.bytes(data, length)?);
        }
        let mut rest = bytes.get(32usize.saturating_sub(BUILD_MAGIC.len())..)?;
        let length = uvarint(&mut rest)?;
        version(rest.get(..usize::try_from(length).ok()?)?)
    })
}

/// The bytes as a version of Go, if they are one. Programs that search the magic also contain it.
fn version(bytes: &[u8]) -> Option<String> {
    let is_version =
        bytes.len() < 256 && [&b"go1"[..], b"devel "].iter().any(|ty| bytes.starts_with(ty));
    is_version.then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// Magic numbers of the function table since 1.18: 1.18 and 1.19, and 1.20 to 1.27.
const TABLE_MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];

/// The possible addresses of the function table: its section, or every place with such a header.
fn function_tables(image: &Image<'_>) -> Vec<u64> {
    let is_header = |address: u64| {
        let size = image.number(address.wrapping_add(7), 1);
        let magic = image
            .number(address, 4)
            .is_some_and(|magic| TABLE_MAGICS.iter().any(|known| u64::from(*known) == magic));
        magic
            && image.number(address.wrapping_add(4), 2) == Some(0)
            && size == Some(image.pointer_size)
    };
    let named = image
        .section(&[".gopclntab", ".data.rel.ro.gopclntab", "__gopclntab"])
        .map(|(address, _)| address);
    if let Some(address) = named.filter(|address| is_header(*address)) {
        return vec![address];
    }
    let tables = TABLE_MAGICS.into_iter().flat_map(|magic| {
        let magic = if image.big_endian { magic.to_be_bytes() } else { magic.to_le_bytes() };
        let places = image.find(magic.to_vec(), image.pointer_size);
        places.filter(|at| is_header(*at)).take(16)
    });
    tables.collect()
}

/// Position of each word of the structure that is the same in all versions.
mod word {
    pub(super) const PCLNTABLE: u64 = 13;
    pub(super) const MINPC: u64 = 20;
    pub(super) const TEXT: u64 = 22;
    pub(super) const DATA: u64 = 26;
    pub(super) const BSS: u64 = 28;
    pub(super) const AFTER_SEGMENTS: u64 = 32;
}

/// Finds the module data by its section, its symbol, or the required values of its first words.
/// Also returns which of these three led to it.
fn module_address(image: &Image<'_>, table: u64) -> Option<(u64, &'static str)> {
    let size = image.pointer_size;
    let is_module = |address: u64| {
        let word = |number: u64| image.word(address.wrapping_add(number.wrapping_mul(size)));
        let text = word(word::TEXT);
        word(0) == Some(table)
            && text == word(word::MINPC)
            && text.is_some_and(|text| text != 0)
            && word(word::PCLNTABLE).is_some_and(|at| at > table)
    };
    let section = image.section(&[".go.module", "__go_module"]).map(|(address, _)| address);
    let symbol = || image.symbol("runtime.firstmoduledata");
    let scan = || image.places_of(table).find(|at| is_module(*at));
    let named = |address: Option<u64>, by| Some((address.filter(|at| is_module(*at))?, by));
    named(section, "section")
        .or_else(|| named(symbol(), "symbol"))
        .or_else(|| named(scan(), "scan"))
}

/// Reads the module data of version 1.`minor`. `None` if the data contradicts itself, as data of
/// another version does.
fn module(image: &Image<'_>, address: u64, minor: u32) -> Option<Module> {
    let size = image.pointer_size;
    let word = |number: u64| image.word(address.wrapping_add(number.wrapping_mul(size)));
    let pair = |number: u64| {
        Some((word(number)?, word(number.wrapping_add(1))?)).filter(|(start, end)| start <= end)
    };
    let mut next = word::AFTER_SEGMENTS;
    let mut take = |words: u64| {
        let at = next;
        next = next.wrapping_add(words);
        at
    };
    if minor >= 20 {
        take(2); // covctrs, ecovctrs
    }
    take(3); // end, gcdata, gcbss
    let start = word(take(1))?;
    if minor >= 27 {
        take(1); // typedesclen
    }
    let end = word(take(1))?;
    if minor >= 27 {
        take(2); // itaboffset, itabsize
    }
    let (constants, function_data) = (word(take(1))?, word(take(1))?);
    // A segment can state any size in memory. Only its part in the file is searched for types.
    let end = end.min(start.saturating_add(image.tail(start)?.len() as u64));
    if start >= end {
        return None;
    }
    Some(Module {
        text: pair(word::TEXT)?,
        data: pair(word::DATA)?,
        bss: pair(word::BSS)?,
        types: (start, end),
        constants,
        function_data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_looks_for_the_magic_number_is_not_one_of_go() {
        assert_eq!(version(b"the tables of"), None);
        assert_eq!(version(b"go1.27.3").as_deref(), Some("go1.27.3"));
        assert_eq!(version(b"devel go1.28-5ad2e2a").as_deref(), Some("devel go1.28-5ad2e2a"));
    }
}
