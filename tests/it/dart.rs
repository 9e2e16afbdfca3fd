//! The reader of Dart heap snapshots: tiny snapshots made here, real ones, damaged ones.

mod real;

use crate::support::broken;
use crate::support::dart::{Snapshot, cat, string, uleb};
use dumptool::error::ErrorKind;
use dumptool::input::{Format, ReadOptions, Visitor, dart};
use dumptool::model::fields::Record;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

const CORE: &str = "dart:core";

fn info(bytes: &[u8]) -> Value {
    serde_json::to_value(dart::info(bytes, ReadOptions::default()).unwrap()).unwrap()
}

fn details(bytes: &[u8]) -> Value {
    info(bytes)["heap"]["snapshots"][0]["details"].clone()
}

/// A heap of seven objects with every part that a snapshot can have.
fn small() -> Snapshot {
    Snapshot::modern()
        .class("", "", &[])
        .class("Node", "package:app/node.dart", &[(0, "left"), (1, "right")])
        .class("_OneByteString", CORE, &[])
        .class("_List", CORE, &[(0, "type_arguments_"), (1, "length_")])
        .object(1, 0, [0], &[2, 3, 0])
        .object(2, 0, [0], &[])
        .object(3, 0, [vec![8], string("4242")].concat(), &[4])
        .object(5, 24, [0], &[5, 4])
        .object(5, 24, [0], &[6, 0])
        .object(6, 16, [&[5, 3, 3][..], b"caf"].concat(), &[])
        .object(7, 32, [7, 2], &[0, 0, 4, 5])
        .property(7, 100, "finalize")
        .property(7, 28, "")
        .hashes(&[0, 0, 0, 300, 7, 0, 0])
}

// ---- records

#[test]
fn every_kind_of_data_is_decoded() {
    let utf16: Vec<u8> =
        [0x2192u16, 0xd83d, 0xde00].iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let dump = Snapshot::modern()
        .class("_Mint", CORE, &[])
        .class("_Smi", CORE, &[])
        .class("Other", "", &[])
        .object(1, 0, [0], &[])
        .object(6, 16, [1], &[])
        .object(6, 16, [2, 1], &[])
        .object(4, 16, [3, 0x7f], &[])
        .object(5, 0, [vec![3], uleb(-5i64 as u64)].concat(), &[])
        .object(6, 16, [vec![4], 2.5f64.to_le_bytes().to_vec()].concat(), &[])
        .object(6, 16, [vec![5], uleb(1000), vec![2, b'a', 0xe9]].concat(), &[])
        .object(6, 16, [vec![6, 3, 3], utf16].concat(), &[])
        .object(6, 16, [7, 9], &[])
        .object(6, 16, [vec![8], string("get:näme")].concat(), &[]);
    let (records, end) = cat(&dump.bytes(), false);
    end.unwrap();
    let objects: Vec<Value> = records
        .into_iter()
        .filter(|record| record["record"] == "object")
        .map(|object| {
            json!([object["kind"], object["value"], object["length"], object["truncated_length"]])
        })
        .collect();
    let expected = json!([
        ["none", null, null, null],
        ["null", null, null, null],
        ["bool", true, null, null],
        ["int", -1, null, null],
        ["int", -5, null, null],
        ["double", 2.5, null, null],
        ["latin1", "aé", 1000, 2],
        ["utf16", "→😀", 3, 3],
        ["length", 9, null, null],
        ["name", "get:näme", null, null],
    ]);
    assert_eq!(Value::from(objects), expected);
    assert_eq!(details(&dump.bytes())["truncated_strings"], 1);
}

#[test]
fn records_say_every_field_and_stand_at_their_offsets() {
    let bytes = small().bytes();
    let (records, end) = cat(&bytes, true);
    end.unwrap();
    assert_eq!(records.len(), 7 + 7 + 2);
    assert_eq!(records[0]["offset"], 20, "the first class stands behind the header");
    let node = &records[4];
    assert_eq!(
        *node,
        json!({
            "offset": node["offset"], "record": "class", "id": 5, "flags": 0, "name": "Node", "library_name": "node.dart",
            "library_uri": "package:app/node.dart", "reserved": "", "field_count": 2, "fields": [
                {"flags": 1, "index": 0, "name": "left", "reserved": ""},
                {"flags": 1, "index": 1, "name": "right", "reserved": ""},
            ],
        })
    );
    assert_eq!(bytes[node["offset"].as_u64().unwrap() as usize..][..6], *b"\0\x04Node");
    let object = &records[7 + 3];
    assert_eq!(
        *object,
        json!({
            "offset": object["offset"], "record": "object", "id": 4, "class_id": 5, "class": "Node", "shallow_size": 24,
            "tag": 0, "kind": "none", "reference_count": 2, "references": [{"id": 5}, {"id": 4}],
        })
    );
    assert_eq!(bytes[object["offset"].as_u64().unwrap() as usize..][..6], [5, 24, 0, 2, 5, 4]);
    let property = &records[14];
    assert_eq!(
        *property,
        json!({
            "offset": property["offset"], "record": "external_property", "object_id": 7, "external_size": 100,
            "name": "finalize",
        })
    );
    let offsets: Vec<u64> =
        records.iter().map(|record| record["offset"].as_u64().unwrap()).collect();
    assert!(offsets.is_sorted_by(|a, b| a < b));
}

#[test]
fn long_lists_are_left_out_unless_wanted() {
    let (records, _) = cat(&small().bytes(), false);
    assert!(
        records
            .iter()
            .all(|record| record.get("references").is_none() && record.get("fields").is_none())
    );
    assert_eq!(records[13]["reference_count"], 4);
}

#[test]
fn lone_surrogates_are_shown_with_their_bytes() {
    let dump = Snapshot::modern().object(1, 0, [6, 2, 2, b'a', 0, 0x00, 0xd8], &[]);
    let object = cat(&dump.bytes(), false).0.pop().unwrap();
    assert_eq!(
        (&object["value"], &object["utf16"]),
        (&json!("a\u{fffd}"), &json!([b'a', 0, 0, 0xd8]))
    );
}

#[test]
fn negative_smis_of_32_bits_are_told_by_the_alignment() {
    let smi = |size| {
        let smi = [vec![3], uleb(0xffff_ffff)].concat();
        let dump = Snapshot::modern()
            .class("_Smi", CORE, &[])
            .object(1, 0, [0], &[])
            .object(2, size, [0], &[])
            .object(4, 0, smi, &[]);
        (
            details(&dump.bytes())["word_size"].clone(),
            cat(&dump.bytes(), false).0.pop().unwrap()["value"].clone(),
        )
    };
    assert_eq!(smi(24), (json!(4), json!(-1)));
    assert_eq!(smi(32), (Value::Null, json!(0xffff_ffffu32)));
}

#[test]
fn a_visitor_can_stop() {
    struct Stop(u64);
    impl Visitor for Stop {
        fn record<R: Record>(&mut self, _: u64, _: &R) -> ControlFlow<()> {
            self.0 += 1;
            if self.0 == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let mut stop = Stop(0);
    dart::for_each_record(&small().bytes(), ReadOptions::default(), &mut stop).unwrap();
    assert_eq!(stop.0, 3);
}

// ---- info

#[test]
fn info_counts_what_the_contract_says() {
    let info = info(&small().bytes());
    assert_eq!(info["records"], json!({"class": 7, "object": 7, "external_property": 2}));
    assert_eq!(
        (&info["format"], &info["format_version"], &info["complete"]),
        (&json!("dart"), &json!("1"), &json!(true))
    );
    let heap = &info["heap"]["snapshots"][0];
    let counts: Vec<_> =
        ["objects", "references", "roots", "types", "shallow_bytes", "external_bytes"]
            .iter()
            .map(|key| &heap[key])
            .collect();
    assert_eq!(counts, [7, 12, 3, 7, 96, 128]);
    let details = &heap["details"];
    assert_eq!(
        details["header"],
        json!({"shallow_size": 1000, "capacity": 4096, "external_size": 64, "reference_count": 12})
    );
    assert_eq!(details["zero_references"], 4);
    assert_eq!(details["by_tag"]["none"], 4);
    assert_eq!(
        (&details["identity_hashes"], &details["nonzero_identity_hashes"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(
        (&details["class_holes"], &details["zero_size_objects"], &details["isolates"]),
        (&json!(1), &json!(3), &json!(1))
    );
    assert_eq!(
        details["top_classes"][0],
        json!({"name": "Node", "library": "package:app/node.dart", "count": 2, "bytes": 48})
    );
    let keys: Vec<_> = info["metadata"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["key"].as_str().unwrap())
        .collect();
    assert_eq!(
        keys,
        [
            "flags",
            "name",
            "shallow_size",
            "capacity",
            "external_size",
            "class_count",
            "reference_count",
            "object_count",
            "external_property_count"
        ]
    );
}

#[test]
fn details_begin_with_the_keys_of_the_contract_in_order() {
    let text =
        serde_json::to_string(&dart::info(&small().bytes(), ReadOptions::default()).unwrap())
            .unwrap();
    let positions = [
        "\"header\"",
        "\"classes\"",
        "\"zero_references\"",
        "\"by_tag\"",
        "\"identity_hashes\"",
        "\"word_size\"",
    ]
    .map(|key| text.find(key).unwrap());
    assert!(positions.is_sorted());
    assert!(text.contains(r#""by_tag":{"none":4,"null":0,"bool":0,"int":0,"double":0,"latin1":1,"utf16":0,"length":1,"name":1}"#));
}

#[test]
fn old_files_have_a_root_without_class_and_no_hash_codes() {
    let dump =
        Snapshot::empty().class("Node", "", &[]).object(0, 0, [0], &[2, 0]).object(1, 24, [0], &[]);
    let details = details(&dump.bytes());
    assert_eq!(
        (&details["identity_hashes"], &details["vm_generation"]),
        (&json!(false), &json!("2.12 or before"))
    );
    assert_eq!(info(&dump.bytes())["heap"]["snapshots"][0]["roots"], 2);
    assert_eq!(info(&dump.bytes())["warnings"], json!([]));
    assert!(broken(Format::Dart, &dump.bytes()).is_empty());
    assert_eq!(cat(&dump.bytes(), false).0[1].get("class"), None);
}

#[test]
fn all_isolates_of_the_group_are_counted() {
    let isolate = |port: &str| [vec![8], string(port)].concat();
    let dump = Snapshot::modern()
        .class("Isolate", "dart:isolate", &[])
        .object(1, 0, [0], &[2, 3, 4])
        .object(2, 0, [0], &[])
        .object(3, 0, isolate("1"), &[])
        .object(3, 0, isolate("2"), &[])
        .object(4, 16, [0], &[]);
    assert_eq!(details(&dump.bytes())["isolates"], 2);
    assert_eq!(info(&dump.bytes())["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn exports_of_devtools_are_recognized_by_their_padding() {
    let dump =
        small().class("_Mint", CORE, &[]).object(8, 16, [3, 0x40], &[]).hashes(&[0; 8]).padded();
    let bytes = dump.bytes();
    assert_eq!(bytes.len(), 1_048_055);
    let details = details(&bytes);
    assert_eq!(
        (&details["devtools_export"], &details["identity_hashes"]),
        (&json!(true), &json!(true))
    );
    assert!(details["trailing_zero_bytes"].as_u64().unwrap() > 1_000_000);
    let mint = cat(&bytes, false).0.into_iter().find(|record| record["class"] == "_Mint").unwrap();
    assert_eq!(mint["value"], 64, "DevTools exports ints as unsigned");
    assert!(broken(Format::Dart, &bytes).is_empty());
}

#[test]
fn exports_of_devtools_without_padding_are_recognized_by_named_strings() {
    let dump = Snapshot::modern().class("_TwoByteString", CORE, &[]).object(
        4,
        16,
        [vec![8], string("text...")].concat(),
        &[],
    );
    assert_eq!(details(&dump.bytes())["devtools_export"], true);
    assert_eq!(details(&small().bytes())["devtools_export"], false);
}

#[test]
fn zeros_behind_the_end_are_accepted_and_told() {
    let bytes = small().tail(&[0; 9]).bytes();
    assert_eq!(
        (&info(&bytes)["complete"], &details(&bytes)["trailing_zero_bytes"]),
        (&json!(true), &json!(9))
    );
    assert_eq!(
        info(&bytes)["warnings"],
        json!(["zero bytes after the end of the snapshot, ignored: 9"])
    );
}

#[test]
fn progress_goes_up_to_the_hash_codes() {
    let seen = AtomicU64::new(0);
    let progress = |offset| {
        seen.fetch_max(offset, Ordering::Relaxed);
    };
    let bytes = small().bytes();
    dart::info(&bytes, ReadOptions::default().progress(&progress)).unwrap();
    assert_eq!(seen.into_inner(), bytes.len() as u64 - 8);
}

// ---- check

#[test]
fn a_sound_snapshot_breaks_no_rule() {
    assert!(broken(Format::Dart, &small().bytes()).is_empty());
    // The header's sizes differ from the sums in real files, and its reference count is an upper
    // bound.
    assert!(
        broken(
            Format::Dart,
            &Snapshot { shallow_size: 7, reference_count: Some(99), ..small() }.bytes()
        )
        .is_empty()
    );
}

#[test]
fn each_rule_is_broken_by_what_it_is_about() {
    let hashless = || small().hashes(&[]);
    let class = |flags, field_flags| {
        let fields = [uleb(1), uleb(field_flags), uleb(0), string("f"), string("")].concat();
        [uleb(flags), string("C"), string(""), string(""), string(""), fields].concat()
    };
    for (rule, dump) in [
        ("header.flags", Snapshot { flags: 1, ..small() }),
        ("header.shallow_size", Snapshot { capacity: 999, ..small() }),
        ("header.reference_count", Snapshot { reference_count: Some(11), ..small() }),
        ("class.flags", small().raw_class(class(1, 1))),
        ("field.flags", small().raw_class(class(0, 0))),
        ("object.root", Snapshot::modern()),
        ("object.class_id", hashless().object(8, 16, [0], &[])),
        ("object.class_id", hashless().object(0, 16, [0], &[])),
        ("object.class_hole", hashless().object(4, 16, [0], &[])),
        ("object.shallow_size", hashless().object(5, 20, [0], &[])),
        ("object.bool", hashless().object(5, 16, [2, 2], &[])),
        ("object.truncated_length", hashless().object(6, 16, [5, 1, 2, b'a', b'b'], &[])),
        ("reference.target", hashless().object(5, 16, [0], &[9])),
        ("external_property.object", small().property(0, 1, "")),
        ("external_property.object", small().property(8, 1, "")),
    ] {
        assert_eq!(broken(Format::Dart, &dump.bytes()), [rule]);
    }
}

// ---- damage

/// The kind, offset and message of the damage that `info` reports.
fn damage(bytes: &[u8]) -> (Value, Value, String) {
    let damage = info(bytes)["damage"].clone();
    (
        damage["kind"].clone(),
        damage["offset"].clone(),
        damage["message"].as_str().unwrap_or_default().to_string(),
    )
}

#[test]
fn an_unknown_tag_ends_the_reading_at_its_object() {
    let bytes = small().hashes(&[]).object(5, 24, [9], &[]).bytes();
    let (kind, offset, message) = damage(&bytes);
    assert_eq!(kind, "corrupt");
    assert_eq!(bytes[offset.as_u64().unwrap() as usize], 9);
    assert_eq!(message, "unknown data tag 9, in object 8 of 8; expected a tag of 0 to 8");
    let heap = &info(&bytes)["heap"]["snapshots"][0];
    assert_eq!(
        (&heap["complete"], &heap["objects"], &heap["types"]),
        (&json!(false), &json!(7), &json!(7))
    );
    assert_eq!(heap["details"]["identity_hashes"], Value::Null);
}

#[test]
fn other_bytes_than_zeros_behind_the_end_are_damage() {
    let bytes = small().tail(&[0, 0, 5, 0]).bytes();
    assert_eq!(damage(&bytes).0, "corrupt");
    assert_eq!(damage(&bytes).1, bytes.len() - 2);
    assert!(cat(&bytes, false).1.is_err());
}

#[test]
fn every_cut_is_reported_at_the_end_of_the_input() {
    let bytes = small().bytes();
    let without_hashes = small().hashes(&[]).bytes().len();
    let header = 20;
    for cut in 0..bytes.len() {
        let bytes = &bytes[..cut];
        if cut < header {
            let error = dart::info(bytes, ReadOptions::default()).unwrap_err();
            assert_eq!(
                (error.kind(), error.offset()),
                (ErrorKind::Truncated, Some(cut as u64)),
                "cut at {cut}"
            );
            continue;
        }
        let findings = dart::check(bytes, ReadOptions::default()).unwrap();
        assert!(findings.ok(), "no rule is broken by a cut at {cut}: {findings:?}");
        let error = cat(bytes, true).1.err();
        if cut == without_hashes {
            assert!(error.is_none(), "files of old VMs end here");
            continue;
        }
        assert_eq!(damage(bytes).0, "truncated", "cut at {cut}");
        assert_eq!(damage(bytes).1, cut, "cut at {cut}");
        assert_eq!(error.unwrap().offset(), Some(cut as u64));
        assert_eq!(findings.damage.unwrap().error.offset(), Some(cut as u64));
    }
}

#[test]
fn cuts_and_flips_of_a_real_snapshot_never_panic() {
    let source = real::fixture("tiny_derived_3.0.5.dartheap");
    let whole = source.bytes();
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move |below: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for round in 0..600 {
        let mut bytes = whole.to_vec();
        match round % 3 {
            0 => bytes.truncate(next(whole.len())),
            1 => (0..8).for_each(|_| bytes[next(whole.len())] = next(256) as u8),
            _ => (0..2).for_each(|_| bytes[next(25_000)] ^= 1 << next(8)),
        }
        let Ok(summary) = dart::info(&bytes, ReadOptions::default()) else { continue };
        if let Some(damage) = &summary.damage {
            assert!(
                damage.error.offset().is_some_and(|offset| offset <= bytes.len() as u64),
                "{:?}",
                damage.error
            );
        }
        let findings = dart::check(&bytes, ReadOptions::default()).unwrap();
        assert_eq!(findings.damage.is_some(), summary.damage.is_some());
        if round % 10 == 0 {
            let (records, end) = cat(&bytes, true);
            assert_eq!(end.is_err(), summary.damage.is_some());
            assert_eq!(records.len() as u64, summary.records.total());
        }
    }
}

#[test]
fn counts_that_the_input_cannot_hold_are_errors_and_take_no_memory() {
    let huge = Some(1 << 60);
    for dump in [
        Snapshot { class_count: huge, ..small() },
        Snapshot { object_count: huge, ..small() },
        Snapshot { property_count: huge, ..small() },
        Snapshot { class_count: Some(u64::MAX), ..small() },
        Snapshot { object_count: Some(u64::MAX), ..small() },
        Snapshot { object_count: huge, ..Snapshot::modern() },
        small()
            .hashes(&[])
            .object(5, 24, [0], &[])
            .raw_object([uleb(5), uleb(24), vec![0], uleb(1 << 60)].concat()),
        small().raw_class(
            [uleb(0), string(""), string(""), string(""), string(""), uleb(u64::MAX)].concat(),
        ),
        small().raw_class([uleb(0), uleb(1 << 60)].concat()),
    ] {
        let (kind, offset, _) = damage(&dump.bytes());
        assert!(kind == "truncated" || kind == "corrupt", "{kind}");
        assert!(offset.as_u64().unwrap() <= dump.bytes().len() as u64);
        assert!(cat(&dump.bytes(), true).1.is_err());
    }
}

#[test]
fn sums_of_huge_sizes_do_not_overflow() {
    let dump = Snapshot { shallow_size: u64::MAX, capacity: u64::MAX, ..small().hashes(&[]) };
    let dump = dump
        .object(5, u64::MAX, [0], &[u64::MAX])
        .object(5, u64::MAX - 7, [7, 0], &[])
        .property(1, u64::MAX, "");
    let dump = dump.object(u64::MAX, 0, [vec![7], uleb(u64::MAX)].concat(), &[]);
    let heap = info(&dump.bytes())["heap"]["snapshots"][0].clone();
    assert_eq!(
        (&heap["shallow_bytes"], &heap["external_bytes"]),
        (&json!(u64::MAX), &json!(u64::MAX))
    );
    assert_eq!(
        info(&dump.bytes())["warnings"],
        json!(["objects whose class is not in the file: 1"])
    );
}

#[test]
fn another_magic_is_refused() {
    let error = dart::info(b"dartheaq\0\x04main", ReadOptions::default()).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Corrupt, Some(0)));
}

proptest! {
    #[test]
    fn totals_are_the_sums_of_what_was_written(
        objects in prop::collection::vec((1u64..=3, 0u64..1 << 40, prop::collection::vec(0u64..1 << 33, 0..40)), 0..30),
        hashes in any::<bool>(),
    ) {
        let mut dump = Snapshot::modern();
        for (class, size, references) in &objects {
            dump = dump.object(*class, *size, [0], references);
        }
        if hashes {
            dump = dump.hashes(&vec![1 << 29; objects.len()]);
        }
        let heap = info(&dump.bytes())["heap"]["snapshots"][0].clone();
        let references: Vec<u64> = objects.iter().flat_map(|(_, _, references)| references.clone()).collect();
        prop_assert_eq!(&heap["complete"], true);
        prop_assert_eq!(&heap["objects"], objects.len());
        prop_assert_eq!(&heap["references"], references.len());
        prop_assert_eq!(&heap["roots"], &json!(objects.first().map(|object| object.2.len())));
        prop_assert_eq!(&heap["shallow_bytes"], objects.iter().map(|object| object.1).sum::<u64>());
        prop_assert_eq!(&heap["details"]["zero_references"], references.iter().filter(|&&id| id == 0).count());
        let read: Vec<u64> = dart::Records::new(&dump.bytes())
            .unwrap()
            .filter_map(|record| match record.unwrap().1 {
                dart::Rec::Object(object) => Some(object.references.iter().collect::<Vec<_>>()),
                _ => None,
            })
            .flatten()
            .collect();
        prop_assert_eq!(read, references);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(noise: Vec<u8>, header in any::<bool>()) {
        let head = if header { Snapshot { class_count: Some(2), ..Snapshot::empty() }.bytes() } else { b"dartheap".to_vec() };
        let bytes = [head, noise].concat();
        let _ = dart::info(&bytes, ReadOptions::default());
        let _ = dart::check(&bytes, ReadOptions::default());
        let _ = cat(&bytes, true);
    }
}
