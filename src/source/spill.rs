//! The temporary file for an input that cannot be mapped directly.

use super::{Limits, Watch};
use crate::error::{Error, Result};
use crate::vm_service;
use std::fs::File;
use std::io::{self, Read, Write};

pub(super) const BUFFER: usize = 256 << 10;

/// The temporary file that an input is copied to, as soon as its first bytes are accepted.
pub(super) struct Spill<'a> {
    file: Temporary,
    watch: Watch<'a>,
    /// The first bytes, until they are accepted; `None` afterwards.
    head: Option<Vec<u8>>,
    pub(super) written: u64,
    buffer: Vec<u8>,
}

/// The number of first bytes to examine. A format may begin with 64 KiB of comments, or with a
/// header of the VM service of the same size.
const HEAD: usize = 128 << 10;

impl<'a> Spill<'a> {
    pub(super) fn new(watch: Watch<'a>) -> Result<Self> {
        let file = Temporary::new()?;
        Ok(Self { file, watch, head: Some(Vec::new()), written: 0, buffer: vec![0; BUFFER] })
    }

    fn push(&mut self, length: usize) -> Result<()> {
        self.written += length as u64;
        let bytes = &self.buffer[..length];
        match &mut self.head {
            None => self.file.write(bytes),
            Some(head) => {
                head.extend_from_slice(bytes);
                if head.len() >= HEAD { self.accept() } else { Ok(()) }
            }
        }
    }

    fn accept(&mut self) -> Result<()> {
        let Some(head) = self.head.take() else { return Ok(()) };
        // The contents of VM service frames are checked when the frames are joined.
        if vm_service::payloads(&head).is_none() {
            (self.watch.accept)(&head)?;
        }
        self.file.write(&head)
    }

    pub(super) fn finish(mut self) -> Result<File> {
        self.accept()?;
        Ok(self.file.file)
    }

    /// Copies a decoder's output. `Ok(Some)` is damage that ended the output early; `Err` makes the
    /// output unusable.
    pub(super) fn decode<D: Read>(
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
                if written == 0 && before == 0 {
                    Err(damage)
                } else {
                    Ok(Some(damage.hint("everything before the damage was read")))
                }
            }
        }
    }

    pub(super) fn copy<D: Read>(&mut self, input: &mut D) -> Result<()> {
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

    /// Copies to the end, or to the first error of the input, as long as `check` accepts all bytes
    /// so far.
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

/// A file without a name. If none can be created, such as in a container with a read-only file
/// system, small files are in memory (Linux).
pub(super) struct Temporary {
    pub(super) file: File,
    /// The number of bytes by which the file may still grow.
    room: u64,
}

/// The maximum number of bytes of a temporary file in memory.
const IN_MEMORY: u64 = 256 << 20;

impl Temporary {
    pub(super) fn new() -> Result<Self> {
        tempfile::tempfile().map(|file| Self { file, room: u64::MAX }).or_else(|error| {
            let file = memory_file().map(|file| Self { file, room: IN_MEMORY });
            file.ok_or_else(|| Error::io(error, "cannot create a temporary file"))
        })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(room) = self.room.checked_sub(bytes.len() as u64) else {
            return Err(Error::limit(IN_MEMORY, "there is no folder for a temporary file")
                .expected(format!("at most {IN_MEMORY} bytes, which are kept in memory"))
                .hint("set TMPDIR to a folder that can be written to"));
        };
        self.room = room;
        self.file
            .write_all(bytes)
            .map_err(|error| Error::io(error, "cannot write to a temporary file"))
    }
}

/// Creates a file in memory. It disappears with its last mapping.
#[cfg(target_os = "linux")]
fn memory_file() -> Option<File> {
    use std::os::fd::{FromRawFd, RawFd};
    let (name, flags) = (c"dumptool".as_ptr(), libc::MFD_CLOEXEC);
    // glibc has no function for this system call before 2.27, and the wheel runs with 2.17.
    // SAFETY: the name ends with 0, and the call keeps no pointer.
    let descriptor = unsafe { libc::syscall(libc::SYS_memfd_create, name, flags) };
    let descriptor = RawFd::try_from(descriptor).ok().filter(|number| *number >= 0)?;
    // SAFETY: the descriptor is new, and this file alone has it.
    Some(unsafe { File::from_raw_fd(descriptor) })
}

#[cfg(not(target_os = "linux"))]
fn memory_file() -> Option<File> {
    None
}

fn check(limits: Limits, written: u64, stored: u64) -> Result<()> {
    let allowed = limits.allowed(stored);
    if written <= allowed {
        return Ok(());
    }
    Err(Error::limit(written, "the decompressed input is too large")
        .expected(format!("at most {allowed} bytes from {stored}"))
        .found(format!("{written} and more"))
        .hint("if you trust the input, decompress it first with gzip -d or zstd -d"))
}
