//! Answers requests in the background, so that keys do not wait for answers.

use super::place::{Files, Place, View};
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
use std::time::{Duration, Instant};

/// A result of work in the background.
pub(super) enum Reply {
    Document(Vec<String>, Answer),
    /// A message about a file that was saved or could not be saved.
    Saved(String),
}

/// Runs requests to resident dumps in its own threads.
pub(super) struct Worker {
    resident: Arc<Dumps>,
    questions: Sender<Vec<String>>,
    /// The last request, until its document arrives.
    asked: Option<Vec<String>>,
    replies: (Sender<Reply>, Receiver<Reply>),
}

/// Number of objects whose subtrees are prepared: those that dominate most others.
const HEADS: usize = 16;

impl Worker {
    /// Answers `first` before other requests, and prepares the documents of `ahead` after the next.
    pub(super) fn start(resident: Arc<Dumps>, first: Option<Vec<String>>, ahead: Ahead) -> Self {
        let replies = channel();
        let (questions, asked) = channel::<Vec<String>>();
        let (dumps, out) = (Arc::clone(&resident), replies.0.clone());
        spawn(move || {
            let mut ahead = Some(ahead);
            if let Some(words) = first {
                let answer = dumps.answer(&words);
                let _ = out.send(Reply::Document(words, answer)); // The next send sees a failure.
            }
            while let Ok(mut words) = asked.recv() {
                // Skips requests for places that the user has left.
                while let Ok(later) = asked.try_recv() {
                    words = later;
                }
                let answer = dumps.answer(&words);
                let is_over = out.send(Reply::Document(words, answer)).is_err();
                if let Some(ahead) = ahead.take() {
                    let (dumps, out) = (Arc::clone(&dumps), out.clone());
                    spawn(move || ahead.answer(&dumps, &out));
                }
                if is_over {
                    break;
                }
            }
        });
        Self { resident, questions, asked: None, replies }
    }

    /// Requests a document, unless it was the last one requested and has not arrived.
    pub(super) fn ask(&mut self, words: Vec<String>) {
        if self.asked.as_ref() != Some(&words) {
            // The thread runs as long as this worker exists.
            let _ = self.questions.send(words.clone());
            self.asked = Some(words);
        }
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
            let _ = out.send(Reply::Saved(message)); // Fails only if the interface has ended.
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

/// The views to prepare before the user opens them, because the first request for a view takes
/// longest.
pub(super) struct Ahead {
    pub(super) files: Files,
    pub(super) tabs: Vec<View>,
    pub(super) is_heap: bool,
}

/// The views of a profile are no longer prepared after one that takes longer than this.
const PATIENCE: Duration = Duration::from_secs(1);

impl Ahead {
    fn answer(self, dumps: &Arc<Dumps>, out: &Sender<Reply>) {
        let heads = dumps.prepare(HEADS);
        for view in self.tabs.iter().filter(|view| !view.is_query()) {
            let words = Place::new(*view).asked(&self.files, "json");
            let started = Instant::now();
            let answer = dumps.answer(&words);
            let is_over = out.send(Reply::Document(words, answer)).is_err();
            if is_over || !self.is_heap && started.elapsed() > PATIENCE {
                return;
            }
        }
        let path = heads.first().map(|head| Place::of(View::Path, head, head));
        let trees = heads.iter().map(|head| Place::of(View::Tree, head, head));
        for place in path.into_iter().chain(trees) {
            drop(dumps.answer(place.asked(&self.files, "json")));
        }
    }
}

/// Writes a new file, with a number after its name if the name is taken.
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

/// Starts a thread. If that fails, the document of the place never arrives.
fn spawn(work: impl FnOnce() + Send + 'static) {
    drop(thread::Builder::new().name("explore".to_owned()).spawn(work));
}
