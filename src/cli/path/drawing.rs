//! Paths as a drawing.

use super::super::args::Common;
use super::super::objects::Analysed;
use super::super::size::size;
use super::super::status::UsageError;
use super::root_text;
use crate::analysis::paths::{Path, ReachedBy};
use crate::model::heap::{Label, ObjectId};
use crate::output::dot::{self, Arrow, Drawing};

/// The paths to an object for Graphviz.
pub(super) fn text(analysed: &Analysed<'_, '_>, object: ObjectId, paths: &[Path], common: &Common) -> anyhow::Result<String> {
    let heap = analysed.heap;
    let mut drawing = Drawing { marked: vec![object], ..Drawing::default() };
    for path in paths {
        let Some(first) = path.steps.first() else { continue };
        drawing.roots.push((root_text(heap, path.origin).1, first.object));
        for steps in path.steps.windows(2) {
            let [from, to] = steps else { continue };
            let label = match to.by {
                ReachedBy::Reference(row) => heap.references.label.get(row).copied().unwrap_or(Label::NONE),
                ReachedBy::Root | ReachedBy::Ephemeron => Label::NONE,
            };
            drawing.references.push(Arrow { from: from.object, to: to.object, label, weak: false });
        }
    }
    drawing.fits().map_err(|error| UsageError::new(error.to_string()).hint("ask for fewer paths with -k"))?;
    let sizes = |object: ObjectId| {
        let (shallow, retained) = (heap.shallow.get(object.index()), analysed.retained(object));
        format!("{} / {}", size(shallow, common.bytes), size(retained, common.bytes))
    };
    let mut out = Vec::new();
    dot::write(heap, &drawing, sizes, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
