//! The names that a minified Java program had: `--mapping`.

use crate::support::hprof::File;
use crate::support::jfr::{Chunk, class, numbers, text};
use crate::support::{corpus_folder, read};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const MAPPING: &str = "\
shop.Base -> a:
    java.lang.Object owner -> a
shop.Cart -> b:
# {\"id\":\"sourceFile\",\"fileName\":\"Cart.kt\"}
    shop.Cart[] all -> b
    java.lang.Object lines -> a
    5:5:int shop.Line.price():7:7 -> c
    5:5:void add():13 -> c
";

/// `b extends a`, and both have a field `a`. The thread runs `b.c`, into which another method was
/// inlined, and that frame has a local variable.
fn minified() -> Vec<u8> {
    minified_with(false)
}

/// The same, with another object of `b`.
fn minified_with(is_more: bool) -> Vec<u8> {
    let [object, base, cart, carts, thread] = [0x100, 0x110, 0x120, 0x130, 0x140];
    let mut file = File::new("1.0.2", 8);
    file.loads(&[(object, "java/lang/Object"), (base, "a"), (carts, "[Lb;")]);
    file.load(thread, "java/lang/Thread");
    let serial = file.load(cart, "b");
    let [a, b, method, source] = ["a", "b", "c", "SourceFile"].map(|name| file.string(name));
    let ids = [1, method, 0, source].map(u64::to_be_bytes).concat();
    file.record(0x04, &[&ids, &serial.to_be_bytes(), &5u32.to_be_bytes()]);
    let trace = [1u32, 1, 1].map(u32::to_be_bytes).concat();
    file.record(0x05, &[&trace, &1u64.to_be_bytes()]);
    let [first, second, all] = [0x200, 0x220, 0x240].map(|id| file.id(id));
    let mut records = vec![
        file.class(object, 0, 16, &[], &[]),
        file.class(base, object, 24, &[], &[(a, 2)]),
        file.class(cart, base, 32, &[(b, 2, all)], &[(a, 2)]),
        file.class(carts, object, 0, &[], &[]),
        file.class(thread, object, 16, &[], &[]),
        file.instance(0x200, cart, &[&second, &first]),
        file.instance(0x220, cart, &[&second, &second]),
        file.objects(0x240, carts, &[0x200, 0x220]),
        file.instance(0x260, thread, &[]),
        file.root(0x05, cart, &[]),
        file.root(0x08, 0x260, &[1u32, 1].map(u32::to_be_bytes).concat()),
        file.root(0x03, 0x220, &[1u32, 0].map(u32::to_be_bytes).concat()),
    ];
    if is_more {
        records.push(file.instance(0x280, cart, &[&second, &second]));
        records.push(file.root(0x05, 0x280, &[]));
    }
    file.segment(&records).end()
}

/// A folder with the minified dump and its mapping.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("app.hprof"), minified()).unwrap();
    std::fs::write(folder.path().join("app.txt"), MAPPING).unwrap();
    folder
}

fn dumptool(folder: &Path, line: &str) -> (String, String) {
    let program = env!("CARGO_BIN_EXE_dumptool");
    let run = Command::new(program).current_dir(folder).args(line.split(' ')).output().unwrap();
    (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap())
}

#[test]
fn classes_and_their_fields_have_the_names_of_the_source() {
    let folder = folder();
    let (types, _) = dumptool(folder.path(), "top app.hprof --mapping app.txt");
    assert!(types.contains("shop.Cart\n") && types.contains("shop.Cart[]\n"), "{types}");
    let (object, _) = dumptool(folder.path(), "show app.hprof 0x200 --mapping app.txt");
    assert!(object.contains("lines") && object.contains("owner"), "{object}");
    let (quick, _) = dumptool(folder.path(), "top --quick app.hprof --mapping app.txt");
    assert!(quick.contains("shop.Cart[]"), "{quick}");
    let (info, messages) = dumptool(folder.path(), "info app.hprof --mapping app.txt");
    assert!(info.contains("shop.Cart") && messages.is_empty(), "{info}{messages}");
}

#[test]
fn frames_of_recordings_are_those_of_the_source() {
    let sample = [("stackTrace", class::STACK, true)];
    let chunk = Chunk::new()
        .class(class::FREE, "jdk.ExecutionSample", &sample)
        .pool(class::CLASS, vec![(1, text("b"))])
        .pool(class::METHOD, vec![(1, [numbers(&[1]), text("c")].concat())])
        .pool(class::STACK, vec![(1, numbers(&[0, 1, 1, 5]))])
        .event(class::FREE, &numbers(&[1]));
    let folder = folder();
    std::fs::write(folder.path().join("app.jfr"), chunk.bytes()).unwrap();
    let line = "convert app.jfr - --to folded --mapping app.txt";
    let (stacks, _) = dumptool(folder.path(), line);
    assert!(stacks.contains("shop.Cart.add;shop.Line.price 1"), "{stacks}");
    let line = "convert app.jfr - --to csv --table events --mapping app.txt";
    let (rows, _) = dumptool(folder.path(), line);
    assert!(rows.contains("shop.Cart.add"), "{rows}");
    let (events, _) = dumptool(folder.path(), "cat app.jfr --mapping app.txt");
    assert!(events.contains("shop.Cart.add"), "{events}");
}

#[test]
fn short_names_stand_beside_those_of_the_source() {
    let folder = folder();
    let (types, _) = dumptool(folder.path(), "top app.hprof --mapping app.txt --format json");
    let types: serde_json::Value = serde_json::from_str(&types).unwrap();
    let mut rows = types["rows"].as_array().unwrap().iter();
    let cart = rows.find(|row| row["name"] == "shop.Cart").unwrap();
    assert_eq!(cart["generated_name"], "b");
    let document = |line: &str| -> serde_json::Value {
        let line = format!("{line} --mapping app.txt --format json");
        serde_json::from_str(&dumptool(folder.path(), &line).0).unwrap()
    };
    assert_eq!(document("find app.hprof --type shop.Cart")["objects"][0]["generated_name"], "b");
    assert_eq!(document("show app.hprof 0x200")["object"]["generated_name"], "b");
    let path = document("path app.hprof 0x200");
    assert_eq!(path["object"]["generated_name"], "b", "{path}");
    let tree = document("tree app.hprof --min-share 0");
    let mut lines = tree["nodes"].as_array().unwrap().iter();
    assert!(lines.any(|line| line["generated_name"] == "b"), "{tree}");
    let line = "convert app.hprof - --to csv --table types --mapping app.txt";
    let (types, _) = dumptool(folder.path(), line);
    let mut lines = types.lines();
    assert!(lines.any(|line| line.contains("shop.Cart,") && line.ends_with(",b")), "{types}");
    std::fs::write(folder.path().join("more.hprof"), minified_with(true)).unwrap();
    let change = document("diff app.hprof more.hprof");
    assert_eq!(change["rows"][0]["new"]["generated_name"], "b", "{change}");
}

#[test]
fn the_library_names_classes_by_a_mapping() {
    let folder = folder();
    let dump = dumptool::open(folder.path().join("app.hprof")).unwrap();
    let heap = dump.mapping(folder.path().join("app.txt")).load().unwrap();
    assert!(heap.heap().types().iter().any(|of| heap.heap().names().text(of.name) == "shop.Cart"));
}

#[test]
fn static_fields_of_paths_have_the_names_of_the_source() {
    let (path, _) = dumptool(folder().path(), "path app.hprof 0x200 --mapping app.txt");
    assert!(path.contains(" all ") && path.contains("class shop.Cart"), "{path}");
}

#[test]
fn a_frame_becomes_those_that_were_inlined_and_keeps_its_variables() {
    let (threads, _) =
        dumptool(folder().path(), "threads app.hprof --each --mapping app.txt --format json");
    let threads: serde_json::Value = serde_json::from_str(&threads).unwrap();
    let frames = threads["groups"][0]["frames"].as_array().unwrap();
    let shown: Vec<String> = frames
        .iter()
        .map(|frame| format!("{} {}:{}", frame["function"], frame["file"], frame["line"]))
        .collect();
    assert_eq!(
        shown,
        ["\"shop.Line.price\" \"Line.java\":7", "\"shop.Cart.add\" \"Cart.kt\":13"],
        "{threads}"
    );
    let locals = |frame: usize| frames[frame]["locals"].as_array().map_or(0, Vec::len);
    assert_eq!((locals(0), locals(1)), (0, 1), "{threads}");
}

#[test]
fn a_mapping_beside_the_dump_is_found_and_said() {
    let folder = folder();
    std::fs::rename(folder.path().join("app.txt"), folder.path().join("mapping.txt")).unwrap();
    let (types, messages) = dumptool(folder.path(), "top app.hprof");
    assert!(types.contains("shop.Cart"), "{types}");
    assert!(messages.contains("mapping.txt"), "{messages}");
    std::fs::copy(folder.path().join("app.hprof"), folder.path().join("new.hprof")).unwrap();
    let (_, messages) = dumptool(folder.path(), "growth app.hprof new.hprof");
    assert_eq!(messages.matches("mapping.txt").count(), 2, "once for each dump: {messages}");
    // Another file of that name does not count.
    std::fs::write(folder.path().join("mapping.txt"), "a = b\n").unwrap();
    let (types, messages) = dumptool(folder.path(), "top app.hprof");
    assert!(types.contains(" b\n") && messages.is_empty(), "{types}{messages}");
}

#[test]
fn two_builds_are_compared_by_the_names_of_the_source() {
    let folder = folder();
    let newer =
        MAPPING.replace("-> a:", "-> z:").replace("-> b:", "-> a:").replace("-> z:", "-> b:");
    std::fs::write(folder.path().join("newer.txt"), newer).unwrap();
    let line = "diff app.hprof app.hprof --old-mapping app.txt --mapping newer.txt";
    let (difference, _) = dumptool(folder.path(), line);
    assert!(difference.contains("shop.Base") && difference.contains("shop.Cart"), "{difference}");
}

#[test]
fn an_old_mapping_without_an_older_dump_is_refused() {
    let (_, messages) = dumptool(folder().path(), "top app.hprof --old-mapping app.txt");
    assert!(messages.contains("--old-mapping is for commands that compare"), "{messages}");
}

#[test]
fn a_mapping_that_does_not_fit_is_refused_or_said() {
    let folder = folder();
    std::fs::write(folder.path().join("other.txt"), "x.Y -> zz:\n").unwrap();
    let (_, messages) = dumptool(folder.path(), "top app.hprof --mapping other.txt");
    assert!(messages.contains("no class of the dump is among"), "{messages}");
    std::fs::write(folder.path().join("other.txt"), "x.Y -> zz:\nnonsense\n").unwrap();
    let (_, messages) = dumptool(folder.path(), "top app.hprof --mapping other.txt");
    assert!(
        messages.contains("other.txt: not a mapping") && messages.contains("0xb"),
        "{messages}"
    );
}

#[test]
fn info_says_that_names_look_minified() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (message, _) = dumptool(folder, "info fixtures/names/app.min.cpuprofile");
    assert!(message.contains("functions of app.min.js") && message.contains("--source-maps"));
}

/// `depot.hprof` was made by a program that ProGuard 6.2 had shrunken.
#[test]
#[ignore = "reads nothing but the corpus"]
fn corpus_classes_of_proguard_have_their_names() {
    let names = corpus_folder("names");
    let dump = read(&names.join("depot.hprof.zst"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("depot.hprof"), dump).unwrap();
    std::fs::copy(names.join("depot.mapping.txt"), folder.path().join("mapping.txt")).unwrap();
    let (types, _) = dumptool(folder.path(), "top depot.hprof --type Depot* --format json");
    let types: serde_json::Value = serde_json::from_str(&types).unwrap();
    let count = |name: &str| {
        let rows = types["rows"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).map(|row| row["count"].clone())
    };
    assert_eq!(count("Depot$Parcel"), Some(400.into()), "{types}");
    assert_eq!(count("Depot$ParcelStore"), Some(1.into()), "{types}");
    assert_eq!(count("Depot$CountingVisitor"), Some(1.into()), "{types}");
}
