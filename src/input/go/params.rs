//! The parameters of the process: tag 6, the first record.

use super::primitives::{boolean, string};
use super::version::Version;
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::model::fields::FieldSink;

/// What holds for all of the dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params<'a> {
    /// Whether words in contents are big-endian.
    pub big_endian: bool,
    /// Bytes in a pointer: 4 or 8.
    pub pointer_size: u64,
    /// Bytes before the elements of a channel (1.3 only).
    pub hchan_size: Option<u64>,
    /// First address of the heap. Not in the draft.
    pub heap_start: Option<u64>,
    /// First address after the heap. Since Go 1.11 the heap has holes, so the difference is not its size.
    pub heap_end: Option<u64>,
    /// The architecture. Not in the draft.
    pub arch: Option<Arch<'a>>,
    /// GOEXPERIMENT, and in 1.7 dumps since about Go 1.17 the version that built the program, with its experiments.
    pub experiment: Option<&'a [u8]>,
    /// Processors that the program could use. Not in the draft.
    pub ncpu: Option<u64>,
}

/// The architecture, as the version at hand says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arch<'a> {
    /// The letter of the Plan 9 tool chain, as a code point (1.3 to 1.6).
    Thechar(u64),
    /// GOARCH (1.7).
    Goarch(&'a [u8]),
}

impl<'a> Params<'a> {
    /// Reads a params record after its tag.
    pub(super) fn read(cursor: &mut Cursor<'a>, version: Version) -> Result<Self> {
        let big_endian = boolean(cursor, "a byte order")?;
        let pointer_size = pointer_size(cursor)?;
        if version == Version::Draft13 {
            return Ok(Self {
                big_endian,
                pointer_size,
                hchan_size: None,
                heap_start: None,
                heap_end: None,
                arch: None,
                experiment: None,
                ncpu: None,
            });
        }
        let hchan_size = if version == Version::Go13 { Some(cursor.uleb128("a channel header size")?) } else { None };
        let heap_start = Some(cursor.uleb128("a heap start")?);
        let heap_end = Some(cursor.uleb128("a heap end")?);
        let arch = Some(match version >= Version::Go17 {
            true => Arch::Goarch(string(cursor, "an architecture")?),
            false => Arch::Thechar(cursor.uleb128("an architecture")?),
        });
        let experiment = Some(string(cursor, "an experiment or version")?);
        let ncpu = Some(cursor.uleb128("a number of processors")?);
        Ok(Self { big_endian, pointer_size, hchan_size, heap_start, heap_end, arch, experiment, ncpu })
    }

    /// GOARCH, from the letter where only that is known. A letter that no release used is shown as it is.
    pub fn goarch(&self) -> Option<String> {
        let letter = match self.arch? {
            Arch::Goarch(name) => return Some(String::from_utf8_lossy(name).into_owned()),
            Arch::Thechar(letter) => letter,
        };
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

    /// The Go version that built the program, if the dump tells: `go1.27.3`, `devel go1.23-… X:…`.
    pub fn go_version(&self) -> Option<String> {
        let text = self.experiment?;
        let told = text.starts_with(b"go1") || text.starts_with(b"devel ");
        told.then(|| String::from_utf8_lossy(text).into_owned())
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.boolean("big_endian", self.big_endian);
        sink.unsigned("pointer_size", self.pointer_size);
        if let Some(size) = self.hchan_size {
            sink.unsigned("hchan_size", size);
        }
        if let Some(start) = self.heap_start {
            sink.address("heap_start", start);
        }
        if let Some(end) = self.heap_end {
            sink.address("heap_end", end);
        }
        match self.arch {
            Some(Arch::Thechar(letter)) => sink.text("thechar", thechar(letter).as_bytes()),
            Some(Arch::Goarch(name)) => sink.text("goarch", name),
            None => {}
        }
        if let Some(text) = self.experiment {
            sink.text(self.experiment_name(), text);
        }
        if let Some(ncpu) = self.ncpu {
            sink.unsigned("ncpu", ncpu);
        }
    }

    /// Header values with their names, in the order of the file.
    pub fn metadata(&self) -> impl Iterator<Item = (&'static str, String)> {
        let hex = |address: u64| format!("{address:#x}");
        let arch = self.arch.map(|arch| match arch {
            Arch::Thechar(letter) => ("thechar", thechar(letter)),
            Arch::Goarch(name) => ("goarch", String::from_utf8_lossy(name).into_owned()),
        });
        [
            Some(("big_endian", self.big_endian.to_string())),
            Some(("pointer_size", self.pointer_size.to_string())),
            self.hchan_size.map(|size| ("hchan_size", size.to_string())),
            self.heap_start.map(|address| ("heap_start", hex(address))),
            self.heap_end.map(|address| ("heap_end", hex(address))),
            arch,
            self.experiment.map(|text| (self.experiment_name(), String::from_utf8_lossy(text).into_owned())),
            self.ncpu.map(|ncpu| ("ncpu", ncpu.to_string())),
        ]
        .into_iter()
        .flatten()
    }

    fn experiment_name(&self) -> &'static str {
        match self.go_version() {
            Some(_) => "build_version",
            None => "goexperiment",
        }
    }
}

fn pointer_size(cursor: &mut Cursor<'_>) -> Result<u64> {
    let start = cursor.offset();
    match cursor.uleb128("a pointer size")? {
        size @ (4 | 8) => Ok(size),
        size => Err(Error::corrupt(start, "impossible pointer size").expected("4 or 8").found(size.to_string())),
    }
}

fn thechar(letter: u64) -> String {
    match u8::try_from(letter) {
        Ok(letter) if letter.is_ascii_graphic() => char::from(letter).to_string(),
        _ => letter.to_string(),
    }
}
