//! Roots: the records other than objects that keep objects alive.
//!
//! | record | roots |
//! |---|---|
//! | data and bss segment | its pointer fields |
//! | stack frame | its pointer fields, or all of its words: see [`super::stacks`] |
//! | goroutine | its `g`, its `m`, the closure in `ctxt` |
//! | defer, panic | the record; its closure, its argument |
//! | finalizer | its closure, and what the object points to: the object itself is not kept alive |
//! | queued finalizer | its closure and the object |
//! | other root; roots of the draft | the pointer |

mod frames;

use super::exe::Symbols;
use super::interfaces::{DEFER, FUNCVAL, G, M, PANIC};
use super::pointers::{Faults, Reader};
use super::sites::Sites;
use super::survey::Survey;
use crate::input::go::draft::Draft;
use crate::input::go::goroutine::{Defer, Goroutine, Panic, StackFrame};
use crate::input::go::records::Rec;
use crate::input::go::roots::{Finalizer, Segment};
use crate::input::load::RootScan;
use crate::model::heap::{self, Label, ObjectId, References, Root, RootKind, Thread, ThreadKind};
use crate::model::names::{NameId, Names};
use rustc_hash::{FxHashMap, FxHashSet};

/// The roots, in the order of the file, and the goroutines with their frames.
#[derive(Default)]
pub(super) struct Roots {
    pub(super) roots: Vec<Root>,
    pub(super) threads: Vec<Thread>,
    pub(super) frames: Vec<heap::StackFrame>,
    /// The row of the call of each frame of the dump that belongs to a goroutine.
    pub(super) rows: Vec<u32>,
    /// The roots in frames, by row, each with its address.
    pub(super) words: Vec<(u32, u64)>,
    pub(super) sites: Sites,
    pub(super) faults: Faults,
}

impl Roots {
    pub(super) fn new(
        reader: &Reader<'_, '_>,
        survey: &Survey<'_>,
        references: &References,
        scan: RootScan,
        symbols: Option<Symbols<'_>>,
        names: &mut Names,
    ) -> Self {
        let mut collector = Collector {
            reader,
            references,
            scan,
            symbols,
            inlined_room: frames::MAX_INLINED,
            names,
            found: Self::default(),
            goroutine: None,
            context: 0,
            waiting_since: Vec::new(),
            stack: Vec::new(),
            defers: Vec::new(),
            panics: Vec::new(),
            finalizable: FxHashSet::default(),
            draft: DraftStacks::default(),
        };
        for record in survey.tail.clone().into_iter().flatten() {
            let Ok((_, record)) = record else { break };
            collector.add(&record);
        }
        collector.end_stack();
        collector.draft_stacks();
        collector.set_waits();
        collector.found
    }
}

struct Collector<'c, 's, 'a> {
    reader: &'c Reader<'s, 'a>,
    references: &'c References,
    scan: RootScan,
    /// The functions of the executable, if there is one.
    symbols: Option<Symbols<'c>>,
    /// The number of inlined calls that may still be shown.
    inlined_room: u32,
    names: &'c mut Names,
    found: Roots,
    /// The name of the last goroutine.
    goroutine: Option<String>,
    /// The closure of the last goroutine.
    context: u64,
    /// The time at which each goroutine began to wait, in nanoseconds of the runtime's clock; 0 if
    /// unknown.
    waiting_since: Vec<u64>,
    stack: Vec<StackFrame<'a>>,
    defers: Vec<Defer>,
    panics: Vec<Panic>,
    /// The objects for which a finalizer has been found.
    finalizable: FxHashSet<ObjectId>,
    draft: DraftStacks<'a>,
}

/// Goroutines of the draft, whose records are not in order.
#[derive(Default)]
struct DraftStacks<'a> {
    /// The address of each thread, and the `sp` of its innermost frame.
    threads: Vec<(u64, u64)>,
    /// For each frame, by its `sp`: the `sp` of the caller, and the name of the function.
    frames: FxHashMap<u64, (u64, &'a [u8])>,
    /// Stack roots: the pointer, and the `sp` of its frame.
    roots: Vec<(u64, u64)>,
}

impl<'a> Collector<'_, '_, 'a> {
    fn add(&mut self, record: &Rec<'a>) {
        match record {
            Rec::StackFrame(frame) => return self.stack.push(*frame),
            Rec::Defer(record) => return self.defers.push(*record),
            Rec::Panic(record) => return self.panics.push(*record),
            _ => self.end_stack(),
        }
        match record {
            Rec::Goroutine(goroutine) => self.goroutine(goroutine),
            Rec::OsThread(record) => self.reader.hint_at(record.addr, M),
            Rec::DataSegment(segment) => self.segment("data", segment),
            Rec::BssSegment(segment) => self.segment("bss", segment),
            Rec::OtherRoot(root) => {
                let group = self.names.intern_bytes(root.description);
                self.root(root.pointer, RootKind::Other, group, Label::NONE);
            }
            Rec::Memprof(profile) => self.found.sites.add(profile, self.names),
            Rec::AllocSample(sample) => self.found.sites.sample(sample, self.reader),
            Rec::Finalizer(record) => self.finalizer(record),
            Rec::QueuedFinalizer(record) => self.queued_finalizer(record),
            Rec::Draft(record) => self.draft_record(*record),
            _ => {}
        }
    }

    /// Adds a root. Roots of a kind that belongs to a goroutine belong to the last one.
    fn root(&mut self, address: u64, kind: RootKind, group: NameId, label: Label) {
        let thread = match kind {
            RootKind::Thread | RootKind::Defer | RootKind::Panic => self.thread(),
            _ => None,
        };
        self.root_of(address, kind, group, label, (None, thread));
    }

    fn root_of(
        &mut self,
        address: u64,
        kind: RootKind,
        group: NameId,
        label: Label,
        (frame, thread): (Option<u32>, Option<u32>),
    ) {
        if let Some((object, _)) = self.reader.object_at(address) {
            self.found.roots.push(Root { label, frame, thread, ..Root::new(object, kind, group) });
        }
    }

    fn thread(&self) -> Option<u32> {
        self.goroutine.as_ref().and((self.found.threads.len() as u32).checked_sub(1))
    }

    fn segment(&mut self, group: &str, segment: &Segment<'a>) {
        let group = self.names.intern(group);
        for field in segment.fields.iter() {
            let faults = &mut self.found.faults;
            let followed = self.reader.follow(segment.contents, field, faults);
            self.found.roots.extend(followed.map(|(offset, object)| Root {
                label: Label::offset(offset),
                ..Root::new(object, RootKind::Global, group)
            }));
        }
    }

    fn goroutine(&mut self, goroutine: &Goroutine<'a>) {
        let reason = String::from_utf8_lossy(goroutine.waitreason);
        // An old reason may be left when the goroutine does not wait any more.
        let state = match goroutine.status_name() {
            Some("waiting") if !reason.is_empty() => &reason,
            Some(status) => status,
            None => "unknown",
        };
        let name = format!("goroutine {} [{state}]", goroutine.goid);
        let (group, state) = (self.names.intern(&name), self.names.intern(state));
        let first = self.found.frames.len() as u32;
        let object = self.reader.object_of(goroutine.addr);
        let created_by = self.creation(goroutine);
        self.found.threads.push(Thread {
            kind: ThreadKind::Goroutine,
            name: group,
            id: goroutine.goid,
            state,
            wait_us: None,
            object,
            frames: first..first,
            created_by,
        });
        let waits = goroutine.status_name() == Some("waiting");
        self.waiting_since.push(if waits { goroutine.waitsince } else { 0 });
        self.goroutine = Some(name);
        self.context = goroutine.ctxt;

        self.reader.hint_at(goroutine.addr, G);
        self.reader.hint_at(goroutine.m, M);
        self.reader.hint_at(goroutine.ctxt, FUNCVAL);
        self.root(goroutine.addr, RootKind::Thread, group, Label::NONE);
        for (field, address) in [("m", goroutine.m), ("ctxt", goroutine.ctxt)] {
            let label = Label::field(self.names.intern(field));
            self.root(address, RootKind::Thread, group, label);
        }
    }

    /// The `go` statement that made a goroutine. The first one has none.
    fn creation(&mut self, goroutine: &Goroutine<'a>) -> Option<heap::Creation> {
        let is_made = goroutine.gopc != 0 && goroutine.goid != 1;
        let call = self.symbols.as_mut().filter(|_| is_made)?.creator(goroutine.gopc)?;
        Some(heap::Creation { call: self.named(&call), thread: None })
    }

    /// Sets the waiting time of each goroutine. The dump does not contain the current time on the
    /// clock of `waitsince`: the collector sets that when it first sees a goroutine wait, so the
    /// last such collection is the latest known time, and waits are at least as long.
    fn set_waits(&mut self) {
        let now = self.waiting_since.iter().copied().max().unwrap_or(0);
        for (thread, &since) in self.found.threads.iter_mut().zip(&self.waiting_since) {
            thread.wait_us = (since > 0 && since < now).then(|| now.saturating_sub(since) / 1000);
        }
    }

    /// The name of a group of roots of the last goroutine.
    fn group(&mut self, what: &str) -> NameId {
        match &self.goroutine {
            Some(goroutine) => self.names.intern(&format!("{goroutine} {what}")),
            None => self.names.intern(what),
        }
    }

    fn defer(&mut self, record: &Defer) {
        let group = self.group("defer");
        let closure = Label::field(self.names.intern("fn"));
        self.reader.hint_at(record.addr, DEFER);
        self.reader.hint_at(record.funcval, FUNCVAL);
        self.root(record.addr, RootKind::Defer, group, Label::NONE);
        self.root(record.funcval, RootKind::Defer, group, closure);
    }

    fn panic(&mut self, record: &Panic) {
        let group = self.group("panic");
        let argument = Label::field(self.names.intern("arg"));
        self.reader.hint_at(record.addr, PANIC);
        self.root(record.addr, RootKind::Panic, group, Label::NONE);
        self.root(record.arg_data, RootKind::Panic, group, argument);
    }

    fn finalizer(&mut self, record: &Finalizer) {
        let group = self.names.intern("finalizer");
        let closure = Label::field(self.names.intern("fn"));
        self.reader.hint_at(record.funcval, FUNCVAL);
        self.root(record.funcval, RootKind::Finalizer, group, closure);
        let Some((object, _)) = self.reader.object_at(record.object) else { return };
        // An object has one finalizer. In a damaged file with more, its references are added once.
        if !self.finalizable.insert(object) {
            return;
        }
        let root = |reference: heap::Reference| Root {
            label: reference.label,
            ..Root::new(reference.target, RootKind::Finalizer, group)
        };
        self.found.roots.extend(self.references.stored(object).map(root));
    }

    fn queued_finalizer(&mut self, record: &Finalizer) {
        let group = self.names.intern("queued finalizer");
        let closure = Label::field(self.names.intern("fn"));
        self.reader.hint_at(record.funcval, FUNCVAL);
        self.root(record.object, RootKind::Finalizer, group, Label::NONE);
        self.root(record.funcval, RootKind::Finalizer, group, closure);
    }

    fn draft_record(&mut self, record: Draft<'a>) {
        match record {
            Draft::DataRoot { found_at, pointer } => {
                let group = self.names.intern("data");
                let place = self.names.intern(&format!("{found_at:#x}"));
                self.root(pointer, RootKind::Global, group, Label::field(place));
            }
            Draft::OtherRoot { pointer } => {
                let group = self.names.intern("other root");
                self.root(pointer, RootKind::Other, group, Label::NONE);
            }
            Draft::StackRoot { pointer, sp } => self.draft.roots.push((pointer, sp)),
            Draft::Thread { addr, sp } => self.draft.threads.push((addr, sp)),
            Draft::StackFrame { sp, parent_sp, name } => {
                self.draft.frames.entry(sp).or_insert((parent_sp, name));
            }
            Draft::Type(_) => {}
        }
    }

    /// Links the frames of the draft to their goroutines. A frame belongs to a single goroutine, so
    /// that a cycle of callers ends.
    fn draft_stacks(&mut self) {
        let DraftStacks { threads, mut frames, roots } = std::mem::take(&mut self.draft);
        let mut rows: FxHashMap<u64, (u32, NameId, u32)> = FxHashMap::default();
        for (number, (addr, mut sp)) in (1u64..).zip(threads) {
            let goroutine = format!("goroutine {addr:#x}");
            let group = self.names.intern(&goroutine);
            self.reader.hint_at(addr, G);
            let thread = self.found.threads.len() as u32;
            self.root_of(addr, RootKind::Thread, group, Label::NONE, (None, Some(thread)));
            let first = self.found.frames.len() as u32;
            while let Some((parent, function)) = frames.remove(&sp) {
                let row = self.found.frames.len() as u32;
                let name = self.names.intern_bytes(function);
                self.found.frames.push(heap::StackFrame {
                    function: name,
                    file: Names::EMPTY,
                    line: 0,
                });
                let group = self
                    .names
                    .intern(&format!("{goroutine} {}", String::from_utf8_lossy(function)));
                rows.insert(sp, (row, group, thread));
                sp = parent;
            }
            let frames = first..self.found.frames.len() as u32;
            let object = self.reader.object_of(addr);
            let (kind, state) = (ThreadKind::Goroutine, Names::EMPTY);
            self.found.threads.push(Thread {
                kind,
                name: group,
                id: number,
                state,
                wait_us: None,
                object,
                frames,
                created_by: None,
            });
        }
        self.found.faults.lost_frames += frames.len() as u64;
        let unknown = self.names.intern("stack");
        for (pointer, sp) in roots {
            let (place, group) = match (rows.get(&sp), frames.get(&sp)) {
                (Some(&(row, group, thread)), _) => ((Some(row), Some(thread)), group),
                (None, Some((_, function))) => ((None, None), self.names.intern_bytes(function)),
                (None, None) => ((None, None), unknown),
            };
            self.root_of(pointer, RootKind::Frame, group, Label::NONE, place);
        }
    }
}
