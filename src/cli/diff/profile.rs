//! `diff` of profiles: which functions cost more or less than before.

mod rows;

use super::{document, with_rows};
use crate::analysis::profile::{
    FrameBy, Groups, MovedFolder, ProfileChange, Selected, TopBy, Words, changes, slower, top,
};
use crate::cli::args::{ByArg, DiffArgs, DiffSort};
use crate::cli::open::Input;
use crate::cli::print::{Shown, Value, print};
use crate::cli::profile::{
    Amount, ProfileInput, by_of, load_profile, nouns, total_json, unit_name, with_filters,
};
use crate::cli::session::Session;
use crate::cli::size::{count, showing};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::{show_path, shown as name};
use crate::model::profile::{Metric, Values};
use rows::{Row, columns};

pub(super) fn run(
    args: &DiffArgs,
    old: &Input,
    new: &Input,
    session: &Session,
) -> anyhow::Result<Status> {
    let options = args.profile.grouped(args.by.and_then(ByArg::label));
    let mut old = load_profile(old, &options, session)?;
    let mut new = load_profile(new, &options, session)?;
    let has_files = matches!(by_of(args.by, args.profile.tag.as_ref()).0, TopBy::Frames(_));
    let moved = match args.trim_path.is_empty() {
        true if has_files => old.follow(&mut new),
        true => Vec::new(),
        false if !has_files => {
            return Err(UsageError::new("--trim-path applies to functions, files and lines").into());
        }
        false => {
            for side in [&mut old, &mut new] {
                side.name_hidden_classes();
                side.trim_paths(&args.trim_path);
            }
            Vec::new()
        }
    };
    new.say_moved(&moved, "a guess; --trim-path sets the prefixes", session);
    Comparison::of(args, &old, &new, session)?.print(args, &moved, session)?;
    Ok(old.report(session).max(new.report(session)))
}

/// One of the two profiles.
struct Side<'a> {
    loaded: &'a ProfileInput<'a>,
    metric: Metric,
    total: Values,
    amount: Amount,
    /// The number of samples or calls, in words.
    events: String,
}

/// Two profiles, and what changed from the old one to the new one.
struct Comparison<'a> {
    by: TopBy,
    by_name: &'static str,
    old: Side<'a>,
    new: Side<'a>,
    /// The factor by which old values are multiplied. `None` if they are not scaled.
    scale: Option<f64>,
    /// The sentence about what became slower.
    verdict: Option<String>,
    changes: Vec<ProfileChange>,
    unchanged: u64,
}

impl<'a> Comparison<'a> {
    fn of(
        args: &DiffArgs,
        old: &'a ProfileInput<'a>,
        new: &'a ProfileInput<'a>,
        session: &Session,
    ) -> anyhow::Result<Self> {
        let metrics = same_metric(args, old, new)?;
        let (by, by_name) = by_of(args.by, args.profile.tag.as_ref());
        let measure = |loaded: &'a ProfileInput<'a>, metric: &Metric| {
            let selected = Selected::of(&loaded.profile, &loaded.selection);
            let side = Side {
                loaded,
                metric: metric.clone(),
                amount: Amount::new(metric, metric.whole(&selected.total), session.common.bytes),
                total: selected.total.clone(),
                events: loaded.events(&selected),
            };
            (side, top(&selected, by), selected)
        };
        let (mut old, mut before, _) = measure(old, &metrics.0);
        let (new, after, selected) = measure(new, &metrics.1);
        let scale = args.normalize.then(|| {
            let (before, after) = (old.metric.whole(&old.total), new.metric.whole(&new.total));
            after as f64 / before.max(1) as f64
        });
        if let Some(scale) = scale {
            before.scale(scale);
            old.amount =
                Amount::new(&old.metric, new.metric.whole(&new.total), session.common.bytes);
        }
        let mut changes = changes(before, after, (&old.metric, &new.metric));
        let known = changes.len();
        // Changes of other metrics would be rows of zeros here.
        changes.retain(|change| {
            let metrics = (&old.metric, &new.metric);
            change.own(metrics) != 0 || change.total(metrics) != 0
        });
        let unchanged = (known - changes.len()) as u64;
        let verdict = None;
        let mut comparison = Self { by, by_name, old, new, scale, changes, unchanged, verdict };
        if by == TopBy::Frames(FrameBy::Function) {
            comparison.verdict = comparison.slower(&selected, session);
        }
        comparison.sort(args.sort);
        Ok(comparison)
    }

    /// Describes the function that became slower, and its main caller.
    fn slower(&self, selected: &Selected<'_>, session: &Session) -> Option<String> {
        let (old, new) = (&self.old, &self.new);
        let groups = Groups::of(&new.loaded.profile, FrameBy::Function);
        let before = old.metric.whole(&old.total) as f64 * self.scale.unwrap_or(1.0);
        let whole = (before.round() as i64, new.metric.whole(&new.total));
        let metrics = (&old.metric, &new.metric);
        let slower = slower(&self.changes, whole, (selected, &groups), metrics)?;
        let files = new.loaded.files(old.loaded, session);
        Some(slower.sentence(&Words {
            name: &|label| files.name(&label.name, &label.namespace, None),
            amount: &|value| new.amount.show(value),
        }))
    }

    /// Sorts by the requested column, unless [`changes`] already sorts by it.
    fn sort(&mut self, sort: Option<DiffSort>) {
        let Some(sort) = sort.filter(|sort| *sort != DiffSort::Own) else { return };
        let mut changes = std::mem::take(&mut self.changes);
        changes.sort_by(|a, b| {
            let change = |change| {
                let delta = self.row(change).delta;
                match sort {
                    DiffSort::Total => (delta.total as f64).abs(),
                    _ => delta.share_self.abs(),
                }
            };
            change(b).total_cmp(&change(a))
        });
        self.changes = changes;
    }

    fn row<'r>(&self, change: &'r ProfileChange) -> Row<'r> {
        let (old, new) = (&self.old, &self.new);
        Row::of(change, (&old.metric, &new.metric), (&old.amount, &new.amount))
    }

    fn print(
        &self,
        args: &DiffArgs,
        moved: &[MovedFolder],
        session: &Session,
    ) -> anyhow::Result<()> {
        let (shown, rest) = session.shown(&self.changes, args.limit, super::ROWS);
        let rows: Vec<Row<'_>> = shown.iter().map(|change| self.row(change)).collect();
        let (old, new) = (&self.old, &self.new);
        let document = || {
            let moved = moved.iter().map(|folder| {
                Value::from([
                    ("old", (&*folder.old).into()),
                    ("new", (&*folder.new).into()),
                    ("files", folder.files.into()),
                ])
            });
            let document = document(old.loaded.input, new.loaded.input);
            let sides = [("old_samples", old.loaded), ("new_samples", new.loaded)];
            let document = with_filters(document, sides)
                .with("by", self.by_name)
                .with("metric", new.metric.name())
                .with("unit", unit_name(&new.metric))
                .with("scale", self.scale)
                .with("moved", moved.collect::<Vec<_>>())
                .with("verdict", self.verdict.as_deref())
                .with("old_total", total_json(&old.total, &old.metric))
                .with("new_total", total_json(&new.total, &new.metric));
            with_rows(document, rest.len(), self.unchanged)
        };
        let footer = || self.footer(shown.len());
        let files = new.loaded.files(old.loaded, session);
        let text = match &self.verdict {
            _ if shown.is_empty() => Shown::Text(&footer),
            Some(verdict) => Shown::Headed(verdict, &footer),
            None => Shown::Table(&footer),
        };
        let [before, after] = [old, new].map(|side| &side.loaded.profile);
        let is_renamed = !before.generated.is_empty() || !after.generated.is_empty();
        let columns = columns(self.by, &new.amount, &files, session)
            .value_if(is_renamed, "old.generated_name", |row| row.generated_name(before))
            .value_if(is_renamed, "new.generated_name", |row| row.generated_name(after));
        print(session, document, &rows, &columns, &text)
    }

    /// `showing 20 of 31 changed functions, 4 unchanged · old a.mojo: 1.2 s in 120 samples · …`.
    fn footer(&self, shown: usize) -> String {
        let (one, many) = nouns(self.by);
        let (one, many) = (format!("changed {one}"), format!("changed {many}"));
        let changed = showing(shown, self.changes.len(), &one, &many);
        let mut text = format!("{changed}, {} unchanged", count(self.unchanged));
        for (name, side) in [("old", &self.old), ("new", &self.new)] {
            let value = side.amount.show(side.total.get(&side.metric));
            let path = show_path(&side.loaded.input.path);
            text.push_str(&format!(" · {name} {path}: {value} in {}", side.events));
        }
        if let Some(scale) = self.scale {
            text.push_str(&format!(" · old values multiplied by {scale:.4}"));
        }
        text + "\n"
    }
}

/// The same metric in each of two profiles, whose files may number their metrics differently. Fails
/// with a [`UsageError`] if the profiles measure different things.
fn same_metric(
    args: &DiffArgs,
    old: &ProfileInput<'_>,
    new: &ProfileInput<'_>,
) -> Result<(Metric, Metric), UsageError> {
    let metrics = (old.metric(&args.profile)?, new.metric(&args.profile)?);
    if metrics.0.of == metrics.1.of {
        return Ok(metrics);
    }
    let (old, new) = (&old.profile, &new.profile);
    let error = if old.value_types.is_empty() && new.value_types.is_empty() {
        format!(
            "the old profile was recorded in {} mode, the new one in {} mode",
            old.mode.name(),
            new.mode.name()
        )
    } else {
        format!(
            "the old profile measures {}, the new one {}",
            name(metrics.0.name()),
            name(metrics.1.name())
        )
    };
    let hint = "select a metric that both have, such as --metric samples";
    Err(UsageError::new(error).hint(hint))
}
