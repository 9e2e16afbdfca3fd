//! The parameters of the process: tag 6, the first record.

use super::primitives::{boolean, string, uvarint};
use super::version::Version;
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::record::record;
use crate::model::fields::FieldSink;

record! {
    /// Facts about the whole dump. The draft has only the first two.
    pub struct Params<'a>(version: Version) {
        /// Whether words in contents are big-endian.
        big_endian: bool = boolean("a byte order") => boolean,
        /// Bytes in a pointer: 4 or 8.
        pointer_size: u64 = pointer_size("a pointer size") => unsigned,
        /// Bytes before the elements of a channel (1.3 only).
        hchan_size: Option<u64> = uvarint("a channel header size") if version == Version::Go13 => unsigned,
        /// First address of the heap.
        heap_start: Option<u64> = uvarint("a heap start") if version >= Version::Go13 => address,
        /// First address after the heap. Since Go 1.11 the heap has holes, so the difference is not
        /// its size.
        heap_end: Option<u64> = uvarint("a heap end") if version >= Version::Go13 => address,
        /// The letter of the Plan 9 tool chain, as a code point (1.3 to 1.6).
        thechar: Option<u64> = uvarint("an architecture") if version >= Version::Go13 && version < Version::Go17 => with(pass_thechar),
        /// GOARCH (1.7).
        goarch: Option<&'a [u8]> = string("an architecture") if version >= Version::Go17 => text,
        /// GOEXPERIMENT, and in 1.7 dumps since about Go 1.17 the version that built the program,
        /// with its experiments.
        experiment: Option<&'a [u8]> = string("an experiment or version") if version >= Version::Go13 => with(pass_experiment),
        /// Processors that the program could use.
        ncpu: Option<u64> = uvarint("a number of processors") if version >= Version::Go13 => unsigned,
    }
}

impl Params<'_> {
    /// GOARCH, derived from a letter if the dump has only that. An unknown letter is returned
    /// unchanged.
    pub fn goarch(&self) -> Option<String> {
        if let Some(name) = self.goarch {
            return Some(String::from_utf8_lossy(name).into_owned());
        }
        let letter = self.thechar?;
        let name = match (u8::try_from(letter).unwrap_or(0), self.big_endian) {
            (b'5', _) => "arm",
            (b'6', _) if self.pointer_size == 4 => "amd64p32",
            (b'6', _) => "amd64",
            (b'7', _) => "arm64",
            (b'8', _) => "386",
            (b'9', true) => "ppc64",
            (b'9', false) => "ppc64le",
            (b'0', true) => "mips64",
            (b'0', false) => "mips64le",
            (b'z', _) => "s390x",
            _ => return Some(thechar(letter)),
        };
        Some(name.to_owned())
    }

    /// The Go version that built the program, if the dump contains it: `go1.27.3`, `devel go1.23-…
    /// X:…`.
    pub fn go_version(&self) -> Option<String> {
        self.experiment
            .filter(|text| is_version(text))
            .map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// Header values with their names, in the order of the file.
    pub fn metadata(&self) -> impl Iterator<Item = (&'static str, String)> {
        let hex = |address: u64| format!("{address:#x}");
        let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        [
            Some(("big_endian", self.big_endian.to_string())),
            Some(("pointer_size", self.pointer_size.to_string())),
            self.hchan_size.map(|size| ("hchan_size", size.to_string())),
            self.heap_start.map(|address| ("heap_start", hex(address))),
            self.heap_end.map(|address| ("heap_end", hex(address))),
            self.thechar.map(|letter| ("thechar", thechar(letter))),
            self.goarch.map(|name| ("goarch", text(name))),
            self.experiment.map(|experiment| (experiment_name(experiment), text(experiment))),
            self.ncpu.map(|ncpu| ("ncpu", ncpu.to_string())),
        ]
        .into_iter()
        .flatten()
    }
}

/// Whether the field for experiments holds a version instead.
fn is_version(experiment: &[u8]) -> bool {
    experiment.starts_with(b"go1") || experiment.starts_with(b"devel ")
}

fn experiment_name(experiment: &[u8]) -> &'static str {
    if is_version(experiment) { "build_version" } else { "goexperiment" }
}

fn pass_experiment<S: FieldSink>(experiment: &[u8], sink: &mut S) {
    sink.text(experiment_name(experiment), experiment);
}

fn pass_thechar<S: FieldSink>(letter: u64, sink: &mut S) {
    sink.text("thechar", thechar(letter).as_bytes());
}

fn pointer_size(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
    let start = cursor.offset();
    match cursor.uleb128(what)? {
        size @ (4 | 8) => Ok(size),
        size => Err(Error::corrupt(start, "invalid pointer size")
            .expected("4 or 8")
            .found(size.to_string())),
    }
}

fn thechar(letter: u64) -> String {
    match u8::try_from(letter) {
        Ok(letter) if letter.is_ascii_graphic() => char::from(letter).to_string(),
        _ => letter.to_string(),
    }
}
