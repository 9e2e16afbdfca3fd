//! Traces of Chrome and Node against their sums and against damage.

use crate::support::{broken, damage, fixture, json, records};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::{Profile, StackId};
use dumptool::source::Source;
use std::collections::BTreeMap;

fn bytes(name: &str) -> Vec<u8> {
    Source::open(&fixture(&format!("chrome-trace/{name}"))).unwrap().bytes().to_vec()
}

fn load(bytes: &[u8]) -> Profile {
    assert_eq!(dumptool::detect::detect(bytes).unwrap(), Format::ChromeTrace);
    let loaded =
        input::load_profile(Format::ChromeTrace, bytes, ProfileOptions::default()).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.profile
}

/// Microseconds by stack, outermost first.
fn stacks(profile: &Profile) -> BTreeMap<String, i64> {
    let metric = profile.default_metric();
    let mut sums = BTreeMap::new();
    for row in profile.aggregate.iter() {
        let frames = profile.stacks.frames(row.stack).map(|frame| profile.frame(frame).function);
        let mut names: Vec<&str> = frames.map(|name| profile.names.text(name)).collect();
        names.reverse();
        *sums.entry(names.join(";")).or_default() += row.values.get(&metric);
    }
    sums
}

#[test]
fn samples_of_a_page_are_those_of_its_chunks() {
    let profile = load(&bytes("page.json.gz"));
    let metric = profile.default_metric();
    let mut own = BTreeMap::<String, (i64, u64)>::new();
    for row in profile.aggregate.iter() {
        let frame = profile.stacks.leaf(row.stack).unwrap();
        let name = profile.names.text(profile.frame(frame).function);
        let sums = own.entry(name.to_owned()).or_default();
        *sums = (sums.0 + row.values.get(&metric), sums.1 + row.values.samples());
    }
    let truth = json(&fixture("chrome-trace/page.truth.json"));
    let expected = truth
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, of)| (name.clone(), (of[0].as_i64().unwrap(), of[1].as_u64().unwrap())));
    assert_eq!(own, expected.collect());
    let thread = profile.thread(profile.aggregate.iter().next().unwrap().thread);
    assert_eq!(profile.names.text(thread.name), "CrRendererMain");
}

#[test]
fn spans_are_stacks_of_time() {
    let trace = r#"[{"name":"a","ph":"X","ts":1000,"dur":100,"pid":1,"tid":2},
        {"name":"b","ph":"B","ts":1010,"pid":1,"tid":2},
        {"name":"c","ph":"X","ts":1020.5,"dur":10,"pid":1,"tid":2},
        {"ph":"E","ts":1040,"pid":1,"tid":2},
        {"name":"late","ph":"X","ts":1090,"dur":50,"pid":1,"tid":2},
        {"name":"a","ph":"X","ts":5000,"dur":7,"pid":1,"tid":2},
        {"name":"other","ph":"B","ts":1,"pid":1,"tid":3},
        {"ph":"E","ts":4,"pid":1,"tid":3}]"#;
    let expected = [("a", 67), ("a;b", 20), ("a;b;c", 10), ("a;late", 10), ("other", 3)];
    let expected = expected.map(|(stack, time)| (stack.to_owned(), time));
    assert_eq!(stacks(&load(trace.as_bytes())), BTreeMap::from(expected));
}

#[test]
fn spans_without_an_end_last_to_the_last_event_of_their_thread() {
    let trace = r#"{"traceEvents":[{"name":"a","ph":"B","ts":10,"pid":1,"tid":2},
        {"name":"b","ph":"X","ts":20,"dur":5,"pid":1,"tid":2},{"ph":"E","ts":1,"pid":9,"tid":9}]}"#;
    let expected = [("a".to_owned(), 10), ("a;b".to_owned(), 5)];
    let profile = load(trace.as_bytes());
    assert_eq!(stacks(&profile), BTreeMap::from(expected));
    assert_eq!(profile.notes.strays, 1);
}

#[test]
fn a_trace_of_node_has_the_spans_of_its_events() {
    let profile = load(&bytes("node20.log"));
    let sums = stacks(&profile);
    assert_eq!(sums["V8.DeserializeIsolate"], 4787);
    assert!(profile.stacks.frames(StackId::EMPTY).next().is_none());
    assert_eq!(broken(Format::ChromeTrace, &bytes("node20.log")), [""; 0]);
}

#[test]
fn records_are_the_events() {
    let (records, error) = records(Format::ChromeTrace, &bytes("node20.log"));
    assert!(error.is_none());
    assert_eq!(records[0]["name"], "V8.DeserializeIsolate", "{}", records[0]);
}

#[test]
fn damage_gives_errors_and_what_came_before() {
    damage(Format::ChromeTrace, &bytes("node20.log"), 200, 300);
    damage(Format::ChromeTrace, &bytes("page.json.gz"), 20, 20);
}
