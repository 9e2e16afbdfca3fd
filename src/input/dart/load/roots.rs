//! Roots: object 1, its references, and the references of the isolates.

use crate::model::builder::HeapBuilder;
use crate::model::heap::{LabelKind, ObjectId, Root, RootKind, Thread, ThreadKind};
use crate::model::names::Names;

/// An object that represents an isolate.
pub(super) struct Isolate {
    pub(super) object: ObjectId,
    /// The number of the isolate in the VM's service.
    pub(super) port: String,
}

/// Adds all roots. `name` is the name of the isolate in the snapshot.
pub(super) fn add(builder: &mut HeapBuilder<'_>, isolates: &[Isolate], name: &str) {
    if builder.heap().is_empty() {
        return;
    }
    let group = builder.names().intern("Root");
    builder.add_root(Root::new(ObjectId(0), RootKind::Runtime, group));
    add_references(builder, ObjectId(0), "Root", None);
    for isolate in isolates {
        // The name belongs to the isolate for which the snapshot was requested. The file does not
        // state which of several isolates that is.
        let name = if isolates.len() == 1 && !name.is_empty() { name } else { &isolate.port };
        let thread = builder.heap().threads.len() as u32;
        let thread_name = builder.names().intern(name);
        builder.heap().threads.push(Thread {
            kind: ThreadKind::Isolate,
            name: thread_name,
            id: isolate.port.parse().unwrap_or(0),
            state: Names::EMPTY,
            wait_us: None,
            object: Some(isolate.object),
            frames: 0..0,
            created_by: None,
        });
        add_references(builder, isolate.object, &format!("isolate {name}"), Some(thread));
    }
}

/// Adds the target of each reference of an object as a root. Named references are static fields.
fn add_references(
    builder: &mut HeapBuilder<'_>,
    object: ObjectId,
    group: &str,
    thread: Option<u32>,
) {
    let group = builder.names().intern(group);
    let heap = builder.heap();
    let references = &heap.references;
    let roots = references.stored(object).map(|reference| {
        let is_static = matches!(reference.label.kind(), LabelKind::Field(_));
        let kind = if is_static { RootKind::Static } else { RootKind::Runtime };
        Root { label: reference.label, thread, ..Root::new(reference.target, kind, group) }
    });
    heap.roots.extend(roots);
}
