//! What functions cost, against a slow and simple way and against the truth of real recordings.

use crate::support::{corpus_folder, files, fixture, json, read};
use dumptool::analysis::profile::{
    CallTree, Focus, FrameBy, GroupLabel, Groups, PruneLimits, Selected, Sums, TopBy, changes,
    places, prune, top,
};
use dumptool::input::{self, Format, load::ProfileOptions};
use dumptool::model::profile::{
    FrameId, FrameKind, Metric, Profile, ProfileBuilder, ProfileFrame, ProfileSample, StackId,
    ThreadId, Values,
};
use dumptool::model::stacks::Selection;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A sample in words: thread, functions from the outermost on, time, memory.
type Line = (u8, Vec<u8>, i64, i64);

fn frame(builder: &mut ProfileBuilder, function: u8, line: u32) -> FrameId {
    let name = builder.name(format!("f{function}").as_bytes());
    let file = builder.name(format!("{}.py", function % 2).as_bytes());
    builder.frame(ProfileFrame { function: name, file, line, kind: FrameKind::Code })
}

fn build(lines: &[Line]) -> Profile {
    let mut builder = ProfileBuilder::new(false);
    for (number, (thread, functions, time, memory)) in lines.iter().enumerate() {
        let name = builder.name(format!("thread {thread}").as_bytes());
        let thread = builder.thread(i128::from(thread % 2), None, name);
        let stack = functions.iter().fold(StackId::EMPTY, |stack, function| {
            // Different lines of a function are one function.
            let frame = frame(&mut builder, *function, number as u32 % 3);
            builder.push(stack, frame)
        });
        let (time, memory) = (Some(*time), Some(*memory));
        builder.sample(&ProfileSample {
            thread,
            stack,
            time,
            memory,
            idle: number.is_multiple_of(4),
            gc: number.is_multiple_of(5),
        });
    }
    builder.finish()
}

fn values(number: usize, (_, _, time, memory): &Line) -> Values {
    let (thread, stack) = (ThreadId(0), StackId::EMPTY);
    let (time, memory) = (Some(*time), Some(*memory));
    Values::of_sample(&ProfileSample {
        thread,
        stack,
        time,
        memory,
        idle: number.is_multiple_of(4),
        gc: number.is_multiple_of(5),
    })
}

fn naive(lines: &[Line], wanted: Option<u8>) -> BTreeMap<u8, Sums> {
    let mut all = BTreeMap::<u8, Sums>::new();
    for (number, line) in
        lines.iter().enumerate().filter(|(_, line)| wanted.is_none_or(|wanted| wanted == line.0))
    {
        let values = values(number, line);
        for function in line.1.iter().collect::<BTreeSet<_>>() {
            all.entry(*function).or_default().total.add(&values);
        }
        if let Some(last) = line.1.last() {
            all.entry(*last).or_default().own.add(&values);
        }
    }
    all
}

fn selected<'a>(profile: &'a Profile, thread: Option<u8>) -> Selected<'a> {
    Selected::of(
        profile,
        &Selection {
            thread: thread.map(|thread| format!("thread {thread}")),
            ..Selection::default()
        },
    )
}

fn function(label: &GroupLabel) -> u8 {
    label.name[1..].parse().unwrap()
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let line = (0u8..3, prop::collection::vec(0u8..6, 0..9), 0i64..1000, -1000i64..1000);
    prop::collection::vec(line, 0..40)
}

fn all_limits() -> PruneLimits {
    PruneLimits { min_share: 0.0, base: 1, depth: u32::MAX, nodes: usize::MAX }
}

proptest! {
    #[test]
    fn functions_cost_what_their_samples_do_however_often_they_recur(lines in lines(), thread in prop::option::of(0u8..3)) {
        let profile = build(&lines);
        let top = top(&selected(&profile, thread), TopBy::Frames(FrameBy::Function));
        let rows: BTreeMap<u8, Sums> = top.rows.iter().map(|row| (function(&row.label), row.sums.clone())).collect();
        prop_assert_eq!(rows, naive(&lines, thread));
    }

    #[test]
    fn files_and_threads_add_up(lines in lines()) {
        let profile = build(&lines);
        let selected = selected(&profile, None);
        for by in [TopBy::Thread, TopBy::Process, TopBy::Frames(FrameBy::File), TopBy::Frames(FrameBy::Line)] {
            let mut sum = if matches!(by, TopBy::Frames(_)) { selected.without_frames.clone() } else { Values::default() };
            top(&selected, by).rows.iter().for_each(|row| sum.add(&row.sums.own));
            prop_assert_eq!(&sum, &selected.total);
        }
        for row in top(&selected, TopBy::Frames(FrameBy::File)).rows {
            let parity: u8 = row.label.name[..1].parse().unwrap();
            let inside = lines.iter().enumerate().filter(|(_, line)| line.1.iter().any(|function| function % 2 == parity));
            let mut sum = Values::default();
            inside.for_each(|(number, line)| sum.add(&values(number, line)));
            prop_assert_eq!(row.sums.total, sum);
        }
    }

    #[test]
    fn several_functions_cost_together_what_any_of_them_is_in(lines in lines(), chosen in prop::collection::btree_set(0u8..6, 0..4)) {
        let profile = build(&lines);
        let selected = selected(&profile, None);
        let groups = Groups::of(&profile, FrameBy::Function);
        let wanted: Vec<bool> = groups.labels().iter().map(|label| chosen.contains(&function(label))).collect();
        let sums = selected.together(&groups, &wanted, &selected.under());
        let mut expected = Sums::default();
        for (number, line) in lines.iter().enumerate() {
            if line.1.iter().any(|function| chosen.contains(function)) {
                expected.total.add(&values(number, line));
            }
            if line.1.last().is_some_and(|last| chosen.contains(last)) {
                expected.own.add(&values(number, line));
            }
        }
        prop_assert_eq!(&sums, &expected);
        let focus = Focus::of(&selected, &groups, &wanted);
        prop_assert_eq!(&focus.callees.node(0).sums.total, &expected.total);
        prop_assert_eq!(&focus.callers.node(0).sums.total, &expected.total);
    }

    #[test]
    fn call_paths_cost_what_the_stacks_do_that_begin_so(lines in lines()) {
        let profile = build(&lines);
        let groups = Groups::of(&profile, FrameBy::Function);
        let tree = CallTree::of(&selected(&profile, None), &groups);
        let mut expected = BTreeMap::<Vec<u8>, Sums>::new();
        for (number, line) in lines.iter().enumerate() {
            let values = values(number, line);
            (0..=line.1.len()).for_each(|depth| expected.entry(line.1[..depth].to_vec()).or_default().total.add(&values));
            expected.entry(line.1.clone()).or_default().own.add(&values);
        }
        expected.entry(Vec::new()).or_default();
        let pruned = prune(&tree, &Metric::SAMPLES, &all_limits());
        let mut path = Vec::new();
        let mut found = BTreeMap::new();
        for pruned in &pruned {
            let node = tree.node(pruned.node);
            path.truncate((pruned.depth as usize).saturating_sub(1));
            path.extend(node.group.map(|group| function(groups.label(group))));
            prop_assert!(pruned.omitted == 0 && path.len() == pruned.depth as usize);
            prop_assert_eq!(found.insert(path.clone(), node.sums), None);
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn callers_are_the_stacks_above_the_outermost_call(lines in lines(), chosen in 0u8..6) {
        let profile = build(&lines);
        let groups = Groups::of(&profile, FrameBy::Function);
        let wanted: Vec<bool> = groups.labels().iter().map(|label| function(label) == chosen).collect();
        let focus = Focus::of(&selected(&profile, None), &groups, &wanted);
        let mut expected = BTreeMap::<Vec<u8>, Values>::new();
        for (number, line) in lines.iter().enumerate() {
            let Some(at) = line.1.iter().position(|function| *function == chosen) else { continue };
            let callers: Vec<u8> = line.1[..at].iter().rev().copied().collect();
            (0..=at).for_each(|depth| expected.entry(callers[..depth].to_vec()).or_default().add(&values(number, line)));
        }
        expected.entry(Vec::new()).or_default();
        let mut paths: Vec<Vec<u8>> = Vec::new();
        let mut found = BTreeMap::new();
        for node in focus.callers.nodes() {
            let mut path = if node.group.is_some() { paths[node.parent as usize].clone() } else { Vec::new() };
            path.extend(node.group.map(|group| function(groups.label(group))));
            found.insert(path.clone(), node.sums.total);
            paths.push(path);
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn what_is_left_out_of_a_tree_is_said(lines in lines(), nodes in 1usize..12, depth in 0u32..5, percent in 0u8..40) {
        let profile = build(&lines);
        let groups = Groups::of(&profile, FrameBy::Function);
        let tree = CallTree::of(&selected(&profile, None), &groups);
        let base = tree.node(0).sums.total.get(&Metric::TIME);
        let limits = PruneLimits { min_share: f64::from(percent) / 100.0, base, depth, nodes };
        let pruned = prune(&tree, &Metric::TIME, &limits);
        prop_assert!(pruned.len() <= nodes && pruned.iter().all(|node| node.depth <= depth));
        let kept: BTreeSet<u32> = pruned.iter().map(|pruned| pruned.node).collect();
        prop_assert_eq!(kept.len(), pruned.len());
        for pruned in pruned {
            let children = (1..tree.len() as u32).filter(|child| tree.node(*child).parent == pruned.node);
            let gone: Vec<_> = children.filter(|child| !kept.contains(child)).map(|child| tree.node(child)).collect();
            prop_assert_eq!(pruned.omitted, gone.len() as u64);
            prop_assert_eq!(pruned.omitted_value, gone.iter().map(|node| node.sums.total.time()).sum::<i64>());
        }
    }

    #[test]
    fn places_are_in_the_heaviest_stack_of_a_function(lines in lines()) {
        let profile = build(&lines);
        let selected = selected(&profile, None);
        let groups = Groups::of(&profile, FrameBy::Function);
        for (group, place) in (0u32..).zip(places(&selected, &groups, &Metric::TIME)) {
            let has = |stack| profile.stacks.frames(stack).any(|frame| groups.of_frame(frame) == group);
            let heaviest = profile.aggregate.iter().filter(|row| has(row.stack)).map(|row| row.values.time()).max();
            let place = place.map(|place| {
                let frames: Vec<_> = profile.stacks.frames(place.until).collect();
                assert_eq!((groups.of_frame(frames[0]), frames.len()), (group, place.depth as usize));
                let row = profile.aggregate.iter().find(|row| row.thread == place.thread && row.stack == place.stack);
                row.unwrap().values.time()
            });
            prop_assert_eq!(place, heaviest);
        }
    }

    #[test]
    fn changes_are_of_both_profiles(old in lines(), new in lines()) {
        let (old_profile, new_profile) = (build(&old), build(&new));
        let by = TopBy::Frames(FrameBy::Function);
        let changes = changes(top(&selected(&old_profile, None), by), top(&selected(&new_profile, None), by), (&Metric::MEMORY, &Metric::MEMORY));
        let side = |read: fn(&dumptool::analysis::profile::ProfileChange) -> Option<Sums>| {
            changes.iter().filter_map(|change| Some((function(&change.label), read(change)?))).collect::<BTreeMap<u8, Sums>>()
        };
        prop_assert_eq!(side(|change| change.old.clone()), naive(&old, None));
        prop_assert_eq!(side(|change| change.new.clone()), naive(&new, None));
        prop_assert!(changes.is_sorted_by_key(|change| std::cmp::Reverse(change.own((&Metric::MEMORY, &Metric::MEMORY)).unsigned_abs())));
    }
}

#[test]
fn very_deep_stacks_take_linear_time() {
    let mut builder = ProfileBuilder::new(false);
    let name = builder.name(b"deep");
    let thread = builder.thread(1, None, name);
    let mut stack = StackId::EMPTY;
    for number in 0..60_000u32 {
        let frame = frame(&mut builder, (number % 200) as u8, number);
        stack = builder.push(stack, frame);
        builder.sample(&ProfileSample {
            thread,
            stack,
            time: Some(1),
            memory: None,
            idle: false,
            gc: false,
        });
    }
    let profile = builder.finish();
    let selected = selected(&profile, None);
    for by in [FrameBy::Function, FrameBy::Line, FrameBy::File] {
        assert!(!top(&selected, TopBy::Frames(by)).rows.is_empty());
    }
    let groups = Groups::of(&profile, FrameBy::Function);
    let tree = CallTree::of(&selected, &groups);
    assert_eq!(prune(&tree, &Metric::TIME, &all_limits()).len(), 60_001);
    let wanted = vec![true; groups.labels().len()];
    assert_eq!(Focus::of(&selected, &groups, &wanted).callees.len(), 60_001);
    assert_eq!(places(&selected, &groups, &Metric::TIME).len(), 200);
}

type Read = fn(&Sums) -> Values;

/// Values by the names of the independent decoder.
fn assert_values(truth: &Value, values: &Values, what: &str) {
    for (name, actual) in [
        ("samples", values.get(&Metric::SAMPLES)),
        ("time", values.time()),
        ("cpu_time", values.get(&Metric::CPU)),
        ("mem", values.get(&Metric::MEMORY)),
        ("mem_pos", values.get(&Metric::MEMORY_GAINED)),
        ("mem_neg", values.get(&Metric::MEMORY_FREED)),
        ("idle_samples", values.idle_samples() as i64),
        ("idle_time", values.idle_time()),
        ("gc_samples", values.gc_samples() as i64),
        ("gc_time", values.gc_time()),
    ] {
        assert!(
            truth[name].is_null() || truth[name] == actual,
            "{name} of {what}: {actual}, not {}",
            truth[name]
        );
    }
}

fn assert_truth(truth: &Value, profile: &Profile, what: &str) {
    let selected = selected(profile, None);
    assert_values(&truth["totals"], &selected.total, what);
    let threads = top(&selected, TopBy::Thread);
    assert_eq!(threads.rows.len(), truth["threads"].as_object().unwrap().len(), "{what}");
    for row in threads.rows {
        assert_values(
            &truth["threads"][&*row.label.name],
            &row.sums.own,
            &format!("{} of {what}", row.label.name),
        );
        assert!(truth["threads"][&*row.label.name].is_object(), "{} of {what}", row.label.name);
    }
    let functions = top(&selected, TopBy::Frames(FrameBy::Function));
    let by_name: BTreeMap<String, Sums> = functions
        .rows
        .iter()
        .map(|row| {
            let GroupLabel { name, namespace, .. } = &row.label;
            // People see something where the file has nothing.
            let name = if &**name == "<unnamed>" { "" } else { &**name };
            (
                if namespace.is_empty() {
                    name.to_string()
                } else {
                    format!("{name} ({namespace})")
                },
                row.sums.clone(),
            )
        })
        .collect();
    let read: [(&str, Read); 2] =
        [("top_self", |sums| sums.own.clone()), ("top_total", |sums| sums.total.clone())];
    for (key, read) in read {
        let rows = truth[key].as_array().unwrap();
        for row in rows {
            let name = row[0].as_str().unwrap();
            let sums = by_name
                .get(name)
                .or_else(|| by_name.get(name.strip_suffix(" ()")?))
                .unwrap_or_else(|| panic!("{name} of {what} is not there"));
            assert_values(&row[1], &read(sums), &format!("{key} of {name} of {what}"));
        }
    }
    // The decoder leaves out what could not be unwound; here it is a row.
    let known = by_name.keys().filter(|name| *name != "<invalid>").count();
    assert_eq!(truth["functions"], known, "{what}");
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn functions_of_real_recordings_cost_what_an_independent_decoder_says_in_the_corpus() {
    let folder = corpus_folder("mojo");
    let recordings = files(&folder);
    let recordings: Vec<_> =
        recordings.iter().filter(|path| path.to_string_lossy().contains(".mojo")).collect();
    let mut compared = 0;
    for path in recordings {
        let truth = path.to_string_lossy().replace(".zst", "").replace(".mojo", ".json");
        if !std::path::Path::new(&truth).exists() {
            continue;
        }
        let profile = load(path);
        assert_truth(&json(truth.as_ref()), &profile, &path.display().to_string());
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
}

fn load(path: &std::path::Path) -> Profile {
    input::load_profile(Format::Mojo, &read(path), ProfileOptions::default()).unwrap().profile
}

/// Numbers of the independent decoder, for those who have no corpus.
#[test]
fn functions_of_fixtures_cost_what_an_independent_decoder_says() {
    let memory = load(&fixture("mojo/tiny-3.6.0-memory-mem.mojo"));
    let threads = load(&fixture("mojo/tiny-3.5.0-full-thr.mojo"));
    let collected = load(&fixture("mojo/tiny-4.0.0-full-gc-mem.mojo"));
    let (own, total): (Read, Read) = (|sums| sums.own.clone(), |sums| sums.total.clone());
    for (profile, name, file, read, metric, expected) in [
        (&memory, "main", "mem.py", own, Metric::MEMORY, -173_604_864),
        (&memory, "main", "mem.py", total, Metric::MEMORY, 4_636_672),
        (&memory, "grow", "mem.py", total, Metric::MEMORY_GAINED, 212_496_384),
        (&memory, "grow", "mem.py", total, Metric::MEMORY_FREED, 28_667_904),
        (&memory, "grow", "mem.py", total, Metric::SAMPLES, 201),
        (&threads, "spin.<locals>.<genexpr>", "thr.py", own, Metric::TIME, 743_483),
        (&threads, "spin.<locals>.<genexpr>", "thr.py", own, Metric::CPU, 473_812),
        (&threads, "sleeper", "thr.py", own, Metric::CPU, 0),
        (&threads, "Thread._bootstrap", "threading.py", total, Metric::CPU, 725_571),
        (&collected, "cyc", "gcw.py", own, Metric::GC, 67_291),
        (&collected, "<module>", "gcw.py", total, Metric::GC, 572_102),
    ] {
        let rows = top(&selected(profile, None), TopBy::Frames(FrameBy::Function)).rows;
        let row = rows
            .iter()
            .find(|row| *row.label.name == *name && row.label.namespace.ends_with(file))
            .unwrap();
        assert_eq!(read(&row.sums).get(&metric), expected, "{name} {metric:?}");
    }
}

/// Java's sums of allocations may have bytes of no instances. Rows, trees and callers had only what
/// has samples.
#[test]
fn bytes_without_samples_are_somebodys() {
    let mut builder = ProfileBuilder::new(false);
    let name = builder.name(b"main");
    let thread = builder.thread(0, None, name);
    let [caller, allocates] = [0, 1].map(|function| frame(&mut builder, function, 1));
    let caller = builder.push(StackId::EMPTY, caller);
    let stack = builder.push(caller, allocates);
    let bytes = Values::of_counts(0, 4096, 0);
    builder.add(thread, stack, &bytes);
    let profile = builder.finish();

    let selected = selected(&profile, None);
    let rows = top(&selected, TopBy::Frames(FrameBy::Function)).rows;
    let own: Vec<_> = rows.iter().map(|row| (&*row.label.name, row.sums.own.clone())).collect();
    assert_eq!(own, [("f0", Values::default()), ("f1", bytes.clone())]);

    let groups = Groups::of(&profile, FrameBy::Function);
    let limits = PruneLimits { min_share: 0.01, base: 4096, depth: u32::MAX, nodes: usize::MAX };
    let wanted: Vec<bool> = groups.labels().iter().map(|label| &*label.name == "f1").collect();
    for tree in [CallTree::of(&selected, &groups), Focus::of(&selected, &groups, &wanted).callers] {
        assert_eq!(prune(&tree, &Metric::MEMORY_GAINED, &limits).len(), tree.len());
        assert_eq!(tree.nodes().last().unwrap().sums.total, bytes);
    }
}
