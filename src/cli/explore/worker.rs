//! Answers in the background, so that no key waits for one.

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
    /// Answers `first` before all others, and what `ahead` leads to once nobody waits for more.
    pub(super) fn start(resident: Arc<Dumps>, first: Option<Vec<String>>, ahead: Ahead) -> Self {
        let replies = channel();
        let (questions, asked) = channel::<Vec<String>>();
        let (dumps, out) = (Arc::clone(&resident), replies.0.clone());
        spawn(move || {
            let mut ahead = Some(ahead);
            if let Some(words) = first {
                let answer = dumps.answer(&words);
                let _ = out.send(Reply::Document(words, answer)); // The next one notices.
            }
            while let Ok(mut words) = asked.recv() {
                // Who moved on does not wait for where they were.
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

    /// Asks for a document, unless that is under way.
    pub(super) fn ask(&mut self, words: Vec<String>) {
        if self.asked.as_ref() != Some(&words) {
            // The thread lives as long as this.
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

/// What is answered before somebody asks, so that keys need not wait: the first look at something
/// takes longest.
pub(super) struct Ahead {
    pub(super) files: Files,
    pub(super) tabs: Vec<View>,
    pub(super) is_heap: bool,
}

/// The time that a view of a profile may take. A heap has paid for its views when it is loaded.
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
