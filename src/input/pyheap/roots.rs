//! The roots: modules, the frames of threads, what the interpreter holds, and what native code
//! holds.

use super::line::Line;
use crate::input::json::Text;
use crate::model::addresses::Addresses;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{LabelKind, ObjectId, Root, RootKind, StackFrame};
use rustc_hash::FxHashSet;

/// The roots and threads of a dump, as its lines have them.
#[derive(Default)]
pub(super) struct Roots {
    pub(super) threads: Vec<ThreadLine>,
    /// Kind and name of a root, and the addresses of its objects.
    held: Vec<(String, String, Vec<u64>)>,
}

/// The kind of the roots that are modules of Python itself.
const LIBRARY: &str = "library";

pub(super) struct ThreadLine {
    ident: u64,
    name: String,
    object: u64,
    frames: Vec<FrameLine>,
}

struct FrameLine {
    address: u64,
    function: String,
    file: String,
    line: u64,
}

impl Roots {
    pub(super) fn add(&mut self, line: &Line<'_>) {
        let other = line.other();
        self.held.push((owned(other.root), owned(other.name), other.held.iter().collect()));
    }

    /// The names of modules of Python itself.
    pub(super) fn libraries(&self) -> FxHashSet<String> {
        let libraries = self.held.iter().filter(|(kind, ..)| kind == LIBRARY);
        libraries.map(|(_, name, _)| name.clone()).collect()
    }

    pub(super) fn append(&mut self, other: &mut Self) {
        self.threads.append(&mut other.threads);
        self.held.append(&mut other.held);
    }
}

impl ThreadLine {
    pub(super) fn new(line: &Line<'_>) -> Self {
        let other = line.other();
        let frames = other.frames.iter().map(|frame| FrameLine {
            address: frame.address,
            function: owned(frame.function),
            file: owned(frame.file),
            line: frame.line,
        });
        Self {
            ident: line.number,
            name: owned(other.name),
            object: line.address,
            frames: frames.collect(),
        }
    }
}

pub(super) fn owned(text: Option<Text<'_>>) -> String {
    text.map_or_else(String::new, |text| text.decode().into_owned())
}

/// Adds the roots that the dump states.
pub(super) fn add_roots(roots: Roots, addresses: &Addresses, builder: &mut HeapBuilder<'_>) {
    for (row, thread) in (0u32..).zip(&roots.threads) {
        add_thread(row, thread, addresses, builder);
    }
    for (kind, name, held) in roots.held {
        let (kind, group) = match &*kind {
            "module" => (RootKind::Global, format!("module {name}")),
            "local" => (RootKind::Global, name),
            LIBRARY => (RootKind::Runtime, format!("module {name}")),
            _ => (RootKind::Runtime, name),
        };
        let group = builder.names().intern(&group);
        for object in held.into_iter().filter_map(|address| addresses.at(address)) {
            builder.add_root(Root::new(object, kind, group));
        }
    }
}

/// Adds a thread. Each of its frames is a root, and so are the local variables of each.
fn add_thread(row: u32, thread: &ThreadLine, addresses: &Addresses, builder: &mut HeapBuilder<'_>) {
    let names = builder.names();
    let frames: Vec<StackFrame> = thread
        .frames
        .iter()
        .map(|frame| StackFrame {
            function: names.intern(&frame.function),
            file: names.intern(&frame.file),
            line: u32::try_from(frame.line).unwrap_or(0),
        })
        .collect();
    let name = match &*thread.name {
        "" => thread.ident.to_string(),
        name => name.to_owned(),
    };
    let first = builder.add_thread(&name, thread.ident, addresses.at(thread.object), &frames);
    for (index, frame) in (first..).zip(&thread.frames) {
        let Some(object) = addresses.at(frame.address) else { continue };
        let place = format!("{} ({}:{})", frame.function, file_name(&frame.file), frame.line);
        let group = builder.names().intern(&place);
        let root = |object| Root {
            frame: Some(index),
            thread: Some(row),
            ..Root::new(object, RootKind::Frame, group)
        };
        let heap = builder.heap();
        let locals: Vec<Root> = heap
            .references
            .stored(object)
            .filter(|reference| {
                matches!(reference.label.kind(), LabelKind::Field(name) if heap.names.text(name) != "f_back")
            })
            .map(|reference| Root { label: reference.label, ..root(reference.target) })
            .collect();
        locals.into_iter().for_each(|local| builder.add_root(local));
        builder.add_root(root(object));
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Adds roots for what native code holds: objects to which nothing else leads, although the
/// interpreter has counted more references than the dump has.
///
/// Objects that are still unreachable then are garbage: cycles that were not yet collected.
pub(super) fn hold_by_native_code(counts: &[u32], builder: &mut HeapBuilder<'_>) {
    let heap = builder.heap();
    let mut found = vec![0u32; counts.len()];
    for target in &heap.references.target {
        if let Some(found) = found.get_mut(target.index()) {
            *found = found.saturating_add(1);
        }
    }
    let mut reached = vec![false; counts.len()];
    let mut pending: Vec<ObjectId> = heap.roots.iter().map(|root| root.object).collect();
    let mut held = Vec::new();
    let mut next = 0..counts.len();
    loop {
        while let Some(object) = pending.pop() {
            let Some(seen) = reached.get_mut(object.index()).filter(|seen| !**seen) else {
                continue;
            };
            *seen = true;
            pending.extend(heap.references.stored(object).map(|reference| reference.target));
        }
        let unknown = next.find(|&row| {
            let more = counts.get(row).zip(found.get(row)).is_some_and(|(all, found)| all > found);
            more && !reached.get(row).copied().unwrap_or(true)
        });
        let Some(row) = unknown else { break };
        let object = ObjectId(row as u32);
        held.push(object);
        pending.push(object);
    }
    let group = builder.names().intern("held by C");
    for object in held {
        builder.add_root(Root::new(object, RootKind::Native, group));
    }
}
