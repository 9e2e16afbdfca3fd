//! The one-sentence summary of a profile: the hottest function with the caller that matters; and of
//! two profiles: the function that became slower.

use super::top::callees;
use super::{GroupLabel, Groups, ProfileChange, Selected};
use crate::model::profile::{FrameKind, Metric, StackId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// The function that costs most by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct HottestFunction {
    /// The function.
    pub function: GroupLabel,
    /// Its self value.
    pub own: i64,
    /// The sum of all samples.
    pub whole: i64,
    /// The caller that matters. `None` if the function is the outermost one, or has many callers.
    pub caller: Option<Caller>,
    /// If no function stands out: the innermost function that at least half of the whole is below.
    pub below: Option<Caller>,
}

/// A function with its share of a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Caller {
    /// The function.
    pub function: GroupLabel,
    /// The share of the sum, from 0 to 1.
    pub share: f64,
}

/// The function whose self value grew most.
#[derive(Clone, Debug, PartialEq)]
pub struct Slower {
    /// The function.
    pub function: GroupLabel,
    /// Its self values before and now.
    pub own: (i64, i64),
    /// The sums of all samples before and now.
    pub whole: (i64, i64),
    /// The caller that matters in the newer profile.
    pub caller: Option<Caller>,
}

/// Formats the names of functions and amounts for the sentences.
pub struct Words<'a> {
    /// `decode (json.py)`.
    pub name: &'a dyn Fn(&GroupLabel) -> String,
    /// `1.2 s`.
    pub amount: &'a dyn Fn(i64) -> String,
}

/// The minimum self share of a function that stands out.
const STANDS_OUT: f64 = 0.05;

/// The minimum share of the cost of a caller that matters.
const MATTERS: f64 = 0.5;

/// The minimum share of a caller that is named without its share.
const NEARLY_ALL: f64 = 0.99;

/// Finds the hottest function of a profile whose frames are grouped by function. `None` if no
/// function has a cost of its own.
pub fn hottest(
    selected: &Selected<'_>,
    groups: &Groups,
    metric: &Metric,
) -> Option<HottestFunction> {
    let whole = metric.whole(&selected.total);
    let own = own_sums(selected, groups, metric);
    let label = |group: u32| groups.label(group);
    let (group, own) = own
        .into_iter()
        .filter(|(group, sum)| *sum > 0 && !is_idle(&label(*group).name))
        .min_by_key(|(group, sum)| (Reverse(*sum), label(*group)))?;
    let stands_out = whole <= 0 || own as f64 >= STANDS_OUT * whole as f64;
    Some(HottestFunction {
        function: label(group).clone(),
        own,
        whole,
        caller: caller(selected, groups, metric, group),
        below: if stands_out || selected.profile.calls.is_some() {
            None
        } else {
            below(selected, groups, metric)
        },
    })
}

/// Finds the function whose self value grew most between two profiles; `new` is the newer one.
/// `None` if none grew.
pub fn slower(
    changes: &[ProfileChange],
    whole: (i64, i64),
    new: (&Selected<'_>, &Groups),
    metrics: (&Metric, &Metric),
) -> Option<Slower> {
    let change = changes
        .iter()
        .filter(|change| change.own(metrics) > 0 && !is_idle(&change.label.name))
        .min_by_key(|change| (Reverse(change.own(metrics)), &change.label))?;
    let (selected, groups) = new;
    let group = (0..).zip(groups.labels()).find(|(_, label)| **label == change.label);
    let own = |sums: &Option<super::Sums>, metric| sums.as_ref().map_or(0, |it| it.own.get(metric));
    Some(Slower {
        function: change.label.clone(),
        own: (own(&change.old, metrics.0), own(&change.new, metrics.1)),
        whole,
        caller: group.and_then(|(group, _)| caller(selected, groups, metrics.1, group)),
    })
}

impl HottestFunction {
    /// `86.2 %  spin (app.py): 1.3 s of 1.5 s, called by outer (app.py)`.
    pub fn sentence(&self, words: &Words<'_>) -> String {
        let share = percent(self.own, self.whole);
        let function = (words.name)(&self.function);
        let (own, whole) = ((words.amount)(self.own), (words.amount)(self.whole));
        if let Some(below) = &self.below {
            let (name, part) = ((words.name)(&below.function), below.share * 100.0);
            return format!(
                "no function stands out: {function} has {share} by itself; {part:.1} % of {whole} is below {name}"
            );
        }
        format!("{share}  {function}: {own} of {whole}{}", called_by(self.caller.as_ref(), words))
    }

    /// Like [`HottestFunction::sentence`], without the share and the amounts: `spin (app.py) by
    /// itself, called by outer (app.py)`. `None` if no function stands out.
    pub fn message(&self, words: &Words<'_>) -> Option<String> {
        let function = (words.name)(&self.function);
        let caller = called_by(self.caller.as_ref(), words);
        self.below.is_none().then(|| format!("{function} by itself{caller}"))
    }
}

impl Slower {
    /// `+1.2 s (+40.0 %): decode (json.py) +900.0 ms (300.0 ms → 1.2 s), called by handle`.
    pub fn sentence(&self, words: &Words<'_>) -> String {
        let change = |(before, now): (i64, i64)| {
            let change = now.saturating_sub(before);
            format!("{}{}", if change > 0 { "+" } else { "" }, (words.amount)(change))
        };
        let relative = match self.whole {
            (0, _) => String::new(),
            (before, now) => {
                format!(" ({:+.1} %)", (now as f64 - before as f64) / before as f64 * 100.0)
            }
        };
        let (before, now) = ((words.amount)(self.own.0), (words.amount)(self.own.1));
        format!(
            "{}{relative}: {} {} ({before} → {now}){}",
            change(self.whole),
            (words.name)(&self.function),
            change(self.own),
            called_by(self.caller.as_ref(), words)
        )
    }
}

fn called_by(caller: Option<&Caller>, words: &Words<'_>) -> String {
    caller.map_or(String::new(), |caller| {
        let name = (words.name)(&caller.function);
        if caller.share >= NEARLY_ALL {
            format!(", called by {name}")
        } else {
            format!(", {:.1} % of it called by {name}", caller.share * 100.0)
        }
    })
}

fn percent(part: i64, whole: i64) -> String {
    format!("{:.1} %", if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 })
}

/// The self value of each function of the program.
fn own_sums(selected: &Selected<'_>, groups: &Groups, metric: &Metric) -> FxHashMap<u32, i64> {
    let profile = selected.profile;
    let mut own: FxHashMap<u32, i64> = FxHashMap::default();
    for row in selected.rows() {
        let leaf = profile.stacks.leaf(row.stack);
        let Some(frame) = leaf.filter(|frame| is_function(profile.frame(*frame).kind)) else {
            continue;
        };
        let sum = own.entry(groups.of_frame(frame)).or_default();
        *sum = sum.saturating_add(row.values.get(metric));
    }
    own
}

/// The maximum number of frames to follow from a function to its callers.
const FOLLOWED: usize = 500;

/// The caller that matters: the nearest one in the program's own code, if it accounts for most of
/// the function's self cost. In a stack without the program's own code, the nearest caller counts.
fn caller(
    selected: &Selected<'_>,
    groups: &Groups,
    metric: &Metric,
    function: u32,
) -> Option<Caller> {
    let profile = selected.profile;
    if profile.calls.is_some() {
        return direct_caller(selected, groups, metric, function);
    }
    let (mut all, mut by_caller) = (0i64, FxHashMap::<u32, i64>::default());
    let is_own = |frame| {
        let frame = profile.frame(frame);
        let text = |name| profile.names.text(name);
        is_function(frame.kind) && !is_library(text(frame.function), text(frame.file))
    };
    for row in selected.rows() {
        let mut frames = profile.stacks.frames(row.stack).take(FOLLOWED);
        let leaf = frames.next().map(|frame| groups.of_frame(frame));
        let value = row.values.get(metric);
        if leaf != Some(function) || value <= 0 {
            continue;
        }
        all = all.saturating_add(value);
        let mut callers = frames.filter(|frame| groups.of_frame(*frame) != function).peekable();
        let nearest = callers.peek().copied();
        if let Some(caller) = callers.find(|frame| is_own(*frame)).or(nearest) {
            let sum = by_caller.entry(groups.of_frame(caller)).or_default();
            *sum = sum.saturating_add(value);
        }
    }
    largest(by_caller, all, groups)
}

/// The caller with most of a function's inclusive cost, if the profile has calls, not stacks.
fn direct_caller(
    selected: &Selected<'_>,
    groups: &Groups,
    metric: &Metric,
    function: u32,
) -> Option<Caller> {
    let (mut all, mut by_caller) = (0i64, FxHashMap::<u32, i64>::default());
    for call in selected.calls(selected.profile.calls.as_ref()?) {
        let (caller, callee) = (groups.of_frame(call.caller), groups.of_frame(call.callee));
        let value = call.values.get(metric);
        if callee == function && caller != function && value > 0 {
            all = all.saturating_add(value);
            let sum = by_caller.entry(caller).or_default();
            *sum = sum.saturating_add(value);
        }
    }
    largest(by_caller, all, groups)
}

/// The caller with the largest part, if it matters.
fn largest(by_caller: FxHashMap<u32, i64>, all: i64, groups: &Groups) -> Option<Caller> {
    let (group, value) = by_caller
        .into_iter()
        .min_by_key(|(group, value)| (Reverse(*value), groups.label(*group)))?;
    let share = value as f64 / all.max(1) as f64;
    (share >= MATTERS).then(|| Caller { function: groups.label(group).clone(), share })
}

/// The innermost function on the heaviest path that at least half of the whole is below.
fn below(selected: &Selected<'_>, groups: &Groups, metric: &Metric) -> Option<Caller> {
    let stacks = &selected.profile.stacks;
    let (totals, callees) = (totals(selected, metric), callees(stacks));
    let whole = metric.whole(&selected.total) as f64;
    // The stacks that end with the function on the path.
    let (mut path, mut found) = (vec![StackId::EMPTY.0], None);
    loop {
        let mut functions: FxHashMap<u32, (i64, Vec<u32>)> = FxHashMap::default();
        for stack in path.iter().flat_map(|stack| callees.get(*stack)) {
            let Some(frame) = stacks.leaf(StackId(*stack)) else { continue };
            let (sum, list) = functions.entry(groups.of_frame(frame)).or_default();
            *sum = sum.saturating_add(totals[*stack as usize]);
            list.push(*stack);
        }
        // Two may have half each.
        let share = |sum: i64| sum as f64 / whole;
        let heavy = functions.into_iter().filter(|(_, (sum, _))| share(*sum) >= MATTERS);
        let Some((group, (sum, list))) = heavy.min_by_key(|(_, (_, list))| list.first().copied())
        else {
            break;
        };
        (path, found) = (list, Some((group, share(sum))));
    }
    found.map(|(group, share)| Caller { function: groups.label(group).clone(), share })
}

/// By stack: the value of the samples whose stacks begin with it.
fn totals(selected: &Selected<'_>, metric: &Metric) -> Vec<i64> {
    let stacks = &selected.profile.stacks;
    let mut totals = vec![0i64; stacks.len()];
    let mut add = |stack: StackId, value| {
        let total = &mut totals[stack.index()];
        *total = total.saturating_add(value);
        *total
    };
    for row in selected.rows() {
        add(row.stack, row.values.get(metric));
    }
    for stack in stacks.ids().rev() {
        let total = add(stack, 0);
        add(stacks.parent(stack), total);
    }
    totals
}

fn is_function(kind: FrameKind) -> bool {
    matches!(kind, FrameKind::Code | FrameKind::Native | FrameKind::Kernel)
}

/// Whether a name is one of those that V8 gives to time outside of functions.
fn is_idle(name: &str) -> bool {
    matches!(name, "(idle)" | "(program)" | "(root)" | "(garbage collector)")
}

/// Whether a function belongs to a runtime or an installed package, by the places and names that
/// Python, Node.js, Go, Java and Rust give them. Users can change only the callers of such
/// functions.
fn is_library(function: &str, file: &str) -> bool {
    const FOLDERS: [&str; 10] = [
        "site-packages/",
        "dist-packages/",
        "node_modules/",
        "/lib/python",
        "/go/pkg/mod/",
        "/usr/local/go/src/",
        "/.cargo/registry/",
        "/rustc/",
        // The C library, by its own source files.
        "../sysdeps/",
        ".so",
    ];
    const FILES: [&str; 3] = ["<frozen ", "node:", "/usr/lib"];
    const NAMES: [&str; 8] =
        ["java.", "javax.", "jdk.", "sun.", "runtime.", "std::", "core::", "alloc::"];
    FOLDERS.iter().any(|folder| file.contains(folder))
        || FILES.iter().any(|start| file.starts_with(start))
        || NAMES.iter().any(|start| function.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::profile::{CallTree, FrameBy, TopBy, changes, top};
    use crate::model::names::Names;
    use crate::model::profile::{
        Profile, ProfileBuilder, ProfileFrame, ProfileThread, Unit, ValueType, Values,
    };
    use crate::model::stacks::Selection;

    /// A profile of stacks of `function@file`.
    fn profile(stacks: &[(&str, i64)]) -> Profile {
        let mut builder = ProfileBuilder::new(false);
        builder.set_value_types(vec![ValueType { name: "cpu".into(), unit: Unit::Count }], 0);
        let thread = builder.labelled_thread(ProfileThread::named(Names::EMPTY));
        for (frames, value) in stacks {
            let mut stack = StackId::EMPTY;
            for frame in frames.split(';') {
                let (function, file) = frame.split_once('@').unwrap_or((frame, ""));
                let (function, file) =
                    (builder.name(function.as_bytes()), builder.name(file.as_bytes()));
                let kind = FrameKind::Code;
                let frame = builder.frame(ProfileFrame { function, file, line: 0, kind });
                stack = builder.push(stack, frame);
            }
            builder.add(thread, stack, &Values::of_types(1, &[*value]));
        }
        builder.finish()
    }

    const WORDS: Words<'_> = Words {
        name: &|label| match &*label.namespace {
            "" => label.name.to_string(),
            file => format!("{} ({file})", label.name),
        },
        amount: &|value| format!("{value} ms"),
    };

    fn sentence(stacks: &[(&str, i64)]) -> Option<String> {
        let profile = profile(stacks);
        let selected = Selected::of(&profile, &Selection::default());
        let groups = Groups::of(&profile, FrameBy::Function);
        let hottest = hottest(&selected, &groups, &profile.default_metric())?;
        Some(hottest.sentence(&WORDS))
    }

    #[test]
    fn the_caller_is_the_nearest_own_code_in_most_of_the_cost() {
        let stacks = [
            (
                "main@app.py;handle@app.py;loads@/usr/lib/python3/json.py;scan@/usr/lib/python3/json.py",
                60,
            ),
            (
                "main@app.py;load@app.py;loads@/usr/lib/python3/json.py;scan@/usr/lib/python3/json.py",
                20,
            ),
            ("main@app.py;idle@app.py", 20),
        ];
        assert_eq!(
            sentence(&stacks).unwrap(),
            "80.0 %  scan (/usr/lib/python3/json.py): 80 ms of 100 ms, 75.0 % of it called by handle (app.py)"
        );
    }

    #[test]
    fn recursion_and_functions_without_files_have_callers_too() {
        assert_eq!(
            sentence(&[("main;walk;walk;walk", 7), ("main;walk", 2), ("main", 1)]).unwrap(),
            "90.0 %  walk: 9 ms of 10 ms, called by main"
        );
        assert_eq!(sentence(&[("main", 1)]).unwrap(), "100.0 %  main: 1 ms of 1 ms");
        let many: Vec<_> = ["a;f", "b;f", "c;f"].map(|stack| (stack, 1)).to_vec();
        assert_eq!(sentence(&many).unwrap(), "100.0 %  f: 3 ms of 3 ms", "no caller matters");
    }

    #[test]
    fn what_is_spread_does_not_stand_out() {
        let names: Vec<String> = (0..40).map(|n| format!("main;serve;f{n}")).collect();
        let mut stacks: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 2)).collect();
        stacks.extend([("main;log", 3), ("(idle)", 17)]);
        assert_eq!(
            sentence(&stacks).unwrap(),
            "no function stands out: log has 3.0 % by itself; 80.0 % of 100 ms is below serve"
        );
        assert_eq!((sentence(&[]), sentence(&[("(idle)", 5)])), (None, None));
    }

    /// An earlier version searched the path in a tree of all calls.
    #[test]
    fn half_of_all_is_below_the_function_that_a_tree_of_all_calls_has() {
        let mut with = 0;
        for seed in 0..2000_u64 {
            let mut state = seed;
            let mut below = |bound: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % bound
            };
            let mut stacks = Vec::new();
            for _ in 0..1 + below(6) {
                let frames: Vec<String> =
                    (0..1 + below(5)).map(|_| format!("f{}", below(3))).collect();
                stacks.push((frames.join(";"), below(20) as i64));
            }
            let stacks: Vec<_> = stacks.iter().map(|(stack, value)| (&**stack, *value)).collect();
            let profile = profile(&stacks);
            let selected = Selected::of(&profile, &Selection::default());
            let groups = Groups::of(&profile, FrameBy::Function);
            let metric = profile.default_metric();
            let (mut node, mut found) = (0, None);
            for (number, call) in (0..).zip(CallTree::of(&selected, &groups).nodes()).skip(1) {
                let share =
                    call.sums.total.get(&metric) as f64 / metric.whole(&selected.total) as f64;
                if call.parent == node && share >= MATTERS {
                    (node, found) = (number, call.group.map(|group| (groups.label(group), share)));
                }
            }
            with += u32::from(found.is_some());
            let below = super::below(&selected, &groups, &metric);
            assert_eq!(
                below.as_ref().map(|it| (&it.function, it.share)),
                found,
                "seed {seed}: {stacks:?}"
            );
        }
        assert!(with > 1000);
    }

    fn compare(old: &[(&str, i64)], new: &[(&str, i64)]) -> Option<String> {
        let profiles = [profile(old), profile(new)];
        let metric = &profiles[0].default_metric();
        let selected =
            profiles.each_ref().map(|profile| Selected::of(profile, &Selection::default()));
        let groups = Groups::of(&profiles[1], FrameBy::Function);
        let [before, after] =
            selected.each_ref().map(|side| top(side, TopBy::Frames(FrameBy::Function)));
        let [was, is] = selected.each_ref().map(|side| metric.whole(&side.total));
        let metrics = (metric, metric);
        let changes = changes(before, after, metrics);
        let slower = slower(&changes, (was, is), (&selected[1], &groups), metrics)?;
        Some(slower.sentence(&WORDS))
    }

    #[test]
    fn what_became_slower_is_said_with_its_caller() {
        let old = [("main;parse", 50), ("main;scan", 50)];
        let new = [("main;parse", 20), ("main;run;scan", 110)];
        assert_eq!(
            compare(&old, &new).unwrap(),
            "+30 ms (+30.0 %): scan +60 ms (50 ms → 110 ms), called by run"
        );
        assert_eq!(
            compare(&[], &new[1..]).unwrap(),
            "+110 ms: scan +110 ms (0 ms → 110 ms), called by run"
        );
        assert_eq!(compare(&new, &new), None);
    }
}
