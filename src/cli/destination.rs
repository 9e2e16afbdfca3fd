//! Where a conversion writes to: a file that appears only when it is complete, a device, or standard output.

mod target;

use super::interrupt;
use super::status::{OutputError, UsageError};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use target::folder_of;
pub(super) use target::is_stdout;
use tempfile::TempPath;

/// An output that is being written.
pub(super) struct Destination {
    path: PathBuf,
    writer: Encoder,
    /// The temporary file beside the target, for plain files.
    temporary: Option<TempPath>,
}

enum Encoder {
    Plain(BufWriter<Box<dyn Write>>),
    Gzip(Box<flate2::write::GzEncoder<BufWriter<Box<dyn Write>>>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<Box<dyn Write>>>),
}

/// Small, so that the blocks of writers that have a buffer of their own are not copied into it.
const BUFFER: usize = 64 << 10;

impl Destination {
    /// Opens `output` for writing. `input` is refused as an output, and so is binary output to a terminal.
    pub(super) fn create(output: &Path, input: &Path, binary: bool) -> anyhow::Result<Self> {
        let compressed = matches!(extension(output), Some("gz" | "zst"));
        if output == Path::new("-") {
            if binary && io::stdout().is_terminal() {
                return Err(UsageError::new("binary output is not written to a terminal")
                    .hint("name a file, or redirect it")
                    .into());
            }
            #[cfg(unix)]
            if io::stdout().as_fd().try_clone_to_owned().is_ok_and(|stdout| is_same_file(&stdout.into(), input)) {
                return Err(output_is_input());
            }
            return Ok(Self { path: output.to_owned(), writer: Encoder::new(output, Box::new(io::stdout()))?, temporary: None });
        }
        let fail = |error| OutputError::new(output, error);
        let target = target::resolve(output).map_err(fail)?;
        if fs::canonicalize(input).is_ok_and(|input| fs::canonicalize(&target).is_ok_and(|target| input == target)) {
            return Err(output_is_input());
        }
        if let Some(file) = target::open_stream(&target) {
            let file = file.map_err(fail)?;
            if is_same_file(&file, input) {
                return Err(output_is_input());
            }
            if (binary || compressed) && file.is_terminal() {
                return Err(UsageError::new("binary output is not written to a terminal").into());
            }
            return Ok(Self { path: target, writer: Encoder::new(output, Box::new(file))?, temporary: None });
        }
        let (file, temporary) = temporary_beside(&target).map_err(|error| fail(without_path(error, &target)))?;
        Ok(Self { path: target, writer: Encoder::new(output, Box::new(file))?, temporary: Some(temporary) })
    }

    /// Gzips what is written, as fast as possible, unless its name says already how to compress it.
    pub(super) fn gzipped(mut self) -> Self {
        if let Encoder::Plain(out) = self.writer {
            self.writer = Encoder::Gzip(Box::new(flate2::write::GzEncoder::new(out, flate2::Compression::fast())));
        }
        self
    }

    /// Whether nobody sees what is written before it is complete.
    pub(super) fn is_hidden(&self) -> bool {
        self.temporary.is_some()
    }

    /// Where to put what waits for its place in the output: beside it, where there is room for all of it if there is for the output;
    /// for what is no plain file, where temporary files are.
    pub(super) fn folder(&self) -> PathBuf {
        match self.temporary.as_deref().and_then(Path::parent) {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            Some(_) => PathBuf::from("."),
            None => std::env::temp_dir(),
        }
    }

    /// Completes the output and gives it its name. Returns the bytes written, if the output is a plain file.
    pub(super) fn commit(self) -> Result<Option<u64>, OutputError> {
        let fail = |error| OutputError::new(&self.path, error);
        self.writer.finish().map_err(fail)?;
        let Some(temporary) = self.temporary else { return Ok(None) };
        let bytes = fs::metadata(&temporary).map_err(fail)?.len();
        let kept = temporary.persist(&self.path).map_err(|error| fail(error.error));
        interrupt::keep();
        kept.map(|()| Some(bytes))
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.writer {
            Encoder::Plain(writer) => writer.write(bytes),
            Encoder::Gzip(writer) => writer.write(bytes),
            Encoder::Zstd(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.writer {
            Encoder::Plain(writer) => writer.flush(),
            Encoder::Gzip(writer) => writer.flush(),
            Encoder::Zstd(writer) => writer.flush(),
        }
    }
}

impl Encoder {
    fn new(path: &Path, out: Box<dyn Write>) -> Result<Self, OutputError> {
        let out = BufWriter::with_capacity(BUFFER, out);
        Ok(match extension(path) {
            Some("gz") => Self::Gzip(Box::new(flate2::write::GzEncoder::new(out, gzip_level(path)))),
            Some("zst") => Self::Zstd(zstd::stream::write::Encoder::new(out, 3).map_err(|error| OutputError::new(path, error))?),
            _ => Self::Plain(out),
        })
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut writer) => writer.flush(),
            Self::Gzip(writer) => writer.finish()?.flush(),
            Self::Zstd(writer) => writer.finish()?.flush(),
        }
    }
}

/// pprof is gzipped by definition, and as fast as possible, which is how Go writes its own; the rest by the user's wish.
fn gzip_level(path: &Path) -> flate2::Compression {
    match format_extension(path) {
        Some("pb" | "pprof") => flate2::Compression::fast(),
        _ => flate2::Compression::default(),
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

/// A file in the folder of the target, so that it can be renamed to it, with the permissions of the target, or of any new file.
fn temporary_beside(target: &Path) -> io::Result<(File, TempPath)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(fs::metadata(target).map_or(0o666, |target| target.permissions().mode() & 0o777));
    }
    let file = tempfile::Builder::new().prefix(".dumptool-").suffix(".part").make_in(folder_of(target), |path| {
        // Before the file is there: a signal may come at any moment.
        interrupt::remove_when_stopped(path);
        options.open(path).inspect_err(|_| interrupt::keep())
    })?;
    Ok(file.into_parts())
}

fn output_is_input() -> anyhow::Error {
    UsageError::new("the output is the input").hint("name another file").into()
}

/// Whether an open file is the plain file at a path, as with `convert a.mojo /dev/stdout >> a.mojo`.
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
