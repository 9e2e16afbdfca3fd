//! Options that leave out samples and frames of profiles.

use crate::analysis::profile::{LabelPattern, ProfileFilter};
use crate::cli::print::{Document, Value};
use crate::cli::profile::{given_pattern, pattern};
use crate::cli::size::{parse_size, parse_time};
use crate::cli::status::UsageError;
use crate::output::syntax::shell_word;
use clap::Args;

/// Leaves out samples and frames before all numbers are taken.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Profiles")]
pub(in crate::cli) struct NarrowOptions {
    /// Only samples with such a function on their stacks: a glob over names or `file:name`, or
    /// `/REGEX/` over names and files, as `go tool pprof -focus`. In `tree`, show the callers and
    /// callees of these functions
    #[arg(long, value_name = "PATTERN")]
    pub(in crate::cli) focus: Option<String>,
    /// No samples with such a function on their stacks
    #[arg(long, value_name = "PATTERN")]
    pub(in crate::cli) ignore: Option<String>,
    /// Leave out the frames of these functions; their callers get their cost
    #[arg(long, value_name = "PATTERN")]
    pub(in crate::cli) hide: Option<String>,
    /// Leave out the frames of all other functions
    #[arg(long, value_name = "PATTERN")]
    pub(in crate::cli) show: Option<String>,
    /// Leave out the callers of the outermost such function
    #[arg(long, value_name = "PATTERN")]
    pub(in crate::cli) show_from: Option<String>,
    /// Only samples with this label of --tag, such as `--where request=17`; may be repeated. VALUE
    /// is a text, a glob, `/REGEX/`, or a range such as `1KiB:`, `:4096` or `10ms:1s`
    #[arg(long = "where", value_name = "KEY=VALUE", value_parser = label)]
    pub(in crate::cli) labels: Vec<(String, String)>,
    /// Only samples from this time of the recording on, such as 10s (recordings with the time of
    /// each sample)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(in crate::cli) from_time: Option<u64>,
    /// Only samples before this time of the recording
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(in crate::cli) to_time: Option<u64>,
}

fn label(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn time(text: &str) -> Result<u64, &'static str> {
    parse_time(text).ok_or("expected a time such as 10s, 200ms or 2min")
}

impl NarrowOptions {
    /// Whether anything is left out.
    pub(in crate::cli) fn is_on(&self) -> bool {
        self.given().iter().any(|(_, given)| *given)
    }

    /// Whether samples are chosen by their times.
    pub(in crate::cli) fn is_timed(&self) -> bool {
        self.from_time.is_some() || self.to_time.is_some()
    }

    /// The labels that are written out in full.
    pub(in crate::cli) fn exact_labels(&self) -> impl Iterator<Item = &(String, String)> {
        self.labels.iter().filter(|(_, value)| is_exact(value))
    }

    /// The filter. Fails with a [`UsageError`] that names the option whose pattern is wrong.
    pub(in crate::cli) fn filter(&self) -> Result<ProfileFilter, UsageError> {
        let patterned = self.labels.iter().filter(|(_, value)| !is_exact(value));
        let labels = patterned.map(|(key, value)| Ok((key.clone(), label_pattern(value)?)));
        let micros = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
        let time = self.from_time.map_or(0, micros)..self.to_time.map_or(i64::MAX, micros);
        Ok(ProfileFilter {
            focus: given_pattern("--focus", self.focus.as_ref())?,
            ignore: given_pattern("--ignore", self.ignore.as_ref())?,
            hide: given_pattern("--hide", self.hide.as_ref())?,
            show: given_pattern("--show", self.show.as_ref())?,
            show_from: given_pattern("--show-from", self.show_from.as_ref())?,
            labels: labels.collect::<Result<_, UsageError>>()?,
            time: self.is_timed().then_some(time),
        })
    }

    /// The options as words for a shell, each after a space.
    pub(in crate::cli) fn words(&self) -> String {
        let pattern = |(name, text): (&str, &Option<String>)| {
            text.as_ref().map(|text| format!(" {name} {}", shell_word(text)))
        };
        let patterns = self.patterns().into_iter().filter_map(pattern);
        let labels = self.labels.iter();
        let labels = labels
            .map(|(key, value)| format!(" --where {}", shell_word(&format!("{key}={value}"))));
        let times = [("from-time", self.from_time), ("to-time", self.to_time)];
        let times =
            times.into_iter().filter_map(|(name, micros)| Some(format!(" --{name} {}us", micros?)));
        patterns.chain(labels).chain(times).collect()
    }

    /// The options that take a pattern.
    pub(super) fn patterns(&self) -> [(&'static str, &Option<String>); 5] {
        [
            ("--focus", &self.focus),
            ("--ignore", &self.ignore),
            ("--hide", &self.hide),
            ("--show", &self.show),
            ("--show-from", &self.show_from),
        ]
    }

    /// Each option with whether it was given.
    pub(in crate::cli) fn given(&self) -> Vec<(&'static str, bool)> {
        let patterns = self.patterns().map(|(name, pattern)| (name, pattern.is_some()));
        let times = [("--from-time", self.from_time), ("--to-time", self.to_time)];
        let times = times.map(|(name, time)| (name, time.is_some()));
        [&[("--where", !self.labels.is_empty())][..], &patterns, &times].concat()
    }

    /// Adds the options to a document, if there are any.
    pub(in crate::cli) fn describe<'d>(&self, document: Document<'d>) -> Document<'d> {
        match self.json() {
            None => document,
            Some(filters) => document.with("filters", filters),
        }
    }

    /// The options in JSON; `None` if there are none.
    pub(in crate::cli) fn json(&self) -> Option<Value<'static>> {
        let text = |text: &Option<String>| Value::from(text.clone());
        let labels = self.labels.iter().map(|(key, value)| Value::from(format!("{key}={value}")));
        self.is_on().then(|| {
            Value::from([
                ("focus", text(&self.focus)),
                ("ignore", text(&self.ignore)),
                ("hide", text(&self.hide)),
                ("show", text(&self.show)),
                ("show_from", text(&self.show_from)),
                ("where", labels.collect::<Vec<_>>().into()),
                ("from_time_us", self.from_time.into()),
                ("to_time_us", self.to_time.into()),
            ])
        })
    }
}

/// Whether a value of a label is meant as it is written.
fn is_exact(value: &str) -> bool {
    let is_regex = value.len() > 2 && value.starts_with('/') && value.ends_with('/');
    !is_regex && !value.contains(['*', '?', '{']) && range(value).is_none()
}

fn label_pattern(value: &str) -> Result<LabelPattern, UsageError> {
    range(value).map_or_else(|| pattern("--where", value).map(LabelPattern::Text), Ok)
}

/// `1KiB:`, `:4096`, `10ms:1s`.
fn range(value: &str) -> Option<LabelPattern> {
    let (least, most) = value.split_once(':').filter(|ends| *ends != ("", ""))?;
    let is_time = |text: &str| parse_time(text).is_some();
    let number = |text: &str| {
        if is_time(text) {
            Some(i64::try_from(parse_time(text)?).ok()?.saturating_mul(1000))
        } else {
            i64::try_from(parse_size(text).ok()?).ok()
        }
    };
    let end = |text: &str, without: i64| if text.is_empty() { Some(without) } else { number(text) };
    let ends = (end(least, i64::MIN)?, end(most, i64::MAX)?);
    Some(LabelPattern::Range(ends.0, ends.1, is_time(least) || is_time(most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_are_texts_patterns_or_ranges() {
        for (value, exact) in [
            ("17", true),
            ("host:80", true),
            ("a/b", true),
            (":", true),
            ("1KiB:", false),
            (":4096", false),
            ("10ms:1s", false),
            ("/a|b/", false),
            ("wor*", false),
        ] {
            assert_eq!(is_exact(value), exact, "{value}");
        }
        assert!(matches!(range("1KiB:"), Some(LabelPattern::Range(1024, i64::MAX, false))));
        assert!(matches!(
            range("1ms:1s"),
            Some(LabelPattern::Range(1_000_000, 1_000_000_000, true))
        ));
    }
}
