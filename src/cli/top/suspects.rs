//! `top --suspects`: likely leaks and waste, each with a path to it.

use super::heap::warnings;
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::analysis::waste::Measurements;
use crate::analysis::waste::outstanding::Outstanding;
use crate::analysis::waste::rooms::Rooms;
use crate::cli::args::{Snapshots, TopArgs};
use crate::cli::heap::histogram::{omitted_json, sum_json};
use crate::cli::heap::verdict::Words;
use crate::cli::heap::waste_words::WasteWords;
use crate::cli::heap::{load, report_loaded, without_roots};
use crate::cli::known::Rules;
use crate::cli::open::Input;
use crate::cli::print::{Document, Shown, print};
use crate::cli::session::Session;
use crate::cli::size::plural;
use crate::cli::status::{Status, UsageError};
use crate::parallel;

pub(super) fn run(args: &TopArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    if args.heap.snapshot == Some(Snapshots::All) {
        return Err(UsageError::new("--suspects analyzes a single snapshot").into());
    }
    let snapshot = args.heap.snapshot.and_then(Snapshots::one);
    let rules = Rules::of(&args.known, session)?;
    let held = load(session, "top", input, snapshot, &args.heap.roots)?;
    let loaded = held.get();
    let heap = &loaded.heap;
    if heap.roots.is_empty() {
        return without_roots(session, input, loaded, "suspects cannot be found", None);
    }
    let analysed = loaded.reached();
    let (tree, read) = analysed.tree_and_contents();
    let rooms = || Rooms::of(heap, tree, &loaded.collections());
    let (verdict, rooms) = loaded.verdict_with(rooms);
    let most = session.rows(args.limit, SHOWN).min(verdict.suspects.len());
    let usual = verdict.usual.first().filter(|_| most == 0);
    let words =
        Words::new(loaded, &analysed, verdict.suspects[..most].iter().chain(usual), session);
    // The sentence that nothing stands out rarely needs a path, so it is found on first use.
    let with_ways = || if most == 0 { words } else { words.with_ways() };
    let wasted = || Outstanding::of(heap, tree, &Measurements::of_rooms(heap, tree, rooms, read));
    let (wasted, words) = parallel::beside(wasted, with_ways);
    let words = words.knowing(&rules, input.format);
    let found = &verdict.suspects;
    let waste = WasteWords { analysed: &analysed, session };
    let nothing = words.nothing(verdict.usual.first());
    let text = || {
        let shown = found[..most].iter().map(|finding| words.lines(finding) + "\n");
        let none = found.is_empty().then(|| nothing.clone() + "\n");
        let left = plural((found.len() - most) as u64, "suspect", "suspects");
        let left = (most < found.len()).then(|| format!("{left} more (-n 0 shows all)\n"));
        let heading = "\ncould be saved (see `dumptool waste`):\n".to_owned();
        let heading = (!wasted.is_empty()).then_some(heading);
        let could_be_saved = wasted.iter().take(SHOWN).map(|one| waste.lines(one));
        shown.chain(none).chain(left).chain(heading).chain(could_be_saved).collect()
    };
    let document = || {
        let live = Histogram::of(heap, Some(analysed.tree()), GroupBy::Type, Scope::Live);
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
            .with("omitted", omitted_json(found.len() - most, None))
            .with("warnings", warnings(&loaded.heap.warnings))
    };
    print(session, document, &found[..most], &words.columns(), &Shown::Text(&text))?;
    Ok(report_loaded(session, input, loaded))
}

/// The number of suspects that fit on a screen.
const SHOWN: usize = 6;
