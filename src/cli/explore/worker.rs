//! Answers in the background, so that no key waits for one.

use super::place::View;
use crate::cli::ask::Answer;
use crate::cli::dumps::Dumps;
use crate::cli::status::Status;
use crate::cli::terminal::show_path;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// What has been done in the background.
pub(super) enum Reply {
    Document(Vec<String>, Answer),
    /// A message about a file that was written, or was not.
    Saved(String),
}

/// Asks resident dumps in threads of its own.
pub(super) struct Worker {
    resident: Arc<Dumps>,
    questions: Sender<Vec<String>>,
    /// What was asked last.
    asked: Option<Vec<String>>,
    replies: (Sender<Reply>, Receiver<Reply>),
}

/// Objects whose subtrees are ready for a key: those above most others.
const HEADS: usize = 16;

impl Worker {
    pub(super) fn start(resident: Arc<Dumps>) -> Self {
        let replies = channel();
        let (questions, asked) = channel::<Vec<String>>();
        let (dumps, out) = (Arc::clone(&resident), replies.0.clone());
        spawn(move || {
            let mut is_prepared = false;
            while let Ok(mut words) = asked.recv() {
                // Who moved on does not wait for where they were.
                while let Ok(later) = asked.try_recv() {
                    words = later;
                }
                let answer = dumps.answer(&words);
                let is_over = out.send(Reply::Document(words, answer)).is_err();
                if !is_prepared {
                    is_prepared = true;
                    let dumps = Arc::clone(&dumps);
                    spawn(move || drop(dumps.prepare(HEADS)));
                }
                if is_over {
                    break;
                }
            }
        });
        Self { resident, questions, asked: None, replies }
    }

    /// Asks for a document, unless that is under way.
    pub(super) fn ask(&mut self, words: Vec<String>) {
        if self.asked.as_ref() != Some(&words) {
            // The thread lives as long as this.
            let _ = self.questions.send(words.clone());
            self.asked = Some(words);
        }
    }

    /// Asks at the same time as for others.
    pub(super) fn ask_beside(&self, words: Vec<String>) {
        let (dumps, out) = (Arc::clone(&self.resident), self.replies.0.clone());
        spawn(move || {
            let answer = dumps.answer(&words);
            let _ = out.send(Reply::Document(words, answer)); // Nobody waits any more.
        });
    }

    /// Writes an answer to a new file in the current folder.
    pub(super) fn save(&self, words: Vec<String>, file: &str, extension: &'static str) {
        let (dumps, out) = (Arc::clone(&self.resident), self.replies.0.clone());
        let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let command = words.first().cloned().unwrap_or_else(|| View::Query.spec().name.to_owned());
        spawn(move || {
            let answer = dumps.answer(&words);
            let message = match answer.status {
                Status::Done | Status::Broken | Status::Damaged => {
                    let name = format!("{stem}-{command}");
                    match write_new(&name, extension, &answer.result) {
                        Ok(path) => format!("saved {}", show_path(&path)),
                        Err(error) => format!("{name}.{extension}: {error}"),
                    }
                }
                _ => answer.messages.replace('\n', " "),
            };
            let _ = out.send(Reply::Saved(message)); // Nobody waits any more.
        });
    }

    /// The next reply that has arrived.
    pub(super) fn reply(&mut self) -> Option<Reply> {
        let reply = self.replies.1.try_recv().ok()?;
        if let Reply::Document(words, _) = &reply
            && self.asked.as_ref() == Some(words)
        {
            self.asked = None;
        }
        Some(reply)
    }
}

/// Writes a file under a name that no file has.
fn write_new(name: &str, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = PathBuf::from(format!("{name}{suffix}.{extension}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => return file.write_all(bytes).map(|()| path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                number += 1
            }
            Err(error) => return Err(error),
        }
    }
}

/// Starts a thread. If there is none, the place stays without its document.
fn spawn(work: impl FnOnce() + Send + 'static) {
    drop(thread::Builder::new().name("explore".to_owned()).spawn(work));
}
