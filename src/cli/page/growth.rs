//! The growth over several dumps, or over the snapshots of one.

use crate::analysis::glob::TypeFilter;
use crate::analysis::growth::{Growth, Series};
use crate::analysis::profile::Selected;
use crate::cli::args::{ReportArgs, Snapshot};
use crate::cli::heap::histogram::{add_types, complete_snapshots, count_types};
use crate::cli::open::Input;
use crate::cli::profile::{add_functions, load_profile, unit_name};
use crate::cli::recording::{growth_of, histograms};
use crate::cli::session::Session;
use crate::cli::size::plural;
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::show_path;
use crate::input::{self, Format, Kind, ReadOptions};
use crate::model::profile::Metric;
use crate::output::report::{Report, ReportCurve, ReportTable};
use std::path::PathBuf;

/// Maximum number of rows of the table. Rows that grew most come first.
const ROWS: usize = 200;
/// Maximum number of values of a row. More are merged in runs, each shown by its largest value.
const POINTS: usize = 40;

/// Types or functions in several dumps or snapshots, oldest first.
pub(super) struct Grown {
    title: &'static str,
    note: String,
    unit: String,
    series: Vec<Series>,
    /// The names of the files, or of the snapshots.
    labels: Vec<String>,
    /// The time of each recording in milliseconds. `None` unless all are known and in order.
    times: Option<Vec<u64>>,
    /// The numbers of the snapshots of one file. Empty for several files.
    pub(super) snapshots: Vec<u64>,
    /// The status of the files between the first and the last, such as `Damaged`.
    pub(super) status: Status,
}

/// The types of all complete snapshots of a file, if it has several and none is chosen.
pub(super) fn over_snapshots(
    args: &ReportArgs,
    input: &Input,
    session: &Session,
) -> anyhow::Result<Option<Grown>> {
    if input.format == Format::Jfr {
        return over_histograms(input, session);
    }
    // A live page lists all snapshots even if one is selected, so that users can switch.
    if input.format != Format::Mvmheap || args.heap.snapshot.is_some() && !args.live {
        return Ok(None);
    }
    // If a file has no complete snapshot, loading it reports why.
    let snapshots = complete_snapshots(input).map(|(snapshots, _)| snapshots).unwrap_or_default();
    if snapshots.len() < 2 {
        return Ok(None);
    }
    let mut growth = Growth::default();
    for number in snapshots.iter().map(|snapshot| snapshot.index) {
        let snapshot = Some(Snapshot::Number(number));
        let counted = count_types(session, "report", input, snapshot, &args.heap.roots)?;
        growth.begin_snapshot();
        add_types(&mut growth, &counted, &TypeFilter::default());
    }
    let numbers: Vec<u64> = snapshots.iter().map(|snapshot| snapshot.index).collect();
    let labels = numbers.iter().map(|number| format!("snapshot {number}")).collect();
    let times = snapshots.iter().map(|snapshot| Some(snapshot.time_us? / 1000)).collect();
    let grown = Grown::of(growth, labels, "snapshot", Status::Done);
    Ok(Some(Grown { times: in_order(times), snapshots: numbers, ..grown }))
}

/// The classes of all histograms of a recording, if it has several.
fn over_histograms(input: &Input, session: &Session) -> anyhow::Result<Option<Grown>> {
    let all = histograms(input, session)?;
    if all.len() < 2 {
        return Ok(None);
    }
    let growth = growth_of(&all, &TypeFilter::default());
    let labels = (1..=all.len()).map(|number| format!("histogram {number}")).collect();
    let mut grown = Grown::of(growth, labels, "histogram", Status::Done);
    grown.title = "Classes over time";
    grown.note.push_str(" The JVM leaves out classes with less than 0.5 % of the heap.");
    Ok(Some(grown))
}

/// The types or functions of more than two files. `ends` are the first and the last, whose damage
/// is reported elsewhere.
pub(super) fn over_files(
    args: &ReportArgs,
    ends: (&Input, &Input),
    session: &Session,
) -> anyhow::Result<Option<Grown>> {
    if args.files.len() < 3 {
        return Ok(None);
    }
    let (mut growth, mut status) = (Growth::default(), Status::Done);
    let mut measured: Option<Metric> = None;
    let mut times = Vec::new();
    // Files are read one after the other, so that at most three are in memory.
    for (at, path) in args.files.iter().enumerate() {
        let between;
        let (input, is_end) = match at {
            0 => (ends.0, true),
            at if at + 1 == args.files.len() => (ends.1, true),
            _ => {
                between = session.open_old(path)?;
                (&between, false)
            }
        };
        if input.kind != ends.0.kind {
            return Err(super::different_kinds());
        }
        growth.begin_snapshot();
        let added = add(&mut growth, input, args, is_end, session)?;
        times.push(added.time);
        status = status.max(added.status);
        let Some(metric) = added.metric else { continue };
        if measured.as_ref().is_some_and(|before| before.of != metric.of) {
            let message =
                format!("{} measures something other than the files before it", show_path(path));
            return Err(UsageError::new(message).hint("--metric chooses one").into());
        }
        measured = Some(metric);
    }
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let labels: Vec<String> = args.files.iter().map(name).collect();
    let times = in_order(times);
    Ok(Some(match measured {
        None => Grown { times, ..Grown::of(growth, labels, "dump", status) },
        Some(metric) => {
            let files = plural(labels.len() as u64, "profile", "profiles");
            Grown {
                title: "Functions over time",
                note: format!("Self values in {files}."),
                unit: unit_name(&metric).to_owned(),
                times,
                ..Grown::of(growth, labels, "profile", status)
            }
        }
    }))
}

/// A file whose types or functions were added.
struct Added {
    time: Option<u64>,
    status: Status,
    metric: Option<Metric>,
}

/// Adds the types of a heap, or the self values of a profile's functions. `is_end`: the file's damage
/// is reported elsewhere.
fn add(
    growth: &mut Growth,
    input: &Input,
    args: &ReportArgs,
    is_end: bool,
    session: &Session,
) -> anyhow::Result<Added> {
    let status = |report: &dyn Fn() -> Status| if is_end { Status::Done } else { report() };
    if input.kind == Kind::Heap {
        let counted = count_types(session, "report", input, None, &args.heap.roots)?;
        add_types(growth, &counted, &TypeFilter::default());
        let damage = counted.damage.as_ref();
        let status = status(&|| input.report_if_damaged(damage, &session.terminal));
        return Ok(Added { time: recorded_at(input), status, metric: None });
    }
    let mut loaded = load_profile(input, &args.profile, session)?;
    loaded.name_hidden_classes();
    let metric = loaded.metric(&args.profile)?;
    let selected = Selected::of(&loaded.profile, &loaded.selection);
    add_functions(growth, &selected, &metric, &TypeFilter::default());
    let nanoseconds = loaded.profile.metadatum("time_nanos");
    let time = nanoseconds.and_then(|text| Some(text.parse::<u64>().ok()? / 1_000_000));
    Ok(Added { time, status: status(&|| loaded.report(session)), metric: Some(metric) })
}

/// The time when a heap dump was written, in milliseconds. `None` if its header lacks it.
fn recorded_at(input: &Input) -> Option<u64> {
    if input.format != Format::Hprof {
        return None;
    }
    let options = ReadOptions { quick: true, ..ReadOptions::default() };
    let info = input::info(input.format, input.bytes(), options).ok()?;
    let stated = info.metadata.iter().find(|datum| datum.key == "timestamp_ms")?;
    stated.value.parse().ok()
}

/// The times, if all are known and each is after the one before.
fn in_order(times: Vec<Option<u64>>) -> Option<Vec<u64>> {
    let times: Vec<u64> = times.into_iter().collect::<Option<_>>()?;
    times.is_sorted_by(|before, after| before < after).then_some(times)
}

impl Grown {
    fn of(growth: Growth, labels: Vec<String>, one: &str, status: Status) -> Self {
        let points = plural(labels.len() as u64, one, &format!("{one}s"));
        Self {
            title: "Types over time",
            note: format!("All objects of {points}, live or not."),
            unit: "bytes".to_owned(),
            series: growth.finish(),
            labels,
            times: None,
            snapshots: Vec::new(),
            status,
        }
    }

    /// The sum over all rows at each point, with the names of the points.
    pub(super) fn curve(&self) -> ReportCurve {
        let sum = |at: usize| {
            let each = self.series.iter().filter_map(|row| row.bytes.get(at));
            each.fold(0, |sum: u64, bytes| sum.saturating_add(*bytes))
        };
        let time = |at: usize| self.times.as_ref().map_or(at as u64, |times| times[at]);
        let points = (0..self.labels.len()).map(|at| (time(at), sum(at))).collect();
        let (time, spacing) = match self.times {
            Some(_) => ("milliseconds", ""),
            None => ("number", " They do not say when they were recorded: the spacing is even."),
        };
        ReportCurve {
            title: "From the first to the last",
            note: format!("{}{spacing}", self.note),
            time: time.to_owned(),
            unit: self.unit.clone(),
            points,
            labels: self.labels.clone(),
        }
    }

    /// A table of at most `most` rows, those that grew most first.
    pub(super) fn table(&self, report: &mut Report, most: usize) -> ReportTable {
        let rows = &self.series[..self.series.len().min(most).min(ROWS)];
        let at = |bytes: Option<&u64>| super::tables::number(bytes.copied().unwrap_or(0));
        let mut table = ReportTable::new(self.title, self.series.len() as u64)
            .names(report, "Name", rows.iter().map(|row| row.name.as_str()))
            .series("First … last", &self.unit, rows.iter().map(|row| thinned(&row.bytes)))
            .numbers("First", &self.unit, rows.iter().map(|row| at(row.bytes.first())))
            .numbers("Peak", &self.unit, rows.iter().map(|row| at(Some(&row.peak()))))
            .numbers("Last", &self.unit, rows.iter().map(|row| at(row.bytes.last())))
            .deltas("Growth", &self.unit, rows.iter().map(|row| i64::try_from(row.growth()).ok()))
            .sorted();
        table.note = Some(self.note.clone());
        table
    }
}

/// Reduces a series to at most [`POINTS`] values.
fn thinned(values: &[u64]) -> Vec<u64> {
    let run = values.len().div_ceil(POINTS).max(1);
    values.chunks(run).map(|run| run.iter().max().copied().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::{in_order, thinned};

    #[test]
    fn times_count_only_where_all_are_known_and_in_order() {
        assert_eq!(in_order(vec![Some(1), Some(5)]), Some(vec![1, 5]));
        assert_eq!(in_order(vec![Some(1), None, Some(5)]), None);
        assert_eq!(in_order(vec![Some(5), Some(1)]), None);
    }

    #[test]
    fn many_values_are_merged_and_few_are_not() {
        assert_eq!(thinned(&[3, 1, 2]), [3, 1, 2]);
        let many: Vec<u64> = (0..100).collect();
        assert_eq!(thinned(&many).len(), 34);
        assert_eq!((thinned(&many)[0], thinned(&many)[33]), (2, 99));
    }
}
