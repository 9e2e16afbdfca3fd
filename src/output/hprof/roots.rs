//! Roots: static fields of holder classes where they have names, local variables where they are in
//! call frames.

use super::Writer;
use super::class_table::{Class, Classes, Static, serial};
use super::fields::Unique;
use super::labels::field_name;
use super::records::{TRACE, put_id, sub, tag};
use super::report::LossKind;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::unreachable::{reach, tops};
use crate::model::heap::{Heap, LabelKind, ObjectId, Root};
use crate::model::names::{NameId, Names};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::{self, Write};

/// The maximum number of static fields of a class. VisualVM reads it as a signed 16-bit number.
const MOST_STATICS: usize = 32_000;
/// The maximum number of holder classes of one kind of root. With more groups, they share classes.
const MOST_GROUPS: usize = 256;

/// The roots, by the form in which they are written.
pub(super) struct Roots {
    /// Names of holder classes, with rows of [`Heap::roots`].
    holders: Vec<Holder>,
    locals: Vec<Local>,
    /// Objects whose roots have neither a name nor a frame.
    plain: Vec<ObjectId>,
}

struct Holder {
    name: String,
    roots: Vec<u32>,
    /// Fields are named by group and label, not by label alone.
    shared: bool,
}

struct Local {
    object: ObjectId,
    thread: u32,
    /// The number of the frame in its thread, counted from the innermost.
    frame: u32,
    named: bool,
}

impl Roots {
    pub(super) fn of(heap: &Heap<'_>) -> Self {
        let mut roots = Self { holders: Vec::new(), locals: Vec::new(), plain: Vec::new() };
        let frames = FrameIndex::of(heap);
        let mut groups: FxHashMap<_, FxHashSet<NameId>> = FxHashMap::default();
        let is_local = |root: &Root| root.frame.and_then(|frame| frames.thread(frame));
        for root in heap.roots.iter().filter(|root| is_local(root).is_none()) {
            let groups = groups.entry(root.kind).or_default();
            // One more than allowed shows that there are too many.
            if groups.len() <= MOST_GROUPS {
                groups.insert(root.group);
            }
        }
        let mut rows: FxHashMap<(Option<NameId>, Option<_>), usize> = FxHashMap::default();
        for (row, root) in (0..).zip(&heap.roots) {
            let named = root.label.kind() != LabelKind::None;
            if let Some((thread, frame)) = is_local(root) {
                roots.locals.push(Local { object: root.object, thread, frame, named });
                continue;
            }
            if heap.names.text(root.group).is_empty() && !named {
                roots.plain.push(root.object);
                continue;
            }
            let shared =
                groups[&root.kind].len() > MOST_GROUPS || heap.names.text(root.group).is_empty();
            let key = if shared { (None, Some(root.kind)) } else { (Some(root.group), None) };
            let holder = *rows.entry(key).or_insert_with(|| {
                let name = if shared { root.kind.name() } else { heap.names.text(root.group) };
                let name = format!("GC roots: {name}").replace('\0', "\u{fffd}");
                roots.holders.push(Holder { name, roots: Vec::new(), shared });
                roots.holders.len() - 1
            });
            roots.holders[holder].roots.push(row);
        }
        // The locals of a thread are consecutive, innermost frames first, in the order in which
        // readers list them.
        roots.locals.sort_by_key(|local| (local.thread, local.frame));
        roots
    }

    /// Adds the holder classes, which come last.
    pub(super) fn add_holders(&self, heap: &Heap<'_>, classes: &mut Classes) {
        let mut unique = Unique::default();
        for holder in &self.holders {
            for (part, roots) in (1..).zip(holder.roots.chunks(MOST_STATICS)) {
                let name = match (part, holder.name.strip_suffix("[]")) {
                    // A name must not look like an array.
                    (1, Some(rest)) => format!("{rest}[ ]"),
                    (1, None) => holder.name.clone(),
                    _ => format!("{} ... {part}", holder.name),
                };
                let name = classes.names.intern(&name);
                unique.begin();
                let statics = roots.iter().map(|&row| {
                    let root = &heap.roots[row as usize];
                    let text = if holder.shared {
                        super::labels::part(&root.text(&heap.names))
                            .replace('\0', "\u{fffd}")
                            .into()
                    } else {
                        field_name(root.label, &heap.names)
                    };
                    let name = classes.names.intern(&text);
                    (unique.name(name, &mut classes.names), Static::Object(root.object))
                });
                let statics = statics.collect();
                let row = classes.add(Class { statics, ..Class::named(name) });
                classes.holders.push(row);
            }
        }
    }
}

impl<W: Write> Writer<'_, '_, W> {
    pub(super) fn threads(&mut self) -> io::Result<()> {
        let (heap, classes, ids, out) = (self.heap, self.classes, &self.ids, &mut self.out);
        let empty = ids.name(Names::EMPTY);
        for ((row, frame), &(function, file)) in (0..).zip(&heap.frames).zip(&classes.of_frames) {
            out.id(ids.frame(row));
            out.id(ids.name(function));
            out.id(empty);
            out.id(ids.name(file));
            out.u4(serial(classes.required.thread));
            // 0 is "unknown"; lines are signed.
            out.u4(frame.line.min(i32::MAX as u32));
            out.record(tag::FRAME)?;
        }
        for ((row, thread), &name) in (0..).zip(&heap.threads).zip(&classes.of_threads) {
            out.u4(trace_serial(row));
            out.u4(thread_serial(row));
            out.u4(thread.frames.len() as u32);
            thread.frames.clone().for_each(|frame| out.id(ids.frame(frame)));
            out.record(tag::TRACE)?;
            out.u4(thread_serial(row));
            out.id(ids.thread(row));
            out.u4(trace_serial(row));
            out.id(ids.name(name));
            out.id(empty);
            out.id(empty);
            out.record(tag::START_THREAD)?;
        }
        Ok(())
    }

    /// Writes the instances that represent threads, with their names.
    pub(super) fn thread_objects(&mut self) -> io::Result<()> {
        let id = self.layout.reference();
        for (row, thread) in (0..).zip(&self.heap.threads) {
            let name = self.ids.fresh();
            let class = self.ids.class(self.classes.required.thread);
            let fields = self.out.instance(self.ids.thread(row), class, 2 * id as usize)?;
            put_id(
                fields,
                0,
                thread.object.map_or(0, |object| self.ids.object(object)),
                self.layout.wide,
            );
            put_id(fields, id as usize, name, self.layout.wide);
            self.report
                .add(self.layout.instance_size(2 * id), 1 + u64::from(thread.object.is_some()));
            let text = self.heap.names.text(thread.name);
            // The identities of names are their numbers, beside those of other texts.
            let kept = self.filling.text(text, || thread.name.0.into());
            self.losses.add(LossKind::CutText, (kept.len() < text.len()).into());
            self.string(kept, name)?;
        }
        Ok(())
    }

    pub(super) fn roots(&mut self, roots: &Roots) -> io::Result<()> {
        // Readers refuse a file without roots, and without this root each class would become one.
        for &class in std::iter::once(&self.classes.required.info).chain(&self.classes.holders) {
            self.root(sub::ROOT_STICKY_CLASS, self.ids.class(class), &[])?;
        }
        for row in 0..self.heap.threads.len() as u32 {
            self.root(
                sub::ROOT_THREAD_OBJECT,
                self.ids.thread(row),
                &[thread_serial(row), trace_serial(row)],
            )?;
        }
        for local in &roots.locals {
            self.root(
                sub::ROOT_JAVA_FRAME,
                self.ids.object(local.object),
                &[thread_serial(local.thread), local.frame],
            )?;
            self.losses.add(LossKind::FrameLabel, local.named.into());
        }
        roots.plain.iter().try_for_each(|&object| self.plain_root(object))
    }

    /// Writes as few roots as possible for unreachable objects, so that all of them are reached.
    pub(super) fn unreachable_roots(&mut self) -> io::Result<()> {
        let heap = self.heap;
        // Weak references count: readers that drop what is unreachable follow them.
        let successors = |object| heap.references.targets(object).iter().copied();
        let mut reached = ObjectSet::none(heap.len());
        let roots = heap
            .roots
            .iter()
            .map(|root| root.object)
            .chain(heap.threads.iter().filter_map(|thread| thread.object));
        let mut pending: Vec<ObjectId> = roots.filter(|object| reached.insert(*object)).collect();
        reach(&mut reached, &mut pending, successors);
        drop(pending);
        tops(heap.len(), reached, successors)
            .into_iter()
            .try_for_each(|object| self.plain_root(object))
    }

    fn plain_root(&mut self, object: ObjectId) -> io::Result<()> {
        self.root(sub::ROOT_UNKNOWN, self.ids.object(object), &[])
    }

    fn root(&mut self, tag: u8, id: u64, numbers: &[u32]) -> io::Result<()> {
        self.out.begin(tag, 1 + self.layout.reference() + 4 * numbers.len() as u64)?;
        self.out.id(id);
        numbers.iter().for_each(|&number| self.out.u4(number));
        self.report.roots += 1;
        Ok(())
    }
}

/// The threads of call frames.
struct FrameIndex {
    /// First frame, end, and row of the thread; sorted.
    ranges: Vec<(u32, u32, u32)>,
}

impl FrameIndex {
    fn of(heap: &Heap<'_>) -> Self {
        let mut ranges: Vec<_> = (0..)
            .zip(&heap.threads)
            .map(|(row, thread)| (thread.frames.start, thread.frames.end, row))
            .collect();
        ranges.retain(|(start, end, _)| start < end);
        ranges.sort_unstable();
        Self { ranges }
    }

    /// The thread, and the number of the frame in it from the innermost.
    fn thread(&self, frame: u32) -> Option<(u32, u32)> {
        let index = self.ranges.partition_point(|&(start, ..)| start <= frame).checked_sub(1)?;
        let &(start, end, row) = self.ranges.get(index)?;
        (frame < end).then(|| (row, frame - start))
    }
}

fn thread_serial(row: u32) -> u32 {
    row + 1
}

/// The first one is the trace without frames.
fn trace_serial(row: u32) -> u32 {
    row + 1 + TRACE
}
