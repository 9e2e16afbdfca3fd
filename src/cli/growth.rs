//! `growth`: growth over several files.

use super::args::{GrowthArgs, GrowthSort, name_of};
use super::heap::grown::{Growth as HeapGrowth, Newer};
use super::heap::histogram::{add_types, count_types};
use super::heap::{Answers, load, no_such_type, report_warnings};
use super::known::Rules;
use super::minified::warn_if_minified;
use super::open::Input;
use super::print::{Align, Columns, Document, Shown, Value, print, spark};
use super::profile::{Amount, ShortFiles, add_functions, load_profile, unit_name};
use super::recording::{growth_of, histograms};
use super::session::Session;
use super::size::{plural, showing, size, size_change};
use super::status::{Status, UsageError};
use super::terminal::{show_path, shown};
use crate::analysis::glob::TypeFilter;
use crate::analysis::growth::{self, Growth, Series};
use crate::analysis::profile::Selected;
use crate::input::{Format, Kind};
use crate::model::profile::Metric;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;

/// The default number of rows.
const ROWS: usize = 20;

pub(super) fn run(args: &GrowthArgs, session: &Session) -> anyhow::Result<Status> {
    let rules = Rules::of(&args.known, session)?;
    let Measured { unit, mut series, scale, times, mut status } = measure(args, session)?;
    series.retain(|series| !args.steady || series.is_steady());
    sort(&mut series, args.sort);
    let rows = session.shown(&series, args.limit, ROWS).0;
    let verdict = match unit {
        Unit::Bytes if !args.quick && times.is_none() => {
            verdict(args, &rules, session, &mut status)
        }
        _ => None,
    };
    args.known.only_with("heaps, without --quick", verdict.is_some())?;
    let said = |by: &dyn Fn(&HeapGrowth) -> String| {
        let reason = |reason: &anyhow::Error| format!("what grew is not known: {reason}");
        verdict.as_ref().map(|verdict| verdict.as_ref().map_or_else(reason, by))
    };
    let sentence = said(&|growth| growth.sentence(session));
    let headed = said(&|growth| growth.text(session));
    let growth = verdict.as_ref().and_then(|verdict| verdict.as_ref().ok());
    let document = || {
        let files = args.files.iter().map(|path| Value::from(path.display().to_string()));
        let times = times.as_ref().map(|times| times.iter().map(|time| Value::from(time.as_str())));
        let scale = scale.as_ref().map(|scale| scale.iter().map(|by| Value::from(*by)));
        args.profile
            .narrow
            .describe(Document::new("dumptool/growth/1", &args.files[0]))
            .with("files", files.collect::<Vec<_>>())
            .with("times", times.map(Vec::from_iter))
            .with("metric", unit.metric())
            .with("unit", unit.name())
            .with("sort", name_of(args.sort))
            .with("scale", scale.map(Vec::from_iter))
            .with("verdict", sentence.as_deref())
            .with("grown", growth.map(HeapGrowth::json))
            .rows("rows")
            .with("omitted", Value::from([("rows", (series.len() - rows.len()).into())]))
    };
    let points = match &times {
        Some(times) => plural(times.len() as u64, "histogram", "histograms"),
        None => plural(args.files.len() as u64, "file", "files"),
    };
    let footer = || {
        let many = format!("{}s", unit.noun());
        let shown = showing(rows.len(), series.len(), unit.noun(), &many);
        let scaled = if args.normalize { ", scaled to the total of the last one" } else { "" };
        format!("{shown} in {points}{scaled}\n")
    };
    let mut names = HashSet::new();
    let repeats = !rows.iter().all(|row| names.insert(&row.name));
    let files = ShortFiles::of(rows.iter().map(|row| &*row.namespace), session.common.verbose);
    let columns = columns(&unit, repeats, &files, session);
    let shown_as = match &headed {
        Some(headed) => Shown::Headed(headed, &footer),
        None => Shown::Table(&footer),
    };
    print(session, document, rows, &columns, &shown_as)?;
    Ok(status)
}

/// Sorts rows. Equal rows keep their order, which is by growth from the first file to the last.
fn sort(series: &mut [Series], by: GrowthSort) {
    match by {
        GrowthSort::Slope => series.sort_by(|a, b| b.slope().total_cmp(&a.slope())),
        GrowthSort::Last => series.sort_by_key(|series| Reverse(series.bytes.last().copied())),
        GrowthSort::Peak => series.sort_by_key(|series| Reverse(series.peak())),
    }
}

/// Describes the growth from the first heap to the last. `None` if one of them has no roots; an
/// error if one is too large to be loaded. Their warnings count for `status`.
fn verdict(
    args: &GrowthArgs,
    rules: &Rules,
    session: &Session,
    status: &mut Status,
) -> Option<Result<HeapGrowth, anyhow::Error>> {
    let mut grown = || -> anyhow::Result<Option<HeapGrowth>> {
        let (first, last) = (&args.files[0], &args.files[args.files.len() - 1]);
        let last = session.open(last)?;
        let newer = |heap: &Answers<'_>| Newer::of(heap, (rules, last.format), session);
        let Some(newer) = with_heap(&last, args, session, status, newer)? else {
            return Ok(None);
        };
        let first = session.open_old(first)?;
        with_heap(&first, args, session, status, |heap| newer.since(heap))
    };
    grown().transpose()
}

/// Loads a heap for one answer and reports its warnings. The count of its types reported damage.
fn with_heap<T>(
    input: &Input,
    args: &GrowthArgs,
    session: &Session,
    status: &mut Status,
    answer: impl FnOnce(&Answers<'_>) -> T,
) -> anyhow::Result<T> {
    let held = load(session, "growth", input, None, &args.heap)?;
    *status = (*status).max(report_warnings(session, input, held.get()));
    Ok(answer(held.get()))
}

/// The values of all files.
struct Measured {
    unit: Unit,
    series: Vec<Series>,
    /// The factor for each profile, if they are scaled to the total of the last one.
    scale: Option<Vec<f64>>,
    /// The times of the histograms of one recording, in UTC.
    times: Option<Vec<String>>,
    status: Status,
}

fn measure_histograms(
    args: &GrowthArgs,
    path: &Path,
    session: &Session,
) -> anyhow::Result<Measured> {
    let input = session.open(path)?;
    let all = histograms(&input, session)?;
    if all.len() < 2 {
        if input.format != Format::Jfr {
            return Err(UsageError::new("growth needs at least two files").into());
        }
        let found = plural(all.len() as u64, "histogram", "histograms");
        return Err(UsageError::new(format!("{} has {found} of classes", show_path(path)))
            .hint("recordings have histograms if jdk.ObjectCount or jdk.ObjectCountAfterGC is enabled")
            .into());
    }
    input.refuse(Kind::Heap, &args.heap.given())?;
    let several = [("--normalize", args.normalize)].into_iter().chain(args.profile.given());
    if let Some((name, _)) = several.into_iter().find(|(_, given)| *given) {
        return Err(UsageError::new(format!("{name} needs several profiles")).into());
    }
    let filter = args.filter.filter();
    let series = growth_of(&all, &filter).finish();
    let status = input.report_if_damaged(None, &session.terminal);
    if series.is_empty() && !filter.is_empty() && status == Status::Done {
        return Err(no_such_type(&args.filter, Vec::new()).into());
    }
    let times = Some(all.into_iter().map(|histogram| histogram.time).collect());
    Ok(Measured { unit: Unit::Bytes, series, scale: None, times, status })
}

fn measure(args: &GrowthArgs, session: &Session) -> anyhow::Result<Measured> {
    if let [path] = &args.files[..] {
        return measure_histograms(args, path, session);
    }
    let filter = args.filter.filter();
    let (mut growth, mut status) = (Growth::default(), Status::Done);
    let mut unit: Option<Unit> = None;
    let mut wholes = Vec::new();
    // Files are loaded one after the other, so that only one is in memory.
    for (left, path) in (0..args.files.len()).rev().zip(&args.files) {
        let input = if left > 0 { session.open_old(path)? } else { session.open(path)? };
        growth.begin_snapshot();
        let (measured, ended) = match input.kind {
            Kind::Heap => add_heap(&mut growth, args, &input, &filter, session)?,
            Kind::Profile => {
                let (measured, ended, whole) =
                    add_profile(&mut growth, args, &input, &filter, session)?;
                wholes.push(whole);
                (measured, ended)
            }
        };
        status = status.max(ended);
        if unit.as_ref().is_some_and(|unit| unit.words() != measured.words()) {
            let path = show_path(path);
            let error = format!("{path} measures something other than the files before it");
            let hint = "growth compares heap dumps, or profiles with the same metric (--metric)";
            return Err(UsageError::new(error).hint(hint).into());
        }
        unit = Some(measured);
    }
    if let [first, .., last] = &args.files[..] {
        warn_if_minified(&session.open_old(first)?, &session.open(last)?, session);
    }
    let mut series = growth.finish();
    if series.is_empty()
        && !filter.is_empty()
        && status == Status::Done
        && unit == Some(Unit::Bytes)
    {
        return Err(no_such_type(&args.filter, Vec::new()).into());
    }
    let scale = args.normalize.then(|| {
        let last = wholes.last().copied().unwrap_or(0) as f64;
        wholes.iter().map(|whole| last / (*whole).max(1) as f64).collect::<Vec<_>>()
    });
    scale.iter().for_each(|factors| growth::scale(&mut series, factors));
    Ok(Measured { unit: unit.unwrap_or(Unit::Bytes), series, scale, times: None, status })
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Unit {
    /// Bytes, for heaps.
    Bytes,
    /// A metric, for profiles.
    Of(Metric),
}

impl Unit {
    /// The metric and its unit. Metrics are compared by name because their order differs between
    /// files.
    fn words(&self) -> (&str, &str) {
        (self.metric(), self.name())
    }

    fn metric(&self) -> &str {
        match self {
            Self::Bytes => "bytes",
            Self::Of(metric) => metric.name(),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Bytes => "bytes",
            Self::Of(metric) => unit_name(metric),
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Self::Bytes => "type",
            Self::Of(_) => "function",
        }
    }

    fn show(&self, value: u64, session: &Session) -> String {
        match self {
            Self::Bytes => size(value, session.common.bytes),
            Self::Of(metric) => Amount::new(metric, 0, session.common.bytes)
                .show(i64::try_from(value).unwrap_or(i64::MAX)),
        }
    }

    fn change(&self, value: i64, session: &Session) -> String {
        match self {
            Self::Bytes => size_change(value, session.common.bytes),
            Self::Of(metric) => Amount::new(metric, 0, session.common.bytes).change(value),
        }
    }
}

fn add_heap(
    growth: &mut Growth,
    args: &GrowthArgs,
    input: &Input,
    filter: &TypeFilter,
    session: &Session,
) -> anyhow::Result<(Unit, Status)> {
    input.refuse(Kind::Profile, &[("--normalize", args.normalize)])?;
    input.refuse(Kind::Profile, &args.profile.given())?;
    if args.heap.roots.is_some() {
        let error = UsageError::new("--roots cannot be used with growth");
        return Err(error.hint("growth counts all objects, live or not").into());
    }
    let counted = count_types(session, "growth", input, None, &args.heap)?;
    add_types(growth, &counted, filter);
    Ok((Unit::Bytes, input.report_if_damaged(counted.damage.as_ref(), &session.terminal)))
}

fn add_profile(
    growth: &mut Growth,
    args: &GrowthArgs,
    input: &Input,
    filter: &TypeFilter,
    session: &Session,
) -> anyhow::Result<(Unit, Status, i64)> {
    let mut loaded = load_profile(input, &args.profile, session)?;
    loaded.name_hidden_classes();
    let metric = loaded.metric(&args.profile)?;
    let selected = Selected::of(&loaded.profile, &loaded.selection);
    let whole = metric.whole(&selected.total);
    add_functions(growth, &selected, &metric, filter);
    Ok((Unit::Of(metric), loaded.report(session), whole))
}

/// The columns. The table includes namespaces or files if a name `repeats`.
fn columns<'a>(
    unit: &'a Unit,
    repeats: bool,
    files: &'a ShortFiles<'_>,
    session: &'a Session,
) -> Columns<'a, Series> {
    let namespace = if *unit == Unit::Bytes { "NAMESPACE" } else { "FILE" };
    let keys: &[_] = if repeats {
        &["slope", "first", "peak", "last", "values", "name", "namespace"]
    } else {
        &["slope", "first", "peak", "last", "values", "name"]
    };
    let at = move |value: Option<&u64>| unit.show(value.copied().unwrap_or(0), session);
    Columns::new(session)
        .text("name", &unit.noun().to_uppercase(), |row: &Series| &row.name)
        .text("namespace", namespace, |row| Value::non_empty(&row.namespace))
        .shown_as(move |row| match unit {
            Unit::Bytes => shown(&row.namespace),
            Unit::Of(_) => files.show(&row.namespace),
        })
        .text("values", "FIRST … LAST", |row| row.bytes.as_slice())
        .shown_as(|row| spark(&row.bytes))
        .drawn()
        .value("counts", |row| row.counts.as_slice())
        .number("slope", "SLOPE", |row| row.slope().round() as i64)
        .shown_as(move |row| unit.change(row.slope().round() as i64, session))
        .number("peak", "PEAK", Series::peak)
        .shown_as(move |row| unit.show(row.peak(), session))
        .value("steady", Series::is_steady)
        .cell("first", "FIRST", Align::Right, move |row| at(row.bytes.first()))
        .cell("last", "LAST", Align::Right, move |row| at(row.bytes.last()))
        .table(keys)
        .minor(&["first"])
}
