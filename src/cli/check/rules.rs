//! Rules as people write them: `TYPE.COLUMN=LIMIT`.

use crate::analysis::profile::Pattern;
use crate::cli::args::RuleOptions;
use crate::cli::profile::pattern;
use crate::cli::size::{parse_size, parse_time, percent};
use crate::cli::status::UsageError;

/// A limit for types, functions or threads.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The rule as it was written.
    pub(super) text: String,
    pub(super) kind: RuleKind,
    /// A glob, or `total`.
    pub(super) subject: String,
    /// The column that is limited: one of those that this kind of input has.
    pub(super) column: &'static str,
    /// The metric that is named in place of a column.
    pub(super) metric: Option<String>,
    /// The threads that are counted, if the rule is about threads.
    pub(super) threads: Option<Threads>,
    pub(super) limit: Limit,
}

/// The threads that a rule counts.
#[derive(Clone, Debug)]
pub(super) struct Threads {
    /// Counts only goroutines.
    pub(super) goroutines: bool,
    /// Counts only threads that have a matching function on their stacks.
    pub(super) function: Option<Pattern>,
}

impl Threads {
    /// Parses `goroutines`, `threads`, `goroutines[FUNCTION]` or `threads[FUNCTION]`. Returns
    /// `None` for any other subject.
    fn of(subject: &str) -> Result<Option<Self>, UsageError> {
        let (name, function) = match subject.strip_suffix(']').and_then(|text| text.split_once('['))
        {
            Some((name, function)) => (name, Some(function)),
            None => (subject, None),
        };
        let goroutines = name == "goroutines";
        if !goroutines && name != "threads" {
            return Ok(None);
        }
        let function = function.map(|function| pattern("the rule for", function)).transpose()?;
        Ok(Some(Self { goroutines, function }))
    }
}

/// The column that stands for any metric of a profile.
pub(super) const METRIC: &str = "METRIC";

/// The quantity that a rule limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleKind {
    /// The number of all matches together.
    Max,
    /// The number of each match.
    MaxEach,
    /// The growth since an older dump.
    MaxGrowth,
    /// The number of objects or samples, which must be 0.
    None,
}

impl Rule {
    /// The subject and the column, as they were written.
    pub(super) fn what(&self) -> String {
        format!("{}.{}", self.subject, self.metric.as_deref().unwrap_or(self.column))
    }

    /// The limit if it is a count or bytes, otherwise 0.
    pub(super) fn number(&self) -> u64 {
        if let Limit::Number(limit) = self.limit { limit } else { 0 }
    }

    /// The word for a part that a rule about a heap counts, singular and plural.
    pub(super) fn nouns(&self) -> (&'static str, &'static str) {
        if self.threads.is_some() { ("stack", "stacks") } else { ("type", "types") }
    }
}

impl RuleKind {
    /// The name in JSON: that of the option, with underscores.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::MaxEach => "max_each",
            Self::MaxGrowth => "max_growth",
            Self::None => "none",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    /// A count, or bytes.
    Number(u64),
    /// Microseconds.
    Time(u64),
    /// A fraction of the older number, or of the whole.
    Share(f64),
}

/// The unit of a column, which decides how its limit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Count,
    Bytes,
    /// Any limit: bytes, a time, a count, or a percentage.
    Any,
    Share,
}

/// Reads all rules. `columns` are those that the input has; the first one is what `--none` looks
/// at. Fails with the first rule that cannot be parsed, with the accepted syntax.
pub(super) fn parse(
    options: &RuleOptions,
    columns: &[(&'static str, Unit)],
    subject: &str,
) -> Result<Vec<Rule>, UsageError> {
    let limits = [
        (&options.max, RuleKind::Max),
        (&options.max_each, RuleKind::MaxEach),
        (&options.max_growth, RuleKind::MaxGrowth),
    ];
    let limits = limits.into_iter().flat_map(|(texts, kind)| {
        texts.iter().map(move |text| parse_one(text, kind, columns, subject))
    });
    let none = options.none.iter().map(|text| {
        let threads = Threads::of(text)?;
        let first = columns.first().map_or("", |(name, _)| *name);
        let column = if threads.is_some() { "count" } else { first };
        let (rule, subject) = (format!("none {text}"), text.clone());
        let (kind, limit) = (RuleKind::None, Limit::Number(0));
        Ok(Rule { text: rule, kind, subject, column, metric: None, threads, limit })
    });
    limits.chain(none).collect()
}

fn parse_one(
    text: &str,
    kind: RuleKind,
    columns: &[(&'static str, Unit)],
    subject: &str,
) -> Result<Rule, UsageError> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let wrong = |what: String| {
        let hint =
            format!("write {subject}.COLUMN=LIMIT, where COLUMN is one of {}", names.join(", "));
        UsageError::new(format!("invalid rule {text:?}: {what}")).hint(hint)
    };
    // Names may contain dots and equal signs, columns and limits do not.
    let Some((left, limit)) = text.rsplit_once('=') else { return Err(wrong("no =".to_owned())) };
    let Some((name, column)) = left.rsplit_once('.') else {
        return Err(wrong("no column".to_owned()));
    };
    if name.is_empty() {
        return Err(wrong(format!("no {}", subject.to_lowercase())));
    }
    let threads = Threads::of(name.trim())?;
    let count = [("count", Unit::Count)];
    if threads.is_some() && column.trim() != "count" {
        return Err(wrong(format!("threads have a count, not {:?}", column.trim())));
    }
    let columns = if threads.is_some() { &count } else { columns };
    let find = |name: &str| columns.iter().find(|(known, _)| *known == name);
    let column = column.trim();
    let Some(&(known, unit)) = find(column).or_else(|| find(METRIC)) else {
        return Err(wrong(format!("unknown column {column:?}")));
    };
    let metric = (known == METRIC).then(|| column.to_owned());
    let limit = parse_limit(limit.trim(), kind, unit)
        .map_err(|what| wrong(format!("{what}, not {:?}", limit.trim())))?;
    let (text, subject) = (text.to_owned(), name.trim().to_owned());
    Ok(Rule { text, kind, subject, column: known, metric, threads, limit })
}

fn parse_limit(text: &str, kind: RuleKind, unit: Unit) -> Result<Limit, &'static str> {
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.trim_end().parse::<f64>() {
            Ok(percent)
                if percent.is_finite()
                    && percent >= 0.0
                    && (kind == RuleKind::MaxGrowth || matches!(unit, Unit::Any | Unit::Share)) =>
            {
                Ok(Limit::Share(percent / 100.0))
            }
            _ => Err("the limit can be a percentage only for growth and in profiles"),
        };
    }
    if unit == Unit::Any
        && let Some(time) = parse_time(text)
    {
        return Ok(Limit::Time(time));
    }
    match unit {
        Unit::Count => text
            .parse()
            .map(Limit::Number)
            .map_err(|_| "the limit for a count must be a whole number"),
        Unit::Bytes => parse_size(text)
            .map(Limit::Number)
            .map_err(|_| "the limit must be a size such as 10MiB"),
        Unit::Any => parse_size(text)
            .map(Limit::Number)
            .map_err(|_| "the limit must be a percentage, a time, a size or a number"),
        Unit::Share => Err("the limit of a share must be a percentage"),
    }
}

/// Whether a number grew more than allowed since an older dump, and the growth in words: `grew by
/// 10%: 20 → 22, limit 5%`.
pub(super) fn growth(
    limit: Limit,
    before: u64,
    actual: u64,
    show: impl Fn(u64) -> String,
) -> (u64, String) {
    let (most, allowed) = match limit {
        // Shares are exact up to 2⁵³, which is more than any heap or recording has.
        Limit::Share(share) => {
            (before.saturating_add((before as f64 * share) as u64), percent(share))
        }
        Limit::Number(more) | Limit::Time(more) => (before.saturating_add(more), show(more)),
    };
    let growth = match (actual.checked_sub(before), before) {
        (None, _) => "shrank".to_owned(),
        (Some(0), _) => "did not grow".to_owned(),
        (Some(_), 0) => "is new".to_owned(),
        (Some(more), _) => format!("grew by {}", percent(more as f64 / before as f64)),
    };
    (most, format!("{growth}: {} → {}, limit {allowed}", show(before), show(actual)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [(&str, Unit); 4] = [
        ("count", Unit::Count),
        ("retained", Unit::Bytes),
        ("total", Unit::Any),
        ("share", Unit::Share),
    ];

    fn limit(text: &str, kind: RuleKind) -> Option<Limit> {
        parse_one(text, kind, &COLUMNS, "TYPE").ok().map(|rule| rule.limit)
    }

    #[test]
    fn rules_are_read() {
        let rule =
            parse_one("main.Session.retained=10MiB", RuleKind::Max, &COLUMNS, "TYPE").unwrap();
        assert_eq!(
            (rule.subject.as_str(), rule.column, rule.limit),
            ("main.Session", "retained", Limit::Number(10 << 20))
        );
        assert_eq!(limit("map[a=b]int.count=7", RuleKind::Max), Some(Limit::Number(7)));
        assert_eq!(limit("X.count=5%", RuleKind::MaxGrowth), Some(Limit::Share(0.05)));
        assert_eq!(limit("main.py:slow.total=200ms", RuleKind::Max), Some(Limit::Time(200_000)));
        assert_eq!(limit("slow.total=1.5 s", RuleKind::Max), Some(Limit::Time(1_500_000)));
        assert_eq!(limit("slow.total=30%", RuleKind::Max), Some(Limit::Share(0.3)));
        assert_eq!(limit("slow.total=12", RuleKind::Max), Some(Limit::Number(12)));
        assert_eq!(limit("slow.share=20%", RuleKind::Max), Some(Limit::Share(0.2)));
    }

    #[test]
    fn growth_is_measured_from_the_older_number() {
        let growth =
            |limit, before, actual| growth(limit, before, actual, |number| number.to_string());
        assert_eq!(
            growth(Limit::Share(0.05), 20, 22),
            (21, "grew by 10.0 %: 20 → 22, limit 5.0 %".to_owned())
        );
        assert_eq!(
            growth(Limit::Number(3), 20, 20),
            (23, "did not grow: 20 → 20, limit 3".to_owned())
        );
        assert_eq!(growth(Limit::Number(3), 20, 7), (23, "shrank: 20 → 7, limit 3".to_owned()));
        assert_eq!(growth(Limit::Share(9.0), 0, 7), (0, "is new: 0 → 7, limit 900.0 %".to_owned()));
        assert_eq!(growth(Limit::Number(u64::MAX), 1, 2).0, u64::MAX);
    }

    #[test]
    fn threads_are_counted_by_function() {
        let rule = |text| parse_one(text, RuleKind::Max, &COLUMNS, "TYPE");
        let counted = rule("goroutines[main.slow].count=3").unwrap();
        assert!(
            counted.threads.is_some_and(|threads| threads.goroutines && threads.function.is_some())
        );
        assert!(
            rule("threads.count=3").unwrap().threads.is_some_and(|threads| !threads.goroutines)
        );
        assert!(rule("*:threads.count=3").unwrap().threads.is_none());
        assert!(rule("threads.retained=3").is_err() && rule("threads[/(/].count=3").is_err());
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in [
            "",
            "X",
            "X.count",
            "X=3",
            ".count=3",
            "X.size=3",
            "X.count=10MiB",
            "X.count=5%",
            "X.count=-1",
            "X.retained=big",
            "X.share=0.2",
        ] {
            assert_eq!(limit(text, RuleKind::Max), None, "{text}");
        }
        assert_eq!(limit("X.count=NaN%", RuleKind::MaxGrowth), None);
    }
}
