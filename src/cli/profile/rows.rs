//! Costs, stacks and the verdict, in the same words for several commands.

use super::{Amount, ShortFiles};
use crate::analysis::glob::TypeFilter;
use crate::analysis::growth::Growth;
use crate::analysis::profile::{
    FrameBy, Groups, Place, Selected, TopBy, TopRow, Words, hottest, top,
};
use crate::cli::print::{Columns, Value};
use crate::cli::session::Session;
use crate::cli::terminal::shown;
use crate::model::profile::{FrameId, Metric, Profile, Values};

/// The sum of a metric over all selected samples, in JSON.
pub(crate) fn total_json(values: &Values, metric: &Metric) -> Value<'static> {
    Value::from([("value", values.get(metric).into()), ("samples", values.samples().into())])
}

/// The columns of functions, files, lines, threads and processes that all commands have.
pub(crate) fn cost_columns<'a>(
    session: &'a Session,
    profile: &'a Profile,
    metric: &'a Metric,
) -> Columns<'a, TopRow> {
    Columns::new(session)
        .value("name", |row: &TopRow| &*row.label.name)
        .value("namespace", |row| Value::non_empty(&row.label.namespace))
        .value("line", |row| row.label.line)
        .value("self", move |row| row.sums.own.get(metric))
        .value("total", move |row| row.sums.total.get(metric))
        .value("samples_self", |row| row.sums.own.samples())
        .value("samples_total", |row| row.sums.total.samples())
        .value_if(!profile.generated.is_empty(), "generated_name", |row| {
            profile.generated_name(&row.label.name, &row.label.namespace)
        })
}

/// Adds the own values of functions to the last snapshot of `growth`.
pub(crate) fn add_functions(
    growth: &mut Growth,
    selected: &Selected<'_>,
    metric: &Metric,
    filter: &TypeFilter,
) {
    let rows = top(selected, TopBy::Frames(FrameBy::Function)).rows;
    for TopRow { label, sums } in &rows {
        if filter.selects(&label.name, &label.namespace) {
            // A sum of changes may be negative; such sums count as 0.
            let own = u64::try_from(sums.own.get(metric)).unwrap_or(0);
            growth.add(&label.name, &label.namespace, sums.own.samples(), own);
        }
    }
}

/// Callers that are shown before the function.
const CALLERS: usize = 4;

/// `P1;T0:1: … 12 more → main → run → slow (app.py:17)`: the function of a place and those that
/// called it.
pub(crate) fn stack_text(profile: &Profile, place: &Place, whole: bool) -> String {
    let mut frames: Vec<FrameId> = profile.stacks.frames(place.until).take(CALLERS + 1).collect();
    frames.reverse();
    let more = place.depth as usize - frames.len();
    let names: Vec<String> =
        frames.iter().map(|frame| shown(profile.function_name(*frame))).collect();
    let before = if more > 0 { format!("… {more} more → ") } else { String::new() };
    let position = frames
        .last()
        .map(|frame| profile.frame(*frame))
        .filter(|frame| !profile.names.text(frame.file).is_empty());
    let position = position.map(|frame| {
        let file = profile.names.text(frame.file);
        let file = if whole { file } else { file.rsplit('/').next().unwrap_or(file) };
        format!(" ({}:{})", shown(file), frame.line)
    });
    let thread = profile.thread(place.thread).label(&profile.names);
    let thread = if thread.is_empty() { String::new() } else { format!("{}: ", shown(&thread)) };
    format!("{thread}{before}{}{}", names.join(" → "), position.unwrap_or_default())
}

/// The hottest function with the caller that matters. `None` if no function has a cost of its own.
pub(crate) fn hottest_function(
    selected: &Selected<'_>,
    metric: &Metric,
    session: &Session,
) -> Option<String> {
    let groups = Groups::of(selected.profile, FrameBy::Function);
    let hottest = hottest(selected, &groups, metric)?;
    let amount = Amount::new(metric, metric.whole(&selected.total), session.common.bytes);
    let files = ShortFiles::of_profile(selected.profile, session.common.verbose);
    Some(hottest.sentence(&Words {
        name: &|label| files.name(&label.name, &label.namespace, None),
        amount: &|value| amount.show(value),
    }))
}
