//! What `fixtures/go-types/src/yard.go` puts into its heap, by the executable.

use dumptool::analysis::DominatorTree;
use dumptool::analysis::Graph;
use dumptool::analysis::root_groups::RootGroups;
use dumptool::input::load::{Executable, LoadOptions, Loaded};
use dumptool::input::{self, Format};
use dumptool::model::heap::{FieldValue, Heap, ObjectId, TypeSource};
use dumptool::source::Source;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/go-types").join(name)
}

fn open(name: &str) -> Source {
    Source::open(&path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Calls `test` with the heap.
fn with_yard(test: impl FnOnce(&Loaded<'_>)) {
    with_dump("yard_go119_386.heapdump.zst", test);
}

/// Calls `test` with the heap of a dump, named by the executable that was not stripped.
fn with_dump(dump: &str, test: impl FnOnce(&Loaded<'_>)) {
    let [dump, exe] = [dump, "yard_go119_386.exe.zst"].map(open);
    let executable = Executable { bytes: exe.bytes(), guesses: true };
    let options = LoadOptions::default().executable(Some(executable));
    test(&input::load(Format::Go, dump.bytes(), options).unwrap());
}

/// The objects of a type.
fn of_type(heap: &Heap<'_>, name: &str) -> Vec<ObjectId> {
    heap.objects().filter(|object| heap.type_name(*object) == name).collect()
}

/// The fields of the only object of a type: name, type and text, or a number.
fn fields(heap: &Heap<'_>, of: &str) -> Vec<(String, String, String)> {
    let [object] = of_type(heap, of)[..] else { panic!("not one {of}") };
    let mut fields = Vec::new();
    heap.each_field(object, |field| {
        let value = match field.value {
            FieldValue::Text(text) => text.to_owned(),
            FieldValue::Integer(value) => value.to_string(),
            FieldValue::Unsigned(value) => value.to_string(),
            _ => String::new(),
        };
        fields.push((field.name.to_owned(), field.type_name.to_owned(), value));
        ControlFlow::Continue(())
    });
    fields
}

#[test]
fn objects_that_the_compiler_laid_out_have_the_name_of_their_global() {
    with_yard(|loaded| {
        let heap = &loaded.heap;
        let roots: Vec<(String, &str)> = heap
            .roots()
            .iter()
            .map(|root| (root.text(heap.names()), heap.type_name(root.object)))
            .filter(|(text, _)| text.starts_with("main.") && text.contains('→'))
            .collect();
        let expected = [
            ("main.shelf → items", "[]*main.Item"),
            ("main.shelf → byKey", "map[string]*main.Item"),
            ("main.shelf → next → items", "[]*main.Item"),
            ("main.shelf → next → byKey", "map[string]*main.Item"),
            ("main.shelf → next → next → items", "[]*main.Item"),
            ("main.shelf → next → next → byKey", "map[string]*main.Item"),
            ("main.racks[0] → items", "*main.Item"),
            ("main.racks[1] → items", "*main.Item"),
            ("main.cellar → items", "*main.Item"),
        ];
        assert_eq!(roots, expected.map(|(text, of)| (text.to_owned(), of)));
        assert!(!heap.roots().iter().any(|root| root.text(heap.names()).starts_with("bss ")));
    });
}

#[test]
fn parts_of_one_global_are_one_root() {
    with_yard(|loaded| {
        let heap = &loaded.heap;
        let groups = RootGroups::of(heap, &Graph::of(heap));
        let tree = DominatorTree::new(heap);
        let held = |name: &str| {
            let held =
                heap.objects().filter(|object| groups.name(&tree.dominators, *object) == name);
            held.filter(|object| tree.is_live(*object)).count()
        };
        // A slice and its items, the map, its bucket and its item.
        assert_eq!(held("main.shelf"), 6);
        assert_eq!(held("main.shelf → next"), 6);
        // Both ends of the list are one item.
        assert_eq!(held("main.cache"), 1);
    });
}

#[test]
fn channels_with_goroutines_that_wait_have_the_type_of_their_elements() {
    with_yard(|loaded| {
        let heap = &loaded.heap;
        assert_eq!(of_type(heap, "runtime.hchan"), []);
        for (channel, buffers) in [("chan *main.Job", ""), ("chan main.Job", "[]main.Job")] {
            let [channel] = of_type(heap, channel)[..] else { panic!("not one {channel}") };
            assert_eq!(heap.type_source(heap.type_id(channel)), TypeSource::Exact);
            assert_eq!(of_type(heap, buffers).len(), usize::from(!buffers.is_empty()));
        }
        // Eight of the jobs that were sent or wait to be, and the one of `main.ticks`.
        assert_eq!(of_type(heap, "chan int").len(), 8);
    });
}

#[test]
fn channels_show_what_is_queued_and_who_waits() {
    with_yard(|loaded| {
        let fields = fields(&loaded.heap, "chan main.Job");
        let value = |name: &str| {
            let field = fields.iter().find(|(field, ..)| field == name);
            field.map(|(.., value)| value.as_str()).unwrap_or_else(|| panic!("no {name}"))
        };
        assert_eq!((value("len"), value("cap")), ("3", "3"));
        assert_eq!([value("[0].ID"), value("[1].ID"), value("[2].ID")], ["0", "1", "2"]);
        let senders = (0..4).map(|number| value(&format!("sender[{number}]")));
        assert!(senders.clone().all(|sender| sender.starts_with("goroutine ")));
        assert_eq!(senders.collect::<std::collections::BTreeSet<_>>().len(), 4);
        assert!(!fields.iter().any(|(field, ..)| field.starts_with("receiver")));
    });
}

#[test]
fn function_values_have_the_names_of_their_functions() {
    with_yard(|loaded| {
        let fields = fields(&loaded.heap, "map[string]func(int) int");
        let function = |name: &str| {
            let field = fields.iter().find(|(field, ..)| field == name);
            field.map(|(_, of, _)| of.as_str()).unwrap_or_else(|| panic!("no {name}"))
        };
        assert_eq!(function("[\"double\"]"), "func main.double");
        assert_eq!(function("[\"add\"]"), "func main.adder.func1");
    });
}

#[test]
fn groups_of_maps_have_packages_with_their_paths() {
    with_yard(|loaded| {
        let heap = &loaded.heap;
        let name = "map.bucket[string][]*acme/yard/bus.Subscription";
        assert_eq!(of_type(heap, name).len(), 1);
        let namespaces = heap.types().iter().map(|of| heap.names().text(of.namespace));
        assert!(namespaces.clone().any(|of| of == "acme/yard/bus"));
        assert!(!namespaces.clone().any(|of| of == "bus"));
    });
}

#[test]
fn the_dump_of_a_stripped_build_takes_its_names_from_one_that_is_not() {
    let names = |loaded: &Loaded<'_>| {
        let heap = &loaded.heap;
        let named = heap.objects().map(|object| heap.type_name(object).to_owned());
        // What belongs to the runtime differs from run to run.
        let mut names: Vec<String> = named.filter(|name| name.contains("main.")).collect();
        let roots = heap.roots().iter().map(|root| root.text(heap.names()));
        names.extend(roots.filter(|root| root.starts_with("main.")));
        names.sort();
        names
    };
    let mut expected = Vec::new();
    with_yard(|loaded| expected = names(loaded));
    with_dump("yard_go119_386_stripped.heapdump.zst", |loaded| {
        assert_eq!(names(loaded), expected);
        assert!(expected.len() > 40, "{expected:?}");
    });
}

/// What a command writes about three dumps with the executable.
fn output(command: &str, options: &[&str]) -> String {
    let dump = path("yard_go119_386.heapdump.zst");
    let output = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .arg(command)
        .args([&dump, &dump, &dump])
        .arg("--exe")
        .arg(path("yard_go119_386.exe.zst"))
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn growth_names_types_by_the_executable() {
    let rows = output("growth", &["--format", "csv", "-n", "0"]);
    let items = rows.lines().find(|row| row.starts_with("main.Item,main,")).unwrap();
    assert!(items.contains("13 13 13") || items.contains("208 208 208"), "{items}");
}

#[test]
fn types_over_time_of_a_page_are_named_by_the_executable() {
    let page = output("report", &["-o", "-"]);
    let data = page.split_once("Types over time").unwrap().1;
    // Names stand once in the page; the table has a row for each type that growth lists.
    let rows = output("growth", &["--format", "csv", "-n", "0"]).lines().count() - 1;
    assert!(data.contains(&format!("\"rows\":{rows}")), "{rows} types");
}
