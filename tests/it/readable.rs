//! Objects of the JDK's value classes as people write them.

use crate::support::instances::{Bool, Id, Instances, Int, Long, Of};
use dumptool::analysis::readable;
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};

/// The text of an object with these fields.
fn text(class: &str, fields: impl FnOnce(&mut Instances) -> Vec<(&'static str, Of)>) -> String {
    let mut file = Instances::default();
    let fields = fields(&mut file);
    let id = file.object(class, &fields);
    let bytes = file.finish();
    let heap = input::load(Format::Hprof, &bytes, LoadOptions::default()).unwrap().heap;
    let object = heap.find(&format!("{id:#x}")).unwrap();
    readable::text(&heap, object).unwrap_or_else(|| "none".to_owned())
}

#[test]
fn constants_and_threads_are_written_by_their_names() {
    assert_eq!(text("java.lang.Enum", |file| vec![("name", Id(file.text("RED")))]), "RED");
    assert_eq!(text("java.lang.Thread", |file| vec![("name", Id(file.text("main")))]), "main");
    assert_eq!(text("java.lang.Thread", |_| vec![("name", Id(0))]), "none");
    assert_eq!(text("app.Other", |file| vec![("name", Id(file.text("RED")))]), "none");
}

#[test]
fn parts_that_are_missing_are_left_out() {
    let url = |authority: &'static str, place: &'static str| {
        text("java.net.URL", |file| {
            let [protocol, authority, path] =
                ["http", authority, "/a?b"].map(|text| Id(file.text(text)));
            let place = if place.is_empty() { 0 } else { file.text(place) };
            vec![
                ("protocol", protocol),
                ("authority", authority),
                ("file", path),
                ("ref", Id(place)),
            ]
        })
    };
    assert_eq!(url("x.org:80", "c"), "http://x.org:80/a?b#c");
    assert_eq!(url("", ""), "http:/a?b");
}

#[test]
fn numbers_of_any_length_are_decimal() {
    let integer = |sign, words: &'static [u32]| {
        text("java.math.BigInteger", |file| {
            vec![("signum", Int(sign)), ("mag", Id(file.ints(words)))]
        })
    };
    assert_eq!(integer(0, &[]), "0");
    assert_eq!(integer(-1, &[1, 0]), "-4294967296");
    assert_eq!(integer(1, &[u32::MAX; 3]), "79228162514264337593543950335");
    assert_eq!(integer(1, &[1; 1000]), "none");
    let decimal = |scale, compact| {
        text("java.math.BigDecimal", |_| {
            vec![("intVal", Id(0)), ("scale", Int(scale)), ("intCompact", Long(compact))]
        })
    };
    assert_eq!([decimal(3, -5), decimal(0, 7), decimal(-2, 7)], ["-0.005", "7", "7E2"]);
}

#[test]
fn times_are_in_utc() {
    let instant = |seconds, nanos| {
        text("java.time.Instant", |_| vec![("seconds", Long(seconds)), ("nanos", Int(nanos))])
    };
    assert_eq!(instant(951_825_600, 250_000_000), "2000-02-29T12:00:00.25Z");
    assert_eq!(instant(-1, 0), "1969-12-31T23:59:59Z");
    let date = |milliseconds| text("java.util.Date", |_| vec![("fastTime", Long(milliseconds))]);
    assert_eq!(date(-1), "1969-12-31T23:59:59.999Z");
    let day = text("java.time.LocalDate", |_| {
        vec![("year", Int(2024)), ("month", Int(2)), ("day", Int(9))]
    });
    assert_eq!(day, "2024-02-09");
    // Damaged values end nowhere.
    assert!(instant(i64::MIN, 0).ends_with('Z'));
    assert_eq!(instant(0, i32::MIN), "none");
}

#[test]
fn an_object_within_itself_ends() {
    let mut file = Instances::default();
    let id = file.next();
    file.object_at(id, "java.util.concurrent.atomic.AtomicReference", &[("value", Id(id))]);
    let bytes = file.finish();
    let heap = input::load(Format::Hprof, &bytes, LoadOptions::default()).unwrap().heap;
    let object = heap.find(&format!("{id:#x}")).unwrap();
    let text = readable::text(&heap, object);
    assert_eq!(text.as_deref(), Some("java.util.concurrent.atomic.AtomicReference"));
}

#[test]
fn what_is_absent_is_said() {
    let absent = |class: &str| text(class, |_| vec![("isPresent", Bool(false)), ("value", Int(7))]);
    assert_eq!(text("java.util.Optional", |_| vec![("value", Id(0))]), "Optional.empty");
    assert_eq!(absent("java.util.OptionalInt"), "OptionalInt.empty");
    let present = |_: &mut Instances| vec![("isPresent", Bool(true)), ("value", Int(0))];
    assert_eq!(text("java.util.OptionalInt", present), "0");
}

/// Only strings were found by their text, and no arrays of characters.
#[test]
fn objects_are_found_by_the_text_that_is_shown() {
    let mut file = Instances::default();
    let chars = file.chars("a buffer †");
    let fields = [("year", Int(2024)), ("month", Int(2)), ("day", Int(29))];
    let id = file.object("java.time.LocalDate", &fields);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hprof");
    std::fs::write(&path, file.finish()).unwrap();
    let found = |text: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
        let output = command.arg("find").arg(&path).args(["--value", text]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(found("2024-02").contains(&format!("{id:#x}")), "{}", found("2024-02"));
    assert_eq!(found("2024-03"), "no matching objects\n");
    assert!(found("buff").contains(&format!("{chars:#x}")), "{}", found("buff"));
    // The second bytes of characters and the first ones of others.
    assert_eq!(found("昀昀"), "no matching objects\n");
    // A space ends with the byte of which this character consists.
    assert!(found("†").contains(&format!("{chars:#x}")), "{}", found("†"));
}
