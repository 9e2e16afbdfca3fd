//! `top --suspects`: what looks like a leak or a waste, each with the way to it.

use super::heap::warnings;
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::analysis::waste::Measurements;
use crate::analysis::waste::contents::Read;
use crate::analysis::waste::outstanding::Outstanding;
use crate::cli::args::{Snapshots, TopArgs};
use crate::cli::heap::histogram::sum_json;
use crate::cli::heap::verdict::Words;
use crate::cli::heap::waste_words::WasteWords;
use crate::cli::heap::{load, report_loaded, without_roots};
use crate::cli::known::Rules;
use crate::cli::open::Input;
use crate::cli::print::{Document, Shown, Value as Json, print};
use crate::cli::session::Session;
use crate::cli::size::plural;
use crate::cli::status::{Status, UsageError};

pub(super) fn run(args: &TopArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    let snapshot = match args.heap.snapshot {
        None => None,
        Some(Snapshots::One(snapshot)) => Some(snapshot),
        Some(Snapshots::All) => {
            return Err(UsageError::new("--suspects analyzes a single snapshot").into());
        }
    };
    let rules = Rules::of(&args.known, session)?;
    let held = load(session, "top", input, snapshot, &args.heap.roots)?;
    let loaded = held.get();
    let heap = &loaded.heap;
    if heap.roots.is_empty() {
        return without_roots(session, input, loaded, "suspects cannot be found", None);
    }
    let analysed = loaded.analysed();
    // The search for dominators keeps one thread busy, and so does that for owners.
    let (read, tree) = rayon::join(|| Read::of(heap), || analysed.tree());
    let (verdict, wasted) = rayon::join(
        || loaded.verdict(),
        || Outstanding::of(heap, tree, &Measurements::of_read(heap, tree, read)),
    );
    let found = &verdict.suspects;
    let most = session.rows(args.limit, SHOWN).min(found.len());
    let described = found[..most].iter().chain(verdict.usual.first());
    let words = Words::new(loaded, &analysed, described, session).knowing(&rules, input.format);
    let waste = WasteWords { analysed: &analysed, session };
    let nothing = words.nothing(verdict.usual.first());
    let text = || {
        let mut text: String =
            found[..most].iter().map(|finding| words.lines(finding) + "\n").collect();
        if found.is_empty() {
            text = nothing.clone() + "\n";
        }
        if most < found.len() {
            let left = plural((found.len() - most) as u64, "suspect", "suspects");
            text.push_str(&format!("{left} more (-n 0 shows all)\n"));
        }
        let could_be_saved = wasted.iter().take(SHOWN).map(|one| waste.lines(one));
        if !wasted.is_empty() {
            text.push_str("\ncould be saved (see `dumptool waste`):\n");
            text.extend(could_be_saved);
        }
        text
    };
    let document = || {
        let live = Histogram::of(heap, Some(analysed.tree()), GroupBy::Type, Scope::Live);
        let omitted = [
            ("rows", (found.len() - most).into()),
            ("count", Json::Null),
            ("shallow_bytes", Json::Null),
        ];
        Document::new("dumptool/top/1", &input.path)
            .with("snapshot", loaded.snapshot)
            .with("by", "suspects")
            .with("objects", "live")
            .with("filter", ())
            .with("whole", sum_json(&live.whole))
            .with("total", sum_json(&live.total))
            .with("unreachable", live.unreachable.as_ref().map(sum_json))
            .with("total_bytes", analysed.tree().live_bytes())
            .with("rows", ())
            .rows("suspects")
            .with("message", Some(&*nothing).filter(|_| found.is_empty()))
            .with("waste", wasted.iter().map(|one| waste.json(one)).collect::<Vec<_>>())
            .with("omitted", Json::from(omitted))
            .with("warnings", warnings(&loaded.heap.warnings))
    };
    print(session, document, &found[..most], &words.columns(), &Shown::Text(&text))?;
    Ok(report_loaded(session, input, loaded))
}

/// The number of suspects that fit on a screen.
const SHOWN: usize = 6;
