//! Flame graphs: the picture says what the profile does.

use crate::support::mojo::Mojo;
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::Metric;
use dumptool::model::stacks::{Selection, of_profile};
use dumptool::output::flamegraph::{self, FlamegraphOptions};

fn svg(bytes: &[u8], options: &FlamegraphOptions) -> String {
    let profile =
        input::load_profile(Format::Mojo, bytes, ProfileOptions::default()).unwrap().profile;
    let stacks = of_profile(
        profile,
        "a & b",
        &Selection { metrics: vec![Metric::TIME], ..Selection::default() },
    );
    let mut out = Vec::new();
    flamegraph::picture(&stacks, 0, options).draw(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn shares_are_those_of_the_profile() {
    let mut file = Mojo::new(3);
    file.stack(1, 0, "a").string(5, "a.py").string(6, "<main>").string(7, "g");
    file.frame(1, 5, 6, 1)
        .frame(2, 5, 7, 2)
        .frame_ref(1)
        .time(10)
        .stack(1, 0, "a")
        .frame_ref(1)
        .frame_ref(2)
        .time(30);
    let svg = svg(&file.0, &FlamegraphOptions::default());
    for title in ["&lt;main&gt; (a.py)\n40 µs (100.0 %)", "g (a.py)\n30 µs (75.0 %)"] {
        assert!(svg.contains(title), "no {title} in {svg}");
    }
    assert!(svg.contains("a &amp; b"));
}

#[test]
fn characters_that_xml_has_no_place_for_are_replaced() {
    let mut file = Mojo::new(3);
    file.stack(1, 0, "a").string(5, "a\u{ffff}.py").string(6, "f\u{fffe}\u{1b}\u{8}g");
    file.frame(1, 5, 6, 1).frame_ref(1).time(10);
    let svg = svg(&file.0, &FlamegraphOptions::default());
    let forbidden = |c: char| {
        matches!(c, '\u{fffe}' | '\u{ffff}') || c < ' ' && !matches!(c, '\t' | '\n' | '\r')
    };
    assert!(svg.contains("(a\u{fffd}.py)") && !svg.contains(forbidden), "{svg}");
}

#[test]
fn nothing_is_a_picture_too() {
    assert!(svg(&Mojo::new(3).0, &FlamegraphOptions::default()).contains("<svg"));
}

/// The name and the value of each box, in the order of the picture.
fn boxes(picture: &str) -> Vec<(String, u64)> {
    let boxes = picture.split("data-total=\"").skip(1).map(|text| {
        let (total, rest) = text.split_once('"').unwrap();
        let name = rest.split_once("<title>").unwrap().1.split_once('\n').unwrap().0;
        (name.to_owned(), total.parse().unwrap())
    });
    boxes.collect()
}

/// `main` calls `f` in line 1 and line 2, and `g`, which calls `f`.
fn calls() -> Mojo {
    let mut file = Mojo::new(3);
    file.stack(1, 0, "t").string(5, "a.py").string(6, "main").string(7, "f").string(8, "g");
    file.frame(1, 5, 6, 9).frame(2, 5, 7, 1).frame(3, 5, 7, 2).frame(4, 5, 8, 7);
    file.frame_ref(1).frame_ref(2).time(10);
    file.stack(1, 0, "t").frame_ref(1).frame_ref(3).time(20);
    file.stack(1, 0, "t").frame_ref(1).frame_ref(4).frame_ref(2).time(40);
    file
}

#[test]
fn an_inverted_picture_begins_with_the_innermost_functions() {
    let options = |inverted, lines| {
        let mut options = FlamegraphOptions::default();
        (options.inverted, options.lines) = (inverted, lines);
        options
    };
    let upright = boxes(&svg(&calls().0, &options(false, false)));
    let expected = [
        ("all", 70),
        ("P1", 70),
        ("T0:t", 70),
        ("main (a.py)", 70),
        ("f (a.py)", 30),
        ("g (a.py)", 40),
        ("f (a.py)", 40),
    ];
    assert_eq!(upright, expected.map(|(name, total)| (name.to_owned(), total)));
    let inverted = boxes(&svg(&calls().0, &options(true, false)));
    let expected =
        [("all", 70), ("f (a.py)", 70), ("g (a.py)", 40), ("main (a.py)", 30), ("main (a.py)", 40)];
    assert_eq!(inverted, expected.map(|(name, total)| (name.to_owned(), total)));
    let lines = boxes(&svg(&calls().0, &options(true, true)));
    assert!(
        lines.contains(&("f (a.py:1)".to_owned(), 50))
            && lines.contains(&("f (a.py:2)".to_owned(), 20)),
        "{lines:?}"
    );
}

#[test]
fn names_cannot_leave_their_place() {
    let mut file = Mojo::new(3);
    file.stack(1, 0, "a")
        .string(5, "a.py")
        .string(6, "</title><script>alert(1)</script>]]>\n<x y='\"'>");
    file.frame(1, 5, 6, 1).frame_ref(1).time(10);
    let mut options = FlamegraphOptions::default();
    options.title = Some("<script>".to_owned());
    let svg = svg(&file.0, &options);
    assert!(
        svg.contains("&lt;/title&gt;&lt;script&gt;alert(1)")
            && svg.contains(">&lt;script&gt;</text>")
    );
    assert_eq!(svg.matches("<script>").count(), 1, "only the picture's own script");
}

#[test]
fn a_difference_is_red_where_it_grew_and_blue_where_it_shrank() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = |name: &str, times: [i128; 2]| {
        let mut file = Mojo::new(3);
        file.stack(1, 0, "t")
            .string(5, "a.py")
            .string(6, "f")
            .string(7, "g")
            .frame(1, 5, 6, 1)
            .frame(2, 5, 7, 1);
        file.frame_ref(1).time(times[0]).stack(1, 0, "t").frame_ref(2).time(times[1]);
        let path = folder.path().join(name);
        std::fs::write(&path, &file.0).unwrap();
        path
    };
    let (old, new) = (recorded("old.mojo", [10, 30]), recorded("new.mojo", [40, 15]));
    let convert = |old: &std::path::Path| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
        command
            .arg("convert")
            .arg(&new)
            .args(["-", "--to", "svg", "--base"])
            .arg(old)
            .output()
            .unwrap()
    };
    let picture = String::from_utf8(convert(&old).stdout).unwrap();
    let of = |name: &str| picture.split("<g ").find(|text| text.contains(name)).unwrap().to_owned();
    let (grown, shrunk) = (of("f (a.py)"), of("g (a.py)"));
    assert!(
        grown.contains("40 µs (72.7 %), was 10 µs (+30 µs)") && grown.contains("hsl(5 "),
        "{grown}"
    );
    assert!(
        shrunk.contains("15 µs (27.3 %), was 30 µs (-15 µs)") && shrunk.contains("hsl(215 "),
        "{shrunk}"
    );
    assert!(picture.contains("time, 55 µs (was 40 µs)"));
    let heap = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/go/tiny_go127.heapdump.zst");
    assert_eq!(convert(&heap).status.code(), Some(2), "a heap and a profile");
}
