//! Call graphs against what `callgrind_annotate` prints, and against damage.

use crate::support::{broken, damage, fixture, json, records};
use dumptool::analysis::profile::{
    Focus, FrameBy, GroupLabel, Groups, Selected, Top, TopBy, estimate_stacks, top,
};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::{Profile, StackId};
use dumptool::model::stacks::Selection;
use dumptool::source::Source;
use std::collections::BTreeMap;

fn bytes(name: &str) -> Vec<u8> {
    Source::open(&fixture(&format!("native/{name}"))).unwrap().bytes().to_vec()
}

fn load(bytes: &[u8]) -> Profile {
    assert_eq!(dumptool::detect::detect(bytes).unwrap(), Format::Callgrind);
    let loaded = input::load_profile(Format::Callgrind, bytes, ProfileOptions::default()).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.profile
}

fn top_of(profile: &Profile, by: FrameBy) -> Top {
    top(&Selected::of(profile, &Selection::default()), TopBy::Frames(by))
}

/// Own and total costs by function, in the main metric.
fn costs(profile: &Profile) -> BTreeMap<String, (i64, i64)> {
    let metric = profile.default_metric();
    let rows = top_of(profile, FrameBy::Function).rows.into_iter();
    rows.map(|row| {
        let costs = (row.sums.own.get(&metric), row.sums.total.get(&metric));
        (row.label.name.to_string(), costs)
    })
    .collect()
}

/// The rows `COST (PERCENT)  file:function [object]` of `callgrind_annotate`, which cuts the
/// paths of the folder in which it runs.
fn annotated(name: &str) -> Vec<(i64, String, String)> {
    let text = std::fs::read_to_string(fixture(&format!("native/truth/{name}"))).unwrap();
    let row = |line: &str| {
        let (cost, rest) = line.split_once('(').unwrap();
        let cost = cost.trim().replace(',', "").parse().unwrap();
        let rest = rest.split_once(")  ").unwrap().1;
        let (place, object) = match rest.rsplit_once(" [") {
            Some((place, object)) => (place, object.trim_end_matches(']')),
            None => (rest, ""),
        };
        let (file, function) = place.split_once(':').unwrap();
        let file = if file == "???" { object } else { file };
        (cost, file.to_owned(), function.to_owned())
    };
    text.lines().map(row).collect()
}

#[test]
fn own_costs_are_those_of_callgrind_annotate() {
    let profile = load(&bytes("callgrind.out.zst"));
    let metric = profile.default_metric();
    assert_eq!(profile.total.get(&metric), 18_270_249);
    // It lists inlined code apart from the function, by the file of the line.
    let mut own: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for row in profile.aggregate.iter() {
        let frame = profile.frame(profile.stacks.leaf(row.stack).unwrap());
        let key = (profile.names.text(frame.file), profile.names.text(frame.function));
        *own.entry(key).or_default() += row.values.get(&metric);
    }
    let expected = annotated("callgrind_annotate.txt");
    assert!(expected.len() > 30);
    for (cost, file, function) in expected {
        let of =
            |((path, name), _): &(&(&str, &str), &i64)| path.ends_with(&file) && *name == function;
        assert_eq!(own.iter().find(of).map(|(_, own)| *own), Some(cost), "{file}:{function}");
    }
}

#[test]
fn total_costs_are_those_of_callgrind_annotate() {
    let profile = load(&bytes("callgrind.out.zst"));
    let metric = profile.default_metric();
    let rows = top_of(&profile, FrameBy::Function).rows;
    let (mut equal, mut inlined) = (0, 0);
    for (cost, file, function) in annotated("callgrind_annotate.inclusive.txt") {
        let is_meant =
            |label: &GroupLabel| label.namespace.ends_with(&file) && *label.name == *function;
        match rows.iter().find(|row| is_meant(&row.label)) {
            Some(row) if row.sums.total.get(&metric) == cost => equal += 1,
            // It splits main, because it cuts the path of the file in some places only.
            Some(_) => assert_eq!((&*function, cost), ("main", 16_482_840)),
            None => inlined += 1,
        }
    }
    assert_eq!((equal, inlined), (31, 8));
    let costs = costs(&profile);
    assert_eq!(costs["build_index(int)"], (1_676_757, 5_681_520));
    assert_eq!(costs["main"].1, 16_490_548);
}

#[test]
fn callers_and_callees_of_a_call_graph_are_direct() {
    let profile = load(&bytes("callgrind.out.zst"));
    let selected = Selected::of(&profile, &Selection::default());
    let groups = Groups::of(&profile, FrameBy::Function);
    let wanted: Vec<bool> = groups.labels().iter().map(|label| &*label.name == "malloc").collect();
    let focus = Focus::of(&selected, &groups, &wanted);
    let metric = profile.default_metric();
    let costs = |tree: &dumptool::analysis::profile::CallTree, depth: u32| {
        let of = |node: &dumptool::analysis::profile::CallNode| {
            let group = node.group?;
            let below = tree.node(node.parent).group.is_some();
            (below == (depth == 2))
                .then(|| (groups.label(group).name.to_string(), node.sums.total.get(&metric)))
        };
        tree.nodes().filter_map(|node| of(&node)).collect::<BTreeMap<_, _>>()
    };
    let callers = costs(&focus.callers, 1);
    assert_eq!(callers["operator new(unsigned long)"], 837_544);
    assert_eq!(callers.values().sum::<i64>(), 873_580);
    let callees = costs(&focus.callees, 2);
    assert_eq!(callees.values().sum::<i64>() + 363_288, 873_580);
}

#[test]
fn xdebug_counts_tens_of_nanoseconds() {
    let bytes = bytes("cachegrind.out.php.zst");
    let profile = load(&bytes);
    let metric = profile.default_metric();
    assert_eq!((metric.name(), metric.unit().name()), ("time", "nanoseconds"));
    assert!(profile.metric("memory").is_some());
    let costs = costs(&profile);
    assert_eq!(costs["{main}"].1, profile.total.get(&metric));
    // fib calls itself only.
    assert_eq!(costs["fib"].0, costs["fib"].1);
    assert!(broken(Format::Callgrind, &bytes).is_empty());
}

#[test]
fn each_thread_of_callgrind_has_its_name() {
    let profile = load(&bytes("callgrind.threads.out-02.zst"));
    let names: Vec<_> = profile.threads.iter().map(|of| of.label(&profile.names)).collect();
    assert_eq!(names, ["2"]);
    assert_eq!(profile.total.get(&profile.default_metric()), 27_080);
}

const SMALL: &str = "version: 1\ncreator: x\npositions: instr line\nevents: Ir Dr\n\n\
    ob=(1) /lib/a\nfl=(1) a.c\nfn=(1) main\n0x10 5 7 1\n+4 +1 2\nfi=(2) a.h\n* 90 3\nfe=(1)\n\
    cfi=(2)\ncfn=(2) f\ncalls=3 0x80 4\n+4 6 40 8\njump=2 0x10 5\n* *\n\
    fl=(2)\nfn=(2)\n0x80 4 40 8\n\ntotals: 52 9\n";

#[test]
fn positions_and_names_may_be_compressed() {
    let profile = load(SMALL.as_bytes());
    assert_eq!(
        costs(&profile),
        BTreeMap::from([("main".into(), (12, 52)), ("f".into(), (40, 40))])
    );
    let metric = profile.default_metric();
    let lines: Vec<_> = top_of(&profile, FrameBy::Line)
        .rows
        .into_iter()
        .map(|row| {
            let GroupLabel { namespace, line, .. } = row.label;
            (
                namespace.to_string(),
                line.unwrap(),
                row.sums.own.get(&metric),
                row.sums.total.get(&metric),
            )
        })
        .collect();
    let line = |file: &str, line, own, total| (file.to_owned(), line, own, total);
    assert_eq!(
        lines,
        [
            line("a.c", 5, 7, 7),
            line("a.c", 6, 2, 42),
            line("a.h", 90, 3, 3),
            line("a.h", 4, 40, 40),
        ]
    );
    let calls = profile.calls.as_ref().unwrap().calls();
    assert_eq!((calls.len(), calls[0].count), (1, 3));
    assert!(broken(Format::Callgrind, SMALL.as_bytes()).is_empty());
    let wrong = SMALL.replace("totals: 52", "totals: 53");
    assert_eq!(broken(Format::Callgrind, wrong.as_bytes()), ["totals.sum"]);
    assert_eq!(records(Format::Callgrind, SMALL.as_bytes()).0.len(), 22);
}

/// A function with its own cost, and the functions that it calls with the costs of the calls.
type Function<'a> = (&'a str, u64, &'a [(&'a str, u64)]);

fn graph(functions: &[Function<'_>]) -> Profile {
    let mut text = "version: 1\ncreator: x\nevents: Ir\n".to_owned();
    for (name, own, calls) in functions {
        text += &format!("fn={name}\n1 {own}\n");
        for (callee, cost) in *calls {
            text += &format!("cfn={callee}\ncalls=1 1\n1 {cost}\n");
        }
    }
    load(text.as_bytes())
}

#[test]
fn functions_that_call_each_other_have_an_upper_bound() {
    // main calls a, which calls b, which calls a again: of 10 + 20 + 30 in all.
    let profile = graph(&[
        ("main", 10, &[("a", 50)]),
        ("a", 20, &[("b", 45), ("c", 5)]),
        ("b", 25, &[("a", 15)]),
        ("c", 5, &[("c", 4)]),
    ]);
    let top = top_of(&profile, FrameBy::Function);
    assert_eq!(top.bounds, 2);
    let costs = costs(&profile);
    assert_eq!((costs["main"], costs["c"]), ((10, 60), (5, 5)));
    assert_eq!((costs["a"].1, costs["b"].1), (50, 40), "at most 50 for both");
}

#[test]
fn estimated_stacks_keep_own_costs() {
    for name in ["callgrind.out.zst", "cachegrind.out.php.zst"] {
        let profile = load(&bytes(name));
        let estimated = estimate_stacks(&profile);
        assert!(estimated.calls.is_none());
        assert_eq!(estimated.total, profile.total);
        let metric = profile.default_metric();
        let own = |profile: &Profile| {
            let rows = top_of(profile, FrameBy::Function).rows.into_iter();
            rows.map(|row| (row.label, row.sums.own.get(&metric)))
                .filter(|(_, own)| *own != 0)
                .collect::<BTreeMap<_, _>>()
        };
        assert_eq!(own(&estimated), own(&profile), "{name}");
    }
}

#[test]
fn estimated_stacks_are_in_proportion_to_the_calls() {
    let profile = graph(&[
        ("main", 0, &[("a", 30), ("b", 70)]),
        ("a", 0, &[("f", 30)]),
        ("b", 10, &[("f", 60)]),
        ("f", 90, &[]),
    ]);
    let estimated = estimate_stacks(&profile);
    let metric = estimated.default_metric();
    let stack = |stack: StackId| {
        let mut frames = Vec::new();
        estimated.stacks.outermost_first(stack, &mut frames);
        let names: Vec<_> = frames.iter().map(|frame| estimated.function_name(*frame)).collect();
        names.join(";")
    };
    let stacks: BTreeMap<String, i64> =
        estimated.aggregate.iter().map(|row| (stack(row.stack), row.values.get(&metric))).collect();
    let expected = [("main;a;f", 30), ("main;b", 10), ("main;b;f", 60)];
    assert_eq!(stacks, expected.map(|(stack, cost)| (stack.to_owned(), cost)).into());
}

#[test]
fn a_call_graph_that_was_written_is_read_again() {
    let dump = dumptool::open(fixture("native/heaptrack.store.zst")).unwrap();
    let mut out = Vec::new();
    dump.convert("callgrind", &mut out).unwrap();
    let profile = load(&out);
    let metric = profile.metric("leaked_bytes").unwrap();
    let all = top_of(&profile, FrameBy::Function).rows;
    let of = |name: &str| {
        let row = all.iter().find(|row| &*row.label.name == name).unwrap();
        (row.sums.own.get(&metric), row.sums.total.get(&metric))
    };
    let truth = json(&fixture("native/store.truth.json"));
    assert_eq!(of("recurse(int)").1, truth["recurse"]["live"].as_i64().unwrap());
    assert_eq!(of("grow(int)").0, truth["grow"]["live"].as_i64().unwrap());
}

#[test]
fn top_says_whether_there_are_no_calls_or_none_were_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.callgrind");
    for (calls, footer) in [
        ("", "100.0 % of 12 Ir; no calls, so that TOTAL is SELF\n"),
        ("cfn=b\ncalls=0 1\n1 7\n", "100.0 % of 12 Ir · uncounted calls\n"),
    ] {
        let text = format!("version: 1\nevents: Ir\nfn=a\n1 5\n{calls}fn=b\n1 7\n");
        std::fs::write(&path, text).unwrap();
        let mut top = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
        let text = top.arg("top").arg(&path).output().unwrap().stdout;
        let text = String::from_utf8(text).unwrap();
        assert!(text.ends_with(footer), "{text}");
    }
}

#[test]
fn a_call_graph_has_no_stacks_to_convert() {
    let dump = dumptool::open(fixture("native/callgrind.out.zst")).unwrap();
    let error = dump.convert("folded", &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("no stacks"), "{error}");
}

#[test]
fn damaged_call_graphs_give_what_they_have() {
    for name in ["callgrind.threads.out-02.zst", "cachegrind.out.php.zst"] {
        damage(Format::Callgrind, &bytes(name), 60, 150);
    }
    for (text, what) in [
        ("fn=f\n1 2 3\n", "not the costs of a line"),
        ("1 2\n", "costs before the name of a function"),
        ("fn=f\n1 2\nfoo\n", "not a line of a call graph"),
        ("events: Dr\n", "a part with other events"),
        ("fn=f\n1 2", "not a line of a call graph"),
    ] {
        let text = format!("version: 1\ncreator: x\nevents: Ir\n{text}");
        let loaded =
            input::load_profile(Format::Callgrind, text.as_bytes(), ProfileOptions::default());
        let damage = loaded.unwrap().damage.unwrap();
        assert!(damage.to_string().contains(what), "{damage}");
    }
}

#[test]
fn a_call_graph_that_is_written_again_has_the_same_costs_and_calls() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["callgrind.out.zst", "cachegrind.out.php.zst", "callgrind.threads.out-02.zst"] {
        let (from, to) = (fixture(&format!("native/{name}")), folder.path().join(name));
        let to_file = to.with_extension("callgrind");
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .args(["convert", "--to", "callgrind"])
            .args([&from, &to_file])
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let (old, new) = (load(&bytes(name)), load(&std::fs::read(&to_file).unwrap()));
        let costs = |of: &Profile| {
            let metric = of.default_metric();
            let mut all = BTreeMap::<String, (i64, i64)>::new();
            for row in top_of(of, FrameBy::Function).rows {
                let sums = all.entry(row.label.name.to_string()).or_default();
                sums.0 += row.sums.own.get(&metric);
                sums.1 += row.sums.total.get(&metric);
            }
            all
        };
        assert_eq!(costs(&old), costs(&new), "{name}");
        let calls = |of: &Profile| {
            let calls = of.calls.as_ref().unwrap().calls().iter();
            calls.fold((0, 0), |(count, cost), call| {
                (count + call.count, cost + call.values.get(&of.default_metric()))
            })
        };
        assert_eq!(calls(&old), calls(&new), "{name}");
        assert!(broken(Format::Callgrind, &std::fs::read(&to_file).unwrap()).is_empty());
    }
}

#[test]
fn cat_exits_with_status_3_where_costs_or_events_are_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.callgrind");
    let (costs, events) = ("not the costs of a line", "a part with other events");
    for (line, what) in [("1 x", costs), ("1 2 3", costs), ("events: Dr", events)] {
        let text = format!("# callgrind format\nevents: Ir\nfn=main\n1 2\n{line}\n");
        std::fs::write(&path, text).unwrap();
        for command in ["cat", "info", "top"] {
            let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
            let output = program.args([command, "-q"]).arg(&path).output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(3), "{command} {line}: {error}");
            assert!(error.contains(what), "{command} {line}: {error}");
        }
    }
}
