//! `top --suspects`: what looks like a leak or a waste, each with the way to it.

use super::heap::warnings;
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::analysis::suspects;
use crate::cli::args::{Snapshots, TopArgs};
use crate::cli::heap::histogram::sum_json;
use crate::cli::heap::suspects::Suspects;
use crate::cli::heap::{load, report_loaded, without_roots};
use crate::cli::open::Input;
use crate::cli::print::{Document, Shown, Value as Json, print};
use crate::cli::session::Session;
use crate::cli::status::{Status, UsageError};

pub(super) fn run(args: &TopArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    let snapshot = match args.heap.snapshot {
        None => None,
        Some(Snapshots::One(snapshot)) => Some(snapshot),
        Some(Snapshots::All) => {
            return Err(UsageError::new("--suspects analyzes a single snapshot").into());
        }
    };
    let held = load(session, "top", input, snapshot, &args.heap.roots)?;
    let loaded = held.get();
    let heap = &loaded.heap;
    if heap.roots.is_empty() {
        return without_roots(session, input, loaded, "suspects cannot be found", None);
    }
    let analysed = loaded.analysed();
    let found = suspects::find(heap, analysed.tree());
    let most = session.rows(args.limit, SHOWN).min(found.len());
    let report = Suspects::new(loaded, &analysed, &found[..most], session);
    let document = || {
        let live = Histogram::of(heap, Some(analysed.tree()), GroupBy::Type, Scope::Live);
        let omitted = [
            ("rows", (found.len() - most).into()),
            ("count", Json::Null),
            ("shallow_bytes", Json::Null),
        ];
        Document::new("dumptool/top/1", &args.file)
            .with("snapshot", loaded.snapshot)
            .with("by", "suspects")
            .with("objects", "live")
            .with("filter", ())
            .with("whole", sum_json(&live.whole))
            .with("total", sum_json(&live.total))
            .with("unreachable", live.unreachable.as_ref().map(sum_json))
            .with("total_bytes", analysed.tree().live_bytes())
            // Suspects are no groups of objects, and overlap, so that what is left out cannot be
            // added up.
            .with("rows", ())
            .rows("suspects")
            .with("omitted", Json::from(omitted))
            .with("warnings", warnings(&loaded.heap.warnings))
    };
    print(
        session,
        document,
        &found[..most],
        &report.columns(),
        &Shown::Text(&|| report.text(&found, most)),
    )?;
    Ok(report_loaded(session, input, loaded))
}

/// As many as fit on a screen.
const SHOWN: usize = 6;
