//! Ruby heap dumps.

use crate::support::ruby::{SHOP, shop};
use crate::support::{broken, info, records};
use dumptool::analysis::collections::Collections;
use dumptool::analysis::glob::TypeFilter;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::histogram::{GroupBy, Scope};
use dumptool::analysis::verdict::{Surveyed, Verdict};
use dumptool::analysis::{DominatorTree, Histogram};
use dumptool::error::ErrorKind;
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::model::heap::{Heap, ObjectId, RootKind, Value};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap, HashSet};

fn load(bytes: &[u8]) -> Heap<'_> {
    let loaded = input::load(Format::Ruby, bytes, LoadOptions::default()).unwrap();
    assert!(
        loaded.damage.is_none() && loaded.heap.warnings().is_empty(),
        "{:?}",
        loaded.heap.warnings()
    );
    loaded.heap
}

fn verdict(heap: &Heap<'_>) -> Verdict {
    let graph = Graph::of(heap);
    let tree = DominatorTree::of_graph(heap, &graph);
    Verdict::of(Surveyed { heap, graph: &graph, tree: &tree }, &Collections::of(heap))
}

fn object(heap: &Heap<'_>, address: &str) -> ObjectId {
    heap.find(address).unwrap_or_else(|| panic!("no object {address}"))
}

fn labels(heap: &Heap<'_>, address: &str) -> Vec<String> {
    heap.references_of(object(heap, address))
        .map(|reference| reference.label.text(heap.names()).into_owned())
        .collect()
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn dumps_of_the_corpus_are_what_networkx_makes_of_them() {
    let folder = crate::support::corpus_folder("ruby");
    let mut compared = 0;
    for path in crate::support::files(&folder) {
        let Some(name) = path.to_str().and_then(|path| path.strip_suffix(".json.zst")) else {
            continue;
        };
        compare(
            &crate::support::read(&path),
            &crate::support::json(format!("{name}.truth.json").as_ref()),
        );
        compared += 1;
    }
    assert!(compared > 0, "no dumps in {}", folder.display());
}

#[test]
fn the_fixture_is_what_python_makes_of_it() {
    let bytes = crate::support::read(&crate::support::fixture("ruby/shop-small.json.zst"));
    compare(&bytes, &crate::support::json(&crate::support::fixture("ruby/shop-small.truth.json")));
}

/// Compares sites and generations with those in the lines.
fn compare_sites(heap: &Heap<'_>, tree: &DominatorTree, lines: &[Json]) {
    let (mut sites, mut generations) = (BTreeMap::new(), BTreeMap::new());
    for line in lines.iter().filter(|line| line["file"].is_string()) {
        let method = line["method"].as_str().unwrap_or("(no method)");
        let place = format!("{}:{}", line["file"].as_str().unwrap(), line["line"]);
        let generation = line["generation"].to_string();
        for (of, key) in [
            (&mut sites, (method.to_owned(), place)),
            (&mut generations, (generation, String::new())),
        ] {
            let sum: &mut [u64; 2] = of.entry(key).or_default();
            sum[0] += 1;
            sum[1] += line["memsize"].as_u64().unwrap();
        }
    }
    let rows = |histogram: Histogram| -> BTreeMap<(String, String), [u64; 2]> {
        let rows = histogram.rows.into_iter();
        rows.map(|row| ((row.name, row.namespace), [row.sum.count, row.sum.shallow_bytes]))
            .collect()
    };
    let by_site = Histogram::by_site(heap, Some(tree), Scope::All, &TypeFilter::default());
    assert_eq!(rows(by_site), sites);
    let by_generation = Histogram::of(heap, Some(tree), GroupBy::Generation, Scope::All);
    assert_eq!(rows(by_generation), generations);
}

#[test]
fn an_object_knows_the_line_and_generation_that_allocated_it() {
    let bytes = shop();
    let heap = load(&bytes);
    let sites = heap.sites();
    let site = sites.site_of(object(&heap, "0x200")).unwrap();
    let frames: Vec<_> = sites.stack(site).collect();
    assert_eq!(
        (heap.names().text(frames[0].function), heap.names().text(frames[0].file), frames[0].line),
        ("new", "shop.rb", 9)
    );
    assert_eq!((frames.len(), sites.sites[site as usize].generation), (1, Some(15)));
    assert_eq!(sites.site_of(object(&heap, "0x210")), None);
}

fn compare(bytes: &[u8], truth: &Json) {
    let info = info(Format::Ruby, bytes);
    let snapshot = &info["heap"]["snapshots"][0];
    for (ours, expected) in [
        (&snapshot["objects"], &truth["objects"]),
        (&snapshot["references"], &truth["references"]),
        (&snapshot["shallow_bytes"], &truth["memsize"]),
        (&snapshot["details"]["by_type"], &truth["by_type"]),
        (&snapshot["details"]["roots"], &truth["roots"]),
        (&snapshot["details"]["shapes"], &truth["shapes"]),
    ] {
        assert_eq!(ours, expected);
    }
    assert_eq!(broken(Format::Ruby, bytes), [""; 0]);
    let heap = load(bytes);
    let tree = DominatorTree::new(&heap);
    assert_eq!(
        json!([tree.len(), tree.live_bytes()]),
        json!([truth["live_objects"], truth["live_memsize"]])
    );
    for row in truth["largest"]
        .as_array()
        .unwrap()
        .iter()
        .chain(truth["objects_sample"].as_array().unwrap())
    {
        let object = object(&heap, row[0].as_str().unwrap());
        let dominator = tree.dominator(object).map_or("R".to_owned(), |object| heap.id(object));
        assert_eq!(
            json!([heap.shallow_bytes(object), tree.retained(object), dominator]),
            json!([row[3], row[4], row[5]]),
            "{row}"
        );
        // Structures of C libraries are named by their kind, which the truth does not look at.
        let is_structure = row[1] == "DATA" && row[2] == "Object";
        if row[2].as_str().unwrap().starts_with("#<Class:") || is_structure {
            continue;
        }
        assert_eq!(
            heap.type_name(object),
            name_of(row[2].as_str().unwrap(), row[1].as_str().unwrap()),
            "{row}"
        );
    }
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    compare_sites(&heap, &tree, &lines);
    // Objects with a class of their own, such as `main`, have no other type in the truth.
    let singletons: HashSet<&str> = lines
        .iter()
        .filter(|line| line["singleton"] == true)
        .filter_map(|line| line["address"].as_str())
        .collect();
    let own = lines
        .iter()
        .filter(|line| line["class"].as_str().is_some_and(|class| singletons.contains(class)));
    let other: HashSet<&str> = own
        .filter_map(|line| line["address"].as_str())
        .map(|address| heap.type_name(object(&heap, address)))
        .collect();
    let histogram = Histogram::by_type(&heap, &tree);
    let mut rows = HashMap::new();
    for row in &histogram.rows {
        rows.insert(
            row.name.clone(),
            json!([row.sum.count, row.sum.shallow_bytes, row.retained_bytes]),
        );
    }
    for row in truth["types"].as_array().unwrap() {
        let name = row[0].as_str().unwrap();
        let is_internal = truth["by_type"].get(name).is_some();
        let ours = name_of(name, if is_internal { name } else { "" });
        if name != "(anonymous)"
            && !name.starts_with("#<Class:")
            && (!other.contains(&*ours) || ours == "Class")
        {
            assert_eq!(rows[&ours], json!([row[1], row[2], row[3]]), "{name}");
        }
    }
}

/// What dumptool calls a type of the truth.
fn name_of(name: &str, kind: &str) -> String {
    match name {
        "CLASS" => "Class".to_owned(),
        "MODULE" => "Module".to_owned(),
        "ICLASS" => "included module".to_owned(),
        _ if name == kind && name.bytes().all(|byte| byte.is_ascii_uppercase()) => {
            format!("(internal {name})")
        }
        _ => name.replace("imemo:", "imemo "),
    }
}

#[test]
fn objects_are_called_by_their_class() {
    let bytes = shop();
    let heap = load(&bytes);
    let name = |address: &str| heap.type_name(object(&heap, address)).to_owned();
    assert_eq!(name("0x200"), "Session");
    assert_eq!((name("0x100"), name("0x130")), ("Class".to_owned(), "Class".to_owned()));
    // One of a class of its own, which extends String; one of a class without a name.
    assert_eq!(
        (name("0x260"), name("0x270")),
        ("String".to_owned(), "(anonymous Session)".to_owned())
    );
    assert_eq!(
        (name("0x280"), name("0x290")),
        ("imemo ment".to_owned(), "(internal ARRAY)".to_owned())
    );
    assert_eq!(name("0x2a0"), "VM/thread");
    assert_eq!(heap.value(object(&heap, "0x100")), Value::Name("Session".into()));
    assert_eq!(heap.value(object(&heap, "0x130")), Value::Name("#<Class:String>".into()));
}

/// `class_attribute` of Rails defines a method of the class whose block has the value.
#[test]
fn a_hash_in_a_class_attribute_is_held_by_a_class_method() {
    let hex = |addresses: std::ops::Range<u64>| -> Vec<String> {
        addresses.map(|address| format!("\"{address:#x}\"")).collect()
    };
    // Many other methods, which take more memory together.
    let (methods, orders) = (hex(0x1000..0x1064), hex(0x2000..0x20c8));
    let entries: Vec<&str> = orders.iter().flat_map(|order| [&**order; 2]).collect();
    let mut dump = format!(
        r#"{{"type":"ROOT", "root":"vm", "references":["0x100", "0x110", "0x130", "0x140", "0x150", "0x160", "0x200"]}}
{{"address":"0x100", "type":"CLASS", "name":"Object", "references":[{}], "memsize":600}}
{{"address":"0x110", "type":"CLASS", "class":"0x120", "name":"Plugin", "superclass":"0x100", "references":["0x100"], "memsize":600}}
{{"address":"0x120", "type":"CLASS", "class":"0x100", "singleton":true, "superclass":"0x100", "references":["0x300"], "memsize":600}}
{{"address":"0x130", "type":"CLASS", "name":"Order", "superclass":"0x100", "references":["0x100"], "memsize":600}}
{{"address":"0x140", "type":"CLASS", "name":"Registry", "superclass":"0x150", "references":["0x150"], "memsize":600}}
{{"address":"0x150", "type":"CLASS", "name":"Hash", "superclass":"0x100", "references":["0x100"], "memsize":600}}
{{"address":"0x160", "type":"CLASS", "name":"Proc", "superclass":"0x100", "references":["0x100"], "memsize":600}}
{{"address":"0x200", "type":"IMEMO", "imemo_type":"callcache", "references":["0x300"], "memsize":40}}
{{"address":"0x300", "type":"IMEMO", "imemo_type":"ment", "references":["0x120", "0x310"], "memsize":48}}
{{"address":"0x310", "type":"DATA", "class":"0x160", "struct":"proc", "references":["0x320"], "memsize":80}}
{{"address":"0x320", "type":"IMEMO", "imemo_type":"env", "references":["0x330"], "memsize":80}}
{{"address":"0x330", "type":"HASH", "class":"0x140", "size":{}, "references":[{}], "memsize":8192}}
"#,
        methods.join(", "),
        orders.len(),
        entries.join(", ")
    );
    for method in &methods {
        dump += &format!(
            "{{\"address\":{method}, \"type\":\"IMEMO\", \"imemo_type\":\"ment\", \"memsize\":4000}}\n"
        );
    }
    for order in &orders {
        dump += &format!(
            "{{\"address\":{order}, \"type\":\"OBJECT\", \"class\":\"0x130\", \"memsize\":1000}}\n"
        );
    }
    let heap = load(dump.as_bytes());
    assert_eq!(heap.value(object(&heap, "0x120")), Value::Name("#<Class:Plugin>".into()));
    let suspects = verdict(&heap).suspects;
    let found = suspects.iter().find(|found| found.count == 200).expect("the orders");
    assert_eq!(found.bytes, 8192 + 200_000);
    let holder = &found.holders[0];
    assert_eq!(holder.label, "a variable of a class method of Plugin");
    assert_eq!((holder.noun, holder.entries), ("hash", Some(200)));
}

/// Ruby lists its virtual machine with the global variables of the program.
#[test]
fn the_virtual_machine_is_no_suspect() {
    let dump = br#"{"type":"ROOT", "root":"vm", "references":["0x100", "0x110"]}
{"type":"ROOT", "root":"global_tbl", "references":["0x200", "0x210"]}
{"address":"0x100", "type":"CLASS", "name":"RubyVM", "references":[], "memsize":600}
{"address":"0x110", "type":"CLASS", "name":"String", "references":[], "memsize":600}
{"address":"0x200", "type":"DATA", "class":"0x100", "struct":"VM", "references":[], "memsize":275000}
{"address":"0x210", "type":"STRING", "class":"0x110", "bytesize":900000, "memsize":900041}
"#;
    let Verdict { suspects, usual, .. } = verdict(&load(dump));
    assert_eq!(suspects.iter().map(|found| found.bytes).collect::<Vec<_>>(), [900_041]);
    assert_eq!(usual.iter().map(|found| found.bytes).collect::<Vec<_>>(), [275_000]);
}

#[test]
fn references_have_names_only_where_they_are_certain() {
    let bytes = shop();
    let heap = load(&bytes);
    assert_eq!(labels(&heap, "0x200"), ["class", "@name", "@cart"]);
    // Its second variable is a number, which is no reference.
    assert_eq!(labels(&heap, "0x210"), ["class", ""]);
    assert_eq!(labels(&heap, "0x230"), ["class", "key", "value"]);
    assert_eq!(labels(&heap, "0x240"), ["class", "[0]", "[1]"]);
    assert_eq!(labels(&heap, "0x130"), ["superclass"]);
    assert_eq!(heap.class_of(object(&heap, "0x200")), Some(object(&heap, "0x100")));
}

#[test]
fn roots_hold_each_object_once() {
    let bytes = shop();
    let heap = load(&bytes);
    let roots: Vec<_> = heap.roots().iter().map(|root| (root.kind, heap.id(root.object))).collect();
    assert_eq!(
        roots[..2],
        [(RootKind::Runtime, "0x100".to_owned()), (RootKind::Runtime, "0x240".to_owned())]
    );
    assert_eq!(roots.iter().filter(|(_, id)| id == "0x240").count(), 2, "once in each group");
    let tree = DominatorTree::new(&heap);
    assert!(!tree.is_live(object(&heap, "0x2b0")));
}

#[test]
fn texts_and_numbers_are_read_on_demand() {
    let bytes = shop();
    let heap = load(&bytes);
    assert_eq!(
        heap.value(object(&heap, "0x220")),
        Value::Text { text: "größe \"L\"".into(), length: 11 }
    );
    assert_eq!(heap.value(object(&heap, "0x2b0")), Value::Float(2.5));
    assert_eq!(
        (heap.value(object(&heap, "0x240")), heap.value(object(&heap, "0x230"))),
        (Value::Length(2), Value::Length(1))
    );
}

#[test]
fn a_dump_without_roots_takes_what_nothing_refers_to_for_roots() {
    let text = SHOP
        .lines()
        .filter(|line| !line.contains("ROOT"))
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let loaded = input::load(Format::Ruby, text.as_bytes(), LoadOptions::default()).unwrap();
    assert_eq!(loaded.heap.warnings().len(), 1);
    assert!(!loaded.heap.warnings()[0].is_damage() && loaded.damage.is_none());
    let tree = DominatorTree::new(&loaded.heap);
    assert!(tree.is_live(object(&loaded.heap, "0x2b0")));
    assert!(
        info(Format::Ruby, text.as_bytes())["warnings"][0].as_str().unwrap().contains("no roots")
    );
}

#[test]
fn lines_that_are_not_json_are_skipped_and_counted() {
    let text = SHOP.replace("\"name\":\"Cart\"", "\"name\":\"Ca\"rt\"");
    let at = text.find("{\"address\":\"0x120\"").unwrap() as u64;
    let loaded = input::load(Format::Ruby, text.as_bytes(), LoadOptions::default()).unwrap();
    assert!(loaded.heap.objects().all(|object| loaded.heap.id(object) != "0x120"));
    let damage = loaded.damage.and_then(|damage| damage.offset()).unwrap();
    assert!((at..at + 100).contains(&damage), "{damage}");
    assert!(
        loaded.heap.warnings().iter().any(|warning| warning.is_damage()),
        "{:?}",
        loaded.heap.warnings()
    );
    let (lines, error) = records(Format::Ruby, text.as_bytes());
    assert_eq!(lines.len(), SHOP.lines().count() - 1);
    let offset = error.unwrap().offset().unwrap();
    assert!((at..at + 100).contains(&offset), "{offset} is in the line at {at}");
    assert_eq!(
        info(Format::Ruby, text.as_bytes())["heap"]["snapshots"][0]["details"]["malformed_lines"],
        json!(1)
    );
    assert_eq!(broken(Format::Ruby, text.as_bytes()), ["line.json"]);
}

#[test]
fn a_dump_cut_at_any_byte_gives_the_lines_before_and_the_offset() {
    let bytes = shop();
    for cut in 20..bytes.len() {
        let part = &bytes[..cut];
        let loaded = input::load(Format::Ruby, part, LoadOptions::default()).unwrap();
        let whole = part.iter().filter(|byte| **byte == b'\n').count();
        let ends = part.ends_with(b"\n") || part.ends_with(b"}}") || bytes[cut] == b'\n';
        assert_eq!(
            loaded.damage.is_none(),
            ends,
            "{cut}: {:?}",
            String::from_utf8_lossy(&part[cut.saturating_sub(20)..])
        );
        if let Some(damage) = &loaded.damage {
            assert_eq!((damage.kind(), damage.offset()), (ErrorKind::Truncated, Some(cut as u64)));
        }
        let (lines, error) = records(Format::Ruby, part);
        assert_eq!(
            (lines.len() - usize::from(ends && !part.ends_with(b"\n")), error.is_none()),
            (whole, ends)
        );
    }
}

#[test]
fn what_a_dump_promises_is_checked() {
    let bytes = shop();
    assert_eq!(broken(Format::Ruby, &bytes), [""; 0]);
    for (from, to, rule) in [
        ("\"references\":[\"0x220\"", "\"references\":[\"0x221\"", "object.references"),
        (
            "\"root\":\"vm\", \"references\":[\"0x100\"",
            "\"root\":\"vm\", \"references\":[\"0x101\"",
            "root.references",
        ),
        ("\"class\":\"0x110\"", "\"class\":\"0x111\"", "object.class"),
        ("{\"address\":\"0x210\"", "{\"address\":\"0x200\"", "object.address"),
    ] {
        assert!(SHOP.contains(from), "{from}");
        let rules = broken(Format::Ruby, SHOP.replacen(from, to, 1).as_bytes());
        assert!(rules.iter().any(|broken| broken == rule), "{to}: {rules:?}");
    }
}

#[test]
fn every_command_says_that_lines_were_skipped_and_exits_with_status_3() {
    let text = SHOP.replace("\"name\":\"Cart\"", "\"name\":\"Ca\"rt\"");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    for command in [
        &[path][..],
        &["info", "-q", path],
        &["info", "-q", "--format", "json", path],
        &["top", "-q", path],
        &["top", "-q", "--quick", path],
        &["growth", "-q", path, path],
        &["diff", "-q", "--quick", path, path],
        &["cat", "-q", path],
    ] {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
        let output = program.args(command).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{command:?}: {error}");
        assert!(
            error.starts_with("error: ") && error.contains("offset 0x"),
            "{command:?}: {error}"
        );
        let is_json = command.contains(&"json");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!is_json || text.contains("\"complete\": false"), "{text}");
    }
}
