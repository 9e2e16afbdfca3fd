//! Where a conversion writes to: a file that appears only when it is complete, a device, or
//! standard output.

mod target;

use super::interrupt;
use super::status::{OutputError, UsageError};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::cell::RefCell;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Seek, Write};
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use target::folder_of;
pub(super) use target::is_stdout;
use tempfile::{SpooledTempFile, TempPath};

/// An output that is being written.
pub(super) struct Destination {
    path: PathBuf,
    writer: Encoder,
    /// The temporary file beside the target, for plain files.
    temporary: Option<TempPath>,
    /// The output so far, and its final place.
    then: Option<(Rc<RefCell<SpooledTempFile>>, Box<Destination>)>,
    /// Bytes that may be written before they are compressed, and how many of them are left.
    most: u64,
    left: u64,
}

/// More is to be written than the input justifies.
#[derive(Debug)]
pub(super) struct OutOfProportion {
    most: u64,
}

impl fmt::Display for OutOfProportion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the output would exceed {} MiB, too much for the size of the input",
            self.most >> 20
        )
    }
}

impl std::error::Error for OutOfProportion {}

enum Encoder {
    Plain(BufWriter<Box<dyn Write>>),
    Gzip(Gzip),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<Box<dyn Write>>>),
}

/// A gzip stream that ends only when it is complete. An abandoned stream must not look complete,
/// but [`GzEncoder`] writes its end, and its beginning, when it is dropped.
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

/// Small, so that blocks of writers with their own buffers are not copied into it.
const BUFFER: usize = 64 << 10;

impl Destination {
    /// Opens `output` for writing. `input` is refused as an output, and so is binary output to a
    /// terminal.
    pub(super) fn create(output: &Path, input: &Path, binary: bool) -> anyhow::Result<Self> {
        let compressed = matches!(extension(output), Some("gz" | "zst"));
        if output == Path::new("-") {
            if binary && io::stdout().is_terminal() {
                return Err(UsageError::new("cannot write binary output to a terminal")
                    .hint("name a file, or redirect the output")
                    .into());
            }
            #[cfg(unix)]
            if io::stdout()
                .as_fd()
                .try_clone_to_owned()
                .is_ok_and(|stdout| is_same_file(&stdout.into(), input))
            {
                return Err(output_is_input());
            }
            return Ok(Self::new(
                output.to_owned(),
                Encoder::new(output, Box::new(io::stdout()))?,
                None,
            ));
        }
        let fail = |error| OutputError::new(output, error);
        let target = target::resolve(output).map_err(fail)?;
        if fs::canonicalize(input)
            .is_ok_and(|input| fs::canonicalize(&target).is_ok_and(|target| input == target))
        {
            return Err(output_is_input());
        }
        if let Some(file) = target::open_stream(&target) {
            let file = file.map_err(fail)?;
            if is_same_file(&file, input) {
                return Err(output_is_input());
            }
            if (binary || compressed) && file.is_terminal() {
                return Err(UsageError::new("cannot write binary output to a terminal").into());
            }
            let writer = Encoder::new(output, Box::new(file))?;
            return Ok(Self::new(target, writer, None));
        }
        let (file, temporary) =
            temporary_beside(&target).map_err(|error| fail(without_path(error, &target)))?;
        let writer = Encoder::new(output, Box::new(file))?;
        Ok(Self::new(target, writer, Some(temporary)))
    }

    fn new(path: PathBuf, writer: Encoder, temporary: Option<TempPath>) -> Self {
        Self { path, writer, temporary, then: None, most: u64::MAX, left: u64::MAX }
    }

    /// Refuses to write more bytes than this, with [`OutOfProportion`].
    pub(super) fn at_most(self, bytes: u64) -> Self {
        Self { most: bytes, left: bytes, ..self }
    }

    /// Compresses the output with gzip, as fast as possible, unless its name already selects a
    /// compression.
    pub(super) fn gzipped(mut self) -> Self {
        if let Encoder::Plain(out) = self.writer {
            self.writer = Gzip::encoder(out, Compression::fast());
        }
        self
    }

    /// Shows the output only when it is complete. Output to anything but a file is kept in an
    /// unnamed file until then.
    pub(super) fn waiting(self) -> Self {
        if self.temporary.is_some() {
            return self;
        }
        let waiting = Rc::new(RefCell::new(tempfile::spooled_tempfile(WAITING)));
        let out: Box<dyn Write> = Box::new(Waiting(Rc::clone(&waiting)));
        let (path, most, left) = (self.path.clone(), self.most, self.left);
        let writer = Encoder::Plain(BufWriter::with_capacity(BUFFER, out));
        let then = Some((waiting, Box::new(self)));
        Self { path, writer, temporary: None, then, most, left }
    }

    /// Returns the folder for temporary parts of the output: that of the output, which has room for
    /// them; if the output is not a plain file, the folder for temporary files.
    pub(super) fn folder(&self) -> PathBuf {
        match self.temporary.as_deref().and_then(Path::parent) {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            Some(_) => PathBuf::from("."),
            None => std::env::temp_dir(),
        }
    }

    /// Returns the output again, if nothing has been written to it.
    pub(super) fn unwritten(self) -> Option<Self> {
        self.then.map(|(_, out)| *out)
    }

    /// Completes the output and gives it its name. Returns the bytes written, if the output is a
    /// plain file.
    pub(super) fn commit(self) -> Result<Option<u64>, OutputError> {
        let fail = |error| OutputError::new(&self.path, error);
        self.writer.finish().map_err(fail)?;
        if let Some((waiting, mut out)) = self.then {
            let mut waiting = waiting.borrow_mut();
            waiting.rewind().and_then(|()| io::copy(&mut *waiting, &mut *out)).map_err(fail)?;
            return out.commit();
        }
        let Some(temporary) = self.temporary else { return Ok(None) };
        let bytes = fs::metadata(&temporary).map_err(fail)?.len();
        let kept = temporary.persist(&self.path).map_err(|error| fail(error.error));
        interrupt::keep();
        kept.map(|()| Some(bytes))
    }
}

/// Bytes that wait in memory.
const WAITING: usize = 1 << 20;

/// The writer of output that is kept until it is complete.
struct Waiting(Rc<RefCell<SpooledTempFile>>);

impl Write for Waiting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            return Err(io::Error::other(OutOfProportion { most: self.most }));
        }
        let written = match &mut self.writer {
            Encoder::Plain(writer) => writer.write(bytes),
            Encoder::Gzip(Gzip(writer)) => writer.write(bytes),
            Encoder::Zstd(writer) => writer.write(bytes),
        }?;
        self.left -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.writer {
            Encoder::Plain(writer) => writer.flush(),
            Encoder::Gzip(Gzip(writer)) => writer.flush(),
            Encoder::Zstd(writer) => writer.flush(),
        }
    }
}

impl Encoder {
    fn new(path: &Path, out: Box<dyn Write>) -> Result<Self, OutputError> {
        let out = BufWriter::with_capacity(BUFFER, out);
        Ok(match extension(path) {
            Some("gz") => Gzip::encoder(out, gzip_level(path)),
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

/// pprof is gzipped by definition, and as fast as possible, which is how Go writes its own; the
/// rest by the user's wish.
fn gzip_level(path: &Path) -> Compression {
    match format_extension(path) {
        Some("pb" | "pprof") => Compression::fast(),
        _ => Compression::default(),
    }
}

/// The extension of a path without a compression's: `austin` for `out.austin.gz`.
pub(super) fn format_extension(path: &Path) -> Option<&str> {
    match extension(path)? {
        "gz" | "zst" => extension(Path::new(path.file_stem()?)),
        extension => Some(extension),
    }
}

fn extension(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

/// A file in the folder of the target, so that it can be renamed to it, with the permissions of the
/// target, or of any new file.
fn temporary_beside(target: &Path) -> io::Result<(File, TempPath)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options
            .mode(fs::metadata(target).map_or(0o666, |target| target.permissions().mode() & 0o777));
    }
    let file = tempfile::Builder::new().prefix(".dumptool-").suffix(".part").make_in(
        folder_of(target),
        |path| {
            // Before the file is there: a signal may come at any moment.
            interrupt::remove_when_stopped(path);
            options.open(path).inspect_err(|_| interrupt::keep())
        },
    )?;
    Ok(file.into_parts())
}

fn output_is_input() -> anyhow::Error {
    UsageError::new("the output file is also the input").hint("choose another file").into()
}

/// Whether an open file is the plain file at a path, as with `convert a.mojo /dev/stdout >>
/// a.mojo`.
fn is_same_file(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (Ok(file), Ok(other)) = (file.metadata(), fs::metadata(path)) else { return false };
        file.is_file() && (file.dev(), file.ino()) == (other.dev(), other.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        false
    }
}

/// The error without the path of the temporary file, which would only confuse.
fn without_path(error: io::Error, target: &Path) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound if !folder_of(target).exists() => {
            io::Error::new(io::ErrorKind::NotFound, "the folder does not exist")
        }
        kind => kind.into(),
    }
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
