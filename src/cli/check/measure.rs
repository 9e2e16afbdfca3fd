//! Numbers of types and threads, compared with rules.

use super::report::Outcome;
use super::rules::{Limit, Rule, RuleKind, growth};
use crate::cli::session::Session;
use crate::cli::size::{count, plural};
use crate::cli::terminal::shown;

/// Parts that a message names.
pub(super) const SHOWN: usize = 3;

/// The number that a rule is about.
pub(super) struct Measure {
    /// The value, or the reason why it is unknown.
    pub(super) value: Result<u64, &'static str>,
    /// Number of matching types in the file, with or without live objects, or of threads.
    pub(super) matching: usize,
    /// The parts of the types with live objects, or of equal stacks, largest first.
    pub(super) parts: Vec<(String, u64)>,
}

/// The outcome of a rule, from the number of the heap and of an older one.
pub(super) fn outcome(
    rule: &Rule,
    old: Option<&Measure>,
    new: &Measure,
    session: &Session,
) -> Outcome {
    let show = |value: u64| if rule.column == "count" { count(value) } else { session.size(value) };
    let what = format!("{}.{}", rule.subject, rule.column);
    let before = old.map_or(Ok(0), |old| old.value);
    if rule.kind == RuleKind::MaxEach && new.value.is_ok() {
        return each(rule, new, show);
    }
    let (Ok(actual), Ok(before)) = (new.value, before) else {
        let why = new.value.err().or(before.err()).unwrap_or_default();
        let message = format!("{what} is not known: {why}");
        let mut outcome = Outcome::new(rule, rule.number(), 0, message);
        outcome.finding.ok = false;
        return outcome;
    };
    let (limit, mut message) = match (rule.kind, rule.limit) {
        (RuleKind::None, _) => {
            let what = if rule.threads.is_some() { "" } else { " live objects" };
            (0, format!("{}: {}{what}, expected none", rule.subject, count(actual)))
        }
        // The grammar gives shares to growth alone.
        (RuleKind::MaxGrowth, limit) | (_, limit @ Limit::Share(_)) => {
            let (limit, growth) = growth(limit, before, actual, show);
            (limit, format!("{what} {growth}"))
        }
        (_, Limit::Number(limit) | Limit::Time(limit)) => {
            (limit, format!("{what} = {}, limit {}", show(actual), show(limit)))
        }
    };
    let (one, many) = rule.nouns();
    match (new.matching, new.parts.len()) {
        _ if rule.subject == "total" => {}
        (0, _) => message.push_str(&format!(" (no {one} matches)")),
        (_, 0) if rule.kind != RuleKind::None && rule.threads.is_none() => {
            message.push_str(" (no live objects)")
        }
        (_, 0) => {}
        (_, 1) if rule.threads.is_none() => {}
        (_, parts) => {
            message.push_str(&contributors(&new.parts, plural(parts as u64, one, many), show))
        }
    }
    let is_void =
        new.matching == 0 && rule.kind != RuleKind::None && old.is_none_or(|old| old.matching == 0);
    Outcome { is_void, ..Outcome::new(rule, limit, actual, message) }
}

/// The outcome of a rule about each type that matches.
fn each(rule: &Rule, new: &Measure, show: impl Fn(u64) -> String) -> Outcome {
    let limit = rule.number();
    let (name, actual) =
        new.parts.first().map_or((&rule.subject, 0), |(name, actual)| (name, *actual));
    let name = match rule.threads {
        Some(_) => format!("{} of {}", rule.what(), shown(name)),
        None => format!("{}.{}", shown(name), rule.column),
    };
    let mut message = format!("{name} = {}, limit {}", show(actual), show(limit));
    let above = new.parts.iter().filter(|(_, value)| *value > limit).count();
    let (one, many) = rule.nouns();
    match (new.matching, above) {
        (0, _) => message.push_str(&format!(" (no {one} matches)")),
        (_, 0 | 1) => {}
        (_, above) => {
            let all = plural(above as u64, one, many);
            message.push_str(&contributors(&new.parts[..above], all, show))
        }
    }
    Outcome { is_void: new.matching == 0, ..Outcome::new(rule, limit, actual, message) }
}

/// The largest of several parts: ` (3 types: byte[] 1.0 MiB, A 2 B, B 1 B)`.
fn contributors(parts: &[(String, u64)], all: String, show: impl Fn(u64) -> String) -> String {
    let largest: Vec<_> = parts
        .iter()
        .take(SHOWN)
        .map(|(name, value)| format!("{} {}", shown(name), show(*value)))
        .collect();
    let more = if parts.len() > SHOWN { ", …" } else { "" };
    format!(" ({all}: {}{more})", largest.join(", "))
}
