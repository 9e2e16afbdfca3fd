//! Opens a path or standard input and gives its bytes as one slice.
//!
//! A plain file is mapped. Everything else (a pipe, a gzip or zstd file) is written to an unlinked temporary file first,
//! which is then mapped, so that memory use does not grow with the input. So is a recording of a VM service, without its
//! frames. Mapping is `unsafe`.
//!
//! A mapping shows what the file holds at each moment: when another process shortens the file while it is read, the
//! operating system sends SIGBUS. Dumps are written once, so this is not worked around; the command line turns the signal
//! into an error message, and other programs that use the library may do the same.
#![allow(unsafe_code)]

use crate::error::{Error, Result};
use crate::vm_service;
use memmap2::{Advice, Mmap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::Path;

/// A compression that is undone when a source is opened.
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
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
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

/// What a compressed input may grow to: 256 MiB, and beyond that 250 times its compressed size.
///
/// Real dumps compress 3 to 60 times; deflate reaches 1032 at most and zstd 10⁴ and more on zeros.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Decompressed bytes that are always allowed.
    pub free: u64,
    /// Decompressed bytes allowed per compressed byte beyond that.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { free: 256 << 20, ratio: 250 }
    }
}

/// An opened input: its bytes, and what is known of where they came from.
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
    /// `Io` when the operating system refuses, `Limit` when the input decompresses beyond the default [`Limits`].
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io(error, "cannot open"))?;
        Self::from_file(file, Limits::default())
    }

    /// Opens standard input. A redirected plain file (`< dump`) is mapped like any other.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn stdin() -> Result<Self> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(|error| Error::io(error, "cannot read standard input"))?;
            Self::from_file(File::from(stdin), Limits::default())
        }
        #[cfg(not(unix))]
        Self::from_stream(io::stdin().lock(), Limits::default())
    }

    /// Opens an open file: maps it if it is a plain one that has not been read from, spills it otherwise.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn from_file(mut file: File, limits: Limits) -> Result<Self> {
        let metadata = file.metadata().map_err(|error| Error::io(error, "cannot stat"))?;
        if metadata.is_dir() {
            return Err(Error::io(io::ErrorKind::IsADirectory.into(), "cannot be read").hint("name the dump itself"));
        }
        if !metadata.is_file() || file.stream_position().unwrap_or(1) != 0 {
            return Self::from_stream(BufReader::with_capacity(BUFFER, file), limits);
        }
        let map = map(&file)?;
        match Compression::detect(map.as_deref().unwrap_or_default()) {
            None => Self::unframed(map, None, metadata.len(), None),
            Some(_) => Self::from_stream(map.as_deref().unwrap_or_default(), limits),
        }
    }

    /// Spills a stream to an unlinked temporary file, undoing one layer of compression.
    ///
    /// A compressed stream that breaks off yields what came before; [`Source::damage`] then says where.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn from_stream(stream: impl BufRead, limits: Limits) -> Result<Self> {
        let mut stream = Counted { inner: stream, count: 0, head: Vec::new() };
        stream.peek(4).map_err(|error| Error::io(error, "cannot read"))?;
        let compression = Compression::detect(&stream.head);
        let mut file = tempfile::tempfile().map_err(|error| Error::io(error, "cannot create a temporary file"))?;
        let (stored_bytes, damage) = match compression {
            None => {
                io::copy(&mut stream, &mut file).map_err(|error| Error::io(error, "cannot copy to a temporary file"))?;
                (stream.count, None)
            }
            Some(Compression::Gzip) => {
                let mut decoder = flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(BUFFER, stream));
                let damage = spill(&mut decoder, |decoder| decoder.get_ref().get_ref().count, &mut file, limits)?;
                (decoder.get_ref().get_ref().count, damage)
            }
            Some(Compression::Zstd) => {
                let buffered = BufReader::with_capacity(BUFFER, stream);
                let mut decoder =
                    zstd::stream::read::Decoder::with_buffer(buffered).map_err(|error| Error::io(error, "cannot start zstd"))?;
                let damage = spill(&mut decoder, |decoder| decoder.get_ref().get_ref().count, &mut file, limits)?;
                (decoder.get_ref().get_ref().count, damage)
            }
        };
        Self::unframed(map(&file)?, compression, stored_bytes, damage)
    }

    /// Joins the payloads of a recording of VM-service frames; anything else stays as it is.
    fn unframed(packed: Option<Mmap>, compression: Option<Compression>, stored_bytes: u64, damage: Option<Error>) -> Result<Self> {
        let mut source = Self { map: None, compression, vm_service_frames: 0, stored_bytes, damage };
        let Some(payloads) = vm_service::payloads(packed.as_deref().unwrap_or_default()) else {
            return Ok(Self { map: packed, ..source });
        };
        let mut file = tempfile::tempfile().map_err(|error| Error::io(error, "cannot create a temporary file"))?;
        let mut complete = false;
        for payload in payloads {
            file.write_all(payload.bytes).map_err(|error| Error::io(error, "cannot write to a temporary file"))?;
            source.vm_service_frames += 1;
            complete = payload.last;
        }
        source.map = map(&file)?;
        if !complete {
            let end = source.bytes().len() as u64;
            source.damage.get_or_insert(Error::truncated(end, "the recording of VM-service frames has no last frame"));
        }
        Ok(source)
    }

    /// The decompressed bytes.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// The compression that was undone.
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// How many frames of a Dart VM service were joined; 0 if the input is no recording of such.
    pub fn vm_service_frames(&self) -> u64 {
        self.vm_service_frames
    }

    /// Bytes of the input as stored, before decompression.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// What ended the decompression early, with the decompressed offset.
    pub fn damage(&self) -> Option<&Error> {
        self.damage.as_ref()
    }

    /// As [`Source::damage`], for a source that is not needed any more.
    pub fn into_damage(self) -> Option<Error> {
        self.damage
    }
}

const BUFFER: usize = 256 << 10;

fn map(file: &File) -> Result<Option<Mmap>> {
    let length = file.metadata().map_err(|error| Error::io(error, "cannot stat"))?.len();
    if length == 0 {
        return Ok(None);
    }
    // SAFETY: the mapping is read-only and private to this value. That another process may change the file under it is
    // the risk described at the top of the module.
    let map = unsafe { Mmap::map(file) }.map_err(|error| Error::io(error, "cannot map"))?;
    #[cfg(unix)]
    let _ = map.advise(Advice::Sequential); // Only a hint: a refusal changes nothing but speed.
    Ok(Some(map))
}

/// Copies a decoder's output to `file`. Ok(Some) is the damage that ended it early; Err is what makes the output unusable.
fn spill<D: Read>(decoder: &mut D, stored: impl Fn(&D) -> u64, file: &mut File, limits: Limits) -> Result<Option<Error>> {
    let mut buffer = vec![0; BUFFER];
    let mut written = 0u64;
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(length) => {
                file.write_all(&buffer[..length]).map_err(|error| Error::io(error, "cannot write to a temporary file"))?;
                written += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let damage = match error.kind() {
                    io::ErrorKind::UnexpectedEof => Error::truncated(written, "the compressed input ends early"),
                    _ => Error::corrupt(written, "the compressed input is damaged").found(error.to_string()),
                };
                if written == 0 {
                    return Err(damage);
                }
                return Ok(Some(damage.hint("what was decompressed before that was read")));
            }
        }
        let allowed = limits.free.max(limits.ratio.saturating_mul(stored(decoder)));
        if written > allowed {
            return Err(Error::limit(written, "the input decompresses too far")
                .expected(format!("at most {} times its compressed size", limits.ratio))
                .found(format!("{written} bytes from {}", stored(decoder)))
                .hint("if it is no bomb, decompress it with gzip -d or zstd -d first"));
        }
    }
}

/// Counts the bytes read from a stream and keeps its head for detection.
struct Counted<R> {
    inner: R,
    count: u64,
    head: Vec<u8>,
}

impl<R: Read> Counted<R> {
    /// Reads up to `length` bytes ahead; they are given out again by `read`.
    fn peek(&mut self, length: u64) -> io::Result<()> {
        self.inner.by_ref().take(length).read_to_end(&mut self.head)?;
        Ok(())
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = match self.head.is_empty() {
            true => self.inner.read(buffer)?,
            false => {
                let length = self.head.len().min(buffer.len());
                for (to, from) in buffer.iter_mut().zip(self.head.drain(..length)) {
                    *to = from;
                }
                length
            }
        };
        self.count += length as u64;
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
        let text: Vec<u8> = (0..600_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for packed in [gzip(&text), zstd::encode_all(&text[..], 3).unwrap()] {
            let source = Source::from_stream(&packed[..], Limits::default()).unwrap();
            assert_eq!(source.bytes(), text);
            assert_eq!(source.stored_bytes(), packed.len() as u64);
            let source = Source::from_stream(BufReader::with_capacity(1, &packed[..]), Limits::default()).unwrap();
            assert_eq!(source.bytes(), text);
        }
    }

    #[test]
    fn several_members_are_one_stream() {
        let mut packed = gzip(b"one ");
        packed.extend(gzip(b"two"));
        assert_eq!(Source::from_stream(&packed[..], Limits::default()).unwrap().bytes(), b"one two");
    }

    #[test]
    fn a_cut_compressed_stream_keeps_what_came_before() {
        let text: Vec<u8> = (0..600_000u32).flat_map(u32::to_le_bytes).collect();
        for packed in [gzip(&text), zstd::encode_all(&text[..], 3).unwrap()] {
            let source = Source::from_stream(&packed[..packed.len() / 2], Limits::default()).unwrap();
            let damage = source.damage().expect("the cut is reported");
            assert_eq!(damage.kind(), ErrorKind::Truncated);
            assert_eq!(damage.offset(), Some(source.bytes().len() as u64));
            assert!(text.starts_with(source.bytes()) && !source.bytes().is_empty());
        }
    }

    #[test]
    fn a_bomb_is_stopped_at_its_limit() {
        let limits = Limits { free: 1 << 20, ratio: 250 };
        for packed in [gzip(&vec![0; 16 << 20]), zstd::encode_all(&vec![0; 16 << 20][..], 3).unwrap()] {
            let error = Source::from_stream(&packed[..], limits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            assert!(error.offset().unwrap() < (1 << 20) + limits.ratio * packed.len() as u64 + BUFFER as u64);
        }
    }

    #[test]
    fn an_empty_input_is_an_empty_slice() {
        assert_eq!(Source::from_stream(&[][..], Limits::default()).unwrap().bytes(), b"");
    }
}
