//! `find` of profiles: functions with their costs and places.

use crate::analysis::profile::{
    FrameBy, GroupLabel, Groups, Pattern, Place, Selected, TopBy, TopRow, places, top,
};
use crate::cli::args::FindArgs;
use crate::cli::open::Input;
use crate::cli::print::{Align, Document, Shown, Value, print};
use crate::cli::profile::{
    Amount, ShortFiles, cost_columns, given_pattern, load_profile, no_function, nouns, refuse_tag,
    stack_text, total_json, unit_name, whole, with_filters,
};
use crate::cli::session::Session;
use crate::cli::size::showing;
use crate::cli::status::{Status, UsageError};
use crate::model::profile::Profile;
use std::collections::HashMap;

/// Maximum number of frames of an example: those next to the function.
const EXAMPLE: usize = 64;

pub(super) fn run(args: &FindArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    refuse_tag(&args.profile, "find")?;
    let loaded = load_profile(input, &args.profile, session)?;
    let profile = &loaded.profile;
    let metric = &loaded.metric(&args.profile)?;
    let selected = Selected::of(profile, &loaded.selection);
    let by = if args.line.is_some() { FrameBy::Line } else { FrameBy::Function };
    let mut found = top(&selected, TopBy::Frames(by));
    let wanted = Wanted::of(args)?;
    found.rows.retain(|row| wanted.has(&row.label));
    found.sort(metric, true);
    let (rows, rest) = session.shown(&found.rows, args.limit, 20);
    let groups = Groups::of(profile, by);
    if found.rows.is_empty() {
        wanted.check(args, groups.labels())?;
    }
    let places = places(&selected, &groups, metric);
    let of_label: HashMap<&GroupLabel, &Option<Place>> =
        groups.labels().iter().zip(&places).collect();
    let place = |row: &TopRow| of_label.get(&row.label).copied().copied().flatten();
    let document = || {
        with_filters(Document::new("dumptool/find/1", &input.path), [("samples", &loaded)])
            .with("metric", metric.name())
            .with("unit", unit_name(metric))
            .with("total", total_json(&selected.total, metric))
            .rows("rows")
            .with("omitted", Value::from([("rows", rest.len().into())]))
    };
    let amount = &Amount::new(metric, metric.whole(&selected.total), session.common.bytes);
    let files = ShortFiles::of_profile(profile, session.common.verbose);
    let thread =
        |row: &TopRow| place(row).map(|place| profile.thread(place.thread).label(&profile.names));
    let columns = cost_columns(session, profile, metric)
        .cell("own", "SELF", Align::Right, move |row| amount.show(row.sums.own.get(metric)))
        .cell("sum", "TOTAL", Align::Right, move |row| amount.show(row.sums.total.get(metric)))
        .cell("share", "SHARE", Align::Right, move |row| amount.percent(row.sums.total.get(metric)))
        .cell("function", "FUNCTION", Align::Left, |row| {
            files.name(&row.label.name, &row.label.namespace, row.label.line)
        })
        .bold()
        .json("example", |row| place(row).map(|place| example(&place, profile)))
        .flat("thread", "", thread)
        .flat("stack", "", |row| place(row).map(|place| stack(&place, profile).join(";")))
        .cell("place", "MOSTLY IN", Align::Left, |row| {
            place(row)
                .map(|place| stack_text(profile, &place, session.common.verbose))
                .unwrap_or_default()
        })
        .table(&["own", "sum", "share", "function", "place"])
        .minor(&["share"]);
    let nouns = nouns(TopBy::Frames(by));
    let none = || format!("no {} found\n", nouns.0);
    let footer = || {
        let (which, events) =
            (how_many(rows.len(), found.rows.len(), nouns), loaded.events(&selected));
        format!("{which}; shares of {} · {events}\n", whole(&selected.total, metric, amount))
    };
    let text = if rows.is_empty() { Shown::Text(&none) } else { Shown::Table(&footer) };
    print(session, document, rows, &columns, &text)?;
    Ok(loaded.report(session))
}

/// Describes how many of the functions that were found are shown.
fn how_many(shown: usize, found: usize, (one, many): (&str, &str)) -> String {
    let all = if shown == found { "all " } else { "" };
    format!("{all}{} found", showing(shown, found, one, many))
}

/// The conditions on functions to find.
struct Wanted {
    function: Option<Pattern>,
    file: Option<Pattern>,
    exclude: Option<Pattern>,
    line: Option<u32>,
}

impl Wanted {
    fn of(args: &FindArgs) -> Result<Self, UsageError> {
        Ok(Self {
            function: given_pattern("PATTERN", args.name())?,
            file: given_pattern("--namespace", args.namespace.as_ref())?,
            exclude: given_pattern("--exclude", args.exclude.as_ref())?,
            line: args.line,
        })
    }

    /// Refuses names that no function of the profile has.
    fn check(&self, args: &FindArgs, labels: &[GroupLabel]) -> Result<(), UsageError> {
        if labels.iter().any(|label| self.names(label)) {
            return Ok(());
        }
        let pattern = args.name();
        let has_pattern =
            |label: &GroupLabel| self.function.as_ref().is_none_or(|name| name.matches(label));
        if let Some(pattern) = pattern.filter(|_| !labels.iter().any(has_pattern)) {
            return Err(no_function(pattern, labels));
        }
        let others = [("--namespace", &args.namespace), ("--exclude", &args.exclude)];
        let others = others.map(|(option, glob)| Some(format!("{option} {}", glob.as_ref()?)));
        let all = pattern.cloned().into_iter().chain(others.into_iter().flatten());
        let all = all.collect::<Vec<_>>().join(" with ");
        Err(UsageError::new(format!("no function matches {all}"))
            .hint("`dumptool top -n 0` lists all functions"))
    }

    /// Whether a function has a name and a file that are wanted.
    fn names(&self, label: &GroupLabel) -> bool {
        self.function.as_ref().is_none_or(|pattern| pattern.matches(label))
            && self.file.as_ref().is_none_or(|pattern| pattern.matches_path(&label.namespace))
            && self
                .exclude
                .as_ref()
                .is_none_or(|not| !not.matches(label) && !not.matches_path(&label.namespace))
    }

    fn has(&self, label: &GroupLabel) -> bool {
        self.names(label) && (self.line.is_none() || self.line == label.line)
    }
}

/// The stack with most of the cost of a function, in JSON.
fn example(place: &Place, profile: &Profile) -> Value<'static> {
    let stack: Vec<Value> = stack(place, profile).into_iter().map(Value::from).collect();
    let omitted = u64::from(place.depth).saturating_sub(EXAMPLE as u64);
    let thread = profile.thread(place.thread).label(&profile.names);
    Value::from([("thread", thread.into()), ("stack", stack.into()), ("omitted", omitted.into())])
}

/// The frames of a place, outermost first, up to the function itself.
fn stack(place: &Place, profile: &Profile) -> Vec<String> {
    let frames = profile.stacks.frames(place.until).take(EXAMPLE).map(|id| {
        let frame = profile.frame(id);
        match profile.names.text(frame.file) {
            "" => profile.function_name(id).to_owned(),
            file => format!("{file}:{}:{}", profile.function_name(id), frame.line),
        }
    });
    let mut stack: Vec<_> = frames.collect();
    stack.reverse();
    stack
}
