//! Names of bundled JavaScript, with the maps of the bundler.

use crate::support::heapsnapshot::Snapshot;
use crate::support::{corpus_folder, fixture, read};
use dumptool::analysis::profile::{FrameBy, Selected, TopBy, top};
use dumptool::input::load::{LoadOptions, ProfileOptions};
use dumptool::input::{self, Format};
use dumptool::model::heap::Heap;
use dumptool::model::stacks::Selection;
use dumptool::names::SourceMaps;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn maps(place: &Path) -> SourceMaps {
    SourceMaps::new(&[place.to_owned()]).unwrap()
}

/// The generated names and the files of functions by their names.
fn functions(file: &Path, format: Format, maps: &SourceMaps) -> BTreeMap<String, (String, String)> {
    let options = ProfileOptions::default().source_maps(Some(maps));
    let profile = input::load_profile(format, &read(file), options).unwrap().profile;
    let selection = Selection::default();
    let rows = top(&Selected::of(&profile, &selection), TopBy::Frames(FrameBy::Function)).rows;
    let row = |row: dumptool::analysis::profile::TopRow| {
        let (name, file) = (row.label.name, row.label.namespace);
        let generated = profile.generated_name(&name, &file).unwrap_or_default().to_owned();
        (name.to_string(), (generated, file.rsplit('/').next().unwrap_or_default().to_owned()))
    };
    rows.into_iter().map(row).collect()
}

#[test]
fn functions_of_profiles_have_their_original_names() {
    let maps = maps(&fixture("names"));
    let cpu = functions(&fixture("names/app.min.cpuprofile"), Format::Cpuprofile, &maps);
    for (name, generated, file) in [
        ("sortNumbers", "p", "work.ts"),
        ("countPrimes", "a", "work.ts"),
        ("isPrimeNumber", "R", "work.ts"),
        ("serveRequests", "y", "main.ts"),
        ("buildText", "", "work.ts"),
    ] {
        assert_eq!(cpu[name], (generated.to_owned(), file.to_owned()), "{name}");
    }
    assert!(!cpu.contains_key("p") && !cpu.contains_key("a"), "{cpu:?}");
    let heap = functions(&fixture("names/app.min.heapprofile"), Format::Heapprofile, &maps);
    assert!(heap.keys().any(|name| cpu.contains_key(name) && !name.contains('(')), "{heap:?}");
    assert!(maps.take_problems().is_empty());
}

/// The numbers of objects by the names of their types.
fn types(heap: &Heap<'_>) -> BTreeMap<String, usize> {
    let mut types = BTreeMap::new();
    for object in heap.objects() {
        *types.entry(heap.type_name(object).to_owned()).or_default() += 1;
    }
    types
}

/// Adds a script, a class of it at a column, and two objects of the class.
fn add_class(snapshot: &mut Snapshot, script: (usize, &str), (class_name, column): (&str, usize)) {
    let name = snapshot.node("string", script.1, 40);
    let of = snapshot.node("code", script.1, 40);
    let shared = snapshot.node("code", class_name, 40);
    let class = snapshot.node("closure", class_name, 40);
    let prototype = snapshot.object(class_name, 40);
    snapshot.edge(of, "internal", "name", name);
    snapshot.edge(shared, "internal", "script", of).edge(class, "internal", "shared", shared);
    snapshot.edge(class, "property", "prototype", prototype);
    snapshot.edge(prototype, "property", "constructor", class).edge(1, "element", "1", class);
    snapshot.location(class, [script.0, 0, column]);
    for _ in 0..2 {
        let object = snapshot.object(class_name, 24);
        snapshot.edge(object, "property", "__proto__", prototype).edge(1, "element", "2", object);
    }
}

#[test]
fn two_classes_with_one_short_name_are_two_types() {
    let folder = tempfile::tempdir().unwrap();
    for (script, class) in [("one.js", "Session"), ("two.js", "Order")] {
        let map = format!(
            r#"{{"version":3,"sources":["../src/{class}.ts"],"sourcesContent":["export class {class} {{}}"],"names":[],"mappings":"AAAA"}}"#
        );
        std::fs::write(folder.path().join(format!("{script}.map")), map).unwrap();
    }
    let mut snapshot = Snapshot::new();
    add_class(&mut snapshot, (7, "/srv/app/dist/one.js"), ("b", 0));
    add_class(&mut snapshot, (9, "file:///srv/app/dist/two.js"), ("b", 3));
    add_class(&mut snapshot, (11, "/srv/app/dist/without.js"), ("b", 0));
    let (bytes, maps) = (snapshot.bytes(), maps(folder.path()));
    for bare in [false, true] {
        let options = LoadOptions::default().bare(bare).source_maps(Some(&maps));
        let heap = input::load(Format::Heapsnapshot, &bytes, options).unwrap().heap;
        let types = types(&heap);
        assert_eq!((types["Session"], types["Order"], types["b"]), (3, 3, 3), "{types:?}");
        assert_eq!(heap.generated_name("Order", "object"), Some("b"));
        assert_eq!(heap.generated_name("b", "object"), None);
        if bare {
            continue;
        }
        let order = heap.objects().find(|object| heap.type_name(*object) == "Order").unwrap();
        let location = heap.location(order).unwrap();
        assert_eq!((&*location.file, location.line), ("file:///srv/app/src/Order.ts", 1));
    }
    let options = LoadOptions::default().source_maps(Some(&maps));
    let counted = input::histogram(Format::Heapsnapshot, &bytes, options).unwrap();
    assert!(counted.rows.iter().any(|row| row.name == "Order" && row.sum.count == 3));
}

#[test]
fn a_script_with_short_names_and_no_map_is_named() {
    let mut snapshot = Snapshot::new();
    for (column, class) in ["b", "c", "d"].into_iter().enumerate() {
        add_class(&mut snapshot, (21, "/srv/app/dist/one.js"), (class, column));
        add_class(&mut snapshot, (9, "node:internal/two"), (class, column));
    }
    for class in ["Order", "Session", "Invoice"] {
        add_class(&mut snapshot, (11, "/srv/app/dist/long.js"), (class, 0));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("app.heapsnapshot");
    std::fs::write(&file, snapshot.bytes()).unwrap();
    let messages = |words: &[&str]| {
        let program = env!("CARGO_BIN_EXE_dumptool");
        let run = Command::new(program).current_dir(folder.path()).args(words).output().unwrap();
        String::from_utf8([run.stdout, run.stderr].concat()).unwrap()
    };
    let minified = "3 of 3 functions and classes of one.js have names of one or two letters, which look \
        minified: --source-maps with the map of this script";
    let info = ["info", "app.heapsnapshot"];
    assert!(messages(&info).contains(minified), "{}", messages(&info));
    for compare in ["diff", "growth"] {
        let words = [compare, "app.heapsnapshot", "app.heapsnapshot"];
        let said = messages(&words);
        assert!(said.contains(minified) && said.contains("two builds"), "{said}");
    }
    let map = r#"{"version":3,"sources":["one.ts"],"names":[],"mappings":"AAAA"}"#;
    std::fs::write(folder.path().join("one.js.map"), map).unwrap();
    let words = ["info", "app.heapsnapshot", "--source-maps", "one.js.map"];
    assert!(!messages(&words).contains("minified"), "{}", messages(&words));
}

/// A bundler may leave a class without a name: its prototype is no object of the class.
#[test]
fn prototypes_of_classes_without_a_name_are_not_their_objects() {
    let folder = tempfile::tempdir().unwrap();
    let map = r#"{"version":3,"sources":["a.ts"],"sourcesContent":["class Session {}"],"names":[],"mappings":"AAAA"}"#;
    std::fs::write(folder.path().join("one.js.map"), map).unwrap();
    let mut snapshot = Snapshot::new();
    let script = (7, "/srv/app/dist/one.js");
    let name = snapshot.node("string", script.1, 40);
    let of = snapshot.node("code", script.1, 40);
    let shared = snapshot.node("code", "", 40);
    let class = snapshot.node("closure", "", 40);
    let prototype = snapshot.object("Object", 40);
    let object = snapshot.object("Object", 24);
    snapshot.edge(of, "internal", "name", name).edge(1, "element", "1", object);
    snapshot.edge(shared, "internal", "script", of).edge(class, "internal", "shared", shared);
    snapshot.edge(prototype, "property", "constructor", class);
    snapshot.edge(object, "property", "__proto__", prototype);
    snapshot.location(class, [script.0, 0, 0]);
    let (bytes, maps) = (snapshot.bytes(), maps(folder.path()));
    let options = LoadOptions::default().source_maps(Some(&maps));
    let heap = input::load(Format::Heapsnapshot, &bytes, options).unwrap().heap;
    assert_eq!((types(&heap)["Session"], types(&heap)["Object"]), (1, 1), "{:?}", types(&heap));
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn a_shortened_heap_of_the_corpus_with_its_map_has_the_classes_of_the_plain_one() {
    let folder = corpus_folder("names");
    let maps = maps(&folder.join("app.min.js.map"));
    let (short, plain) = (
        read(&folder.join("app.min.heapsnapshot.zst")),
        read(&folder.join("app.plain.heapsnapshot.zst")),
    );
    let load = |bytes, maps| {
        let options = LoadOptions::default().source_maps(maps);
        types(&input::load(Format::Heapsnapshot, bytes, options).unwrap().heap)
    };
    let (short, plain) = (load(&short, Some(&maps)), load(&plain, None));
    for class in ["SessionRecord", "SessionCache"] {
        assert_eq!(short[class], plain[class], "{class}");
    }
    assert!(!short.contains_key("u") && !short.contains_key("n"));
}

#[test]
fn maps_that_cannot_be_read_are_errors_with_their_offset() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("app.min.js.map");
    std::fs::write(&broken, r#"{"version":3,"sources":[],"mappings":"AAAA,A!"}"#).unwrap();
    let (path, error) = SourceMaps::new(std::slice::from_ref(&broken)).unwrap_err();
    assert_eq!((path, error.offset()), (broken, Some(43)));
    // In a folder it may be the map of anything.
    let maps = maps(folder.path());
    functions(&fixture("names/app.min.cpuprofile"), Format::Cpuprofile, &maps);
    let problems = maps.take_problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].to_string().contains("not a digit in base 64"), "{}", problems[0]);
    assert!(SourceMaps::new(&["/missing".into()]).is_err());
}
