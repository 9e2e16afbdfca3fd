//! `growth`: growth over several files.

use super::args::{GrowthArgs, GrowthSort, name_of};
use super::heap::histogram::{add_types, count_types};
use super::open::Input;
use super::print::{Align, Columns, Document, Shown, Value, print, spark};
use super::profile::{Amount, load_profile_in_parts, unit_name};
use super::session::Session;
use super::size::{count, plural, signed_size, size};
use super::status::{Status, UsageError};
use super::terminal::show_path;
use crate::analysis::glob::TypeFilter;
use crate::analysis::growth::{Growth, Series};
use crate::analysis::profile::{FrameBy, Selected, TopBy, TopSums};
use crate::input::Kind;
use crate::model::profile::Metric;

/// Rows that are shown when nothing else is requested.
const ROWS: usize = 20;

pub(super) fn run(args: &GrowthArgs, session: &Session) -> anyhow::Result<Status> {
    let filter = args.filter.filter();
    let (mut growth, mut status) = (Growth::default(), Status::Done);
    let mut unit: Option<Unit> = None;
    // One file after the other, so that only one is in memory.
    for path in &args.files {
        let input = session.open(path)?;
        growth.begin_snapshot();
        let (of, ended) = match input.kind {
            Kind::Heap => add_heap(&mut growth, args, &input, &filter, session)?,
            Kind::Profile => add_profile(&mut growth, args, &input, &filter, session)?,
        };
        status = status.max(ended);
        if unit.as_ref().is_some_and(|unit| *unit != of) {
            let error = UsageError::new(format!(
                "{} measures something other than the files before it",
                show_path(path)
            ));
            return Err(error
                .hint("growth compares heap dumps, or profiles with the same metric (--metric)")
                .into());
        }
        unit = Some(of);
    }
    let unit = unit.unwrap_or(Unit::Bytes);
    let mut series: Vec<Series> = growth.finish();
    series.retain(|series| !args.steady || series.is_steady());
    // Equal rows keep the order of growth from the first file to the last.
    match args.sort {
        GrowthSort::Slope => series.sort_by(|a, b| b.slope().total_cmp(&a.slope())),
        GrowthSort::Last => {
            series.sort_by_key(|series| std::cmp::Reverse(series.bytes.last().copied()))
        }
        GrowthSort::Peak => series.sort_by_key(|series| std::cmp::Reverse(series.peak())),
    }
    let shown = session.shown(&series, args.limit, ROWS).0;
    let document = || {
        let files: Vec<Value> =
            args.files.iter().map(|path| path.display().to_string().into()).collect();
        Document::new("dumptool/growth/1", &args.files[0])
            .with("files", files)
            .with("metric", unit.metric())
            .with("unit", unit.name())
            .with("sort", name_of(args.sort))
            .rows("rows")
            .with("omitted", Value::from([("rows", (series.len() - shown.len()).into())]))
    };
    let footer = || {
        let rows = plural(series.len() as u64, unit.noun(), &format!("{}s", unit.noun()));
        let all = if shown.len() == series.len() {
            rows
        } else {
            format!("showing {} of {rows}", count(shown.len() as u64))
        };
        format!("{all} in {}\n", plural(args.files.len() as u64, "file", "files"))
    };
    print(session, document, shown, &columns(&unit, session), &Shown::Table(&footer))?;
    Ok(status)
}

/// The unit of all values.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unit {
    /// Of heaps.
    Bytes,
    /// Of profiles.
    Of(Metric),
}

impl Unit {
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
            Self::Bytes => format!(
                "{}{}",
                if value > 0 { "+" } else { "" },
                signed_size(value, session.common.bytes)
            ),
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
    input.refuse(Kind::Profile, &args.profile.given())?;
    let counted = count_types(session, input, None, &args.heap)?;
    add_types(growth, &counted, filter);
    Ok((Unit::Bytes, input.report_if_damaged(counted.damage.as_ref(), &session.terminal)))
}

fn add_profile(
    growth: &mut Growth,
    args: &GrowthArgs,
    input: &Input,
    filter: &TypeFilter,
    session: &Session,
) -> anyhow::Result<(Unit, Status)> {
    let mut sums = TopSums::new(TopBy::Frames(FrameBy::Function));
    let loaded = load_profile_in_parts(input, &args.profile, session, |part| sums.add(part))?;
    let metric = loaded.metric(&args.profile)?;
    sums.add(&Selected::of(&loaded.profile, &loaded.selection));
    for row in sums
        .finish()
        .rows
        .iter()
        .filter(|row| filter.selects(&row.label.name, &row.label.namespace))
    {
        // A sum of changes may be negative, which counts as nothing.
        let own = u64::try_from(row.sums.own.get(&metric)).unwrap_or(0);
        growth.add(&row.label.name, &row.label.namespace, row.sums.own.samples(), own);
    }
    Ok((Unit::Of(metric), loaded.report(session)))
}

fn columns<'a>(unit: &'a Unit, session: &'a Session) -> Columns<'a, Series> {
    let at = move |value: Option<&u64>| unit.show(value.copied().unwrap_or(0), session);
    Columns::new(session)
        .text("name", &unit.noun().to_uppercase(), |row: &Series| &row.name)
        .text("namespace", "NAMESPACE", |row| Value::non_empty(&row.namespace))
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
        .table(&["slope", "first", "peak", "last", "values", "name"])
        .minor(&["first"])
}
