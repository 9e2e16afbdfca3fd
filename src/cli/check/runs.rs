//! Rules about repeated runs: medians, and the noise within which runs differ by themselves.

use super::heap::{self, Older};
use super::measure::Measure;
use super::profile::{self, Number};
use super::report::{Damage, Outcome, Report, Runs};
use super::rules::{Limit, Rule, RuleKind, growth};
use super::{require_kind, require_options};
use crate::cli::args::CheckArgs;
use crate::cli::open::Input;
use crate::cli::profile::{Kept, load_parts};
use crate::cli::session::Session;
use crate::cli::size::{count, percent, plural};
use crate::cli::status::{Status, UsageError};
use crate::input::Kind;
use crate::input::check::Finding;

/// Checks the runs of a program against older ones, one file in memory at a time. Fails if a file
/// cannot be read: medians over fewer runs than were asked for would mislead.
pub(super) fn check(args: &CheckArgs, session: &Session) -> anyhow::Result<Report> {
    let single = [
        ("--max-each", !args.rules.max_each.is_empty()),
        ("--none-suspect", args.rules.none_suspect.is_some()),
    ];
    if let Some((name, _)) = single.into_iter().find(|(_, given)| *given) {
        let error = UsageError::new(format!("{name} is not compared over repeated runs"));
        return Err(error.hint("check the files in a command of their own").into());
    }
    let first = session.open(args.files().first().ok_or_else(|| UsageError::new("no file"))?)?;
    require_options(args, &first)?;
    let rules = match first.kind {
        Kind::Heap => heap::rules(args)?,
        Kind::Profile => profile::rules(args)?,
    };
    let mut runs = [Vec::new(), Vec::new()];
    let (mut status, mut damage) = (Status::Done, None);
    for (side, paths) in [args.files(), args.older()].into_iter().enumerate() {
        for path in paths {
            let is_old = side == 1;
            let input = if is_old { session.open_old(path)? } else { session.open(path)? };
            let run = run(&rules, &input, (first.kind, is_old), args, session)?;
            status = status.max(run.status);
            damage = damage.or(run.damage);
            runs[side].push(run.numbers);
        }
    }
    let outcomes = rules.iter().enumerate().map(|(row, rule)| {
        let [new, old] = runs
            .each_ref()
            .map(|side| side.iter().filter_map(|numbers| numbers.get(row)).collect::<Vec<_>>());
        outcome(rule, &new, &old, args, session)
    });
    Ok(Report::of_rules(&first, outcomes.collect(), damage, status, args, session))
}

struct Run {
    numbers: Vec<Number>,
    status: Status,
    damage: Option<Damage>,
}

fn run(
    rules: &[Rule],
    input: &Input,
    (kind, is_old): (Kind, bool),
    args: &CheckArgs,
    session: &Session,
) -> anyhow::Result<Run> {
    require_kind(input, kind)?;
    if kind == Kind::Profile {
        let loaded = load_parts(input, &args.profile, session, Kept::default())?;
        let numbers = profile::numbers(rules, &loaded, args, session)?;
        let damage = loaded.damage().map(|error| Damage::of(input, error));
        return Ok(Run { numbers, damage, status: loaded.report(session) });
    }
    let snapshot = args.heap.snapshot.filter(|_| !is_old);
    let Older { measures, status, damage } = heap::measured(args, rules, input, snapshot, session)?;
    let number = |(rule, measure): (&Rule, Measure)| {
        let value = measure.value.map_err(UsageError::new)?;
        let (limit, matching) = (rule.limit, measure.matching);
        anyhow::Ok(Number { value, whole: value, matching, limit, amount: None })
    };
    let numbers = rules.iter().zip(measures).map(number).collect::<anyhow::Result<_>>()?;
    Ok(Run { numbers, status, damage })
}

fn outcome(
    rule: &Rule,
    new: &[&Number],
    old: &[&Number],
    args: &CheckArgs,
    session: &Session,
) -> Outcome {
    let show = |value| shown(rule, new, value, session);
    let runs = numbers(rule, new, old, args);
    let whole = median(new.iter().map(|number| number.whole).collect());
    let actual = median(runs.new.clone());
    let (limit, text) = match (rule.kind, new.first().map_or(rule.limit, |number| number.limit)) {
        (RuleKind::None, _) => (0, format!("= {}, expected none", show(actual))),
        (RuleKind::MaxGrowth, limit) => growth(limit, median(runs.old.clone()), actual, show),
        (_, Limit::Share(share)) => {
            let actual_share = percent(actual as f64 / whole.max(1) as f64);
            let text = format!("= {actual_share} ({}), limit {}", show(actual), percent(share));
            ((whole as f64 * share) as u64, text)
        }
        (_, Limit::Number(limit) | Limit::Time(limit)) => {
            (limit, format!("= {}, limit {}", show(actual), show(limit)))
        }
    };
    // `--none` fails if any run has the type.
    let most = if rule.kind == RuleKind::None { runs.new.iter().max() } else { None };
    let ok = most.copied().unwrap_or(actual) <= limit.saturating_add(runs.noise);
    let side = |numbers: &[u64]| match (numbers.iter().min(), numbers.iter().max()) {
        (Some(least), Some(most)) if least != most => format!("{}–{}", show(*least), show(*most)),
        (least, _) => least.map(|least| show(*least)).unwrap_or_default(),
    };
    let older = match runs.old.len() {
        0 => String::new(),
        many => format!("older {}: {}; ", plural(many as u64, "run", "runs"), side(&runs.old)),
    };
    let newer = format!("{}: {}", plural(new.len() as u64, "run", "runs"), side(&runs.new));
    let noise = show(runs.noise);
    let message = format!("{} {text}, noise {noise} ({older}{newer})", rule.what());
    let is_void =
        rule.kind != RuleKind::None && new.iter().chain(old).all(|number| number.matching == 0);
    let outcome = Outcome::new(rule, limit, actual, message);
    let finding = Finding { ok, ..outcome.finding };
    Outcome { finding, runs: Some(runs), is_void, ..outcome }
}

/// A number of a rule as people see it.
fn shown(rule: &Rule, new: &[&Number], value: u64, session: &Session) -> String {
    match new.first().and_then(|number| number.amount.as_ref()) {
        Some(amount) => amount.show(i64::try_from(value).unwrap_or(i64::MAX)),
        None if rule.threads.is_some() || rule.column == "count" => count(value),
        None => session.size(value),
    }
}

/// The numbers of the runs, and their noise. Shares are those of the median total, so that they can
/// be compared between runs of different lengths.
fn numbers(rule: &Rule, new: &[&Number], old: &[&Number], args: &CheckArgs) -> Runs {
    let is_growth = rule.kind == RuleKind::MaxGrowth;
    let is_share = if is_growth {
        args.rules.normalize || rule.column == "share"
    } else {
        matches!(rule.limit, Limit::Share(_))
    };
    let whole = median(new.iter().map(|number| number.whole).collect()) as f64;
    let value = |number: &&Number| {
        if is_share {
            (number.value as f64 * whole / number.whole.max(1) as f64).round() as u64
        } else {
            number.value
        }
    };
    let new: Vec<u64> = new.iter().map(value).collect();
    let old: Vec<u64> = old.iter().filter(|_| is_growth).map(value).collect();
    let noise = match rule.kind {
        RuleKind::None => 0,
        _ => range(&new).saturating_add(range(&old)).div_ceil(2),
    };
    Runs { new, old, noise }
}

/// The number in the middle, or the mean of the two there.
fn median(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    let (middle, is_even) = (numbers.len() / 2, numbers.len().is_multiple_of(2));
    let at = |row: usize| numbers.get(row).copied().unwrap_or(0);
    if is_even { at(middle.saturating_sub(1)).midpoint(at(middle)) } else { at(middle) }
}

/// The difference between the largest and the smallest number.
fn range(numbers: &[u64]) -> u64 {
    let least = numbers.iter().min().copied().unwrap_or(0);
    numbers.iter().max().map_or(0, |most| most - least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(vec![9, 1, 5]), 5);
        assert_eq!(median(vec![9, 1, 5, 6]), 5);
        assert_eq!(median(vec![7]), 7);
        assert_eq!(range(&[3, 9, 4]), 6);
        assert_eq!(range(&[]), 0);
    }
}
