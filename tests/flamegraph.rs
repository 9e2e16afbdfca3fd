//! Flame graphs: the picture says what the profile does.
#![cfg(feature = "flamegraph")]

mod support;

use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::Metric;
use dumptool::model::stacks::{Selection, of_profile};
use dumptool::output::flamegraph;
use support::mojo::Mojo;

fn svg(bytes: &[u8]) -> String {
    let profile = input::load_profile(Format::Mojo, bytes, ProfileOptions::default()).unwrap().profile;
    let stacks = of_profile(profile, "a & b", &Selection { metrics: vec![Metric::Time], ..Selection::default() });
    let mut out = Vec::new();
    flamegraph::write(&stacks, 0, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn shares_are_those_of_the_profile() {
    let mut file = Mojo::new(3);
    file.stack(1, 0, "a").string(5, "a.py").string(6, "<main>").string(7, "g");
    file.frame(1, 5, 6, 1).frame(2, 5, 7, 2).frame_ref(1).time(10).stack(1, 0, "a").frame_ref(1).frame_ref(2).time(30);
    let svg = svg(&file.0);
    for title in ["&lt;main&gt; (a.py) (40 µs, 100.00%)", "g (a.py) (30 µs, 75.00%)"] {
        assert!(svg.contains(title), "no {title} in {svg}");
    }
    assert!(svg.contains("a &amp; b"));
}

#[test]
fn characters_that_xml_has_no_place_for_are_replaced() {
    let mut file = Mojo::new(3);
    file.stack(1, 0, "a").string(5, "a\u{ffff}.py").string(6, "f\u{fffe}\u{1b}\u{8}g");
    file.frame(1, 5, 6, 1).frame_ref(1).time(10);
    let svg = svg(&file.0);
    let forbidden = |c: char| matches!(c, '\u{fffe}' | '\u{ffff}') || c < ' ' && !matches!(c, '\t' | '\n' | '\r');
    assert!(svg.contains("(a\u{fffd}.py)") && !svg.contains(forbidden), "{svg}");
}

#[test]
fn nothing_is_a_picture_too() {
    assert!(svg(&Mojo::new(3).0).contains("<svg"));
}
