//! Answers command lines from [`Dumps`] that stay open.
//!
//! [`Dumps::answer`] takes the words of a command line, runs the same code as the process would, and
//! returns what it would print. Only the loading differs.

#[cfg(test)]
mod tests;

use super::Command;
use super::args::{Cli, ObjectsArg, OutputFormat};
use super::dumps::Dumps;
use super::heap::histogram::histogram;
use super::lock;
use super::session::{Output, Session};
use super::status::{self, Status};
use crate::analysis::glob::TypeFilter;
use clap::Parser;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: Status,
    /// The result, which the process would write to standard output.
    pub(crate) result: Vec<u8>,
    /// Warnings and errors, which it would write to standard error.
    pub(crate) messages: String,
}

impl Dumps {
    /// Runs a command: `["top", "app.hprof", "--format", "json"]`. Several threads may ask at once.
    ///
    /// Only commands that show something can be asked; the others, and wrong arguments, are answered
    /// with [`Status::Usage`]. The answer is the same whoever asked before.
    pub(crate) fn answer<W: Into<OsString>>(
        self: &Arc<Self>,
        words: impl IntoIterator<Item = W>,
    ) -> Answer {
        let words = ["dumptool".into()].into_iter().chain(words.into_iter().map(Into::into));
        let Cli { command, mut common } = match Cli::try_parse_from(words) {
            Ok(cli) => cli,
            Err(error) => return Answer::usage(error.to_string()),
        };
        if !command.only_shows() {
            return Answer::usage("error: this command cannot be asked\n".into());
        }
        if common.format == OutputFormat::Github {
            return Answer::usage(
                "error: the format github is for logs of GitHub Actions\n".into(),
            );
        }
        if command.reads_requests() {
            return Answer::usage("error: standard input cannot be the SQL here\n".into());
        }
        let accepted = command.accept(&common);
        if let Err(error) = accepted.and_then(|()| self.complete(&mut common)) {
            return Answer::usage(format!("error: {error}\n"));
        }
        run(&command, Session::kept(common, Some(Arc::clone(self))))
    }

    /// Computes the analyses that first requests to the loaded heaps need. Returns the ids of at
    /// most `heads` objects: those that dominate most others in the heap that was used last.
    pub(super) fn prepare(&self, heads: usize) -> Vec<String> {
        let mut ids = Vec::new();
        for heap in self.heaps() {
            heap.get().prepare(|loaded, by| {
                // A heap that cannot be grouped this way gets its error when a request asks for the
                // grouping.
                let all = TypeFilter::default();
                drop(histogram(loaded, by, ObjectsArg::Live, &all, heap.input()));
            });
            let loaded = heap.get();
            ids = loaded.heads(heads).into_iter().map(|head| loaded.heap.id(head)).collect();
        }
        ids
    }
}

/// Runs a command and keeps its result and messages in memory.
fn run(command: &Command, session: Session) -> Answer {
    // A panic is a defect of one command. It must not end the program that answers others.
    let run = || super::run(command, &session);
    let status = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(done) => done.unwrap_or_else(|error| status::report(&error, &session.terminal)),
        Err(_) => {
            session.terminal.tell("error:", "the command failed because of a defect");
            Status::Unwritable
        }
    };
    let status = match status {
        Status::Damaged if session.common.lenient => Status::Done,
        status => status,
    };
    let messages = session.terminal.told();
    let result = match session.output {
        Output::Kept(kept) => std::mem::take(&mut *lock(&kept)),
        Output::Stdout => Vec::new(),
    };
    Answer { status, result, messages }
}

impl Answer {
    fn usage(messages: String) -> Self {
        Self { status: Status::Usage, result: Vec::new(), messages }
    }
}

impl Command {
    /// Whether the command only shows something about dumps, or about dumptool.
    fn only_shows(&self) -> bool {
        self.offer() != super::TERMINAL || matches!(self, Self::Formats(_))
    }

    /// Whether the command reads its SQL from standard input, which has the requests.
    fn reads_requests(&self) -> bool {
        let Self::Query(args) = self else { return false };
        [&args.second, &args.third].into_iter().flatten().any(|argument| argument == "-")
    }
}
