//! Fetches a file by HTTP, without encryption, proxies or cookies.

use crate::cli::args::Common;
use crate::cli::destination::{temporary_beside, without_path};
use crate::cli::inputs::Inputs;
use crate::cli::interrupt;
use crate::cli::progress::Progress;
use crate::cli::size::size;
use crate::cli::status::{InputError, OutputError};
use crate::cli::terminal::{show_path, shown, tell};
use crate::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;
use ureq::{Agent, Body, http::Response};

/// Maximum number of bytes that a server may send.
const MOST: u64 = 4 << 30;
/// Timeout for connecting, and for each wait until the server sends more bytes.
const PATIENCE: Duration = Duration::from_secs(60);
const MOST_REDIRECTS: u32 = 5;
/// Maximum number of bytes to read of the text that a server sends with an error.
const MOST_TEXT: u64 = 4 << 10;

/// Fetches a file. With `--save`, keeps it under that name. Fails with an [`InputError`] if the
/// file did not arrive whole, or with an [`OutputError`] if it cannot be saved.
pub(super) fn fetch(path: &Path, common: &Common) -> anyhow::Result<File> {
    let failed = |error| InputError::new(path, error);
    let mut response = request(&path.to_string_lossy(), common).map_err(failed)?;
    let Some(target) = &common.save else {
        let mut file = tempfile::tempfile()
            .map_err(|error| failed(Error::io(error, "cannot create a temporary file")))?;
        copy(&mut response, &mut file).map_err(failed)?;
        return Ok(file);
    };
    let unsaved = |error| OutputError::new(target, error);
    let (mut file, temporary) = temporary_beside(target, &Inputs::default())
        .map_err(|error| unsaved(without_path(error, target)))?;
    let bytes = copy(&mut response, &mut file).map_err(failed)?;
    let saved = temporary.persist_noclobber(target).map_err(|error| unsaved(error.error));
    interrupt::keep();
    saved?;
    if !common.quiet {
        tell("", &format!("saved {}: {}", show_path(target), size(bytes, common.bytes)));
    }
    Ok(File::open(target).map_err(unsaved)?)
}

/// Sends the request. The body of the returned response has not been read yet.
fn request(address: &str, common: &Common) -> Result<Response<Body>, Error> {
    let measured = measured(address);
    let phase = if measured.is_zero() { "waiting for the server" } else { "measuring" };
    let _progress = Progress::new(phase, None);
    let agent: Agent = Agent::config_builder()
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(MOST_REDIRECTS)
        .timeout_connect(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE + measured))
        .timeout_global(common.timeout.map(Duration::from_secs))
        .user_agent(concat!("dumptool/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let mut response = agent.get(address).call().map_err(explain)?;
    if response.status().as_u16() != 200 {
        return Err(refusal(&mut response));
    }
    let length = response.body().content_length().unwrap_or(0);
    if length > MOST { Err(too_large(length)) } else { Ok(response) }
}

/// The time that a server measures before it answers: the `seconds` of Go's addresses.
fn measured(address: &str) -> Duration {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let seconds = form_urlencoded::parse(query.as_bytes())
        .find_map(|(key, value)| (key == "seconds").then(|| value.parse::<u32>().ok())?);
    Duration::from_secs(seconds.unwrap_or(0).into())
}

/// Copies the body to `file`. Returns the number of bytes.
fn copy(response: &mut Response<Body>, file: &mut File) -> Result<u64, Error> {
    let length = response.body().content_length();
    let progress = Progress::new("fetching", length);
    let mut body = response.body_mut().with_config().limit(MOST).reader();
    let mut buffer = vec![0; 256 << 10];
    let mut done = 0;
    loop {
        let read = match body.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(match ureq::Error::from(error) {
                    ureq::Error::BodyExceedsLimit(_) => too_large(done),
                    error => explain(error).context(format!("after {done} bytes")),
                });
            }
        };
        file.write_all(&buffer[..read])
            .map_err(|error| Error::io(error, "cannot write to a temporary file"))?;
        done += read as u64;
        progress.reached(done);
    }
    // The caller reads the file from its start.
    file.rewind().map_err(|error| Error::io(error, "cannot read a temporary file"))?;
    Ok(done)
}

/// The error for a file of at least `bytes`.
fn too_large(bytes: u64) -> Error {
    let bytes =
        if bytes > MOST { size(bytes, false) } else { format!("over {}", size(MOST, false)) };
    let error = io::Error::other(format!("{bytes}, and at most {} is fetched", size(MOST, false)));
    Error::io(error, "the file is too large")
        .hint("if you trust the server, save the file first, with curl -fo FILE")
}

/// The error for a response that is not a file: its status, and the first line of its text, in
/// which Go's servers give the reason.
fn refusal(response: &mut Response<Body>) -> Error {
    let status = response.status();
    let mut text = Vec::new();
    // If the text is truncated, the part that arrived is used.
    let _ = response.body_mut().as_reader().take(MOST_TEXT).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('<'));
    let found = [status.to_string()].into_iter().chain(line.map(shown)).collect::<Vec<_>>();
    Error::io(io::Error::other(found.join(": ")), "the server refuses")
}

fn explain(error: ureq::Error) -> Error {
    let hint = match &error {
        ureq::Error::TlsRequired | ureq::Error::RequireHttpsOnly(_) => {
            "the server redirects to https://, which is not fetched: save the file first, with curl -fLo FILE"
        }
        ureq::Error::Timeout(_) => "--timeout sets the time for all of it, in seconds",
        ureq::Error::TooManyRedirects => "at most 5 redirects are followed",
        _ => return Error::io(error.into_io(), "cannot fetch"),
    };
    Error::io(error.into_io(), "cannot fetch").hint(hint)
}
