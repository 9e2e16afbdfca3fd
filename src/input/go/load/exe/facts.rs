//! Facts in a dump besides its objects: memory of the program, goroutines, and addresses of types.

use super::super::survey::Survey;
use crate::error::Error;
use crate::input::go::goroutine::{Defer, Goroutine, Panic, StackFrame};
use crate::input::go::records::Rec;
use crate::input::go::roots::{Finalizer, Segment};
use crate::input::go::types::{Itab, Type};

/// The records of a dump that are not objects.
#[derive(Default)]
pub(super) struct Facts<'s, 'a> {
    /// The version of Go that the dump states, such as `go1.27.3`.
    pub(super) version: Option<String>,
    pub(super) pointer_size: u64,
    pub(super) big_endian: bool,
    pub(super) data: Option<Segment<'a>>,
    pub(super) bss: Option<Segment<'a>>,
    pub(super) stacks: Vec<Stack<'a>>,
    pub(super) finalizers: Vec<Finalizer>,
    pub(super) defers: Vec<Defer>,
    pub(super) panics: Vec<Panic>,
    pub(super) threads: Vec<u64>,
    pub(super) types: &'s [Type<'a>],
    pub(super) itabs: &'s [Itab],
}

/// A goroutine with its frames, innermost first.
pub(super) struct Stack<'a> {
    pub(super) goroutine: Goroutine<'a>,
    pub(super) frames: Vec<StackFrame<'a>>,
}

impl<'s, 'a> Facts<'s, 'a> {
    pub(super) fn read(survey: &'s Survey<'a>) -> Self {
        let mut facts = Self {
            version: survey.params.and_then(|params| params.go_version()),
            pointer_size: survey.words.size,
            big_endian: survey.words.big_endian,
            types: &survey.types,
            itabs: &survey.itabs,
            ..Self::default()
        };
        for record in survey.tail.clone().into_iter().flatten() {
            let Ok((_, record)) = record else { break };
            match record {
                Rec::DataSegment(segment) => facts.data = facts.data.or(Some(segment)),
                Rec::BssSegment(segment) => facts.bss = facts.bss.or(Some(segment)),
                Rec::Goroutine(goroutine) => {
                    facts.stacks.push(Stack { goroutine, frames: Vec::new() })
                }
                Rec::StackFrame(frame) => {
                    if let Some(stack) = facts.stacks.last_mut() {
                        stack.frames.push(frame);
                    }
                }
                Rec::Finalizer(record) | Rec::QueuedFinalizer(record) => {
                    facts.finalizers.push(record)
                }
                Rec::Defer(record) => facts.defers.push(record),
                Rec::Panic(record) => facts.panics.push(record),
                Rec::OsThread(record) => facts.threads.push(record.addr),
                _ => {}
            }
        }
        facts
    }

    pub(super) fn frames(&self) -> impl Iterator<Item = &StackFrame<'a>> {
        self.stacks.iter().flat_map(|stack| &stack.frames)
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = &Segment<'a>> {
        self.data.iter().chain(&self.bss)
    }
}

/// The error for an executable that is not the program of the dump.
pub(super) fn other(what: impl Into<String>) -> Error {
    let what: String = what.into();
    Error::executable(format!("not the executable that wrote the dump: {what}")).hint(
        "use the executable itself, or a build of the same source with the same toolchain, tags and settings; `go build -trimpath -o app.debug` matches the dump of `go build -trimpath -ldflags='-s -w' -o app`",
    )
}
