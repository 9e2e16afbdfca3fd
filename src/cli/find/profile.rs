//! `find` of profiles: functions, what they cost and where.

use super::super::args::{Common, FindArgs};
use super::super::open::Input;
use super::super::profile::{Amount, CostRow, Pattern, ShortFiles, Total, load_profile, print, stack_text, unit_name, whole};
use super::super::size::{count, plural};
use super::super::status::Status;
use super::super::table::{Align, Table};
use super::super::terminal::Terminal;
use crate::analysis::profile::{FrameBy, GroupLabel, Groups, Place, Selected, TopBy, TopRow, places, share_base, top};
use crate::model::profile::{Metric, Profile};
use serde::Serialize;
use std::collections::HashMap;

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    metric: &'static str,
    unit: &'static str,
    total: Total,
    rows: Vec<FoundRow>,
    omitted: Omitted,
}

#[derive(Serialize)]
struct FoundRow {
    #[serde(flatten)]
    cost: CostRow,
    /// Where most of it was.
    example: Option<Example>,
}

#[derive(Serialize)]
struct Example {
    thread: String,
    /// Outermost first, up to the function itself.
    stack: Vec<String>,
    /// Outer frames that were left out.
    omitted: u64,
}

#[derive(Serialize)]
struct Omitted {
    rows: u64,
}

#[derive(Default, Serialize)]
struct CsvRow<'a> {
    name: &'a str,
    namespace: &'a str,
    line: Option<u32>,
    #[serde(rename = "self")]
    own: i64,
    total: i64,
    samples_self: u64,
    samples_total: u64,
    thread: Option<&'a str>,
    stack: Option<String>,
}

/// Frames of an example; those next to the function say most.
const EXAMPLE: usize = 64;

pub(super) fn run(args: &FindArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let loaded = load_profile(input, &args.profile, common, terminal)?;
    let metric = loaded.metric(&args.profile)?;
    let selected = Selected::of(&loaded.profile, &loaded.selection);
    let by = if args.line.is_some() { FrameBy::Line } else { FrameBy::Function };
    let mut found = top(&selected, TopBy::Frames(by));
    let wanted = Wanted::of(args);
    found.rows.retain(|row| wanted.has(&row.label));
    found.sort(metric, true);
    let (shown, rest) = found.rows.split_at(common.rows(args.limit, 20).min(found.rows.len()));
    let groups = Groups::of(&loaded.profile, by);
    let places = places(&selected, &groups, metric);
    let of_label: HashMap<&GroupLabel, &Option<Place>> = groups.labels().iter().zip(&places).collect();
    let place = |row: &TopRow| of_label.get(&row.label).copied().copied().flatten();
    let document = Document {
        schema: "dumptool/find/1",
        file: input.path.display().to_string(),
        metric: metric.name(),
        unit: unit_name(metric),
        total: Total::of(&selected.total, metric),
        rows: shown.iter().map(|row| FoundRow::of(row, place(row), metric, &loaded.profile)).collect(),
        omitted: Omitted { rows: rest.len() as u64 },
    };
    let csv = || document.rows.iter().map(CsvRow::of).collect();
    print(common, &document, &document.rows, csv, || {
        let amount = Amount::new(metric, share_base(&selected.total, metric), common.bytes);
        let files = ShortFiles::of_profile(&loaded.profile, common.verbose);
        let mut table = Table::new(&[Align::Right, Align::Right, Align::Right, Align::Left, Align::Left]).minor(&[2]);
        table.row(["SELF", "TOTAL", "SHARE", "FUNCTION", "MOSTLY IN"].map(|heading| terminal.dim(heading)));
        for row in shown {
            let (own, total) = (row.sums.own.get(metric), row.sums.total.get(metric));
            let name = terminal.bold(&files.name(&row.label.name, &row.label.namespace, row.label.line));
            let place = place(row).map(|place| stack_text(&loaded.profile, &place, common.verbose)).unwrap_or_default();
            table.row([amount.show(own), amount.show(total), amount.percent(total), name, place]);
        }
        let kinds = if by == FrameBy::Line { ("line", "lines") } else { ("function", "functions") };
        let rows = plural(found.rows.len() as u64, kinds.0, kinds.1);
        let which = match (shown.len(), rest.len()) {
            (0, _) => return format!("no {} found\n", kinds.0),
            (_, 0) => format!("all {rows} found"),
            (shown, _) => format!("showing {} of {rows} found", count(shown as u64)),
        };
        let samples = plural(selected.total.samples, "sample", "samples");
        format!("{}{which}; shares of {} · {samples}\n", table.render(), whole(&selected.total, metric, amount))
    })?;
    Ok(loaded.report(terminal))
}

/// What to look for.
struct Wanted {
    function: Option<Pattern>,
    file: Option<Pattern>,
    line: Option<u32>,
}

impl Wanted {
    fn of(args: &FindArgs) -> Self {
        Self {
            function: args.type_glob.as_deref().map(Pattern::new),
            file: args.namespace.as_deref().map(Pattern::new),
            line: args.line,
        }
    }

    fn has(&self, label: &GroupLabel) -> bool {
        self.function.as_ref().is_none_or(|pattern| pattern.matches(label))
            && self.file.as_ref().is_none_or(|pattern| pattern.matches_path(&label.namespace))
            && (self.line.is_none() || self.line == label.line)
    }
}

impl FoundRow {
    fn of(row: &TopRow, place: Option<Place>, metric: Metric, profile: &Profile) -> Self {
        Self { cost: CostRow::of(row, metric), example: place.map(|place| Example::of(&place, profile)) }
    }
}

impl Example {
    fn of(place: &Place, profile: &Profile) -> Self {
        let frames = profile.stacks.frames(place.until);
        let mut stack: Vec<_> = frames
            .take(EXAMPLE)
            .map(|id| {
                let frame = profile.frame(id);
                match profile.names.text(frame.file) {
                    "" => profile.function_name(id).to_owned(),
                    file => format!("{file}:{}:{}", profile.function_name(id), frame.line),
                }
            })
            .collect();
        stack.reverse();
        let omitted = u64::from(place.depth).saturating_sub(EXAMPLE as u64);
        Self { thread: profile.thread(place.thread).label(&profile.names), stack, omitted }
    }
}

impl<'a> CsvRow<'a> {
    fn of(row: &'a FoundRow) -> Self {
        let cost = &row.cost;
        Self {
            name: &cost.name,
            namespace: &cost.namespace,
            line: cost.line,
            own: cost.own,
            total: cost.total,
            samples_self: cost.samples_self,
            samples_total: cost.samples_total,
            thread: row.example.as_ref().map(|example| example.thread.as_str()),
            stack: row.example.as_ref().map(|example| example.stack.join(";")),
        }
    }
}
