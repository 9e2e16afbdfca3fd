//! `threads`: threads by their stacks, with the memory that only they keep alive.

use super::args::ThreadsArgs;
use super::heap::{Analysed, open_heap, report_loaded};
use super::print::{Columns, Document, Shown, Value as Json, print};
use super::session::Session;
use super::size::{count, duration, plural};
use super::status::Status;
use super::terminal::shown;
use crate::analysis::threads::{ThreadGroup, Threads, frames, program_functions};
use crate::model::heap::{Heap, Root, StackFrame, Thread, ThreadKind};
use std::cmp::Reverse;

/// The default number of rows.
const ROWS: usize = 20;
/// Maximum number of local variables of a frame that people see.
const LOCALS: usize = 8;

pub(super) fn run(args: &ThreadsArgs, session: &Session) -> anyhow::Result<Status> {
    let instead = Some("`dumptool top --by thread` sums the samples");
    let (input, held) = open_heap(session, "threads", &args.file, &args.heap, instead)?;
    let loaded = held.get();
    let dominators = &loaded.tree().dominators;
    let threads = Threads::of_dominators(&loaded.heap, loaded.graph(), dominators, args.each);
    let analysed = loaded.analysed();
    let list = List { analysed: &analysed, threads: &threads, session };
    let mut groups = threads.groups.clone();
    groups.sort_by_cached_key(|group| Reverse(list.thread_retained(group)));
    let (rows, omitted) = session.shown(&groups, args.limit, ROWS);
    let count_of =
        |groups: &[ThreadGroup]| groups.iter().map(|group| group.threads.len()).sum::<usize>();
    let document = || {
        Document::new("dumptool/threads/1", &args.file)
            .with("snapshot", loaded.snapshot)
            .with("threads", threads.retained.len())
            .rows("groups")
            .with(
                "omitted",
                Json::from([
                    ("groups", omitted.len().into()),
                    ("threads", count_of(omitted).into()),
                ]),
            )
    };
    let footer = || {
        let all = list.counted(threads.retained.len(), list.kind(&threads.groups));
        match (threads.groups.is_empty(), omitted.is_empty()) {
            (true, _) => "no threads in the dump\n".to_owned(),
            (false, true) if args.each || !list.has_frames(rows) => format!("{all}\n"),
            (false, true) => format!("{all} (--each for frames and local variables)\n"),
            (false, false) => {
                format!("showing {} of {all} (-n for more)\n", count(count_of(rows) as u64))
            }
        }
    };
    let text = || rows.iter().map(|group| list.block(group)).collect::<String>() + &footer();
    let shown =
        if args.each || rows.is_empty() { Shown::Text(&text) } else { Shown::Table(&footer) };
    print(session, document, rows, &list.columns(rows), &shown)?;
    Ok(report_loaded(session, &input, loaded))
}

#[derive(Clone, Copy)]
struct List<'l, 'h, 'a> {
    analysed: &'l Analysed<'h, 'a>,
    threads: &'l Threads,
    session: &'l Session,
}

impl<'l, 'h, 'a> List<'l, 'h, 'a> {
    fn heap(self) -> &'h Heap<'a> {
        self.analysed.heap
    }

    fn members(self, group: &'l ThreadGroup) -> impl Iterator<Item = &'h Thread> {
        group.threads.iter().map(move |row| &self.heap().threads[*row as usize])
    }

    /// The first thread of a group, which has at least one.
    fn first(self, group: &ThreadGroup) -> &'h Thread {
        &self.heap().threads[group.threads[0] as usize]
    }

    /// Bytes that the threads of a group keep alive, with their objects.
    fn thread_retained(self, group: &ThreadGroup) -> u64 {
        self.threads.group_bytes(self.heap(), group, |object| self.analysed.retained(object))
    }

    /// The kind of all threads, or just "thread" if there are several kinds.
    fn kind(self, groups: &[ThreadGroup]) -> ThreadKind {
        let mut kinds = groups.iter().map(|group| self.first(group).kind);
        let first = kinds.next().unwrap_or(ThreadKind::Thread);
        if kinds.all(|kind| kind == first) { first } else { ThreadKind::Thread }
    }

    fn counted(self, threads: usize, kind: ThreadKind) -> String {
        plural(threads as u64, kind.name(), &format!("{}s", kind.name()))
    }

    fn columns(self, rows: &[ThreadGroup]) -> Columns<'l, ThreadGroup> {
        let names = self.heap().names();
        let has = |is_so: &dyn Fn(&ThreadGroup) -> bool| rows.iter().any(is_so);
        let mut keys = vec!["thread_retained_bytes"];
        // In formats without thread objects, both columns are equal.
        if has(&|group| self.thread_retained(group) != group.retained.bytes()) {
            keys.push("retained_bytes");
        }
        keys.push("count");
        if has(&|group| self.name(self.first(group)).is_some()) {
            keys.push("name");
        }
        if has(&|group| !names.text(self.first(group).state).is_empty()) {
            keys.push("state");
        }
        if has(&|group| self.wait(group).is_some()) {
            keys.push("wait_us");
        }
        if self.has_frames(rows) {
            keys.push("stack");
        }
        Columns::new(self.session)
            .number("count", "COUNT", |group: &'l ThreadGroup| group.threads.len())
            .shown_as(move |group| self.counted(group.threads.len(), self.first(group).kind))
            .value("kind", move |group| self.first(group).kind.name())
            .text("name", "NAME", move |group| {
                if group.threads.len() == 1 { self.name(self.first(group)) } else { None }
            })
            .shown_as(move |group| shown(&self.common_name(group)))
            .text("state", "STATE", move |group| {
                Json::non_empty(names.text(self.first(group).state))
            })
            .number("wait_us", "WAIT", move |group| self.wait(group))
            .shown_as(move |group| {
                self.wait(group).map(|wait| format!("≥ {}", duration(wait))).unwrap_or_default()
            })
            .bytes("retained_bytes", "ONLY HERE", |group| group.retained.bytes())
            .bytes("thread_retained_bytes", "RETAINED", move |group| self.thread_retained(group))
            .json("frames", move |group| self.frames_json(group))
            .json("created_by", move |group| self.creation_json(group))
            .json("threads", move |group| self.threads_json(group))
            .flat("stack", "STACK", move |group| {
                self.functions(group).collect::<Vec<_>>().join(";")
            })
            .shown_as(move |group| shown(&self.stack(group)))
            .below()
            .flat("ids", "", move |group| {
                self.members(group)
                    .map(|thread| thread.id.to_string())
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .table(&keys)
            .minor(&["wait_us"])
    }

    fn has_frames(self, rows: &[ThreadGroup]) -> bool {
        rows.iter().any(|group| !self.frames(group).is_empty())
    }

    /// The name of a thread. Goroutines have none.
    fn name(self, thread: &Thread) -> Option<&'h str> {
        Some(self.heap().names.text(thread.name))
            .filter(|name| thread.kind != ThreadKind::Goroutine && !name.is_empty())
    }

    /// The name of a thread, or the common prefix of several names: `pool-1-thread-*`.
    fn common_name(self, group: &'l ThreadGroup) -> String {
        let mut names = self.members(group).map(|thread| self.name(thread).unwrap_or_default());
        let first = names.next().unwrap_or_default();
        let length = names.fold(first.len(), |length, name| {
            let same = first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
            // Two names may be equal up to the middle of a character.
            length.min((0..=same).rev().find(|end| first.is_char_boundary(*end)).unwrap_or(0))
        });
        let is_same =
            self.members(group).all(|thread| self.name(thread).unwrap_or_default() == first);
        if is_same { first.to_owned() } else { format!("{}*", &first[..length]) }
    }

    /// The longest wait of a group, in microseconds.
    fn wait(self, group: &ThreadGroup) -> Option<u64> {
        group.threads.iter().filter_map(|row| self.heap().threads[*row as usize].wait_us).max()
    }

    fn frames(self, group: &ThreadGroup) -> &'h [StackFrame] {
        frames(self.heap(), self.first(group))
    }

    fn functions(self, group: &ThreadGroup) -> impl Iterator<Item = &'h str> {
        self.frames(group).iter().map(move |frame| self.heap().names.text(frame.function))
    }

    /// The functions from the innermost one of the program, on one line.
    fn stack(self, group: &ThreadGroup) -> String {
        let calls = program_functions(self.heap(), self.first(group)).into_iter();
        let text = |(function, times): (&str, u32)| match times {
            1 => function.to_owned(),
            times => format!("{function} ×{}", count(times.into())),
        };
        calls.map(text).collect::<Vec<_>>().join(" ← ")
    }

    /// The call that started the threads of a group, and the thread that ran it if they are one.
    fn creation_json(self, group: &'l ThreadGroup) -> Json<'l> {
        let names = self.heap().names();
        let creation = self.first(group).created_by.map(|creation| {
            let StackFrame { function, file, line } = creation.call;
            let thread = creation.thread.filter(|_| group.threads.len() == 1);
            Json::from([
                ("function", names.text(function).into()),
                ("file", Json::non_empty(names.text(file))),
                ("line", Some(line).filter(|line| *line > 0).into()),
                ("thread", thread.map(|id| id.to_string()).into()),
            ])
        });
        creation.into()
    }

    fn frames_json(self, group: &'l ThreadGroup) -> Json<'l> {
        let names = self.heap().names();
        // Only for single threads: threads with equal frames have different objects in them.
        let is_single = group.threads.len() == 1;
        let frame = |(row, frame): (u32, &'h StackFrame)| {
            let locals = || {
                self.threads
                    .locals(row)
                    .map(|root| self.local_json(&self.heap().roots[root]))
                    .collect::<Vec<_>>()
            };
            Json::from([
                ("function", names.text(frame.function).into()),
                ("file", Json::non_empty(names.text(frame.file))),
                ("line", Some(frame.line).filter(|line| *line > 0).into()),
                ("locals", is_single.then(locals).into()),
            ])
        };
        (self.first(group).frames.start..)
            .zip(self.frames(group))
            .map(frame)
            .collect::<Vec<_>>()
            .into()
    }

    /// A local variable: its name, or its place in the frame, and its object.
    fn local_json(self, root: &Root) -> Json<'l> {
        let name =
            Some(root.label.text(self.heap().names()).into_owned()).filter(|name| !name.is_empty());
        Json::from([("name", name.into()), ("object", self.analysed.json(root.object))])
    }

    fn threads_json(self, group: &'l ThreadGroup) -> Json<'l> {
        let retained = |object| self.analysed.retained(object);
        let thread = |row: &u32| {
            let thread = &self.heap().threads[*row as usize];
            Json::from([
                ("id", thread.id.to_string().into()),
                ("name", self.name(thread).into()),
                ("wait_us", thread.wait_us.into()),
                ("retained_bytes", self.threads.retained[*row as usize].bytes().into()),
                ("thread_retained_bytes", self.threads.bytes(self.heap(), *row, retained).into()),
                ("object", thread.object.map(|object| self.heap().id(object)).into()),
            ])
        };
        group.threads.iter().map(thread).collect::<Vec<_>>().into()
    }

    /// A thread with its frames and their local variables.
    fn block(self, group: &ThreadGroup) -> String {
        let (heap, thread) = (self.heap(), self.first(group));
        let names = heap.names();
        let state = Some(names.text(thread.state))
            .filter(|state| !state.is_empty() && thread.kind != ThreadKind::Goroutine);
        let facts = [
            Some(format!("retains {}", self.session.size(self.thread_retained(group)))),
            state.map(shown),
            thread.wait_us.map(|wait| format!("waiting for at least {}", duration(wait))),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        let mut text = format!(
            "{}: {}\n",
            self.session.terminal.bold(&shown(&thread.text(names))),
            facts.join(", ")
        );
        for (row, frame) in (thread.frames.start..).zip(self.frames(group)) {
            text.push_str(&format!("  {}\n", self.call(frame)));
            let mut locals: Vec<&Root> =
                self.threads.locals(row).map(|root| &heap.roots[root]).collect();
            locals.sort_by_key(|root| Reverse(self.analysed.retained(root.object)));
            for root in locals.iter().take(LOCALS) {
                let label = Some(root.label.text(names))
                    .filter(|label| !label.is_empty())
                    .map(|label| shown(&label) + "  ");
                let object =
                    format!("{} {}", self.analysed.describe(root.object), heap.id(root.object));
                let retained = self.session.size(self.analysed.retained(root.object));
                text.push_str(&format!(
                    "      {}{object}, retains {retained}\n",
                    label.unwrap_or_default()
                ));
            }
            if locals.len() > LOCALS {
                text.push_str(&format!("      … {} more\n", count((locals.len() - LOCALS) as u64)));
            }
        }
        if let Some(creation) = thread.created_by {
            let by = creation.thread.map(|id| format!(" in {} {id}", thread.kind.name()));
            let call = self.call(&creation.call);
            text.push_str(&format!("  created by {call}{}\n", by.unwrap_or_default()));
        }
        text + "\n"
    }

    /// A function with its place in the source.
    fn call(self, frame: &StackFrame) -> String {
        let names = self.heap().names();
        let place = match (names.text(frame.file), frame.line) {
            ("", _) => String::new(),
            (file, 0) => format!(" ({})", shown(file)),
            (file, line) => format!(" ({}:{line})", shown(file)),
        };
        shown(names.text(frame.function)) + &self.session.terminal.dim(&place)
    }
}
