//! Rules about the types of a heap.

use super::measure::{Measure, outcome};
use super::report::{Damage, Outcome, Report};
use super::require_kind;
use super::rules::{Rule, RuleKind, Unit, parse};
use super::threads;
use crate::analysis::glob::{Glob, TypeFilter};
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::analysis::paths::shortest::Shortest;
use crate::analysis::together::Together;
use crate::cli::args::{CheckArgs, Snapshot};
use crate::cli::heap::Answers;
use crate::cli::heap::verdict::{Words, advice};
use crate::cli::heap::{Analysed, damage, load, matching_types, path, report_loaded};
use crate::cli::known::Rules;
use crate::cli::open::Input;
use crate::cli::session::Session;
use crate::cli::size::percent;
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::show_path;
use crate::input::Kind;
use crate::input::check::Finding;
use crate::model::heap::Heap;
use crate::model::sum::Sum;

/// The columns that rules about heaps can limit.
const COLUMNS: [(&str, Unit); 4] = [
    ("count", Unit::Count),
    ("shallow", Unit::Bytes),
    ("external", Unit::Bytes),
    ("retained", Unit::Bytes),
];

pub(super) fn run(args: &CheckArgs, input: &Input, session: &Session) -> anyhow::Result<Report> {
    let rules = rules(args)?;
    // --snapshot selects a snapshot of the newer file.
    let older = args.older().first().map(|path| {
        let older = session.open_old(path)?;
        require_kind(&older, Kind::Heap)?;
        measured(args, &rules, &older, None, session)
    });
    let older = older.transpose()?;
    let held = load(session, "check", input, args.heap.snapshot, &args.heap.roots)?;
    let loaded = held.get();
    let analysed = analysed(loaded, &rules, input)?;
    let old = |row: usize| older.as_ref().and_then(|older| older.measures.get(row));
    let measures: Vec<Measure> =
        rules.iter().map(|rule| measure(rule, &loaded.heap, analysed.as_ref())).collect();
    let mut outcomes: Vec<Outcome> = rules
        .iter()
        .zip(measures.iter().enumerate())
        .map(|(rule, (row, new))| outcome(rule, old(row), new, session))
        .collect();
    if let Some(analysed) = &analysed {
        explain(&rules, &measures, &mut outcomes, analysed, session);
    }
    if let (Some(share), Some(analysed)) = (args.rules.none_suspect, &analysed) {
        let rules = Rules::of(&args.known, session)?;
        let words =
            Words::new(loaded, analysed, loaded.verdict().suspects.first().into_iter(), session);
        outcomes.push(suspect(share, loaded, &words.knowing(&rules, input.format)));
    }
    let of_newer = damage(input, loaded).map(|error| Damage::of(input, error));
    let status = report_loaded(session, input, loaded);
    let (of_older, old_status) =
        older.map_or((None, Status::Done), |older| (older.damage, older.status));
    Ok(Report::of_rules(
        input,
        outcomes,
        of_newer.or(of_older),
        status.max(old_status),
        args,
        session,
    ))
}

/// The outcome of the rule about the largest owner that belongs to the program.
fn suspect(share: f64, loaded: &Answers<'_>, words: &Words<'_, '_, '_>) -> Outcome {
    let suspect = loaded.verdict().suspects.first();
    let limit = (loaded.tree().live_bytes() as f64 * share) as u64;
    let actual = suspect.map_or(0, |suspect| suspect.bytes);
    let message = match suspect {
        Some(suspect) => format!("{}, limit {}", words.headline(suspect), percent(share)),
        None => words.nothing(loaded.verdict().usual.first()),
    };
    let note = suspect.filter(|_| actual > limit).map(|suspect| {
        let known = words.rule(suspect).into_iter().flat_map(advice);
        let known = known.map(|line| line.trim_end_matches('.').to_owned());
        known.chain(words.details(suspect)).collect::<Vec<_>>().join("; ")
    });
    let rule = format!("--none-suspect {}", percent(share));
    let finding = Finding { rule, ok: actual <= limit, limit, actual, message };
    Outcome { finding, kind: "none_suspect", note, ..Outcome::default() }
}

/// The figures of a heap that growth is measured against, or of one of several runs.
pub(super) struct Older {
    pub(super) measures: Vec<Measure>,
    pub(super) status: Status,
    pub(super) damage: Option<Damage>,
}

/// The rules of heaps.
///
/// # Errors
/// The first rule that cannot be parsed.
pub(super) fn rules(args: &CheckArgs) -> Result<Vec<Rule>, UsageError> {
    parse(&args.rules, &COLUMNS, "TYPE")
}

/// Takes the figures of a heap.
///
/// # Errors
/// If the heap cannot be read, or lacks what a rule needs.
pub(super) fn measured(
    args: &CheckArgs,
    rules: &[Rule],
    input: &Input,
    snapshot: Option<Snapshot>,
    session: &Session,
) -> anyhow::Result<Older> {
    let held = load(session, "check", input, snapshot, &args.heap.roots)?;
    let loaded = held.get();
    let analysed = analysed(loaded, rules, input)?;
    let measures =
        rules.iter().map(|rule| measure(rule, &loaded.heap, analysed.as_ref())).collect();
    let damage = damage(input, loaded).map(|error| Damage::of(input, error));
    Ok(Older { measures, damage, status: report_loaded(session, input, loaded) })
}

/// Analyzes the graph of a heap. Returns `None` if the heap has no roots, so that live and dead
/// objects cannot be distinguished.
///
/// # Errors
/// A [`UsageError`] if a rule is about retained bytes, and an undamaged heap has no roots.
fn analysed<'l, 'a>(
    loaded: &'l Answers<'a>,
    rules: &[Rule],
    input: &Input,
) -> Result<Option<Analysed<'l, 'a>>, UsageError> {
    let heap = &loaded.heap;
    let of_retained = rules.iter().find(|rule| rule.column == "retained");
    if !heap.roots.is_empty() {
        return Ok(Some(match of_retained {
            Some(_) => loaded.analysed(),
            None => loaded.reached(),
        }));
    }
    match of_retained {
        Some(rule) if damage(input, loaded).is_none() => {
            let file = show_path(&input.path);
            let message = format!(
                "{file} has no roots, so there are no retained sizes to check for {:?}",
                rule.text
            );
            Err(UsageError::new(message))
        }
        _ => Ok(None),
    }
}

fn measure(rule: &Rule, heap: &Heap<'_>, analysed: Option<&Analysed<'_, '_>>) -> Measure {
    if let Some(wanted) = &rule.threads {
        return threads::of_heap(wanted, heap);
    }
    let types = match rule.subject.as_str() {
        "total" => vec![true; heap.types().len()],
        subject => matching_types(heap, &Glob::new(subject)),
    };
    let is_retained = rule.column == "retained";
    let together = match analysed {
        Some(analysed) if is_retained => {
            Together::of(heap, Some((analysed.graph, analysed.tree())), &types)
        }
        Some(analysed) => Together::counted(heap, |object| analysed.is_live(object), &types),
        None => Together::of(heap, None, &types),
    };
    let read = |sum: &Sum| match rule.column {
        "count" => sum.count,
        "shallow" => sum.shallow_bytes,
        _ => sum.external_bytes,
    };
    let value = match (rule.subject.as_str(), together.retained_bytes) {
        _ if !is_retained => Ok(read(&together.sum)),
        (_, None) => Err("no roots were read before the damage"),
        ("total", _) => Ok(together.sum.bytes()),
        (_, Some(bytes)) => Ok(bytes),
    };
    let part = |name, sum: &Sum, retained| (name, if is_retained { retained } else { read(sum) });
    let mut parts: Vec<_> = if rule.kind == RuleKind::MaxEach {
        let of = (rule.subject != "total").then(|| Glob::new(&rule.subject));
        let filter = TypeFilter { of, ..TypeFilter::default() };
        let tree = analysed.map(Analysed::tree);
        let rows = Histogram::of_types(heap, tree, GroupBy::Type, Scope::Live, &filter).rows;
        let each = rows.into_iter();
        each.map(|row| part(row.name, &row.sum, row.retained_bytes.unwrap_or(0))).collect()
    } else {
        let parts = together.parts.into_iter();
        parts.map(|of| part(of.name, &of.sum, of.retained_bytes)).collect()
    };
    parts.retain(|(_, value)| *value > 0);
    parts.sort_unstable_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    Measure { value, matching: types.iter().filter(|matches| **matches).count(), parts }
}

/// Explains for types that break a rule what holds the largest of their objects.
fn explain(
    rules: &[Rule],
    measures: &[Measure],
    outcomes: &mut [Outcome],
    analysed: &Analysed<'_, '_>,
    session: &Session,
) {
    let broken = |rule: &Rule, outcome: &Outcome| {
        !outcome.finding.ok && rule.subject != "total" && rule.threads.is_none()
    };
    if !rules.iter().zip(outcomes.iter()).any(|(rule, outcome)| broken(rule, outcome)) {
        return;
    }
    let heap = analysed.heap;
    let shortest = Shortest::of(heap, analysed.graph);
    for ((rule, measure), outcome) in rules
        .iter()
        .zip(measures)
        .zip(outcomes)
        .filter(|((rule, _), outcome)| broken(rule, outcome))
    {
        let mut types = matching_types(heap, &Glob::new(&rule.subject));
        if let (RuleKind::MaxEach, Some((name, _))) = (rule.kind, measure.parts.first()) {
            let names = heap.types().iter().map(|of| heap.names().text(of.name) == name);
            types.iter_mut().zip(names).for_each(|(wanted, is_named)| *wanted &= is_named);
        }
        let objects = heap
            .objects()
            .filter(|object| types[heap.type_id(*object).0 as usize] && analysed.is_live(*object));
        let largest =
            objects.max_by_key(|object| (analysed.retained(*object), std::cmp::Reverse(*object)));
        let path = largest.and_then(|object| Some((object, shortest.path(object)?)));
        outcome.note = path.map(|(object, path)| {
            let retained = session.size(analysed.retained(object));
            format!(
                "largest: {}, {retained}, held by {}",
                heap.id(object),
                path::one_line(analysed, &path)
            )
        });
    }
}
