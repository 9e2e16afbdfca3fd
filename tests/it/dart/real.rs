//! Real snapshots: their known totals, and the corpus with the answers of an independent decoder.

use super::info;
use crate::support::broken;
use crate::support::dart::cat;
use dumptool::input::Format;
use dumptool::input::dart;
use dumptool::source::Source;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(crate) fn fixture(name: &str) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/dart/{name}.zst"));
    Source::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn real_snapshots_have_the_known_totals() {
    type Row = (&'static str, [u64; 7], Option<u64>, &'static str);
    // Objects, references, roots, classes, shallow bytes, external bytes, zero references; word
    // size; generation.
    let rows: [Row; 7] = [
        (
            "sass_idle_2.17.6_ia32.dartheap",
            [63464, 401_394, 3740, 1854, 7_002_048, 48, 54577],
            Some(4),
            "2.13 to 2.18",
        ),
        (
            "tiny_derived_2.17.6.dartheap",
            [2038, 16298, 400, 87, 489_672, 48, 6361],
            Some(4),
            "2.13 to 2.18",
        ),
        (
            "tiny_derived_3.0.5.dartheap",
            [3480, 26697, 400, 134, 2_845_696, 32, 10193],
            Some(4),
            "3.x",
        ),
        ("synth_random_3k.dartheap", [3000, 7824, 7, 24, 170_624, 1_125_672, 27], Some(8), "3.x"),
        ("synth_tree32_3k.dartheap", [3000, 7822, 5, 24, 114_608, 1_124_184, 212], Some(4), "3.x"),
        (
            "synth_old_nohash_3k.dartheap",
            [3000, 7822, 5, 24, 117_600, 1_124_184, 1008],
            Some(4),
            "2.12 or before",
        ),
        (
            "devtools_like_synth_tree_3k.data",
            [3000, 7822, 5, 24, 170_704, 1_124_184, 212],
            Some(8),
            "3.x",
        ),
    ];
    for (name, counts, word_size, generation) in rows {
        let source = fixture(name);
        let info = info(source.bytes());
        assert_eq!(info["damage"], Value::Null, "{name}");
        let heap = &info["heap"]["snapshots"][0];
        let details = &heap["details"];
        let found = ["objects", "references", "roots", "types", "shallow_bytes", "external_bytes"]
            .map(|key| heap[key].as_u64().unwrap());
        assert_eq!(found, counts[..6], "{name}");
        assert_eq!(details["zero_references"], counts[6], "{name}");
        assert_eq!(details["word_size"], json!(word_size), "{name}");
        assert_eq!(details["vm_generation"], generation, "{name}");
        assert!(broken(Format::Dart, source.bytes()).is_empty(), "{name}");
    }
}

#[test]
fn negative_ints_of_real_snapshots_are_decoded() {
    let ints = |name: &str, class: &str| -> Vec<i64> {
        let (records, end) = cat(fixture(name).bytes(), false);
        end.unwrap();
        let ints =
            records.iter().filter(|record| record["class"] == class && record["kind"] == "int");
        ints.map(|record| record["value"].as_i64().unwrap()).filter(|&value| value < 0).collect()
    };
    assert_eq!(ints("tiny_derived_3.0.5.dartheap", "_Smi").len(), 1);
    assert_eq!(ints("tiny_derived_3.0.5.dartheap", "_Mint"), [-9_007_199_254_740_992]);
    // The generator's own counts.
    assert_eq!(ints("synth_tree32_3k.dartheap", "_Smi").len(), 37);
    assert_eq!(ints("synth_random_3k.dartheap", "_Smi").len(), 37);
    assert_eq!(ints("synth_random_3k.dartheap", "_Mint").len(), 62);
}

// ---- a folder of samples with the answers of another decoder

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn the_corpus_agrees_with_its_truth() {
    let folder = crate::support::corpus_folder("");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder.join("dart")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let truth: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        // `x.json` is an independent decoder's answer on x.dartheap or x.data, `x.gen.json` what
        // the generator wrote.
        let stem = path.with_extension("").with_extension("");
        let stem = if path.to_string_lossy().ends_with(".gen.json") {
            stem
        } else {
            path.with_extension("")
        };
        let dump = ["dartheap", "data"]
            .map(|extension| PathBuf::from(format!("{}.{extension}", stem.display())))
            .into_iter()
            .find(|path| path.exists())
            .unwrap_or_else(|| panic!("no dump for {}", path.display()));
        compare(&path, &truth, Source::open(&dump).unwrap().bytes());
        compared += 1;
    }
    assert!(compared > 0);
}

fn compare(path: &Path, truth: &Value, bytes: &[u8]) {
    let info = info(bytes);
    assert_eq!(info["damage"], Value::Null, "{}", path.display());
    assert!(broken(Format::Dart, bytes).is_empty(), "{}", path.display());
    let heap = &info["heap"]["snapshots"][0];
    let details = &heap["details"];
    let hashes = truth.get("hashMode").map(|mode| json!(mode != "absent")).unwrap_or_default();
    let tag = |name: &str| truth["tags"][name].clone();
    let generated_word = truth["args"]["word"].clone();
    let mut known = 0;
    for (what, found, expected) in [
        ("objects", &heap["objects"], truth["objects"].clone()),
        ("references", &heap["references"], truth["references"].clone()),
        ("roots", &heap["roots"], truth["root"]["refs"].clone()),
        ("types", &heap["types"], truth["classes"].clone()),
        ("shallow bytes", &heap["shallow_bytes"], truth["sumShallow"].clone()),
        ("external bytes", &heap["external_bytes"], truth["sumExternal"].clone()),
        ("zero references", &details["zero_references"], truth["zeroReferences"].clone()),
        (
            "header shallow size",
            &details["header"]["shallow_size"],
            truth["header"]["shallowSize"].clone(),
        ),
        ("header capacity", &details["header"]["capacity"], truth["header"]["capacity"].clone()),
        (
            "header external size",
            &details["header"]["external_size"],
            truth["header"]["externalSize"].clone(),
        ),
        (
            "header references",
            &details["header"]["reference_count"],
            truth["header"]["referenceCount"].clone(),
        ),
        (
            "header references",
            &details["header"]["reference_count"],
            truth["headerReferenceCount"].clone(),
        ),
        ("name", &details["name"], truth["name"].clone()),
        ("flags", &details["flags"], truth["flags"].clone()),
        ("truncated strings", &details["truncated_strings"], truth["stringsTruncated"].clone()),
        ("zero-size objects", &details["zero_size_objects"], truth["zeroSizeObjects"].clone()),
        ("class holes", &details["class_holes"], truth["emptyNameClasses"].clone()),
        ("trailing bytes", &details["trailing_zero_bytes"], truth["trailingBytes"].clone()),
        (
            "external properties",
            &info["records"]["external_property"],
            truth["externalProperties"].clone(),
        ),
        ("class records", &info["records"]["class"], truth["classes"].clone()),
        ("object records", &info["records"]["object"], truth["objects"].clone()),
        ("identity hashes", &details["identity_hashes"], hashes),
        ("word size", &details["word_size"], generated_word),
        ("tag 0", &details["by_tag"]["none"], tag("No")),
        ("tag 1", &details["by_tag"]["null"], tag("Null")),
        ("tag 2", &details["by_tag"]["bool"], tag("Bool")),
        ("tag 3", &details["by_tag"]["int"], tag("Int")),
        ("tag 4", &details["by_tag"]["double"], tag("Double")),
        ("tag 5", &details["by_tag"]["latin1"], tag("Latin1")),
        ("tag 6", &details["by_tag"]["utf16"], tag("Utf16")),
        ("tag 7", &details["by_tag"]["length"], tag("Length")),
        ("tag 8", &details["by_tag"]["name"], tag("Name")),
    ] {
        if expected.is_null() {
            continue;
        }
        known += 1;
        assert_eq!(*found, expected, "{what} of {}", path.display());
    }
    assert!(known >= 20, "{} knows only {known} fields", path.display());
    let nonzero_hashes = details["nonzero_identity_hashes"].as_u64().unwrap_or(0);
    assert_eq!(json!(nonzero_hashes), truth["hashNonZero"], "{}", path.display());
    compare_histogram(path, truth, bytes);
}

/// Compares objects and bytes of each class with the decoder's histogram, which lists the largest.
fn compare_histogram(path: &Path, truth: &Value, bytes: &[u8]) {
    let Some(rows) = truth["histogram"].as_array() else { return };
    let mut classes = vec![(0u64, 0u64); 1 << 16];
    for record in dart::Records::new(bytes).unwrap() {
        if let dart::Rec::Object(object) = record.unwrap().1 {
            let (count, shallow) = &mut classes[object.class_id as usize];
            *count += 1;
            *shallow += object.shallow_size;
        }
    }
    for row in rows {
        let (count, shallow) = classes[row["cid"].as_u64().unwrap() as usize];
        assert_eq!(
            (json!(count), json!(shallow)),
            (row["count"].clone(), row["shallow"].clone()),
            "{row} of {}",
            path.display()
        );
    }
}
