//! Statistics of cProfile against what `pstats` reads, and against damage.

use crate::support::{broken, damage, fixture, info, json, records};
use dumptool::analysis::profile::{FrameBy, Selected, TopBy, top};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::{FrameId, Profile};
use dumptool::model::stacks::Selection;
use serde_json::Value;
use std::collections::BTreeMap;

const NAMES: [&str; 3] = ["shop-py27", "shop-py38", "shop-py313"];

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(&format!("cprofile/{name}.prof"))).unwrap()
}

fn truth(name: &str) -> BTreeMap<String, Value> {
    let truth = json(&fixture(&format!("cprofile/{name}.truth.json")));
    truth.as_object().unwrap().clone().into_iter().collect()
}

fn load(bytes: &[u8]) -> Profile {
    assert_eq!(dumptool::detect::detect(bytes).unwrap(), Format::Cprofile);
    let loaded = input::load_profile(Format::Cprofile, bytes, ProfileOptions::default()).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.profile
}

/// A function as `pstats` writes it. Names that several functions have end in their line.
fn shown(profile: &Profile, frame: FrameId) -> String {
    let frame = profile.frame(frame);
    let (file, name) = (profile.names.text(frame.file), profile.names.text(frame.function));
    let name = name.strip_suffix(&format!(":{}", frame.line)).unwrap_or(name);
    format!("{}:{}({name})", if file.is_empty() { "~" } else { file }, frame.line)
}

#[test]
fn times_and_calls_of_functions_are_those_of_pstats() {
    for name in NAMES {
        let profile = load(&bytes(name));
        let truth = truth(name);
        let metric = profile.default_metric();
        let mut own = BTreeMap::new();
        for row in profile.aggregate.iter() {
            let function = shown(&profile, profile.stacks.leaf(row.stack).unwrap());
            own.insert(function, (row.values.samples(), row.values.get(&metric)));
        }
        let expected = truth.iter().map(|(function, of)| {
            (function.clone(), (of["calls"].as_u64().unwrap(), of["own"].as_i64().unwrap()))
        });
        assert_eq!(own, expected.collect(), "{name}");
        let rows =
            top(&Selected::of(&profile, &Selection::default()), TopBy::Frames(FrameBy::Line));
        assert_eq!(rows.bounds, 0, "{name}: totals are those of the file");
        let mut totals: Vec<i64> =
            rows.rows.iter().map(|row| row.sums.total.get(&metric)).filter(|of| *of != 0).collect();
        let mut expected: Vec<i64> =
            truth.values().map(|of| of["total"].as_i64().unwrap()).filter(|of| *of != 0).collect();
        totals.sort_unstable();
        expected.sort_unstable();
        assert_eq!(totals, expected, "{name}");
    }
}

#[test]
fn calls_between_functions_are_those_of_pstats() {
    for name in NAMES {
        let profile = load(&bytes(name));
        let metric = profile.default_metric();
        let calls = profile.calls.as_ref().unwrap().calls().iter();
        let calls: BTreeMap<_, _> = calls
            .map(|call| {
                let pair = (shown(&profile, call.callee), shown(&profile, call.caller));
                (pair, (call.count, call.values.get(&metric)))
            })
            .collect();
        let truth = truth(name);
        let expected = truth.iter().flat_map(|(function, of)| {
            let callers = of["callers"].as_object().unwrap().iter();
            callers.map(|(caller, counted)| {
                let numbers = (counted[0].as_u64().unwrap(), counted[1].as_i64().unwrap());
                ((function.clone(), caller.clone()), numbers)
            })
        });
        assert_eq!(calls, expected.collect(), "{name}");
        assert_eq!(records(Format::Cprofile, &bytes(name)).0.len(), calls.len() + truth.len());
    }
}

#[test]
fn info_and_check_know_the_file() {
    for name in NAMES {
        let info = info(Format::Cprofile, &bytes(name));
        assert_eq!(info["records"]["function"], truth(name).len(), "{info}");
        assert_eq!(broken(Format::Cprofile, &bytes(name)), [""; 0]);
    }
}

#[test]
fn a_code_object_is_refused_with_advice() {
    let mut code = b"{)\x03z\x07profilei".to_vec();
    code.extend([0, 0, 0, 0, b'c']);
    let error = input::load_profile(Format::Cprofile, &code, ProfileOptions::default());
    let damage = error.unwrap().damage.unwrap();
    assert_eq!(damage.offset(), Some(17));
    assert!(damage.advice().unwrap().contains("cProfile"), "{damage:?}");
}

#[test]
fn references_to_values_that_are_not_there_are_damage() {
    let mut text = b"{)\x03r".to_vec();
    text.extend(7_u32.to_le_bytes());
    let error = records(Format::Cprofile, &text).1.unwrap();
    assert_eq!(error.offset(), Some(3), "{error:?}");
}

#[test]
fn damage_gives_errors_and_what_came_before() {
    for name in NAMES {
        damage(Format::Cprofile, &bytes(name), 200, 300);
    }
}
