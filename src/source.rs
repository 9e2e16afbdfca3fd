//! Opens a file, a stream or standard input as one slice of bytes.
//!
//! A plain file is mapped. Everything else (a pipe, a gzip or zstd file) is written to an unlinked
//! temporary file first, which is then mapped, so that memory use does not grow with the input. So
//! is a recording of a VM service, without its frames. Mapping is `unsafe`.
//!
//! A mapping shows what the file holds at each moment: when another process shortens the file while
//! it is read, the operating system sends SIGBUS. Dumps are written once, so this is not worked
//! around; the command line turns the signal into an error message, and other programs that use the
//! library may do the same.
#![allow(unsafe_code)]

use crate::error::{Error, Result};
use crate::vm_service;
use memmap2::Mmap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::Path;

/// A compression that is decompressed when a source is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// RFC 1952; several members in a row are one stream.
    Gzip,
    /// RFC 8878; several frames in a row are one stream.
    Zstd,
}

impl Compression {
    /// The compression that `bytes` begin with, by magic.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1f, 0x8b, 0x08, ..] => Some(Self::Gzip),
            // A frame to be skipped may come first: pzstd and others keep notes in it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// `gzip` or `zstd`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// The limit on decompressed data: 128 MiB for the first MiB of input, and 250 times the size of
/// the rest.
///
/// Real dumps compress 3 to 60 times; deflate reaches 1032 at most and zstd 10⁴ and more on zeros.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Decompressed bytes that are always allowed.
    pub free: u64,
    /// Decompressed bytes allowed beyond that, for each compressed byte beyond the first MiB.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { free: 128 << 20, ratio: 250 }
    }
}

impl Limits {
    /// The most bytes that so many compressed bytes may decompress to.
    pub fn allowed(&self, stored: u64) -> u64 {
        self.free.saturating_add(stored.saturating_sub(1 << 20).saturating_mul(self.ratio))
    }
}

/// Watches an input that is copied or decompressed.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Looks at the first bytes before more is copied. An error refuses the input.
    pub accept: &'a dyn Fn(&[u8]) -> Result<()>,
    /// Told now and then how many bytes of the input have been copied or decompressed, counted as
    /// they are stored.
    pub progress: &'a dyn Fn(u64),
}

impl Watch<'_> {
    /// Accepts anything and tells nobody.
    const NONE: Self = Watch { accept: &|_| Ok(()), progress: &|_| {} };
}

/// An opened input: its bytes and their origin.
#[derive(Debug)]
pub struct Source {
    /// None for an empty input, which cannot be mapped.
    map: Option<Mmap>,
    compression: Option<Compression>,
    vm_service_frames: u64,
    stored_bytes: u64,
    damage: Option<Error>,
}

impl Source {
    /// Opens a file. Compressed files, pipes and devices are spilled to a temporary file.
    ///
    /// # Errors
    /// `Io` when the operating system refuses, `Limit` when the input decompresses beyond the
    /// default [`Limits`].
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_if(path, Watch::NONE)
    }

    /// As [`Source::open`], unless the first bytes are refused: an endless device is not copied to
    /// find out what it is.
    ///
    /// # Errors
    /// As [`Source::open`], and what `accept` says of an input that is not mapped as it is.
    pub fn open_if(path: &Path, watch: Watch<'_>) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io(error, "cannot open"))?;
        Self::from_file_if(file, Limits::default(), watch)
    }

    /// Opens standard input. A redirected plain file (`< dump`) is mapped like any other.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn stdin() -> Result<Self> {
        Self::stdin_if(Watch::NONE)
    }

    /// As [`Source::stdin`], unless the first bytes are refused.
    ///
    /// # Errors
    /// As [`Source::open_if`].
    pub fn stdin_if(watch: Watch<'_>) -> Result<Self> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let stdin = io::stdin()
                .as_fd()
                .try_clone_to_owned()
                .map_err(|error| Error::io(error, "cannot read standard input"))?;
            Self::from_file_if(File::from(stdin), Limits::default(), watch)
        }
        #[cfg(not(unix))]
        Self::from_stream_if(io::stdin().lock(), Limits::default(), watch)
    }

    /// Opens an open file: maps it if it is a plain one that has not been read from, spills it
    /// otherwise.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn from_file(file: File, limits: Limits) -> Result<Self> {
        Self::from_file_if(file, limits, Watch::NONE)
    }

    fn from_file_if(mut file: File, limits: Limits, watch: Watch<'_>) -> Result<Self> {
        let metadata = file.metadata().map_err(|error| Error::io(error, "cannot stat"))?;
        if metadata.is_dir() {
            return Err(Error::io(io::ErrorKind::IsADirectory.into(), "cannot be read")
                .hint("name the dump itself"));
        }
        if !metadata.is_file() || file.stream_position().unwrap_or(1) != 0 {
            return Self::from_stream_if(BufReader::with_capacity(BUFFER, file), limits, watch);
        }
        let map = map(&file)?;
        match Compression::detect(map.as_deref().unwrap_or_default()) {
            None => Self::unframed(map, None, metadata.len(), None),
            Some(_) => Self::from_stream_if(map.as_deref().unwrap_or_default(), limits, watch),
        }
    }

    /// Spills a stream to an unlinked temporary file, decompressing one layer of compression.
    ///
    /// A compressed stream that breaks off yields what came before; [`Source::damage`] then says
    /// where. So does one that other data follows, unless it is zeros: tapes and disks fill their
    /// blocks with them.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn from_stream(stream: impl BufRead, limits: Limits) -> Result<Self> {
        Self::from_stream_if(stream, limits, Watch::NONE)
    }

    fn from_stream_if(stream: impl BufRead, limits: Limits, watch: Watch<'_>) -> Result<Self> {
        let mut stream = Counted { inner: stream, count: 0, head: Vec::new() };
        stream.peek(4).map_err(|error| Error::io(error, "cannot read"))?;
        let compression = Compression::detect(&stream.head);
        let mut spill = Spill::new(watch)?;
        let damage = match compression {
            None => {
                spill.copy(&mut stream)?;
                None
            }
            Some(Compression::Gzip) => gunzip(&mut stream, &mut spill, limits)?,
            Some(Compression::Zstd) => unzstd(&mut stream, &mut spill, limits)?,
        };
        Self::unframed(map(&spill.finish()?)?, compression, stream.count, damage)
    }

    /// Joins the payloads of a recording of VM-service frames; anything else stays as it is.
    fn unframed(
        packed: Option<Mmap>,
        compression: Option<Compression>,
        stored_bytes: u64,
        damage: Option<Error>,
    ) -> Result<Self> {
        let mut source =
            Self { map: None, compression, vm_service_frames: 0, stored_bytes, damage };
        let Some(payloads) = vm_service::payloads(packed.as_deref().unwrap_or_default()) else {
            return Ok(Self { map: packed, ..source });
        };
        let mut file = tempfile::tempfile()
            .map_err(|error| Error::io(error, "cannot create a temporary file"))?;
        let mut complete = false;
        for payload in payloads {
            file.write_all(payload.bytes)
                .map_err(|error| Error::io(error, "cannot write to a temporary file"))?;
            source.vm_service_frames += 1;
            complete = payload.last;
        }
        source.map = map(&file)?;
        if !complete {
            let end = source.bytes().len() as u64;
            source.damage.get_or_insert(Error::truncated(
                end,
                "the recording of VM-service frames has no last frame",
            ));
        }
        Ok(source)
    }

    /// The decompressed bytes.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// The compression of the input, if any.
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// The number of Dart VM service frames that were joined. 0 if the input is not a recording of
    /// such frames.
    pub fn vm_service_frames(&self) -> u64 {
        self.vm_service_frames
    }

    /// Bytes of the input as stored, before decompression.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// The error that ended decompression early, with the decompressed offset.
    pub fn damage(&self) -> Option<&Error> {
        self.damage.as_ref()
    }
}

const BUFFER: usize = 256 << 10;

fn map(file: &File) -> Result<Option<Mmap>> {
    let length = file.metadata().map_err(|error| Error::io(error, "cannot stat"))?.len();
    if length == 0 {
        return Ok(None);
    }
    // SAFETY: the mapping is read-only and private to this value. That another process may change
    // the file under it is the risk described at the top of the module.
    let map = unsafe { Mmap::map(file) }.map_err(|error| Error::io(error, "cannot map"))?;
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential); // Only a hint: a refusal changes nothing but speed.
    Ok(Some(map))
}

/// Undoes gzip, member by member. Ok(Some) is the damage that ended it early; Err is what makes the
/// output unusable.
fn gunzip(
    stream: &mut Counted<impl BufRead>,
    spill: &mut Spill<'_>,
    limits: Limits,
) -> Result<Option<Error>> {
    loop {
        let mut decoder = flate2::bufread::GzDecoder::new(&mut *stream);
        if let Some(damage) =
            spill.decode(&mut decoder, |decoder| decoder.get_ref().count, limits)?
        {
            return Ok(Some(damage));
        }
        stream.peek(2).map_err(|error| Error::io(error, "cannot read"))?;
        if stream.head != [0x1f, 0x8b] {
            return what_follows(stream, spill.written, Compression::Gzip);
        }
    }
}

/// As [`gunzip`], for zstd.
fn unzstd(
    stream: &mut Counted<impl BufRead>,
    spill: &mut Spill<'_>,
    limits: Limits,
) -> Result<Option<Error>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(&mut *stream)
        .map_err(|error| Error::io(error, "cannot start zstd"))?;
    let damage = spill.decode(&mut decoder, |decoder| decoder.get_ref().count, limits)?;
    drop(decoder);
    match damage {
        // The library takes whatever follows a frame for another one, and says so when it is none.
        Some(damage) if damage.cause().is_some_and(|cause| cause.contains(UNKNOWN_FRAME)) => {
            what_follows(stream, spill.written, Compression::Zstd)
        }
        damage => Ok(damage),
    }
}

const UNKNOWN_FRAME: &str = "Unknown frame descriptor";

/// The bytes after complete compressed data: none, zeros, or something that does not belong there.
fn what_follows(
    stream: &mut Counted<impl BufRead>,
    written: u64,
    compression: Compression,
) -> Result<Option<Error>> {
    let at = stream.count;
    loop {
        let rest = stream.fill_buf().map_err(|error| Error::io(error, "cannot read"))?;
        if rest.is_empty() {
            return Ok(None);
        }
        if rest.iter().any(|byte| *byte != 0) {
            let what = format!(
                "other data follows the {} data, at byte {at} of the compressed input",
                compression.name()
            );
            return Ok(Some(
                Error::corrupt(written, what).hint("what was compressed before it was read"),
            ));
        }
        let length = rest.len();
        stream.consume(length);
    }
}

/// The temporary file that an input is copied to, as soon as its first bytes are accepted.
struct Spill<'a> {
    file: File,
    watch: Watch<'a>,
    /// The data to be accepted; `None` afterwards.
    head: Option<Vec<u8>>,
    written: u64,
    buffer: Vec<u8>,
}

/// First bytes that are looked at. A format may begin with 64 KiB of comments, or with as much of a
/// VM service's header.
const HEAD: usize = 128 << 10;

impl<'a> Spill<'a> {
    fn new(watch: Watch<'a>) -> Result<Self> {
        let file = tempfile::tempfile()
            .map_err(|error| Error::io(error, "cannot create a temporary file"))?;
        Ok(Self { file, watch, head: Some(Vec::new()), written: 0, buffer: vec![0; BUFFER] })
    }

    fn push(&mut self, length: usize) -> Result<()> {
        self.written += length as u64;
        let bytes = &self.buffer[..length];
        match &mut self.head {
            None => write(&mut self.file, bytes),
            Some(head) => {
                head.extend_from_slice(bytes);
                if head.len() >= HEAD { self.accept() } else { Ok(()) }
            }
        }
    }

    fn accept(&mut self) -> Result<()> {
        let Some(head) = self.head.take() else { return Ok(()) };
        // What the frames of a VM service contain is seen when they are joined.
        if vm_service::payloads(&head).is_none() {
            (self.watch.accept)(&head)?;
        }
        write(&mut self.file, &head)
    }

    fn finish(mut self) -> Result<File> {
        self.accept()?;
        Ok(self.file)
    }

    /// Copies a decoder's output. Ok(Some) is the damage that ended it early; Err is what makes the
    /// output unusable.
    fn decode<D: Read>(
        &mut self,
        decoder: &mut D,
        stored: impl Fn(&D) -> u64,
        limits: Limits,
    ) -> Result<Option<Error>> {
        let (before, progress) = (self.written, self.watch.progress);
        let copied = self.copy_while(decoder, |decoder, written| {
            let stored = stored(decoder);
            progress(stored);
            check(limits, written, stored)
        })?;
        match copied {
            None => Ok(None),
            Some(error) => {
                let written = self.written;
                let damage = match error.kind() {
                    io::ErrorKind::UnexpectedEof => {
                        Error::truncated(written, "the compressed input ends early")
                    }
                    _ => Error::corrupt(written, "the compressed input is damaged")
                        .found(error.to_string()),
                };
                match written == 0 && before == 0 {
                    true => Err(damage),
                    false => Ok(Some(damage.hint("what was decompressed before that was read"))),
                }
            }
        }
    }

    fn copy<D: Read>(&mut self, input: &mut D) -> Result<()> {
        let progress = self.watch.progress;
        let copied = self.copy_while(input, |_, written| {
            progress(written);
            Ok(())
        })?;
        match copied {
            None => Ok(()),
            Some(error) => Err(Error::io(error, "cannot copy to a temporary file")),
        }
    }

    /// Copies to the end, or to the first error of the input, as long as `check` of all bytes so
    /// far has nothing against it.
    fn copy_while<D: Read>(
        &mut self,
        input: &mut D,
        check: impl Fn(&D, u64) -> Result<()>,
    ) -> Result<Option<io::Error>> {
        loop {
            match input.read(&mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(length) => self.push(length)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Ok(Some(error)),
            }
            check(input, self.written)?;
        }
    }
}

fn write(file: &mut File, bytes: &[u8]) -> Result<()> {
    file.write_all(bytes).map_err(|error| Error::io(error, "cannot write to a temporary file"))
}

fn check(limits: Limits, written: u64, stored: u64) -> Result<()> {
    let allowed = limits.allowed(stored);
    if written <= allowed {
        return Ok(());
    }
    Err(Error::limit(written, "the input decompresses too far")
        .expected(format!("at most {allowed} bytes from {stored}"))
        .found(format!("{written} and more"))
        .hint("if it is no bomb, decompress it with gzip -d or zstd -d first"))
}

/// Counts the bytes read from a stream and keeps its head for detection.
struct Counted<R> {
    inner: R,
    count: u64,
    head: Vec<u8>,
}

impl<R: BufRead> Counted<R> {
    /// Reads ahead until there are so many bytes, or no more; they are given out again by `read`.
    fn peek(&mut self, length: u64) -> io::Result<()> {
        let more = length.saturating_sub(self.head.len() as u64);
        self.inner.by_ref().take(more).read_to_end(&mut self.head)?;
        Ok(())
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.head.is_empty() { self.inner.fill_buf() } else { Ok(&self.head) }
    }

    fn consume(&mut self, length: usize) {
        match self.head.is_empty() {
            true => self.inner.consume(length),
            false => drop(self.head.drain(..length)),
        }
        self.count += length as u64;
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn both_compressions_are_undone_whatever_the_chunks() {
        let text: Vec<u8> = (0..100_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for packed in [gzip(&text), zstd::encode_all(&text[..], 3).unwrap()] {
            let source = Source::from_stream(&packed[..], Limits::default()).unwrap();
            assert_eq!(source.bytes(), text);
            assert_eq!(source.stored_bytes(), packed.len() as u64);
            let source =
                Source::from_stream(BufReader::with_capacity(1, &packed[..]), Limits::default())
                    .unwrap();
            assert_eq!(source.bytes(), text);
        }
    }

    #[test]
    fn several_members_are_one_stream() {
        let mut packed = gzip(b"one ");
        packed.extend(gzip(b"two"));
        assert_eq!(
            Source::from_stream(&packed[..], Limits::default()).unwrap().bytes(),
            b"one two"
        );
    }

    #[test]
    fn a_cut_compressed_stream_keeps_what_came_before() {
        let text: Vec<u8> = (0..600_000u32).flat_map(u32::to_le_bytes).collect();
        for packed in [gzip(&text), zstd::encode_all(&text[..], 3).unwrap()] {
            let source =
                Source::from_stream(&packed[..packed.len() / 2], Limits::default()).unwrap();
            let damage = source.damage().expect("the cut is reported");
            assert_eq!(damage.kind(), ErrorKind::Truncated);
            assert_eq!(damage.offset(), Some(source.bytes().len() as u64));
            assert!(text.starts_with(source.bytes()) && !source.bytes().is_empty());
        }
    }

    #[test]
    fn a_bomb_is_stopped_at_its_limit() {
        let limits = Limits { free: 1 << 20, ratio: 250 };
        for packed in
            [gzip(&vec![0; 16 << 20]), zstd::encode_all(&vec![0; 16 << 20][..], 3).unwrap()]
        {
            let error = Source::from_stream(&packed[..], limits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            assert!(error.offset().unwrap() <= (1 << 20) + BUFFER as u64);
        }
    }

    #[test]
    fn a_small_input_may_not_grow_without_bound() {
        let limits = Limits::default();
        assert_eq!((limits.allowed(1), limits.allowed(1 << 20)), (128 << 20, 128 << 20));
        assert_eq!(limits.allowed(5 << 20), (128 << 20) + 250 * (4 << 20));
        assert_eq!(limits.allowed(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_frame_to_be_skipped_may_come_first() {
        let mut packed = vec![0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 7, 7, 7];
        packed.extend(zstd::encode_all(&b"text"[..], 3).unwrap());
        let source = Source::from_stream(&packed[..], Limits::default()).unwrap();
        assert_eq!((source.bytes(), source.compression()), (&b"text"[..], Some(Compression::Zstd)));
        assert!(source.damage().is_none());
    }

    #[test]
    fn zeros_behind_compressed_data_are_no_damage() {
        for mut packed in [gzip(b"text"), zstd::encode_all(&b"text"[..], 3).unwrap()] {
            packed.extend([0; 700]);
            for capacity in [1, 1 << 16] {
                let source = Source::from_stream(
                    BufReader::with_capacity(capacity, &packed[..]),
                    Limits::default(),
                )
                .unwrap();
                assert_eq!(source.bytes(), b"text");
                assert!(source.damage().is_none(), "{:?}", source.damage());
            }
        }
    }

    #[test]
    fn other_data_behind_compressed_data_is_called_what_it_is() {
        for (name, mut packed) in
            [("gzip", gzip(b"text")), ("zstd", zstd::encode_all(&b"text"[..], 3).unwrap())]
        {
            let length = packed.len();
            packed.extend(b"and more");
            let source = Source::from_stream(&packed[..], Limits::default()).unwrap();
            assert_eq!(source.bytes(), b"text");
            let damage = source.damage().expect("it is told");
            assert_eq!(damage.kind(), ErrorKind::Corrupt);
            let message = damage.message();
            assert!(
                message.contains(&format!("follows the {name} data, at byte {length} ")),
                "{message}"
            );
        }
    }

    #[test]
    fn an_endless_stream_is_refused_by_its_first_bytes() {
        let seen = std::cell::Cell::new(0);
        let refuse = |head: &[u8]| {
            seen.set(head.len());
            Err(Error::unsupported(0, "zeros"))
        };
        let error = Source::from_stream_if(
            BufReader::new(io::repeat(0)),
            Limits::default(),
            Watch { accept: &refuse, ..Watch::NONE },
        )
        .unwrap_err();
        assert_eq!(error.message(), "zeros");
        assert!(seen.get() < 2 * BUFFER, "{}", seen.get());
    }

    #[test]
    fn an_empty_input_is_an_empty_slice() {
        assert_eq!(Source::from_stream(&[][..], Limits::default()).unwrap().bytes(), b"");
    }
}
