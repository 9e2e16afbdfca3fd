//! The place of an object's code, and the stack that allocated the object.

use crate::cli::print::{Table, Value as Json};
use crate::cli::size::count;
use crate::cli::terminal::shown;
use crate::model::heap::{Heap, ObjectId, StackFrame};
use crate::model::site::AllocationSites;

/// Maximum number of frames that are shown.
const SHOWN_FRAMES: usize = 8;

/// Adds the code location and the allocation of an object, if known, to its facts.
pub(super) fn add(facts: &mut Table, heap: &Heap<'_>, object: ObjectId) {
    if let Some(at) = heap.location(object) {
        facts.row(["location", &format!("{}:{}:{}", shown(&at.file), at.line, at.column)]);
    }
    let sites = heap.sites();
    let Some(site) = sites.site_of(object) else { return };
    let mut title = "allocated by";
    for frame in sites.stack(site).take(SHOWN_FRAMES) {
        facts.row([title, &text(heap, frame)]);
        title = "";
    }
    let more = sites.stack(site).skip(SHOWN_FRAMES).count();
    if more > 0 {
        facts.row(["".to_owned(), format!("… {} more", count(more as u64))]);
    }
    if let Some(generation) = sites.sites[site as usize].generation {
        facts.row(["generation", &generation.to_string()]);
    }
}

pub(super) fn location_json<'j>(heap: &Heap<'_>, object: ObjectId) -> Json<'j> {
    let json = heap.location(object).map(|at| {
        let (line, column) = (at.line.into(), at.column.into());
        Json::from([("file", at.file.into()), ("line", line), ("column", column)])
    });
    json.into()
}

/// The stack that allocated an object, innermost frame first, and the generation.
pub(super) fn allocation_json<'j>(heap: &'j Heap<'_>, object: ObjectId) -> Json<'j> {
    let sites = heap.sites();
    let frame = |frame: &StackFrame| {
        Json::from([
            ("function", heap.names().text(frame.function).into()),
            ("file", Json::non_empty(heap.names().text(frame.file))),
            ("line", Some(frame.line).filter(|line| *line > 0).into()),
        ])
    };
    let json = sites.site_of(object).map(|site| {
        let frames: Vec<Json<'_>> = sites.stack(site).map(frame).collect();
        let generation = sites.sites[site as usize].generation;
        Json::from([("frames", frames.into()), ("generation", generation.into())])
    });
    json.into()
}

/// `Ticket (/data/app/target.js:1)`
fn text(heap: &Heap<'_>, frame: &StackFrame) -> String {
    let (function, file) =
        (shown(heap.names().text(frame.function)), shown(heap.names().text(frame.file)));
    match (&*file, frame.line) {
        ("" | AllocationSites::NATIVE, _) => function,
        (_, 0) => format!("{function} ({file})"),
        (_, line) => format!("{function} ({file}:{line})"),
    }
}
