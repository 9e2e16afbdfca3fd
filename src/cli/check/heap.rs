//! Rules about the types of a heap.

use super::report::{Damage, Outcome, print_outcomes};
use super::rules::{Limit, Rule, RuleKind, Unit, growth, parse};
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::analysis::paths::shortest::Shortest;
use crate::cli::args::CheckArgs;
use crate::cli::glob::Glob;
use crate::cli::heap::{Analysed, damage, load, matching_types, path, report_loaded};
use crate::cli::open::Input;
use crate::cli::session::Session;
use crate::cli::size::count;
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::show_path;
use crate::error::Error;
use crate::input::Kind;
use crate::input::check::Finding;
use crate::model::heap::Heap;
use crate::model::sum::Sum;

/// What rules may be about.
const COLUMNS: [(&str, Unit); 4] =
    [("count", Unit::Count), ("shallow", Unit::Bytes), ("external", Unit::Bytes), ("retained", Unit::Bytes)];

pub(super) fn run(args: &CheckArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    let rules = parse(&args.rules, &COLUMNS, "TYPE")?;
    let roots = &args.heap.roots;
    let older_input = match &args.rules.against {
        Some(path) => {
            let older = session.open(path)?;
            if older.kind != Kind::Heap {
                return Err(UsageError::new(format!("{} is a profile, not an older heap", show_path(path))).into());
            }
            Some(older)
        }
        None => None,
    };
    let older = match &older_input {
        Some(older) => {
            // --snapshot is one of the newer file.
            let loaded = load(session, "check", older, None, roots)?;
            let status = report_loaded(session, older, &loaded);
            refuse_without_roots(&loaded.heap, &rules, older)?;
            let histogram = histogram(&loaded.heap, analysed(&loaded.heap).as_ref());
            Some(Older { input: older, histogram, status, damage: loaded.damage })
        }
        None => None,
    };
    let loaded = load(session, "check", input, args.heap.snapshot, roots)?;
    refuse_without_roots(&loaded.heap, &rules, input)?;
    let analysed = analysed(&loaded.heap);
    let newer = histogram(&loaded.heap, analysed.as_ref());
    let old = older.as_ref().map(|older| &older.histogram);
    let mut outcomes: Vec<Outcome> = rules.iter().map(|rule| outcome(rule, old, &newer, session)).collect();
    if let Some(analysed) = &analysed {
        explain(&rules, &mut outcomes, analysed, session);
    }
    let damage = damage(input, &loaded).map(|error| Damage { input, error });
    let damage = damage.or_else(|| older.as_ref()?.damage());
    let broken = print_outcomes(&outcomes, input, damage, session)?;
    let status = report_loaded(session, input, &loaded).max(older.map_or(Status::Done, |older| older.status));
    Ok(status.max(broken))
}

/// What is kept of the heap that a growth is measured against.
struct Older<'i> {
    input: &'i Input,
    histogram: Histogram,
    status: Status,
    damage: Option<Error>,
}

impl Older<'_> {
    fn damage(&self) -> Option<Damage<'_>> {
        let error = self.input.source.damage().or(self.damage.as_ref())?;
        Some(Damage { input: self.input, error })
    }
}

/// What the graph says of a heap. None if it has no roots: then nothing can be called alive or dead.
fn analysed<'h, 'a>(heap: &'h Heap<'a>) -> Option<Analysed<'h, 'a>> {
    (!heap.roots.is_empty()).then(|| Analysed::of(heap))
}

/// Counts live objects by type.
fn histogram(heap: &Heap<'_>, analysed: Option<&Analysed<'_, '_>>) -> Histogram {
    Histogram::of(heap, analysed.map(|analysed| &analysed.tree), GroupBy::Type, Scope::Live)
}

/// # Errors
/// When a rule is about retained bytes, and there are no roots.
fn refuse_without_roots(heap: &Heap<'_>, rules: &[Rule], input: &Input) -> Result<(), UsageError> {
    match rules.iter().find(|rule| rule.column == "retained") {
        Some(rule) if heap.roots.is_empty() => {
            let file = show_path(&input.path);
            Err(UsageError::new(format!("{file} has no roots, so there are no retained sizes to check for {:?}", rule.text)))
        }
        _ => Ok(()),
    }
}

/// The number that a rule is about, and how many types there are that it is about.
fn measure(rule: &Rule, histogram: &Histogram) -> (u64, usize) {
    let of = |sum: &Sum, retained: u64| match rule.column {
        "count" => sum.count,
        "shallow" => sum.shallow_bytes,
        "external" => sum.external_bytes,
        _ => retained,
    };
    if rule.subject == "total" {
        return (of(&histogram.total, histogram.total.bytes()), 1);
    }
    let glob = Glob::new(&rule.subject);
    let rows = histogram.rows.iter().filter(|row| glob.matches_type(&row.name, &row.namespace));
    let each = rows.map(|row| of(&row.sum, row.retained_bytes.unwrap_or(0)));
    each.fold((0, 0), |(sum, types), value| (sum.saturating_add(value), types + 1))
}

fn outcome(rule: &Rule, old: Option<&Histogram>, new: &Histogram, session: &Session) -> Outcome {
    let (actual, types) = measure(rule, new);
    let show = |value: u64| if rule.column == "count" { count(value) } else { session.size(value) };
    let (limit, mut message) = match (rule.kind, rule.limit, old) {
        (RuleKind::MaxGrowth, limit, Some(old)) => {
            let (before, _) = measure(rule, old);
            let (limit, growth) = growth(limit, before, actual, show);
            (limit, format!("{}.{} {growth}", rule.subject, rule.column))
        }
        (RuleKind::None, ..) => (0, format!("{}: {} live objects, expected none", rule.subject, count(actual))),
        (_, Limit::Number(limit) | Limit::Time(limit), _) => {
            (limit, format!("{}.{} = {}, limit {}", rule.subject, rule.column, show(actual), show(limit)))
        }
        // The grammar gives shares to growth alone, which needs an older heap.
        (_, Limit::Share(_), _) => (0, "a share of nothing".to_owned()),
    };
    if types > 1 {
        message.push_str(&format!(" (sum of {types} types)"));
    }
    if types == 0 {
        message.push_str(" (no type matches)");
    }
    let finding = Finding { rule: rule.text.clone(), ok: actual <= limit, limit, actual, message };
    let is_void = types == 0 && rule.kind != RuleKind::None && old.is_none_or(|old| measure(rule, old).1 == 0);
    Outcome { finding, note: None, is_void }
}

/// Says of types that break a rule what holds the largest of their objects.
fn explain(rules: &[Rule], outcomes: &mut [Outcome], analysed: &Analysed<'_, '_>, session: &Session) {
    let broken = |rule: &Rule, outcome: &Outcome| !outcome.finding.ok && rule.subject != "total";
    if !rules.iter().zip(outcomes.iter()).any(|(rule, outcome)| broken(rule, outcome)) {
        return;
    }
    let heap = analysed.heap;
    let shortest = Shortest::of(heap, &analysed.graph);
    for (rule, outcome) in rules.iter().zip(outcomes) {
        if !broken(rule, outcome) {
            continue;
        }
        let types = matching_types(heap, &Glob::new(&rule.subject));
        let objects = heap.objects().filter(|object| types[heap.type_of[object.index()].0 as usize] && analysed.is_live(*object));
        let largest = objects.max_by_key(|object| (analysed.retained(*object), std::cmp::Reverse(*object)));
        let path = largest.and_then(|object| Some((object, shortest.path(object)?)));
        outcome.note = path.map(|(object, path)| {
            let retained = session.size(analysed.retained(object));
            format!("largest: {}, {retained}, held by {}", heap.id(object), path::one_line(analysed, &path))
        });
    }
}
