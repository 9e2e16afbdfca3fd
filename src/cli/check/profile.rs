//! Rules about the functions of a profile.

use super::report::{Damage, Outcome, Report};
use super::rules::{Limit, Rule, RuleKind, Unit, growth, parse};
use crate::analysis::profile::{FrameBy, Groups, Place, Selected, Sums, places, share_base};
use crate::cli::args::{CheckArgs, ProfileOptions};
use crate::cli::open::Input;
use crate::cli::profile::{
    Amount, Pattern, ProfileInput, load_profile, refuse_tag, stack_text, unit_name,
};
use crate::cli::session::Session;
use crate::cli::size::{count, percent};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::show_path;
use crate::input::Kind;
use crate::input::check::Finding;
use crate::model::profile::{Metric, Values};

/// The subjects of rules.
const COLUMNS: [(&str, Unit); 3] =
    [("samples", Unit::Count), ("self", Unit::Any), ("total", Unit::Any)];

pub(super) fn run(args: &CheckArgs, input: &Input, session: &Session) -> anyhow::Result<Report> {
    refuse_tag(&args.profile, "check")?;
    let rules = parse(&args.rules, &COLUMNS, "FUNCTION")?;
    let older_input = match &args.rules.against {
        Some(path) => {
            let older = session.open(path)?;
            if older.kind != Kind::Profile {
                return Err(UsageError::new(format!(
                    "{} is a heap, not an older profile",
                    show_path(path)
                ))
                .into());
            }
            Some(older)
        }
        None => None,
    };
    let older = older_input
        .as_ref()
        .map(|older| load_profile(older, &args.profile, session))
        .transpose()?;
    let newer = load_profile(input, &args.profile, session)?;
    let old = older.as_ref().map(Measured::of);
    let new = Measured::of(&newer);
    let outcomes: Result<Vec<_>, UsageError> = rules
        .iter()
        .map(|rule| outcome(rule, old.as_ref(), &new, &args.profile, session))
        .collect();
    let of_older = || Some(Damage::of(older_input.as_ref()?, older.as_ref()?.damage()?));
    let damage = newer.damage().map(|error| Damage::of(input, error)).or_else(of_older);
    let status = newer
        .report(session)
        .max(older.as_ref().map_or(Status::Done, |older| older.report(session)));
    Ok(Report::of_rules(input, outcomes?, damage, status, args, session))
}

/// A profile with the sums of its stacks.
struct Measured<'a> {
    loaded: &'a ProfileInput<'a>,
    selected: Selected<'a>,
    groups: Groups,
    under: Vec<Values>,
}

impl<'a> Measured<'a> {
    fn of(loaded: &'a ProfileInput<'a>) -> Self {
        let selected = Selected::of(&loaded.profile, &loaded.selection);
        let under = selected.under();
        Self { loaded, groups: Groups::of(&loaded.profile, FrameBy::Function), under, selected }
    }

    /// Returns the functions that match a rule, and their sums.
    fn cost(&self, rule: &Rule) -> (Vec<bool>, Sums) {
        if rule.subject == "total" {
            let all = vec![true; self.groups.labels().len()];
            return (
                all,
                Sums { own: self.selected.total.clone(), total: self.selected.total.clone() },
            );
        }
        let pattern = Pattern::new(&rule.subject);
        let wanted: Vec<bool> =
            self.groups.labels().iter().map(|label| pattern.matches(label)).collect();
        let sums = self.selected.together(&self.groups, &wanted, &self.under);
        (wanted, sums)
    }

    /// Where the functions cost most.
    fn heaviest(&self, wanted: &[bool], metric: &Metric) -> Option<Place> {
        let places = places(&self.selected, &self.groups, metric).into_iter().zip(wanted);
        let places = places.filter(|(_, wanted)| **wanted).filter_map(|(place, _)| place);
        places.max_by_key(|place| {
            (
                self.under[place.until.index()].get(metric).unsigned_abs(),
                std::cmp::Reverse(place.until),
            )
        })
    }
}

fn outcome(
    rule: &Rule,
    old: Option<&Measured<'_>>,
    new: &Measured<'_>,
    options: &ProfileOptions,
    session: &Session,
) -> Result<Outcome, UsageError> {
    let metric = &metric(rule, new.loaded, options)?;
    let amount = Amount::new(metric, share_base(&new.selected.total, metric), session.common.bytes);
    let show = |value: u64| amount.show(i64::try_from(value).unwrap_or(i64::MAX));
    let read = |sums: &Sums| {
        let values = if rule.column == "self" { &sums.own } else { &sums.total };
        // A function that freed more than it took breaks no limit.
        u64::try_from(values.get(metric)).unwrap_or(0)
    };
    let (wanted, sums) = new.cost(rule);
    let actual = read(&sums);
    let functions = wanted.iter().filter(|wanted| **wanted).count();
    let name = format!("{}.{}", rule.subject, rule.column);
    let (limit, mut message) = match (rule.kind, rule.limit, old) {
        (RuleKind::None, ..) => {
            (0, format!("{}: {} samples, expected none", rule.subject, count(actual)))
        }
        (RuleKind::MaxGrowth, limit, Some(old)) => {
            old.loaded.require(metric)?;
            let before = read(&old.cost(rule).1);
            let (limit, growth) = growth(limit, before, actual, show);
            (limit, format!("{name} {growth}"))
        }
        (_, Limit::Share(share), _) => {
            let base = share_base(&new.selected.total, metric).unsigned_abs();
            let actual_share = if base == 0 { 0.0 } else { actual as f64 / base as f64 };
            let message = format!(
                "{name} = {} ({}), limit {}",
                percent(actual_share),
                show(actual),
                percent(share)
            );
            ((base as f64 * share) as u64, message)
        }
        (_, Limit::Number(limit) | Limit::Time(limit), _) => {
            (limit, format!("{name} = {}, limit {}", show(actual), show(limit)))
        }
    };
    match functions {
        0 => message.push_str(" (no function matches)"),
        1 => {}
        _ if rule.subject == "total" => {}
        more => message.push_str(&format!(" (sum of {more} functions)")),
    }
    let ok = actual <= limit;
    let place = (!ok && rule.subject != "total").then(|| new.heaviest(&wanted, metric)).flatten();
    let note = place.map(|place| {
        format!("mostly in {}", stack_text(&new.loaded.profile, &place, session.common.verbose))
    });
    let finding = Finding { rule: rule.text.clone(), ok, limit, actual, message };
    let is_void = functions == 0
        && rule.kind != RuleKind::None
        && old.is_none_or(|old| !old.cost(rule).0.contains(&true));
    Ok(Outcome { finding, kind: rule.kind.name(), note, is_void })
}

/// The metric of a rule: from its unit, or `--metric`, or the profile.
fn metric(
    rule: &Rule,
    loaded: &ProfileInput<'_>,
    options: &ProfileOptions,
) -> Result<Metric, UsageError> {
    if rule.column == "samples" {
        return Ok(Metric::SAMPLES);
    }
    let usual = loaded.metric(options)?;
    let plain = rule.text.ends_with(|c: char| c.is_ascii_digit());
    let metric = match rule.limit {
        Limit::Share(_) => usual.clone(),
        Limit::Time(_) if usual.unit().nanoseconds().is_some() => usual.clone(),
        Limit::Time(_) => Metric::TIME,
        Limit::Number(_) if usual.unit().bytes().is_some() => usual.clone(),
        Limit::Number(_) if plain && !loaded.profile.value_types.is_empty() => usual.clone(),
        Limit::Number(_) if plain => Metric::SAMPLES,
        Limit::Number(_) => Metric::MEMORY,
    };
    if options.metric.is_some() && metric != usual {
        let (limited, counted) = (unit_name(&metric), unit_name(&usual));
        return Err(UsageError::new(format!(
            "the rule {:?} limits {limited}, but --metric counts {counted}",
            rule.text
        )));
    }
    loaded.require(&metric)?;
    Ok(metric)
}
