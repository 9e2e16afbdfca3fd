//! Where a conversion writes to: a file that appears only when it is complete, a device, or
//! standard output.

mod target;

use super::budget::Budget;
use super::session::{Output, Session};
use super::status::{OutputError, UsageError};
use super::{interrupt, lock};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, IsTerminal, Write};
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
pub(super) use target::{is_stdout, temporary_beside, without_path};
use tempfile::TempPath;
use zstd::zstd_safe::CCtx;

/// An output that is being written.
pub(super) struct Destination {
    path: PathBuf,
    writer: Encoder,
    /// The temporary file beside the target, for plain files.
    temporary: Option<TempPath>,
    /// Whether the file must not replace an existing one.
    is_new: bool,
    /// Counts the bytes of the output before compression.
    budget: Arc<Budget>,
}

/// Maximum bytes of an output that a resident program keeps in memory, to send it to a client.
const MOST_KEPT: usize = 256 << 20;

/// An output of a resident program, kept in memory.
struct Download(Arc<Mutex<Vec<u8>>>);

impl Write for Download {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = lock(&self.0);
        if kept.len().saturating_add(bytes.len()) > MOST_KEPT {
            let message =
                "the output is larger than 256 MiB, which is the most that can be downloaded";
            return Err(io::Error::other(message));
        }
        kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Encoder {
    Plain(BufWriter<Box<dyn Write>>),
    Gzip(Gzip),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<Box<dyn Write>>>),
}

/// A gzip stream that gets its trailer only when it is complete. An abandoned stream must not look
/// complete, but [`GzEncoder`] writes the header and the trailer when it is dropped.
struct Gzip(Box<GzEncoder<BufWriter<Box<dyn Write>>>>);

impl Gzip {
    fn encoder(out: BufWriter<Box<dyn Write>>, level: Compression) -> Encoder {
        Encoder::Gzip(Self(Box::new(GzEncoder::new(out, level))))
    }
}

impl Drop for Gzip {
    fn drop(&mut self) {
        *self.0.get_mut() = BufWriter::new(Box::new(io::sink()));
    }
}

/// Size of the write buffer. Small, so that blocks of writers that buffer themselves bypass it.
const BUFFER: usize = 64 << 10;

impl Destination {
    /// Opens `output` for writing. An input of the session is refused as an output, and so is binary
    /// output to a terminal.
    pub(super) fn create(output: &Path, binary: bool, session: &Session) -> anyhow::Result<Self> {
        let Session { inputs, budget, .. } = session;
        let refuse = |file: io::Result<Metadata>| {
            if file.is_ok_and(|file| inputs.have(&file)) {
                Err(UsageError::new("the output file is also an input").hint("choose another file"))
            } else {
                Ok(())
            }
        };
        let new = |path: PathBuf, out: Box<dyn Write>, temporary: Option<TempPath>| {
            let (writer, is_new) = (Encoder::new(output, out)?, session.resident.is_some());
            Ok(Self { path, writer, temporary, is_new, budget: Arc::clone(budget) })
        };
        let compressed = matches!(extension(output), Some("gz" | "zst"));
        if let (true, Output::Kept(kept)) = (output == Path::new("-"), &session.output) {
            return new(output.to_owned(), Box::new(Download(Arc::clone(kept))), None);
        }
        if output == Path::new("-") {
            if binary && io::stdout().is_terminal() {
                return Err(UsageError::new("cannot write binary output to a terminal")
                    .hint("name a file, or redirect the output")
                    .into());
            }
            #[cfg(unix)]
            refuse(
                io::stdout()
                    .as_fd()
                    .try_clone_to_owned()
                    .and_then(|out| File::from(out).metadata()),
            )?;
            return new(output.to_owned(), Box::new(io::stdout()), None);
        }
        session.allow_new(output)?;
        let fail = |error| OutputError::new(output, error);
        let target = target::resolve(output).map_err(fail)?;
        refuse(fs::metadata(&target))?;
        if let Some(file) = target::open_stream(&target) {
            let file = file.map_err(fail)?;
            refuse(file.metadata())?;
            if (binary || compressed) && file.is_terminal() {
                return Err(UsageError::new("cannot write binary output to a terminal").into());
            }
            return new(target, Box::new(file), None);
        }
        let (file, temporary) = temporary_beside(&target, inputs)
            .map_err(|error| fail(without_path(error, &target)))?;
        new(target, Box::new(file), Some(temporary))
    }

    /// Compresses the output with gzip, as fast as possible, unless its name already selects a
    /// compression.
    pub(super) fn gzipped(mut self) -> Self {
        if let Encoder::Plain(out) = self.writer {
            self.writer = Gzip::encoder(out, Compression::fast());
        }
        self
    }

    /// Completes the output and gives it its name. Returns the bytes written, if the output is a
    /// plain file.
    pub(super) fn commit(self) -> Result<Option<u64>, OutputError> {
        let fail = |error| OutputError::new(&self.path, error);
        self.writer.finish().map_err(fail)?;
        let Some(temporary) = self.temporary else { return Ok(None) };
        let bytes = fs::metadata(&temporary).map_err(fail)?.len();
        let kept = if self.is_new {
            temporary.persist_noclobber(&self.path)
        } else {
            temporary.persist(&self.path)
        };
        let kept = kept.map_err(|error| fail(error.error));
        interrupt::keep();
        kept.map(|()| Some(bytes))
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.budget.counting(&mut self.writer).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Write for Encoder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(writer) => writer.write(bytes),
            Self::Gzip(Gzip(writer)) => writer.write(bytes),
            Self::Zstd(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.flush(),
            Self::Gzip(Gzip(writer)) => writer.flush(),
            Self::Zstd(writer) => writer.flush(),
        }
    }
}

impl Encoder {
    fn new(path: &Path, out: Box<dyn Write>) -> Result<Self, OutputError> {
        let out = BufWriter::with_capacity(BUFFER, out);
        Ok(match extension(path) {
            Some("gz") => Gzip::encoder(out, gzip_level(path)),
            // The encoder would panic if memory were short.
            Some("zst") if CCtx::try_create().is_none() => {
                return Err(OutputError::new(path, io::ErrorKind::OutOfMemory.into()));
            }
            Some("zst") => Self::Zstd(
                zstd::stream::write::Encoder::new(out, 3)
                    .map_err(|error| OutputError::new(path, error))?,
            ),
            _ => Self::Plain(out),
        })
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut writer) => writer.flush(),
            Self::Gzip(mut gzip) => {
                gzip.0.try_finish()?;
                gzip.0.get_mut().flush()
            }
            Self::Zstd(writer) => writer.finish()?.flush(),
        }
    }
}

/// The gzip level for an output. pprof is always gzipped as fast as possible, as Go does; other
/// files are gzipped on request, at the default level.
fn gzip_level(path: &Path) -> Compression {
    match format_extension(path) {
        Some("pb" | "pprof") => Compression::fast(),
        _ => Compression::default(),
    }
}

/// The extension of a path, ignoring that of a compression: `austin` for `out.austin.gz`.
pub(super) fn format_extension(path: &Path) -> Option<&str> {
    match extension(path)? {
        "gz" | "zst" => extension(Path::new(path.file_stem()?)),
        extension => Some(extension),
    }
}

fn extension(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compression_does_not_hide_the_format() {
        assert_eq!(format_extension(Path::new("a/out.austin.gz")), Some("austin"));
        assert_eq!(format_extension(Path::new("out.austin")), Some("austin"));
        assert_eq!(format_extension(Path::new("out.gz")), None);
        assert_eq!(format_extension(Path::new("out")), None);
    }
}
