//! `top --suspects` of native heap profiles: which functions allocated what leaked, was never read,
//! or was freed at once. Such profiles have stacks, and no objects that hold each other.

use crate::analysis::profile::Selected;
use crate::cli::args::TopArgs;
use crate::cli::open::Input;
use crate::cli::print::{Columns, Document, Shown, print};
use crate::cli::profile::{Amount, hottest_function, load_profile};
use crate::cli::session::Session;
use crate::cli::status::Status;
use crate::input::Format;

/// Metrics of memory that a program could do without, each with its meaning.
const WASTED: [(&str, &str); 5] = [
    ("leaked", "not freed at the end"),
    ("live_bytes", "live when the profile was written"),
    ("never_read", "never read"),
    ("never_written", "never written"),
    ("temporary", "freed before the next allocation"),
];

const NOTE: &str = "a native heap profile says who allocated memory, and not what holds it\n";

/// A metric with the function that has most of it.
struct Wasted {
    metric: &'static str,
    meaning: &'static str,
    total: String,
    sentence: String,
}

/// Whether profiles of this format may have such metrics.
pub(super) fn has(format: Format) -> bool {
    use Format::{Dhat, Gperftools, Heaptrack, Jemalloc, Massif};
    matches!(format, Dhat | Gperftools | Heaptrack | Jemalloc | Massif)
}

pub(super) fn run(args: &TopArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    let loaded = load_profile(input, &args.profile, session)?;
    let profile = &loaded.profile;
    let selected = Selected::of(profile, &loaded.selection);
    let found = WASTED.iter().filter_map(|&(metric, meaning)| {
        let wasted = profile.metric(metric)?;
        let sum = selected.total.get(&wasted);
        let amount = Amount::new(&wasted, sum, session.common.bytes);
        let sentence = hottest_function(&selected, &wasted, session).filter(|_| sum > 0)?;
        let meaning = match (input.format, input.snapshot) {
            (Format::Massif, None) => "live at the peak",
            (Format::Massif, Some(_)) => "live at this snapshot",
            _ => meaning,
        };
        Some(Wasted { metric, meaning, total: amount.show(sum), sentence })
    });
    let rows: Vec<Wasted> = found.collect();
    let text = || {
        let line = |row: &Wasted| {
            let Wasted { metric, meaning, total, sentence } = row;
            format!("\n{total} {meaning} (--metric {metric})\n  {sentence}\n")
        };
        NOTE.to_owned() + &rows.iter().map(line).collect::<String>()
    };
    let document = || {
        Document::new("dumptool/top/1", &input.path)
            .with("by", "suspects")
            .with("note", NOTE.trim_end())
            .rows("suspects")
    };
    let columns = Columns::new(session)
        .text("metric", "METRIC", |row: &Wasted| row.metric)
        .text("meaning", "MEANING", |row| row.meaning)
        .text("total", "TOTAL", |row| &*row.total)
        .text("verdict", "WHERE", |row| &*row.sentence)
        .table(&["metric", "meaning", "total", "verdict"]);
    print(session, document, &rows, &columns, &Shown::Text(&text))?;
    Ok(loaded.report(session))
}
