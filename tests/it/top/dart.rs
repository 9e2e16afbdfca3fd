//! Classes of Dart snapshots, as an independent decoder counted them.

use crate::support::{corpus_folder, files, fixture, json, read};
use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::histogram::{GroupBy, Histogram, Scope};
use dumptool::input::dart::load;
use dumptool::input::load::LoadOptions;
use dumptool::model::builder::HeapBuilder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Compares classes whose name only one class has: the truth knows no libraries.
fn compare(path: &Path, truth: &Value) -> usize {
    let bytes = read(path);
    let mut builder = HeapBuilder::from_heap(load(&bytes, LoadOptions::default()).unwrap().heap);
    // The truth counts shallow bytes only.
    builder.clear_external();
    let heap = builder.finish_edited();
    let histogram =
        Histogram::of(&heap, Some(&DominatorTree::new(&heap)), GroupBy::Type, Scope::Live);
    let mut by_name: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for row in &histogram.rows {
        by_name.entry(&row.name).or_default().push((row.sum.count, row.retained_bytes.unwrap()));
    }
    let number = |value: &Value, name: &str| value[name].as_u64().unwrap();
    let classes = |of: &'static str| truth[of]["byClass"].as_array().into_iter().flatten();
    let name = |class: &Value| class["cls"].as_str().unwrap().to_owned();
    let made_up = ["Root", "Isolate", "Read-Only Pages"];
    // The truth of a fixture may be an excerpt.
    let mut names: Vec<String> = classes("dominators_weakAware").map(name).collect();
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    let mut compared = 0;
    for class in
        classes("reachable_weakAware").filter(|class| !made_up.contains(&name(class).as_str()))
    {
        let rows = by_name.get(name(class).as_str());
        let count = number(class, "count");
        assert!(
            rows.is_some_and(|rows| rows.iter().any(|row| row.0 == count)),
            "{class} of {}: {rows:?}",
            path.display()
        );
        compared += 1;
    }
    for class in
        classes("dominators_weakAware").filter(|class| !made_up.contains(&name(class).as_str()))
    {
        let rows = by_name.get(name(class).as_str());
        let numbers = (number(class, "reachable"), number(class, "retained"));
        assert!(
            rows.is_some_and(|rows| rows.contains(&numbers)),
            "{class} of {}: {rows:?}",
            path.display()
        );
        compared += 1;
    }
    compared
}

#[test]
fn classes_of_fixtures_have_known_numbers() {
    let dumps = files(&fixture("dart"));
    let mut compared = 0;
    for truth in files(&fixture("dart/truth")) {
        let stem = format!("{}.", truth.file_stem().unwrap().to_string_lossy());
        let is_dump = |path: &&std::path::PathBuf| {
            path.extension().is_some_and(|of| of == "zst")
                && path.file_name().unwrap().to_string_lossy().starts_with(&stem)
        };
        compared += compare(dumps.iter().find(is_dump).unwrap(), &json(&truth));
    }
    assert!(compared > 100, "{compared}");
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn classes_of_the_corpus_have_known_numbers() {
    let folder = corpus_folder("dart");
    let dumps =
        files(&folder).into_iter().filter(|path| path.extension().is_some_and(|of| of != "json"));
    let compared: usize =
        dumps.map(|dump| compare(&dump, &json(&dump.with_extension("json")))).sum();
    assert!(compared > 200, "{compared}");
}
