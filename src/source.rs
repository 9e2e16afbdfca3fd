//! Opens a file, a stream or standard input as one slice of bytes.
//!
//! A plain file is mapped. Everything else (a pipe, a gzip or zstd file) is written to an unlinked
//! temporary file first, which is then mapped, so that memory use does not grow with the input. A
//! recording of a VM service is written in the same way, without its frames. Where no file can be
//! created, small inputs are kept in memory. Mapping is `unsafe`.
//!
//! A mapping always shows the current contents of the file: if another process truncates the file
//! during a read, the operating system sends SIGBUS. Dumps are written once, so the library does
//! not work around this. The command line turns the signal into an error message, and other
//! programs that use the library may do the same.
#![allow(unsafe_code)]

mod decompress;
mod spill;

use crate::error::{Error, Result};
use crate::vm_service;
use decompress::{Counted, gunzip, unzstd};
use memmap2::Mmap;
use spill::{BUFFER, Spill, Temporary};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The number of bytes whose pages are released at a time.
const RELEASED: u64 = 64 << 20;

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
    /// Returns the maximum number of bytes to which `stored` compressed bytes may decompress.
    pub fn allowed(&self, stored: u64) -> u64 {
        self.free.saturating_add(stored.saturating_sub(1 << 20).saturating_mul(self.ratio))
    }
}

/// Watches an input that is copied or decompressed.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Inspects the first bytes before more is copied. An error rejects the input.
    pub accept: &'a dyn Fn(&[u8]) -> Result<()>,
    /// Called now and then with the number of input bytes read so far, before decompression.
    pub progress: &'a dyn Fn(u64),
}

impl Watch<'_> {
    /// Accepts everything and reports no progress.
    const NONE: Self = Watch { accept: &|_| Ok(()), progress: &|_| {} };
}

/// An opened input: its bytes and their origin.
#[derive(Debug)]
pub struct Source {
    /// `None` for an empty input, which cannot be mapped.
    map: Option<Mmap>,
    compression: Option<Compression>,
    vm_service_frames: u64,
    stored_bytes: u64,
    damage: Option<Error>,
    /// The offset before which pages were released.
    released: AtomicU64,
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

    /// Like [`Source::open`], unless `accept` refuses the first bytes, so that an endless device is
    /// not copied in order to detect its format.
    ///
    /// # Errors
    /// The errors of [`Source::open`], and those of `accept`, which sees only inputs that are not
    /// mapped as they are.
    pub fn open_if(path: &Path, watch: Watch<'_>) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io(error, "cannot open"))?;
        Self::from_file_if(file, Limits::default(), watch)
    }

    /// Opens standard input. A redirected plain file (`< dump`) is mapped like any other.
    ///
    /// # Errors
    /// The errors of [`Source::open`].
    pub fn stdin() -> Result<Self> {
        Self::stdin_if(Watch::NONE)
    }

    /// Like [`Source::stdin`], unless the first bytes are refused.
    ///
    /// # Errors
    /// The errors of [`Source::open_if`].
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

    /// Takes an open file, unless its first bytes are refused. Maps a plain file that has not been
    /// read from, and spills all others.
    ///
    /// # Errors
    /// The errors of [`Source::open_if`].
    pub fn from_file_if(mut file: File, limits: Limits, watch: Watch<'_>) -> Result<Self> {
        let metadata = file.metadata().map_err(|error| Error::io(error, "cannot stat"))?;
        if metadata.is_dir() {
            return Err(Error::io(io::ErrorKind::IsADirectory.into(), "cannot be read")
                .hint("use a file in the folder"));
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
    /// If a compressed stream is truncated, the source contains everything before the damage, and
    /// [`Source::damage`] returns the position. The same holds if other data follows the stream,
    /// except zeros, with which tapes and disks fill their blocks.
    ///
    /// # Errors
    /// The errors of [`Source::open`].
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
        let mut source = Self {
            map: None,
            compression,
            vm_service_frames: 0,
            stored_bytes,
            damage,
            released: AtomicU64::new(0),
        };
        let Some(payloads) = vm_service::payloads(packed.as_deref().unwrap_or_default()) else {
            return Ok(Self { map: packed, ..source });
        };
        let mut file = Temporary::new()?;
        let mut complete = false;
        for payload in payloads {
            file.write(payload.bytes)?;
            source.vm_service_frames += 1;
            complete = payload.last;
        }
        source.map = map(&file.file)?;
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

    /// Releases the pages before an offset, which a reader has passed and will not need soon, so
    /// that a large input does not count as memory of the program. They can still be read. An
    /// offset before the last one begins another pass over the input.
    pub fn release_before(&self, offset: u64) {
        let (Some(map), last) = (&self.map, self.released.load(Relaxed)) else { return };
        let Some(length) = offset.min(map.len() as u64).checked_sub(last) else {
            return self.released.store(0, Relaxed);
        };
        if length < RELEASED {
            return;
        }
        self.released.store(last + length, Relaxed);
        // SAFETY: the mapping is of a file and never written to, so that a page that is gone is read
        // from the file again, with the same bytes.
        #[cfg(target_os = "linux")]
        let _ = unsafe {
            let pages = memmap2::UncheckedAdvice::DontNeed;
            map.unchecked_advise_range(pages, last as usize, length as usize)
        };
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

    /// Returns the bytes of the input as stored, before decompression.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// The error that ended decompression early, with the decompressed offset.
    pub fn damage(&self) -> Option<&Error> {
        self.damage.as_ref()
    }
}

fn map(file: &File) -> Result<Option<Mmap>> {
    let length = file.metadata().map_err(|error| Error::io(error, "cannot stat"))?.len();
    if length == 0 {
        return Ok(None);
    }
    // SAFETY: the mapping is read-only and private to this value. That another process may change
    // the file under it is the risk described at the top of the module.
    let map = unsafe { Mmap::map(file) }.map_err(|error| match error.kind() {
        io::ErrorKind::OutOfMemory => Error::io(error, "the address space is too small")
            .expected(format!("{length} bytes, the size of the input"))
            .hint("the input is mapped, which takes address space but no memory: raise the limit of `ulimit -v`, and limit memory with --max-memory instead"),
        _ => Error::io(error, "cannot map"),
    })?;
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential); // Only a hint: a refusal changes nothing but speed.
    Ok(Some(map))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use std::io::Write;

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
