//! The interface without a terminal: keys in, screens out.

use super::app::{App, Here, Mode, Prompt};
use super::draw::draw;
use super::keys::Effect;
use super::keys::HELP;
use super::place::{Files, Place, View};
use super::sheet::Row;
use super::theme::Theme;
use super::worker::{Ahead, Reply, Worker};
use crate::cli::dumps::{Dumps, Given};
use crate::cli::open::Input;
use crate::cli::status::Status;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Color, Modifier};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const JAVA: &str = "fixtures/hprof/small_java17.hprof.zst";
const WIDE: &str = "fixtures/hprof/wide_java17.hprof.zst";
const NODE: &str = "fixtures/heapsnapshot/sessions-node24-small.heapsnapshot.zst";
const GO: &str = "fixtures/go/tiny_go127.heapdump.zst";
const RAKU: &str = "fixtures/mvmheap/tiny-nqp.mvmheap";
const PYTHON: &str = "fixtures/mojo/tiny-4.0.0-full-gc-mem.mojo";
const SIZES: [(u16, u16); 3] = [(60, 20), (80, 24), (200, 60)];

/// The interface with a dump, and a user who waits for every answer.
struct User {
    app: App,
    resident: Arc<Dumps>,
}

impl User {
    fn of(file: &str, new: Option<&str>) -> Self {
        let input = Input::open(Path::new(new.unwrap_or(file)), &Default::default()).unwrap();
        let files = Files { file: file.into(), new: new.map(Into::into), ..Files::default() };
        let app =
            App::new(files, input.kind, input.format, format!("{file} · {}", input.format.title()));
        let resident = Dumps::new(Given::default(), |_| true, u64::MAX);
        let mut user = Self { app, resident };
        user.settle();
        user
    }

    /// A user of one dump, after some keys.
    fn after(file: &str, keys: &str) -> Self {
        let mut user = Self::of(file, None);
        user.keys(keys);
        user
    }

    /// Answers requests until the interface wants no document.
    fn settle(&mut self) {
        while let Some(words) = self.app.wanted() {
            let answer = self.resident.answer(&words);
            self.app.arrived(words, &answer);
        }
    }

    fn press(&mut self, key: KeyCode) -> Effect {
        let effect = self.app.take(&Event::Key(KeyEvent::new(key, KeyModifiers::NONE)));
        self.settle();
        effect
    }

    /// Presses keys: `⏎` and `⌫` for those that have no character.
    fn keys(&mut self, keys: &str) -> &mut Self {
        for key in keys.chars() {
            self.press(match key {
                '⏎' => KeyCode::Enter,
                '⌫' => KeyCode::Backspace,
                '↓' => KeyCode::Down,
                '↑' => KeyCode::Up,
                '→' => KeyCode::Right,
                '⇥' => KeyCode::Tab,
                key => KeyCode::Char(key),
            });
        }
        self
    }

    fn buffer(&mut self, (width, height): (u16, u16), color: bool) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(&mut self.app, None, Theme { color }, frame)).unwrap();
        terminal.backend().buffer().clone()
    }

    fn screen(&mut self, size: (u16, u16)) -> String {
        let buffer = self.buffer(size, true);
        let mut text = String::new();
        for y in 0..size.1 {
            let line: String = (0..size.0).map(|x| buffer[(x, y)].symbol()).collect();
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn rows(&self) -> Vec<Row> {
        let rows = self.app.sheet.as_ref().map(|sheet| sheet.rows.clone()).unwrap_or_default();
        rows.into_iter().filter(|row| !row.is_heading && !row.is_more).collect()
    }
}

/// Compares a text with a file, or writes the file where `TRYCMD=overwrite` is set.
#[track_caller]
fn assert_kept(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var("TRYCMD").is_ok_and(|value| value == "overwrite") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{} differs; TRYCMD=overwrite writes it again:\n{text}", path.display());
}

#[test]
fn every_view_at_three_sizes() {
    let two = |file, new| (file, Some(new));
    let one = |file| (file, None);
    let views = [
        ("verdict", one(NODE), ""),
        ("types", one(JAVA), "2"),
        ("types-by-count", one(JAVA), "2ss"),
        ("objects", one(JAVA), "2⏎"),
        ("tree", one(JAVA), "3"),
        ("tree-inside", one(JAVA), "3⏎⏎"),
        ("heap-flame", one(JAVA), "4"),
        ("object", one(JAVA), "g0xfd5bf118⏎"),
        ("path", one(JAVA), "g0xfd5bf118⏎p"),
        ("threads", one(GO), "5"),
        ("thread", one(GO), "5⏎"),
        ("waste", one(JAVA), "6"),
        ("roots", one(JAVA), "7"),
        ("growth", one(RAKU), "8"),
        ("snapshots", one(RAKU), "9"),
        ("diff", two(WIDE, JAVA), ""),
        ("functions", one(PYTHON), ""),
        ("sandwich", one(PYTHON), "⏎"),
        ("calls", one(PYTHON), "2⏎"),
        ("callers", one(PYTHON), "3⏎"),
        ("flame", one(PYTHON), "4"),
        ("flame-zoomed", one(PYTHON), "4↓↓⏎"),
        ("profile-threads", one(PYTHON), "5"),
        ("help", one(JAVA), "?"),
        ("search", one(JAVA), "2/string"),
        ("no-such-object", one(JAVA), "gnonsense⏎"),
    ];
    for (name, (file, new), keys) in views {
        let mut user = User::of(file, new);
        user.keys(keys);
        let screens = SIZES.map(|size| user.screen(size));
        assert_kept(&format!("tests/explore/{name}.txt"), &screens.join("─\n"));
    }
}

#[cfg(feature = "query")]
#[test]
fn sql_and_time() {
    let mut user = User::after(JAVA, ":select id, type, shallow_bytes from objects limit 3⏎");
    assert_kept("tests/explore/sql.txt", &user.screen((80, 24)));
    let mut user = User::after(PYTHON, "6");
    assert_kept("tests/explore/timeline.txt", &user.screen((80, 24)));
}

/// Lines of a table for people, with the spaces between columns made equal.
fn table(user: &User) -> Vec<String> {
    let words = user.app.here.place.asked(&user.app.files, "table");
    let fresh = Dumps::new(Given::default(), |_| true, u64::MAX);
    let text = String::from_utf8(fresh.answer(&words).result).unwrap();
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Asserts that one line of the command's output contains all numbers of a row, for each row.
#[track_caller]
fn assert_printed(user: &User) {
    let lines = table(user);
    for row in user.rows() {
        let cells: Vec<String> = row
            .cells
            .iter()
            .filter(|cell| cell.bar == 0.0)
            .map(|cell| cell.text.replace("▸ ", "").trim().to_owned())
            .collect();
        let wanted: Vec<&String> = cells
            .iter()
            .filter(|cell| cell.ends_with('%') || cell.ends_with('B'))
            .take(2)
            .collect();
        let is_there = |line: &String| wanted.iter().all(|cell| line.contains(cell.as_str()));
        assert!(
            wanted.is_empty() || lines.iter().any(is_there),
            "{wanted:?} of {:?}",
            user.app.here.place
        );
    }
}

#[test]
fn numbers_are_those_that_the_commands_print() {
    let all =
        [(JAVA, "2 2s 3 2⏎ 7 6"), (GO, "2 3 5"), (NODE, "2 3"), (RAKU, "2"), (PYTHON, "1 1s")];
    for (file, all) in all {
        for keys in all.split(' ') {
            let user = User::after(file, keys);
            assert!(!user.rows().is_empty(), "{file} {keys}");
            assert_printed(&user);
        }
    }
}

fn any_key() -> impl Strategy<Value = KeyCode> {
    use KeyCode::{BackTab, Backspace, Down, Enter, Esc, Home, Left, PageDown, Right, Tab, Up};
    let letters =
        "qjklhbfnNspToyYtge?/123456789 G*0x".chars().map(KeyCode::Char).collect::<Vec<_>>();
    let others = [
        Enter, Enter, Enter, Down, Down, Up, Right, Left, Backspace, Tab, BackTab, PageDown, Esc,
        Home,
    ];
    proptest::sample::select([letters, others.to_vec()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Any keys lead to a place whose screen can be drawn at any size, and whose numbers are those
    /// that a fresh process would print.
    #[test]
    fn any_keys_are_harmless(
        file in proptest::sample::select(vec![JAVA, GO, RAKU, PYTHON]),
        keys in proptest::collection::vec(any_key(), 1..40),
        size in (1_u16..120, 1_u16..40),
    ) {
        let mut user = User::of(file, None);
        for key in keys {
            user.press(key);
            user.screen(size);
        }
        let Here { place, selected, .. } = &user.app.here;
        let rows = user.app.sheet.as_ref().map_or(0, |sheet| sheet.rows.len());
        prop_assert!(rows == 0 || *selected < rows);
        if matches!(place.view, View::Types | View::Functions) || place.view == View::Tree && place.inside.is_empty() {
            assert_printed(&user);
        }
    }
}

#[test]
fn back_leads_to_where_one_was() {
    let mut user = User::after(JAVA, "2↓↓");
    let before = user.screen((80, 24));
    user.keys("⏎⏎pb⌫⌫");
    assert_eq!(user.screen((80, 24)), before);
    user.keys("ffbb");
    assert_eq!(user.screen((80, 24)), before);
}

#[test]
fn the_next_page_has_more_rows() {
    let file = tempfile::Builder::new().suffix(".folded").tempfile().unwrap();
    let lines: String = (0..1500).map(|at| format!("main;f{at} {}\n", at + 1)).collect();
    std::fs::write(file.path(), lines).unwrap();
    let mut user = User::of(file.path().to_str().unwrap(), None);
    assert_eq!(user.rows().len(), 1000, "{}", user.screen((80, 24)));
    user.keys("G⏎");
    assert_eq!(user.rows().len(), 1501);
    assert_eq!(user.app.here.selected, 1000);
}

#[test]
fn names_cannot_leave_their_cells() {
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    let names = [
        "\u{1b}]0;title\u{7}",
        "漢字関数のとても長い名前",
        "עברית",
        "a\u{202e}b",
        "\u{1b}[2J",
        "x",
    ];
    let frames: Vec<_> = names.iter().map(|name| serde_json::json!({ "name": name })).collect();
    let profile = serde_json::json!({
        "type": "sampled", "name": "\u{1b}[31m", "unit": "none", "startValue": 0, "endValue": 7,
        "samples": [[0, 1, 2, 3, 4, 5]], "weights": [7],
    });
    let document = serde_json::json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": { "frames": frames }, "profiles": [profile],
    });
    std::fs::write(file.path(), document.to_string()).unwrap();
    let mut user = User::of(file.path().to_str().unwrap(), None);
    for keys in ["", "⏎", "2", "⏎⏎", "3", "↓↓↓"] {
        user.keys(keys);
        for size in SIZES {
            let buffer = user.buffer(size, true);
            let mut symbols = buffer.content().iter().flat_map(|cell| cell.symbol().chars());
            assert!(symbols.all(|c| !crate::output::syntax::is_disruptive(c)), "{keys}");
        }
    }
}

#[test]
fn without_color_there_is_none() {
    for (file, keys) in [(NODE, ""), (NODE, "4"), (PYTHON, "4"), (WIDE, "/x")] {
        let mut user = User::after(file, keys);
        let buffer = user.buffer((80, 24), false);
        let is_plain =
            |cell: &ratatui::buffer::Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
        assert!(buffer.content().iter().all(is_plain), "{keys}");
    }
}

#[test]
fn copies_and_exports() {
    let mut user = User::after(JAVA, "2⏎");
    let Effect::Copy(id) = user.press(KeyCode::Char('y')) else { panic!("nothing is copied") };
    assert!(id.starts_with("0x"), "{id}");
    let Effect::Copy(command) = user.press(KeyCode::Char('Y')) else { panic!("nothing is copied") };
    assert!(
        command.starts_with("dumptool find fixtures/hprof/small_java17.hprof.zst"),
        "{command}"
    );
    user.keys("e");
    let Effect::Export(words, "csv") = user.press(KeyCode::Char('c')) else { panic!("no export") };
    assert!(words.contains(&"--format=csv".to_owned()));
    assert_eq!(user.press(KeyCode::Char('q')), Effect::Quit);
}

#[test]
fn values_are_not_json() {
    let head = |value: serde_json::Value| {
        let doc = serde_json::json!({ "object": { "id": "7", "type": "T" }, "value": value });
        let sheet = super::object::object(&doc, &Place::of(View::Object, "7", "7"));
        sheet.head.get(1).map(|(_, text)| text.clone()).unwrap_or_default()
    };
    let shown = |kind: &str, value: &str| head(serde_json::json!({ "kind": kind, "value": value }));
    assert_eq!(shown("description", "main"), "main");
    assert_eq!(shown("name", "java.lang.String"), "", "it is in the line above");
    assert_eq!(
        head(serde_json::json!({ "kind": "text", "value": "a\u{1b}", "complete": false })),
        r#""a\u{1b}…""#
    );
    let bytes = serde_json::json!({ "kind": "bytes", "hex": "01ff", "length": 2, "text": null });
    assert_eq!(head(bytes), "2 B: 01 ff");
    assert_eq!(head(serde_json::json!({ "kind": "length", "value": 1000 })), "1 000 elements");
}

#[test]
fn entries_without_keys_have_numbers() {
    let entry = serde_json::json!({ "key": null, "value": { "value": 5, "object": null } });
    let doc = serde_json::json!({ "collection": { "kind": "list" }, "entries": [entry] });
    let sheet = super::object::object(&doc, &Place::of(View::Object, "7", "7"));
    let names: Vec<&str> =
        sheet.rows.iter().filter_map(|row| Some(&*row.cells.get(2)?.text)).collect();
    assert_eq!(names, ["[0]"]);
}

#[test]
fn all_keys_are_listed_on_the_smallest_screen() {
    let screen = User::of(JAVA, None).keys("?").screen(SIZES[0]);
    for (keys, what) in HELP {
        assert!(screen.contains(keys) && screen.contains(what), "{keys}: {what} in {screen}");
    }
}

#[test]
fn tabs_beyond_the_edge_are_marked() {
    let mut user = User::of(RAKU, None);
    assert!(user.screen((60, 20)).lines().nth(1).unwrap().ends_with('›'));
    user.keys("0");
    assert!(user.screen((60, 20)).lines().nth(1).unwrap().starts_with('‹'));
}

#[cfg(feature = "query")]
#[test]
fn groups_unfold_into_their_objects() {
    let mut user = User::after(JAVA, "g0xfd59b080⏎T");
    assert!(user.screen((80, 24)).contains("ConcurrentHashMap$Node ×741"));
    user.keys("⏎⏎");
    // The other 127 are not the first nodes of their buckets.
    assert_eq!(user.rows().len(), 614, "{}", user.screen((80, 24)));
    user.keys("⏎");
    assert_eq!(user.app.here.place.view, View::Object);
}

#[cfg(feature = "query")]
#[test]
fn tables_are_listed_before_sql_is_typed() {
    let mut user = User::after(JAVA, "8");
    assert!(user.screen((80, 24)).contains("\nobjects "), "{}", user.screen((80, 24)));
    user.keys("⏎");
    // The prompt starts with the statement that shows the table.
    assert_eq!(
        user.keys(":").app.mode,
        Mode::Prompt(Prompt::Sql, "select * from \"objects\"".into())
    );
}

#[test]
fn rows_that_lead_nowhere_tell_so() {
    let mut user = User::after(JAVA, "g0xfd59b080⏎");
    let nowhere = user.rows().iter().position(|row| row.enter.is_none()).unwrap();
    user.keys(&"↓".repeat(nowhere)).keys("⏎");
    assert_eq!(user.app.message.as_deref(), Some("this row leads nowhere"));
}

#[test]
fn a_picture_is_of_what_the_view_shows() {
    let mut user = User::after(PYTHON, "3e");
    let Effect::Export(words, "svg") = user.press(KeyCode::Char('s')) else { panic!("no export") };
    assert!(words.contains(&"--inverted".to_owned()), "{words:?}");
    assert_eq!(user.resident.answer(&words).status, Status::Done);
    let mut user = User::after(JAVA, "g0xfd59b080⏎Te");
    assert_eq!(user.press(KeyCode::Char('s')), Effect::Nothing, "the whole tree is another one");
}

#[test]
fn views_are_answered_before_they_are_asked_for() {
    let user = User::of(JAVA, None);
    let (files, tabs) = (user.app.files.clone(), user.app.tabs.clone());
    let wanted: Vec<Vec<String>> = tabs
        .iter()
        .filter(|view| !view.is_query())
        .map(|view| Place::new(*view).asked(&files, "json"))
        .collect();
    let ahead = Ahead { files, tabs, is_heap: true };
    let mut worker = Worker::start(Arc::clone(&user.resident), user.app.quick(), ahead);
    worker.ask(wanted[0].clone());
    let (started, mut arrived) = (Instant::now(), Vec::new());
    while !wanted.iter().all(|words| arrived.contains(words)) {
        assert!(started.elapsed() < Duration::from_secs(120), "{arrived:?}");
        if let Some(Reply::Document(words, _)) = worker.reply() {
            arrived.push(words);
        }
    }
    assert_eq!(arrived.first(), user.app.quick().as_ref(), "types are counted first");
}

/// The picture of the documentation.
#[test]
fn the_picture_is_current() {
    let mut user = User::after(NODE, "3⏎⏎⏎");
    assert_kept("docs/explore.svg", &svg(&user.buffer((100, 28), true)));
}

/// A screen as a picture.
fn svg(buffer: &Buffer) -> String {
    let (width, height) = (buffer.area.width, buffer.area.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"dumptool explore\">\n<style>text {{ font: 14px ui-monospace, \"DejaVu Sans Mono\", Menlo, Consolas, monospace; white-space: pre; fill: #d8d8d8 }} .r {{ fill: #1c1c1c }} .b {{ font-weight: bold }} .d {{ fill: #909090 }} .c {{ fill: #5fc8d8 }} .y {{ fill: #e0c060 }} .g {{ fill: #7ec87e }} .e {{ fill: #f07070 }}</style>\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#1c1c1c\"/>\n",
        width as f64 * 8.43 + 20.0,
        height * 19 + 20
    );
    for y in 0..height {
        let class = |x: u16| {
            let cell = &buffer[(x, y)];
            match (cell.modifier, cell.fg) {
                (modifier, _) if modifier.contains(Modifier::REVERSED) => "r",
                (modifier, _) if modifier.contains(Modifier::BOLD) => "b",
                (modifier, _) if modifier.contains(Modifier::DIM) => "d",
                (_, Color::Cyan) => "c",
                (_, Color::Yellow) => "y",
                (_, Color::Green) => "g",
                (_, Color::Red) => "e",
                _ => "",
            }
        };
        let mut x = 0;
        while x < width {
            let (start, style) = (x, class(x));
            let mut run = String::new();
            while x < width && class(x) == style {
                run.push_str(buffer[(x, y)].symbol());
                x += 1;
            }
            let (left, top) = (10.0 + f64::from(start) * 8.43, 10 + y * 19);
            if style == "r" {
                text.push_str(&format!("<rect x=\"{left:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"19\" fill=\"#d8d8d8\"/>\n", f64::from(x - start) * 8.43));
            }
            if !run.trim().is_empty() {
                let run = run.trim_end().replace('&', "&amp;").replace('<', "&lt;");
                text.push_str(&format!(
                    "<text x=\"{left:.1}\" y=\"{}\" class=\"{style}\">{run}</text>\n",
                    top + 14
                ));
            }
        }
    }
    text + "</svg>\n"
}
