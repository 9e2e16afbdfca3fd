//! Roots: object 1, what it refers to, and what the isolates refer to.

use crate::model::builder::HeapBuilder;
use crate::model::heap::{Label, LabelKind, ObjectId, Root, RootKind};

/// An object that stands for an isolate.
pub(super) struct Isolate {
    pub(super) object: ObjectId,
    /// The number that the VM's service knows it by.
    pub(super) port: String,
}

/// Adds all roots. `name` is what the snapshot calls its isolate.
pub(super) fn add(builder: &mut HeapBuilder<'_>, isolates: &[Isolate], name: &str) {
    if builder.heap().is_empty() {
        return;
    }
    let group = builder.names().intern("Root");
    builder.add_root(Root { object: ObjectId(0), kind: RootKind::Runtime, group, label: Label::NONE, frame: None });
    add_references(builder, ObjectId(0), "Root");
    for isolate in isolates {
        // The name is that of the isolate for which the snapshot was asked; which one of several that is remains unsaid.
        let name = if isolates.len() == 1 && !name.is_empty() { name } else { &isolate.port };
        add_references(builder, isolate.object, &format!("isolate {name}"));
    }
}

/// Makes a root of each reference of an object. Those with a name are static fields.
fn add_references(builder: &mut HeapBuilder<'_>, object: ObjectId, group: &str) {
    let group = builder.names().intern(group);
    let heap = builder.heap();
    let references = &heap.references;
    let roots = references.of(object).map(|reference| {
        let is_static = matches!(reference.label.kind(), LabelKind::Field(_));
        let kind = if is_static { RootKind::Static } else { RootKind::Runtime };
        Root { object: reference.target, kind, group, label: reference.label, frame: None }
    });
    heap.roots.extend(roots);
}
