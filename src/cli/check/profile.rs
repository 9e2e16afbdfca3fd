//! Rules about the functions of a profile.

use super::measure::{self, Measure};
use super::report::{Damage, Outcome, Position, Report};
use super::require_kind;
use super::rules::{Limit, METRIC, Rule, RuleKind, Unit, growth, parse};
use super::threads;
use crate::analysis::profile::{
    FrameBy, GroupLabel, Groups, Place, Selected, Sums, TopBy, TopRow, places, top,
};
use crate::cli::args::{CheckArgs, ProfileOptions};
use crate::cli::open::Input;
use crate::cli::profile::{
    Amount, Kept, ProfileInput, ShortFiles, load_parts, named, pattern, refuse_tag, stack_text,
    unit_name,
};
use crate::cli::session::Session;
use crate::cli::size::{count, percent};
use crate::cli::status::{Status, UsageError};
use crate::input::Kind;
use crate::model::profile::{FrameKind, Metric, Profile, Values};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// The columns that rules about profiles can limit.
const COLUMNS: [(&str, Unit); 5] = [
    ("samples", Unit::Count),
    ("self", Unit::Any),
    ("total", Unit::Any),
    ("share", Unit::Share),
    (METRIC, Unit::Any),
];

pub(super) fn run(args: &CheckArgs, input: &Input, session: &Session) -> anyhow::Result<Report> {
    let rules = rules(args)?;
    let older_input = args.older().first().map(|path| {
        let older = session.open_old(path)?;
        require_kind(&older, Kind::Profile)?;
        anyhow::Ok(older)
    });
    let older_input = older_input.transpose()?;
    let older = older_input
        .as_ref()
        .map(|older| load_parts(older, &args.profile, session, Kept::default()))
        .transpose()?;
    let newer = load_parts(input, &args.profile, session, Kept::default())?;
    let mut measured = BTreeMap::new();
    for rule in &rules {
        let name = rule.metric.as_deref();
        let measure = |loaded| Measured::of(loaded, name);
        measured.entry(name).or_insert_with(|| (older.as_ref().map(measure), measure(&newer)));
    }
    let judged = rules.iter().map(|rule| {
        let (old, new) = &measured[&rule.metric.as_deref()];
        outcome(rule, old.as_ref(), new, args, session)
    });
    let outcomes: Result<Vec<_>, UsageError> = judged.collect();
    let of_older = || Some(Damage::of(older_input.as_ref()?, older.as_ref()?.damage()?));
    let damage = newer.damage().map(|error| Damage::of(input, error)).or_else(of_older);
    let status = newer
        .report(session)
        .max(older.as_ref().map_or(Status::Done, |older| older.report(session)));
    Ok(Report::of_rules(input, outcomes?, damage, status, args, session))
}

/// The rules of profiles. Fails with the first rule that cannot be parsed, or an option that no
/// rule uses.
pub(super) fn rules(args: &CheckArgs) -> Result<Vec<Rule>, UsageError> {
    refuse_tag(&args.profile, "check")?;
    parse(&args.rules, &COLUMNS, "FUNCTION")
}

/// The number that a rule limits, in one of several runs.
pub(super) struct Number {
    pub(super) value: u64,
    /// The sum over all samples.
    pub(super) whole: u64,
    /// The number of functions that match.
    pub(super) matching: usize,
    /// The limit in the unit of the metric.
    pub(super) limit: Limit,
    /// The format of numbers. `None` for counts of threads, which are plain numbers.
    pub(super) amount: Option<Amount>,
}

/// Measures the numbers of a profile that rules limit. Fails with a [`UsageError`] if the profile
/// lacks what a rule needs.
pub(super) fn numbers(
    rules: &[Rule],
    loaded: &ProfileInput<'_>,
    args: &CheckArgs,
    session: &Session,
) -> Result<Vec<Number>, UsageError> {
    let number = |rule: &Rule| {
        let new = &Measured::of(loaded, rule.metric.as_deref());
        if let Some(wanted) = &rule.threads {
            let Measure { value, matching, .. } =
                threads::of_profile(wanted, &new.selected, &new.groups);
            let value = value.unwrap_or(0);
            return Ok(Number { value, whole: value, matching, limit: rule.limit, amount: None });
        }
        let judge = Judge::of(rule, new, args, session)?;
        let (wanted, sums) = new.cost(rule)?;
        Ok(Number {
            value: judge.value(&sums),
            whole: judge.metric.whole(&new.selected.total).unsigned_abs(),
            matching: wanted.iter().filter(|wanted| **wanted).count(),
            limit: judge.limit(),
            amount: Some(judge.amount),
        })
    };
    rules.iter().map(number).collect()
}

/// A profile with the sums of its stacks.
struct Measured<'a> {
    loaded: &'a ProfileInput<'a>,
    selected: Selected<'a>,
    groups: Groups,
    under: Vec<Values>,
}

impl<'a> Measured<'a> {
    /// Sums the samples of a profile: with a `metric`, only those that have a value for it.
    fn of(loaded: &'a ProfileInput<'a>, metric: Option<&str>) -> Self {
        let mut selection = loaded.selection.clone();
        if let Some(metric) = metric.and_then(|name| loaded.profile.metric(name)) {
            selection.metrics = vec![metric];
        }
        let selected = Selected::of(&loaded.profile, &selection);
        let under = selected.under();
        Self { loaded, groups: Groups::of(&loaded.profile, FrameBy::Function), under, selected }
    }

    /// Returns the functions that match a rule, and their sums.
    fn cost(&self, rule: &Rule) -> Result<(Vec<bool>, Sums), UsageError> {
        if rule.subject == "total" {
            let all = vec![true; self.groups.labels().len()];
            let total = &self.selected.total;
            return Ok((all, Sums { own: total.clone(), total: total.clone() }));
        }
        let pattern = pattern("the rule for", &rule.subject)?;
        let wanted: Vec<bool> =
            self.groups.labels().iter().map(|label| pattern.matches(label)).collect();
        let sums = self.selected.together(&self.groups, &wanted, &self.under);
        Ok((wanted, sums))
    }

    /// The place where the wanted functions cost most.
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
    args: &CheckArgs,
    session: &Session,
) -> Result<Outcome, UsageError> {
    if let Some(wanted) = &rule.threads {
        let count = |of_file: &Measured<'_>| {
            threads::of_profile(wanted, &of_file.selected, &of_file.groups)
        };
        return Ok(measure::outcome(rule, old.map(count).as_ref(), &count(new), session));
    }
    let judge = Judge::of(rule, new, args, session)?;
    let (wanted, sums) = new.cost(rule)?;
    let functions = wanted.iter().filter(|wanted| **wanted).count();
    let mut judged = match (rule.kind, old) {
        (RuleKind::None, _) => judge.none(&sums),
        (RuleKind::MaxEach, _) => judge.each(&wanted, session),
        (RuleKind::MaxGrowth, Some(old)) => judge.growth(&sums, old, args.rules.normalize)?,
        (RuleKind::Max | RuleKind::MaxGrowth, _) => judge.all(&sums),
    };
    match functions {
        0 => judged.message.push_str(" (no function matches)"),
        1 => {}
        _ if rule.subject == "total" || rule.kind == RuleKind::MaxEach => {}
        more => judged.message.push_str(&format!(" (sum of {more} functions)")),
    }
    let Judged { limit, actual, message, blamed } = judged;
    let place = (actual > limit && rule.subject != "total")
        .then(|| new.heaviest(&blamed.unwrap_or(wanted), &judge.metric))
        .flatten();
    let note = place.as_ref().map(|place| {
        format!("mostly in {}", stack_text(&new.loaded.profile, place, session.common.verbose))
    });
    let is_old = old.map(|old| Ok(old.cost(rule)?.0.contains(&true))).transpose()?;
    let is_void = functions == 0 && rule.kind != RuleKind::None && !is_old.unwrap_or(false);
    let position = place.as_ref().and_then(|place| position(&new.loaded.profile, place));
    Ok(Outcome { note, position, is_void, ..Outcome::new(rule, limit, actual, message) })
}

/// The source of the function of a place.
fn position(profile: &Profile, place: &Place) -> Option<Position> {
    let frame = profile.frame(profile.stacks.leaf(place.until)?);
    let file = profile.names.text(frame.file).to_owned();
    // In machine code without sources, a line is an offset.
    let line = (frame.kind == FrameKind::Code && frame.line > 0).then_some(frame.line);
    (!file.is_empty()).then_some(Position { file, line })
}

/// Compares a profile with a rule.
struct Judge<'a> {
    rule: &'a Rule,
    new: &'a Measured<'a>,
    metric: Metric,
    amount: Amount,
}

/// The result of a comparison.
struct Judged {
    limit: u64,
    actual: u64,
    message: String,
    /// Marks the function with the largest value, by group. `None` stands for all that match.
    blamed: Option<Vec<bool>>,
}

impl<'a> Judge<'a> {
    fn of(
        rule: &'a Rule,
        new: &'a Measured<'a>,
        args: &CheckArgs,
        session: &Session,
    ) -> Result<Self, UsageError> {
        let metric = metric(rule, new.loaded, &args.profile)?;
        let whole = metric.whole(&new.selected.total);
        Ok(Self { rule, new, amount: Amount::new(&metric, whole, session.common.bytes), metric })
    }

    /// Compares functions that must not have samples.
    fn none(&self, sums: &Sums) -> Judged {
        let actual = self.value(sums);
        let message = format!("{}: {} samples, expected none", self.rule.subject, count(actual));
        Judged { limit: 0, actual, message, blamed: None }
    }

    /// Compares the sum of all functions that match.
    fn all(&self, sums: &Sums) -> Judged {
        let actual = self.value(sums);
        let (limit, comparison) = self.compare(actual);
        let message = format!("{} = {comparison}", self.rule.what());
        Judged { limit, actual, message, blamed: None }
    }

    /// Compares each function that matches.
    fn each(&self, wanted: &[bool], session: &Session) -> Judged {
        let mut top = top(&self.new.selected, TopBy::Frames(FrameBy::Function));
        let groups = &self.new.groups;
        let wanted: HashSet<&GroupLabel> =
            groups.labels().iter().zip(wanted).filter(|(_, is)| **is).map(|(l, _)| l).collect();
        top.rows.retain(|row| wanted.contains(&row.label));
        top.rows.sort_by_cached_key(|row| (Reverse(self.value(&row.sums)), row.label.clone()));
        let files = ShortFiles::of_profile(&self.new.loaded.profile, session.common.verbose);
        let name = |row: &TopRow| files.name(&row.label.name, &row.label.namespace, None);
        let actual = top.rows.first().map_or(0, |row| self.value(&row.sums));
        let (limit, comparison) = self.compare(actual);
        let first = top.rows.first().map_or_else(|| self.rule.subject.clone(), name);
        let mut message = format!("{} of {first} = {comparison}", self.rule.column);
        let above = top.rows.iter().take_while(|row| self.value(&row.sums) > limit);
        let others: Vec<String> = above.skip(1).map(name).collect();
        if !others.is_empty() {
            const SHOWN: usize = 3;
            let more = if others.len() > SHOWN { ", …" } else { "" };
            let listed = others[..others.len().min(SHOWN)].join(", ");
            message.push_str(&format!(" ({} more above it: {listed}{more})", others.len()));
        }
        let blamed = groups
            .labels()
            .iter()
            .map(|label| top.rows.first().is_some_and(|row| row.label == *label))
            .collect();
        Judged { limit, actual, message, blamed: Some(blamed) }
    }

    /// Compares the growth since an older profile. For shares, and with `normalize`, scales the old
    /// value as if both profiles had the same total.
    fn growth(
        &self,
        sums: &Sums,
        old: &Measured<'_>,
        normalize: bool,
    ) -> Result<Judged, UsageError> {
        // The same metric of a format's own may have different numbers in different files.
        let path = &old.loaded.input.path;
        let of_old = match self.metric.number_in_file {
            Some(_) => named(&old.loaded.profile, self.metric.name(), path)?,
            None => self.metric.clone(),
        };
        old.loaded.require(&of_old)?;
        let actual = self.value(sums);
        let mut before = self.value_of(&old.cost(self.rule)?.1, &of_old);
        if normalize || self.rule.column == "share" {
            let [before_all, now_all] = [(old, &of_old), (self.new, &self.metric)]
                .map(|(measured, metric)| metric.whole(&measured.selected.total).max(1) as f64);
            before = (before as f64 * now_all / before_all).round() as u64;
        }
        let show = |value| self.show(value);
        let (limit, growth) = growth(self.limit(), before, actual, show);
        let message = format!("{} {growth}", self.rule.what());
        Ok(Judged { limit, actual, message, blamed: None })
    }

    /// The limit; a time is converted to the unit of the metric.
    fn limit(&self) -> Limit {
        match (self.rule.limit, self.metric.unit().nanoseconds()) {
            (Limit::Time(micros), Some(unit)) => {
                let nanoseconds = u128::from(micros) * 1000 / u128::from(unit.max(1));
                Limit::Time(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
            }
            (limit, _) => limit,
        }
    }

    /// The limit in the unit of the metric, and a comparison: `23.0 % (1.2 s), limit 20.0 %`.
    fn compare(&self, actual: u64) -> (u64, String) {
        match self.limit() {
            Limit::Share(share) => {
                let base = self.metric.whole(&self.new.selected.total).unsigned_abs();
                let actual_share = if base == 0 { 0.0 } else { actual as f64 / base as f64 };
                let (actual_share, limit) = (percent(actual_share), percent(share));
                let text = format!("{actual_share} ({}), limit {limit}", self.show(actual));
                ((base as f64 * share) as u64, text)
            }
            Limit::Number(limit) | Limit::Time(limit) => {
                (limit, format!("{}, limit {}", self.show(actual), self.show(limit)))
            }
        }
    }

    /// The number that the rule limits. 0 for functions that freed more than they allocated.
    fn value(&self, sums: &Sums) -> u64 {
        self.value_of(sums, &self.metric)
    }

    fn value_of(&self, sums: &Sums, metric: &Metric) -> u64 {
        let values = if self.rule.column == "self" { &sums.own } else { &sums.total };
        u64::try_from(values.get(metric)).unwrap_or(0)
    }

    fn show(&self, value: u64) -> String {
        self.amount.show(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

/// The metric of a rule: by the unit of its limit, from `--metric`, or of the profile.
fn metric(
    rule: &Rule,
    loaded: &ProfileInput<'_>,
    options: &ProfileOptions,
) -> Result<Metric, UsageError> {
    if rule.column == "samples" {
        return Ok(Metric::SAMPLES);
    }
    if let Some(name) = &rule.metric {
        let metric = named(&loaded.profile, name, &loaded.input.path)?;
        loaded.require(&metric)?;
        return Ok(metric);
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
