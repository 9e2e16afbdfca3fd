//! Threads with their frames, and the roots that belong to them.

use super::naming::MAX_NAME;
use super::scan::Scan;
use super::sizes::Rule;
use super::symbols::Trace;
use super::thread_states::States;
use super::values::Contents;
use crate::java::{FieldType, class_name};
use crate::model::addresses::Addresses;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Label, ObjectId, Root, RootKind, StackFrame, WarningKind};
use crate::model::names::Names;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::num::Saturating;

struct Known {
    row: u32,
    name: String,
    /// For each frame of the file, its row in the heap.
    rows: Vec<u32>,
}

pub(super) fn add(
    scan: &Scan<'_>,
    addresses: &Addresses,
    contents: &Contents<'_>,
    builder: &mut HeapBuilder<'_>,
) {
    let threads = add_threads(scan, addresses, contents, builder);
    let mut missing = Saturating(0u64);
    let mut undumped = Saturating(0u64);
    for root in &scan.roots {
        let Some(object) = addresses.at(root.object) else {
            match root.tag().kind {
                RootKind::Class => undumped += 1,
                _ => missing += 1,
            }
            continue;
        };
        let tag = root.tag();
        let thread = root.thread().and_then(|serial| Some((serial, threads.get(&serial)?)));
        let frame = thread.and_then(|(_, thread)| thread.rows.get(root.frame()? as usize).copied());
        let function = frame
            .and_then(|frame| builder.heap().frames.get(frame as usize))
            .map(|frame| frame.function);
        let group = match (thread, function) {
            (Some((_, thread)), _) if tag.kind == RootKind::Thread => {
                format!("{} {}", tag.title, thread.name)
            }
            (Some((_, thread)), Some(function)) => {
                format!("thread {} {}", thread.name, builder.names().text(function))
            }
            (Some((_, thread)), None) => format!("thread {} {}", thread.name, tag.title),
            (None, _) => tag.title.to_owned(),
        };
        let group = builder.names().intern(&group);
        let label = match scan.classes.of_id(root.object) {
            Some(class) if tag.kind == RootKind::Class => {
                let name = class_name(scan.strings.text(class.name), scan.ours);
                Label::field(builder.names().intern(&name))
            }
            _ => Label::NONE,
        };
        let thread = thread.map(|(_, thread)| thread.row);
        builder.add_root(Root { label, frame, thread, ..Root::new(object, tag.kind, group) });
    }
    for class in scan.classes.iter().filter(|class| scan.is_boot_array(class)) {
        let Some(object) = addresses.at(class.dump.id) else { continue };
        let group = builder.names().intern("system class");
        let label = Label::field(
            builder.names().intern(&class_name(scan.strings.text(class.name), scan.ours)),
        );
        builder.add_root(Root { label, ..Root::new(object, RootKind::Class, group) });
    }
    if let Rule::HotSpot { .. } = scan.sizes.rule {
        builder.warn(WarningKind::OmittedClasses, undumped.0);
    } else {
        missing += undumped;
    }
    builder.warn(WarningKind::DanglingRoots, missing.0);
}

/// A thread as the file states it: in a record of its own, as a root, or both.
struct Said {
    serial: u32,
    object: u64,
    trace: u32,
    name: u64,
}

/// The threads that records or roots state, each serial once, in the order of the file.
fn recorded(scan: &Scan<'_>) -> Vec<Said> {
    let started = scan.threads.iter().map(|thread| Said {
        serial: thread.serial,
        object: thread.object,
        trace: thread.trace,
        name: thread.name,
    });
    let rooted = scan.roots.iter().filter_map(|root| {
        Some(Said { serial: root.thread()?, object: root.object, trace: root.trace()?, name: 0 })
    });
    let mut said: Vec<Said> = Vec::new();
    let mut places = FxHashMap::default();
    for thread in started.chain(rooted) {
        match places.get(&thread.serial).and_then(|&place: &usize| said.get_mut(place)) {
            // The first record with a non-empty stack supplies the stack: profiles state an empty
            // one at the start of a thread.
            Some(first) => {
                let has_frames = |trace: u32| {
                    scan.traces.get(&trace).is_some_and(|trace| trace.frames.count() > 0)
                };
                if !has_frames(first.trace) && has_frames(thread.trace) {
                    first.trace = thread.trace;
                }
            }
            None => {
                places.insert(thread.serial, said.len());
                said.push(thread);
            }
        }
    }
    said
}

/// The name of a `java.lang.Thread`. Its field begins `from_end` bytes before the data's end.
fn own_name<'a>(
    object: ObjectId,
    from_end: usize,
    scan: &Scan<'_>,
    contents: &Contents<'a>,
    addresses: &Addresses,
) -> Option<(Cow<'a, str>, u64)> {
    let instance = contents.instance(object)?;
    let class = scan.classes.index(instance.class)?;
    if !scan.inherits(class, "java.lang.Thread") {
        return None;
    }
    let id = scan.ids.at(instance.values, instance.values.len().checked_sub(from_end)?);
    contents.text(id, addresses)
}

fn add_threads(
    scan: &Scan<'_>,
    addresses: &Addresses,
    contents: &Contents<'_>,
    builder: &mut HeapBuilder<'_>,
) -> FxHashMap<u32, Known> {
    let states = States::of(scan);
    let name_field = scan
        .inherited_field("java.lang.Thread", b"name")
        .filter(|(_, kind)| *kind == FieldType::Object);
    let mut known = FxHashMap::default();
    let mut used = FxHashSet::default();
    for thread in recorded(scan) {
        let object = addresses.at(thread.object);
        let own = object.zip(name_field).and_then(|(object, (from_end, _))| {
            own_name(object, from_end, scan, contents, addresses)
        });
        let (state, id) = object
            .map_or((None, None), |object| states.of_thread(object, scan, addresses, contents));
        let name = match (own, scan.strings.text(thread.name)) {
            (Some((name, _)), _) if !name.is_empty() => name.chars().take(MAX_NAME).collect(),
            (_, name) if !name.is_empty() => String::from_utf8_lossy(name).into_owned(),
            _ => format!("{}", thread.serial),
        };
        // A stack belongs to one thread. Adding it for others that refer to it, too, could take
        // more memory than the file justifies.
        let trace = scan.traces.get(&thread.trace).filter(|trace| used.insert(trace.serial));
        let mut frames = Vec::new();
        let rows = trace.map(|trace| stack(trace, scan, builder.names(), &mut frames));
        let first = builder.add_thread(&name, id.unwrap_or(thread.serial.into()), object, &frames);
        let in_heap = |place: u32| first.checked_add(place);
        let rows = rows.unwrap_or_default().into_iter().filter_map(in_heap).collect();
        let innermost = frames.first().map(|frame| builder.names().text(frame.function));
        // The JVM adds this frame to the thread for whose allocation it wrote the dump.
        let state = match innermost {
            Some("java.lang.OutOfMemoryError.<init>") => Some("RUNNABLE (OutOfMemoryError)"),
            _ => state,
        };
        let state = state.map_or(Names::EMPTY, |state| builder.names().intern(state));
        let threads = &mut builder.heap().threads;
        threads.iter_mut().next_back().into_iter().for_each(|thread| thread.state = state);
        let row = (threads.len() as u32).saturating_sub(1);
        known.insert(thread.serial, Known { row, name, rows });
    }
    known
}

/// Appends the frames of a trace, innermost first. Returns the position of each frame of the file
/// among them. A frame that became several, because methods were inlined, has the position of its
/// own method.
pub(super) fn stack(
    trace: &Trace<'_>,
    scan: &Scan<'_>,
    names: &mut Names,
    frames: &mut Vec<StackFrame>,
) -> Vec<u32> {
    let mut places = Vec::with_capacity(trace.frames.iter().len());
    for id in trace.frames.iter() {
        match scan.original_frames.get(&id) {
            Some(original) => frames.extend(original.iter().map(|frame| StackFrame {
                function: names.intern(&format!("{}.{}", frame.class, frame.method)),
                file: names.intern(&frame.file),
                line: frame.line,
            })),
            None => frames.push(stack_frame(id, scan, names)),
        }
        places.push((frames.len() as u32).saturating_sub(1));
    }
    places
}

fn stack_frame(id: u64, scan: &Scan<'_>, names: &mut Names) -> StackFrame {
    let Some(frame) = scan.frames.get(&id) else {
        return StackFrame { function: names.intern("?"), file: Names::EMPTY, line: 0 };
    };
    let class = scan.serials.get(&frame.class_serial).and_then(|id| scan.classes.of_id(*id));
    let class = class.map_or(0, |class| class.name);
    let class = class_name(scan.strings.text(class), scan.ours);
    let method = String::from_utf8_lossy(scan.strings.text(frame.method));
    // dumptool writes functions of other languages as methods of one class.
    let is_plain = class.is_empty() || (scan.ours && class == "dumptool/Thread");
    let function = if is_plain { method.into_owned() } else { format!("{class}.{method}") };
    StackFrame {
        function: names.intern(&function),
        file: names.intern_bytes(scan.strings.text(frame.source)),
        line: u32::try_from(frame.line).unwrap_or(0),
    }
}
