//! `top --suspects`: what looks like a leak or a waste, each with the way to it.

use super::super::args::{Common, OutputFormat, Snapshots, TopArgs};
use super::super::load::{HeapLoader, report_loaded, without_roots};
use super::super::objects::{Analysed, ObjectRow, type_name};
use super::super::open::Input;
use super::super::path::{PathRow, one_line};
use super::super::show;
use super::super::size::{count, percent, plural, size};
use super::super::status::{Status, UsageError};
use super::super::terminal::Terminal;
use super::document::{SumJson, sum_json};
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::analysis::paths::shortest::Shortest;
use crate::analysis::suspects::collections::Sparse;
use crate::analysis::suspects::duplicates::Duplicates;
use crate::analysis::suspects::holders::Holder;
use crate::analysis::suspects::siblings::Siblings;
use crate::analysis::suspects::{self, Suspect};
use crate::model::heap::{Heap, ObjectId, Value};
use serde::Serialize;

pub(super) fn run(args: &TopArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let snapshot = match args.heap.snapshot {
        None => None,
        Some(Snapshots::One(snapshot)) => Some(snapshot),
        Some(Snapshots::All) => return Err(UsageError::new("--suspects looks at one snapshot").into()),
    };
    let loaded = HeapLoader::analysed("top", common, terminal).load(input, snapshot, args.heap.roots.choice())?;
    let heap = &loaded.heap;
    if heap.roots.is_empty() {
        return without_roots(input, &loaded, "nothing can be said about who holds what", None, terminal);
    }
    let analysed = Analysed::of(heap);
    let shortest = Shortest::of(heap, &analysed.graph);
    let found = suspects::find(heap, &analysed.tree);
    let shown = common.rows(args.limit, SHOWN).min(found.len());
    let report = Report { analysed: &analysed, shortest, exact: common.bytes, terminal };
    let text = match common.format {
        OutputFormat::Table => report.text(&found, shown),
        OutputFormat::Json => {
            let live = Histogram::of(heap, Some(&analysed.tree), GroupBy::Type, Scope::Live);
            let document = Document {
                schema: "dumptool/top/1",
                file: args.file.display().to_string(),
                snapshot: loaded.snapshot,
                by: "suspects",
                objects: "live",
                total: sum_json(&live.total),
                unreachable: live.unreachable.as_ref().map(sum_json),
                total_bytes: analysed.tree.live_bytes(),
                rows: (),
                suspects: found[..shown].iter().map(|suspect| report.row(suspect)).collect(),
                omitted: Omitted { rows: (found.len() - shown) as u64, count: (), shallow_bytes: () },
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => {
            super::super::export::lines(&found[..shown].iter().map(|suspect| report.row(suspect)).collect::<Vec<_>>())?
        }
        OutputFormat::Csv => super::super::export::csv(found[..shown].iter().map(|suspect| report.csv(suspect)))?,
    };
    super::super::print_text(&text, common)?;
    Ok(report_loaded(input, &loaded, terminal))
}

/// As many as fit on a screen.
const SHOWN: usize = 6;

struct Report<'r, 'h, 'a> {
    analysed: &'r Analysed<'h, 'a>,
    shortest: Shortest<'h, 'a>,
    exact: bool,
    terminal: &'r Terminal,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    snapshot: u64,
    by: &'static str,
    objects: &'static str,
    total: SumJson,
    unreachable: Option<SumJson>,
    total_bytes: u64,
    /// Null: suspects are no groups of objects.
    rows: (),
    suspects: Vec<Row>,
    omitted: Omitted,
}

/// Suspects that are not shown. They overlap, so that their objects cannot be added up.
#[derive(Serialize)]
struct Omitted {
    rows: u64,
    count: (),
    shallow_bytes: (),
}

#[derive(Serialize)]
struct Row {
    kind: &'static str,
    bytes: u64,
    share: f64,
    /// Objects that the suspicion is about.
    count: u64,
    object: Option<ObjectRow>,
    message: String,
    path: Option<PathRow>,
}

#[derive(Default, Serialize)]
struct CsvRow {
    kind: &'static str,
    bytes: u64,
    share: f64,
    count: u64,
    object: String,
    message: String,
    path: String,
}

impl<'h, 'a> Report<'_, 'h, 'a> {
    fn heap(&self) -> &'h Heap<'a> {
        self.analysed.heap
    }

    fn row(&self, suspect: &Suspect) -> Row {
        let path = suspect.object().and_then(|object| self.shortest.path(object));
        Row {
            kind: kind(suspect),
            bytes: suspect.bytes(),
            share: self.share(suspect.bytes()),
            count: objects(suspect),
            object: suspect.object().map(|object| self.analysed.row(object)),
            message: self.messages(suspect).join("; "),
            path: path.map(|path| PathRow::of(self.analysed, &path)),
        }
    }

    fn csv(&self, suspect: &Suspect) -> CsvRow {
        CsvRow {
            kind: kind(suspect),
            bytes: suspect.bytes(),
            share: self.share(suspect.bytes()),
            count: objects(suspect),
            object: suspect.object().map(|object| self.heap().id(object)).unwrap_or_default(),
            message: self.messages(suspect).join("; "),
            path: self.path(suspect).unwrap_or_default(),
        }
    }

    fn text(&self, found: &[Suspect], shown: usize) -> String {
        let live = size(self.analysed.tree.live_bytes(), self.exact);
        if found.is_empty() {
            return format!("nothing stands out in {live} of live objects\n");
        }
        let mut text = String::new();
        for suspect in &found[..shown] {
            let bytes = size(suspect.bytes(), self.exact);
            let mut messages = self.messages(suspect).into_iter();
            let first = messages.next().unwrap_or_default();
            text.push_str(&format!(
                "{}  {:>7}  {}\n",
                self.terminal.bold(&format!("{bytes:>11}")),
                percent(self.share(suspect.bytes())),
                first
            ));
            let mut line = |line: &str| text.push_str(&format!("{:22}{line}\n", ""));
            messages.for_each(|message| line(&message));
            if let Some(path) = self.path(suspect) {
                line(&self.terminal.dim(&path));
            }
            text.push('\n');
        }
        let suspects = plural(found.len() as u64, "suspect", "suspects");
        text.push_str(&format!(
            "showing {} of {suspects} in {live} of live objects; `dumptool path` tells more\n",
            count(shown as u64)
        ));
        text
    }

    fn share(&self, bytes: u64) -> f64 {
        let share = bytes as f64 / self.analysed.tree.live_bytes().max(1) as f64;
        (share * 1e4).round() / 1e4
    }

    fn path(&self, suspect: &Suspect) -> Option<String> {
        Some(one_line(self.analysed, &self.shortest.path(suspect.object()?)?))
    }

    /// What is suspicious, then details.
    fn messages(&self, suspect: &Suspect) -> Vec<String> {
        match suspect {
            Suspect::Holder(holder) => self.holder(holder),
            Suspect::Siblings(siblings) => self.siblings(siblings),
            Suspect::Duplicates(duplicates) => self.duplicates(duplicates),
            Suspect::Sparse(sparse) => self.sparse(sparse),
        }
    }

    fn named(&self, object: ObjectId) -> String {
        format!("{} {}", self.analysed.describe(object), self.heap().id(object))
    }

    fn holder(&self, holder: &Holder) -> Vec<String> {
        let named = self.named(holder.object);
        let first = match holder.chain {
            1 => format!("held by one {named}"),
            chain => format!("held by a chain of {}, from {named}", plural(chain, "object", "objects")),
        };
        let mostly_own = holder.own >= holder.retained.div_ceil(2);
        let inside = holder.inside.filter(|_| !mostly_own).map(|group| {
            let of = type_name(self.heap(), group.of);
            format!("most of it in {} {of}, which retain {}", count(group.count), size(group.bytes, self.exact))
        });
        let own = mostly_own.then(|| format!("{} of it is the object itself", size(holder.own, self.exact)));
        [Some(first), inside.filter(|_| holder.chain == 1), own.filter(|_| holder.own < holder.retained)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn siblings(&self, siblings: &Siblings) -> Vec<String> {
        let of = type_name(self.heap(), siblings.group.of);
        vec![format!("in {} {of} below one {}", count(siblings.group.count), self.named(siblings.owner))]
    }

    fn duplicates(&self, duplicates: &Duplicates) -> Vec<String> {
        let what = if duplicates.texts { "equal texts" } else { "equal blocks of bytes" };
        let values = plural(duplicates.values, "value", "values");
        let first = format!("wasted by {what}: {} have one of {values}", plural(duplicates.objects, "object", "objects"));
        let worst = duplicates.worst.iter().map(|copies| {
            let wasted = size(copies.wasted, self.exact);
            format!("{} × {} ({wasted})", count(copies.count), self.content(copies.example))
        });
        std::iter::once(first).chain(worst).collect()
    }

    /// What a duplicate is.
    fn content(&self, object: ObjectId) -> String {
        let heap = self.heap();
        match heap.value(object) {
            Value::Bytes(bytes) => {
                let shown = bytes.trim_ascii_end();
                let end = shown.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                let size = size(bytes.len() as u64, self.exact);
                match std::str::from_utf8(&shown[..end]) {
                    _ if end == 0 => format!("{size} of zeros, such as {}", self.named(object)),
                    Ok(text) if !text.contains(|c: char| c.is_control() && !c.is_whitespace()) => {
                        format!("{:?} in {size}, such as {}", text.chars().take(40).collect::<String>(), self.named(object))
                    }
                    _ => format!("{size}, such as {}", self.named(object)),
                }
            }
            _ => show::brief(self.analysed, object),
        }
    }

    fn sparse(&self, sparse: &Sparse) -> Vec<String> {
        let of = type_name(self.heap(), sparse.of);
        vec![
            format!(
                "unused in {} of {} {of}: {} of {} places are taken",
                count(sparse.count),
                count(sparse.all),
                count(sparse.used),
                count(sparse.capacity)
            ),
            format!("the worst is {}", self.named(sparse.example)),
        ]
    }
}

fn kind(suspect: &Suspect) -> &'static str {
    match suspect {
        Suspect::Holder(_) => "holder",
        Suspect::Siblings(_) => "siblings",
        Suspect::Duplicates(duplicates) if duplicates.texts => "duplicate_texts",
        Suspect::Duplicates(_) => "duplicate_bytes",
        Suspect::Sparse(_) => "empty_collections",
    }
}

fn objects(suspect: &Suspect) -> u64 {
    match suspect {
        Suspect::Holder(holder) => holder.chain,
        Suspect::Siblings(siblings) => siblings.group.count,
        Suspect::Duplicates(duplicates) => duplicates.objects,
        Suspect::Sparse(sparse) => sparse.count,
    }
}
