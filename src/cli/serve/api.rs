//! `/TOKEN/api/COMMAND?OPTION=VALUE`: the documents of the command line.

use super::http::Response;
use crate::cli::dumps::Dumps;
use crate::cli::status::Status;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// Commands about one dump.
const COMMANDS: [&str; 8] = ["info", "top", "tree", "path", "show", "find", "threads", "waste"];
/// Options that are given when the server starts, or that write elsewhere than to the answer.
const FIXED: [&str; 14] = [
    "exe",
    "old-exe",
    "no-guess",
    "snapshot",
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
];

/// Answers requests for documents.
pub(super) struct Api {
    resident: Arc<Dumps>,
    /// The dump; of two the newer one.
    file: PathBuf,
    /// The older and the newer one, if there are two.
    both: Option<[PathBuf; 2]>,
}

/// The query with which the page asks for what an object retains.
pub(super) fn tree_on_page(object: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("object", object);
    query.extend_pairs([("depth", "6"), ("limit", "60"), ("min-share", "0.001")]);
    query.finish()
}

impl Api {
    pub(super) fn new(resident: Arc<Dumps>, files: &[PathBuf]) -> Self {
        let both = match files {
            [old, new] => Some([old.clone(), new.clone()]),
            _ => None,
        };
        Self { resident, file: files.last().cloned().unwrap_or_default(), both }
    }

    /// The document of a command. A request that the command line would refuse is refused with its
    /// message.
    pub(super) fn response(&self, command: &str, query: &str) -> Response {
        let words = match self.words(command, query) {
            Ok(words) => words,
            Err(message) => return Response::error("400 Bad Request", &message),
        };
        let content_type =
            match words.iter().rev().find_map(|word| word.to_str()?.strip_prefix("--format=")) {
                Some("csv") => "text/csv; charset=utf-8",
                Some("json") => "application/json",
                _ => "text/plain; charset=utf-8",
            };
        let answer = self.resident.answer(words);
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

    /// The command line that a request represents: `top?limit=5&suspects` is `top --limit=5
    /// --suspects`, and `object` is the argument after the file.
    ///
    /// # Errors
    /// No such command, or an option that a request may not have.
    fn words(&self, command: &str, query: &str) -> Result<Vec<OsString>, String> {
        let files = match (command, &self.both) {
            ("diff", Some(both)) => &both[..],
            ("diff", None) => return Err("diff needs two dumps".to_owned()),
            (command, _) if COMMANDS.contains(&command) => std::slice::from_ref(&self.file),
            _ => {
                return Err(format!(
                    "unknown command; the commands are {} and diff",
                    COMMANDS.join(", ")
                ));
            }
        };
        let mut words: Vec<OsString> = vec![command.into(), "--format=json".into()];
        let mut objects = Vec::new();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            let is_name = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            match &*key {
                "object" => objects.push(OsString::from(value.into_owned())),
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
        Ok(words)
    }
}
