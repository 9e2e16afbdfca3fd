//! The library as a stranger meets it: names that stand once, and programs that work at first
//! guess.

use crate::support::{fixture, format_modules, sources};
use dumptool::analysis::{DominatorTree, Histogram, shortest_path};
use dumptool::model::builder::HeapBuilder;
use dumptool::{ErrorKind, OutputFormat};
use std::collections::BTreeMap;

#[test]
fn no_public_type_name_stands_twice() {
    // The formats' own folders are hidden from the documentation; what `input` exports of them
    // counts.
    let formats = format_modules();
    let files = sources("src");
    let (_, exported) = files.iter().find(|(path, _)| path == "input/mod.rs").unwrap();
    let exported: String =
        exported.split("pub use ").skip(1).map(|rest| rest.split(';').next().unwrap()).collect();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in files.iter().filter(|(path, _)| !path.starts_with("cli")) {
        let hidden = formats.iter().any(|format| path.starts_with(&format!("input/{format}/")));
        for line in text.lines() {
            let mut words = line
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|word| !word.is_empty());
            if !line.trim_start().starts_with("pub ")
                || !matches!(words.nth(1), Some("struct" | "enum" | "trait" | "type" | "union"))
            {
                continue;
            }
            let name = words.next().unwrap().to_owned();
            // A macro's name is a parameter: what it declares are the records of one format.
            if line.contains('$') {
                continue;
            }
            if !hidden || exported.split(|c: char| !c.is_alphanumeric()).any(|word| word == name) {
                places.entry(name).or_default().push(path.clone());
            }
        }
    }
    assert!(places.len() > 100, "the names were found: {}", places.len());
    let twice: Vec<_> = places.iter().filter(|(_, places)| places.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn the_first_types_are_those_that_retain_most() {
    let dump = dumptool::open(fixture("go/go13.heapdump")).unwrap();
    let top = dump.top(2).unwrap();
    assert_eq!(
        (top.len(), top[0].name.as_str(), top[0].retained_bytes),
        (2, "main.Node", Some(160))
    );
    assert!(top[0].retained_bytes >= top[1].retained_bytes);
    let all = dump.top(usize::MAX).unwrap();
    assert!(all.len() > 2 && all[..2] == top);
    assert_eq!(top[0].to_string(), "         160          144         3  main.Node");
    let heap = dump.heap().unwrap();
    assert_eq!(
        heap.objects_of_type("main.Node").count(),
        heap.objects().filter(|object| heap.type_name(*object) == "main.Node").count()
    );
}

#[test]
fn a_path_is_a_line_of_text() {
    let dump = dumptool::open(fixture("go/go13.heapdump")).unwrap();
    let heap = dump.heap().unwrap();
    let tree = DominatorTree::new(&heap);
    let is_node = |object: &_| heap.type_name(*object) == "main.Node" && tree.is_live(*object);
    let node = heap.objects().filter(is_node).last().unwrap();
    let path = shortest_path(&heap, node).unwrap();
    assert_eq!(path.object(), Some(node));
    let (text, end) = (path.text(&heap), format!("main.Node {}", heap.id(node)));
    assert!(text.ends_with(&end) && text.matches(" → ").count() == path.steps.len(), "{text}");
    let garbage = heap.objects().find(|object| !tree.is_live(*object)).unwrap();
    assert_eq!(
        (shortest_path(&heap, garbage), tree.retained(garbage), tree.dominator(garbage)),
        (None, 0, None)
    );
    assert_eq!(tree.len(), tree.live_objects().len());
}

#[test]
fn a_heap_without_roots_has_an_empty_tree_and_a_full_histogram() {
    let dump = dumptool::open(fixture("go/go13.heapdump")).unwrap();
    let mut builder = HeapBuilder::from_heap(dump.heap().unwrap());
    builder.clear_roots();
    let heap = builder.finish_edited();
    let tree = DominatorTree::new(&heap);
    let histogram = Histogram::by_type(&heap, &tree);
    assert!(tree.is_empty() && tree.live_bytes() == 0);
    assert_eq!((histogram.total.count, histogram.unreachable), (heap.object_count(), None));
    assert!(histogram.rows.iter().all(|row| row.retained_bytes.is_none()));
}

#[test]
fn dumps_convert_by_name() {
    for (file, is_heap) in
        [("go/tiny_go127.heapdump.zst", true), ("mojo/tiny-3.5.0-full-thr.mojo", false)]
    {
        let dump = dumptool::open(fixture(file)).unwrap();
        for format in OutputFormat::ALL {
            let mut out = Vec::new();
            let result = dump.convert(format, &mut out);
            let fits = if is_heap { format.takes_heaps() } else { format.takes_profiles() };
            if !fits {
                assert_eq!(
                    result.unwrap_err().kind(),
                    ErrorKind::Unsupported,
                    "{file} to {}",
                    format.name()
                );
            } else {
                result.unwrap();
                let start: &[u8] = match format {
                    OutputFormat::Hprof => b"JAVA PROFILE 1.0.",
                    OutputFormat::Mojo => b"MOJ\x03",
                    OutputFormat::Pprof => b"\x1f\x8b",
                    OutputFormat::Speedscope
                    | OutputFormat::Firefox
                    | OutputFormat::Heapsnapshot => b"{",
                    _ => b"",
                };
                assert!(
                    out.starts_with(start) && out.len() > 100,
                    "{file} to {}: {} bytes",
                    format.name(),
                    out.len()
                );
            }
        }
        let error = dump.convert("png", Vec::new()).unwrap_err();
        assert!(error.offset().is_none() && error.advice().unwrap().contains("hprof"), "{error}");
    }
}

#[test]
fn the_sums_of_an_hprof_profile_do_not_become_samples() {
    let mut hprof = tempfile::NamedTempFile::new().unwrap();
    dumptool::open(fixture("mojo/tiny-3.5.0-full-thr.mojo"))
        .unwrap()
        .convert("hprof", &mut hprof)
        .unwrap();
    let profile = dumptool::open(hprof.path()).unwrap();
    for format in ["mojo", "austin"] {
        assert_eq!(
            profile.convert(format, Vec::new()).unwrap_err().kind(),
            ErrorKind::Unsupported,
            "{format}"
        );
    }
    profile.convert("folded", Vec::new()).unwrap();
}

#[test]
fn file_names_pick_output_formats() {
    for (name, format) in [
        ("out.pb.gz", Some(OutputFormat::Pprof)),
        ("a.b.speedscope.json.zst", Some(OutputFormat::Speedscope)),
        ("out.collapsed", Some(OutputFormat::Folded)),
        ("out.json", None),
        ("hprof", None),
        ("out.gz", None),
    ] {
        assert_eq!(OutputFormat::from_file_name(name), format, "{name}");
    }
}

#[test]
fn every_output_format_has_a_name_of_its_own() {
    let mut names: Vec<_> = OutputFormat::ALL
        .into_iter()
        .flat_map(|format| [format.name(), format.extensions()[0]])
        .collect();
    assert!(
        OutputFormat::ALL
            .into_iter()
            .all(|format| OutputFormat::from_name(format.name()) == Some(format))
    );
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= OutputFormat::ALL.len());
    assert_eq!(OutputFormat::from_name("png"), None);
}

/// Users see what `lib.rs`, `analysis` and `convert` hand on. Everything else is hidden from the
/// documentation: the tests, the benchmarks and the fuzz targets use it.
#[test]
fn the_documented_face_is_small() {
    let files = sources("src");
    let text = |name: &str| &files.iter().find(|(path, _)| path == name).unwrap().1;
    let hidden = |name: &str, shown: &[&str]| {
        let lines: Vec<&str> = text(name).lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(module) = line.strip_prefix("pub mod ") else { continue };
            let is_hidden = lines[..at]
                .iter()
                .rev()
                .take_while(|line| line.starts_with("#["))
                .any(|line| *line == "#[doc(hidden)]");
            assert!(
                is_hidden || shown.contains(&module.trim_end_matches(';')),
                "{name} shows {module}"
            );
        }
    };
    hidden("lib.rs", &["analysis", "convert"]);
    hidden("analysis/mod.rs", &[]);
    hidden("convert/mod.rs", &[]);
    let names = |name: &str| -> Vec<String> {
        let uses =
            text(name).split("\npub use ").skip(1).map(|rest| rest.split(';').next().unwrap());
        // The last word of each path, or the name that it is given.
        let items = uses.flat_map(|path| path.rsplit('{').next().unwrap().split(','));
        let items = items.map(|item| item.trim_matches(|c: char| c == '}' || c.is_whitespace()));
        let items = items.filter(|item| !item.is_empty());
        items.map(|item| item.rsplit([':', ' ']).next().unwrap().to_owned()).collect()
    };
    let mut all: Vec<String> =
        ["lib.rs", "analysis/mod.rs", "convert/mod.rs"].into_iter().flat_map(names).collect();
    let count = all.len();
    assert!((60..=130).contains(&count), "{count} public items: {all:?}");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "a name stands twice");
}
