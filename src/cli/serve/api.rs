//! `/TOKEN/api/COMMAND?OPTION=VALUE`: the documents of the command line.

use super::http::Response;
use crate::cli::ask::Answer;
use crate::cli::dumps::Dumps;
use crate::cli::status::Status;
use crate::cli::terminal::show_path;
use crate::cli::{COMMANDS, ServeFiles};
use crate::output::OutputFormat;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Options that requests cannot have: they are given at the start, or write to other places.
const FIXED: [&str; 15] = [
    "exe",
    "old-exe",
    "no-guess",
    "roots",
    "layout",
    "sizes",
    "from",
    "lenient",
    "threads",
    "max-memory",
    "spill",
    "color",
    "no-progress",
    "profile",
    "save",
];

/// Answers requests for documents.
pub(super) struct Api {
    pub(super) resident: Arc<Dumps>,
    /// The dump, or the newest of several.
    file: PathBuf,
    /// The oldest and the newest dump, if there are several.
    both: Option<[PathBuf; 2]>,
    /// All dumps, oldest first.
    all: Vec<PathBuf>,
    converting: Mutex<()>,
}

/// The command whose answer is a file.
const CONVERT: &str = "convert";

/// The query with which the page requests the tree below an object.
pub(super) fn tree_on_page(object: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("object", object);
    query.extend_pairs([("depth", "6"), ("limit", "60"), ("min-share", "0.001")]);
    query.finish()
}

impl Api {
    pub(super) fn new(resident: Arc<Dumps>, files: &[PathBuf]) -> Self {
        let both = match files {
            [old, .., new] => Some([old.clone(), new.clone()]),
            _ => None,
        };
        let file = files.last().cloned().unwrap_or_default();
        Self { resident, file, both, all: files.to_vec(), converting: Mutex::default() }
    }

    /// The document of a command. A request that the command line would refuse is refused with its
    /// message.
    pub(super) fn response(&self, command: &str, query: &str) -> Response {
        // Reading a mapped file beyond its new end would end the process.
        if let Some(path) = self.resident.changed() {
            let message = format!(
                "{} was changed, truncated or deleted; start `dumptool serve` again",
                show_path(&path)
            );
            return Response::error("410 Gone", &message);
        }
        let words = match self.words(command, query) {
            Ok(words) => words,
            Err(message) => return Response::error("400 Bad Request", &message),
        };
        if command == CONVERT {
            return self.download(words);
        }
        let content_type =
            match words.iter().rev().find_map(|word| word.to_str()?.strip_prefix("--format=")) {
                Some("csv") => "text/csv; charset=utf-8",
                Some("json") => "application/json",
                _ => "text/plain; charset=utf-8",
            };
        response(content_type, self.resident.answer(words))
    }

    /// A conversion as a file to save. One is made at a time, because its output is in memory.
    fn download(&self, words: Vec<OsString>) -> Response {
        let Ok(_only) = self.converting.try_lock() else {
            return Response::error("503 Service Unavailable", "another conversion is running");
        };
        let name = self.file_name(&words);
        let response = response("application/octet-stream", self.resident.answer(words));
        let file_name = response.status.starts_with("200").then_some(name);
        Response { file_name, ..response }
    }

    /// The name of the dump with the extension of the format, in characters that need no quotes.
    fn file_name(&self, words: &[OsString]) -> String {
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy();
        let target = words.iter().find_map(|word| word.to_str()?.strip_prefix("--to="));
        let extension = target
            .and_then(OutputFormat::from_name)
            .map_or("bin", |target| target.extensions().first().copied().unwrap_or("bin"));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let plain: String = stem.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        format!("{plain}.{extension}")
    }

    /// The command line that a request represents: `top?limit=5&suspects` is `top --limit=5
    /// --suspects`, and `object` or `sql` is the argument after the files.
    ///
    /// Fails if there is no such command, or for an option that a request may not have.
    fn words(&self, command: &str, query: &str) -> Result<Vec<OsString>, String> {
        let offered = COMMANDS.iter().filter_map(|(name, offer)| Some((*name, offer.serve?)));
        let Some((_, wanted)) = offered.clone().find(|(name, _)| *name == command) else {
            let names: Vec<_> = offered.map(|(name, _)| name).collect();
            return Err(format!("unknown command; the commands are {}", names.join(", ")));
        };
        let files = match (wanted, &self.both) {
            (ServeFiles::All, Some(_)) => &self.all,
            (ServeFiles::Two | ServeFiles::OneOrTwo, Some(both)) => &both[..],
            (ServeFiles::Two, None) => return Err(format!("{command} needs two dumps")),
            // A single recording may contain histograms from several times.
            (ServeFiles::All, None) | (ServeFiles::Newest | ServeFiles::OneOrTwo, _) => {
                std::slice::from_ref(&self.file)
            }
        };
        let is_download = command == CONVERT;
        let format = if is_download { "--format=table" } else { "--format=json" };
        let mut words: Vec<OsString> = vec![command.into(), format.into()];
        let mut objects = Vec::new();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            let is_name = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            match &*key {
                "object" | "sql" => objects.push(OsString::from(value.into_owned())),
                key if !is_name || key.is_empty() || FIXED.contains(&key) => {
                    return Err(format!("a request cannot have the option {key:?}"));
                }
                key if value.is_empty() => words.push(format!("--{key}").into()),
                key => words.push(format!("--{key}={value}").into()),
            }
        }
        words.push("--".into());
        words.extend(files.iter().map(OsString::from));
        words.extend(objects);
        // A conversion writes to standard output, which becomes the answer.
        words.extend(is_download.then(|| "-".into()));
        Ok(words)
    }
}

fn response(content_type: &'static str, answer: Answer) -> Response {
    match answer.status {
        Status::Done | Status::Broken | Status::Damaged => {
            Response::ok(content_type, answer.result)
        }
        Status::Usage => Response::error("400 Bad Request", answer.messages.trim_end()),
        Status::Unreadable => {
            Response::error("422 Unprocessable Content", answer.messages.trim_end())
        }
        Status::Unwritable => {
            Response::error("500 Internal Server Error", answer.messages.trim_end())
        }
    }
}
