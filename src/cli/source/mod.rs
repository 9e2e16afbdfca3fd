//! `source`: the source of functions with the costs of their lines.

mod text;

use super::args::SourceArgs;
use super::print::{Columns, Document, Shown, Value, print};
use super::profile::{
    Amount, ProfileInput, load_profile, no_function, pattern, refuse_tag, total_json, unit_name,
    whole, with_filters,
};
use super::session::Session;
use super::size::plural;
use super::status::{Status, UsageError};
use super::terminal::{show_path, shown};
use crate::analysis::profile::{FrameBy, GroupLabel, Groups, Selected, Sums, TopBy, TopRow, top};
use crate::input::Kind;
use crate::model::profile::Metric;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use text::{Finder, Text};

pub(super) fn run(args: &SourceArgs, session: &Session) -> anyhow::Result<Status> {
    let input = session.open(&args.file)?;
    if input.kind == Kind::Heap {
        let error = UsageError::new(format!("{} is a heap dump", show_path(&input.path)));
        return Err(error.hint("only profiles have lines with values").into());
    }
    refuse_tag(&args.profile, "source")?;
    let loaded = load_profile(&input, &args.profile, session)?;
    let metric = &loaded.metric(&args.profile)?;
    let selected = Selected::of(&loaded.profile, &loaded.selection);
    let mut finder = Finder::of(&args.source, &input, session);
    let (mut lines, mut listings) = (Vec::new(), Vec::new());
    for function in functions(args, &selected, metric)? {
        let text = finder.find(&function.label.namespace);
        warn(&function, text.as_deref(), &loaded, session);
        let first = lines.len();
        lines.extend(listed(&function, text.as_deref(), args.context));
        let (place, rows) = (text.map(|text| text.place.clone()), first..lines.len());
        listings.push(Listing { function, place, rows });
    }
    let document = || {
        with_filters(Document::new("dumptool/source/1", &input.path), [("samples", &loaded)])
            .with("metric", metric.name())
            .with("unit", unit_name(metric))
            .with("total", total_json(&selected.total, metric))
            .with(
                "functions",
                listings.iter().map(|listing| listing.json(metric)).collect::<Vec<_>>(),
            )
            .rows("rows")
    };
    let columns = Columns::new(session)
        .text("name", "FUNCTION", |line: &Line| line.label.name.to_string())
        .value("namespace", |line| Value::from(line.label.namespace.to_string()))
        .number("line", "LINE", |line| line.line)
        .number("self", "SELF", move |line| line.sums.own.get(metric))
        .number("total", "TOTAL", move |line| line.sums.total.get(metric))
        .text("text", "TEXT", |line| line.text.clone());
    let amount = Amount::new(metric, metric.whole(&selected.total), session.common.bytes);
    let text = || {
        let text = |listing: &Listing| listing.text(&lines[listing.rows.clone()], metric, &amount);
        let footer = format!("shares of {}\n", whole(&selected.total, metric, &amount));
        listings.iter().map(text).collect::<String>() + &footer
    };
    print(session, document, &lines, &columns, &Shown::Text(&text))?;
    Ok(loaded.report(session))
}

/// A function with the costs of its lines.
struct Function {
    label: GroupLabel,
    sums: Sums,
    lines: BTreeMap<u32, Sums>,
}

impl Function {
    /// Whether most samples are in lines after this one. A sample counts once for each line.
    fn is_mostly_after(&self, end: u32) -> bool {
        let lines = |after| self.lines.range(1..).filter(move |(line, _)| (**line > end) == after);
        let samples = |(_, sums): (_, &Sums)| u128::from(sums.total.samples());
        lines(true).map(samples).sum::<u128>() > lines(false).map(samples).sum()
    }
}

/// The functions that the pattern matches, the most expensive first. Fails with a [`UsageError`] if
/// the pattern matches no function.
fn functions(
    args: &SourceArgs,
    selected: &Selected<'_>,
    metric: &Metric,
) -> Result<Vec<Function>, UsageError> {
    let wanted = pattern("FUNCTION", &args.function)?;
    let mut found = top(selected, TopBy::Frames(FrameBy::Function));
    found.rows.retain(|row| wanted.matches(&row.label));
    if found.rows.is_empty() {
        let groups = Groups::of(selected.profile, FrameBy::Function);
        return Err(no_function(&args.function, groups.labels()));
    }
    found.sort(metric, true);
    let mut lines: BTreeMap<GroupLabel, BTreeMap<u32, Sums>> = BTreeMap::new();
    for row in top(selected, TopBy::Frames(FrameBy::Line)).rows {
        let line = row.label.line.unwrap_or(0);
        let function = GroupLabel { line: None, ..row.label };
        lines.entry(function).or_default().insert(line, row.sums);
    }
    let function = |row: TopRow| Function {
        lines: lines.remove(&row.label).unwrap_or_default(),
        label: row.label,
        sums: row.sums,
    };
    Ok(found.rows.into_iter().map(function).collect())
}

struct Line {
    label: GroupLabel,
    line: u32,
    sums: Sums,
    text: Option<String>,
}

/// The lines from the first to the last one with samples, with `context` lines before and after.
/// Without a source, only the lines with samples.
fn listed(function: &Function, text: Option<&Text>, context: u32) -> Vec<Line> {
    let line = |line: u32| Line {
        label: function.label.clone(),
        line,
        sums: function.lines.get(&line).cloned().unwrap_or_default(),
        text: text.and_then(|text| text.line(line)).map(str::to_owned),
    };
    let mut wanted: BTreeSet<u32> = function.lines.keys().copied().collect();
    let known = wanted.range(1..).next().copied().zip(wanted.last().copied());
    if let (Some(text), Some((first, last))) = (text, known) {
        let end = last.saturating_add(context).min(text.len());
        wanted.extend(first.saturating_sub(context).max(1)..=end);
    }
    wanted.into_iter().map(line).collect()
}

/// Warns if lines have no text, or if the text may differ from the code that ran.
fn warn(function: &Function, text: Option<&Text>, loaded: &ProfileInput<'_>, session: &Session) {
    let warn = |message: &str| session.terminal.warn(&loaded.input.path, message);
    let name = shown(&function.label.name);
    let file = shown(&function.label.namespace);
    let last = function.lines.keys().next_back().copied().unwrap_or(0);
    match text {
        _ if last == 0 => warn(&format!("{name} has no lines in the profile")),
        None if file.is_empty() => warn(&format!("{name} has no file in the profile")),
        None => warn(&format!("no source of {name}: {file} (--source DIR says where it is)")),
        Some(text) => {
            let place = shown(&text.place);
            if last > text.len() {
                let lines = plural(text.len().into(), "line", "lines");
                // V8 gives the lines of inlined functions without their scripts.
                let what = if function.is_mostly_after(text.len()) {
                    "is another version than the one profiled"
                } else {
                    "probably lacks functions of other files that were inlined"
                };
                warn(&format!("{place} {what}: it has {lines}, {name} has samples in line {last}"));
            } else if let Some(changed) = text.changed_after(loaded) {
                warn(&format!(
                    "{place} may be a newer version than the one profiled: it was changed {changed}"
                ));
            }
        }
    }
}

/// A function, where its source is, and its lines.
struct Listing {
    function: Function,
    place: Option<String>,
    rows: Range<usize>,
}

impl Listing {
    fn json(&self, metric: &Metric) -> Value<'static> {
        let Function { label, sums, .. } = &self.function;
        Value::from([
            ("name", label.name.to_string().into()),
            ("namespace", label.namespace.to_string().into()),
            ("self", sums.own.get(metric).into()),
            ("total", sums.total.get(metric).into()),
            ("source", self.place.clone().into()),
        ])
    }

    /// The listing as people see it.
    fn text(&self, lines: &[Line], metric: &Metric, amount: &Amount) -> String {
        let Function { label, sums, .. } = &self.function;
        let (own, total) = (sums.own.get(metric), sums.total.get(metric));
        let place = match (&self.place, &*label.namespace) {
            (Some(place), _) => format!(" in {}", shown(place)),
            (None, "") => String::new(),
            (None, file) => format!(" in {}", shown(file)),
        };
        let mut text = format!(
            "{}{place}: self {}, total {} ({})\n",
            shown(&label.name),
            amount.show(own),
            amount.show(total),
            amount.percent(total)
        );
        let show = |value| if value == 0 { ".".to_owned() } else { amount.show(value) };
        let cells: Vec<[String; 3]> = lines
            .iter()
            .map(|line| {
                let (own, total) = (line.sums.own.get(metric), line.sums.total.get(metric));
                [show(own), show(total), line.line.to_string()]
            })
            .collect();
        let width = |column: usize| {
            let widths = cells.iter().map(|cells| cells[column].chars().count());
            widths.max().unwrap_or(0)
        };
        let [own, total, number] = [width(0).max(4), width(1).max(5), width(2).max(4)];
        text.push_str(&format!("  {:>own$}  {:>total$}  {:>number$}\n", "SELF", "TOTAL", "LINE"));
        for ([a, b, c], line) in cells.iter().zip(lines) {
            let source = line.text.as_deref().map(expanded).unwrap_or_default();
            let row = format!("  {a:>own$}  {b:>total$}  {c:>number$}  {source}");
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text + "\n"
    }
}

/// A line of a source on a terminal, with blanks for tabs.
fn expanded(line: &str) -> String {
    shown(&line.replace('\t', "    "))
}
