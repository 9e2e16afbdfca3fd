//! Perl heap dumps.

use crate::support::pmat::{Pmat, shop};
use crate::support::{broken, info};
use dumptool::analysis::collections::Collections;
use dumptool::analysis::verdict::{Surveyed, SuspectKind, Verdict, What};
use dumptool::analysis::{DominatorTree, Graph};
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::model::heap::{Heap, ObjectId, Value};
use std::collections::BTreeMap;

fn load(bytes: &[u8]) -> Heap<'_> {
    let loaded = input::load(Format::Pmat, bytes, LoadOptions::default()).unwrap();
    assert!(loaded.damage.is_none() && loaded.heap.warnings().is_empty());
    loaded.heap
}

fn object(heap: &Heap<'_>, address: &str) -> ObjectId {
    heap.find(address).unwrap_or_else(|| panic!("no object {address}"))
}

fn references(heap: &Heap<'_>, address: &str) -> Vec<(String, String, bool)> {
    let references = heap.references_of(object(heap, address));
    let text = |label: dumptool::model::heap::Label| label.text(heap.names()).into_owned();
    references.map(|link| (text(link.label), heap.id(link.target), link.weak)).collect()
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn dumps_of_the_corpus_are_what_devel_mat_makes_of_them() {
    let folder = crate::support::corpus_folder("pmat");
    let bytes = crate::support::read(&folder.join("heap-perl536.pmat.zst"));
    let truth = crate::support::json(&folder.join("heap-perl536.truth.json"));
    let info = info(Format::Pmat, &bytes);
    let snapshot = &info["heap"]["snapshots"][0];
    assert_eq!(
        (&snapshot["objects"], &snapshot["shallow_bytes"]),
        (&truth["svs"], &truth["bytes"])
    );
    let mut counts = truth["count_by_type"].clone();
    let pads = counts.as_object_mut().unwrap().remove("PAD").unwrap().as_u64().unwrap();
    counts["ARRAY"] = (counts["ARRAY"].as_u64().unwrap() + pads).into();
    // Devel::MAT takes two numbers for undefined, because it drops trailing zero bytes of a number
    // before it decodes it: 0.0, and the smallest double.
    let ours = &snapshot["details"]["by_type"];
    for (name, more) in [("SCALAR", 2), ("UNDEF", -2)] {
        counts[name] = (counts[name].as_i64().unwrap() + more).into();
    }
    assert_eq!(*ours, counts);
    assert_eq!(broken(Format::Pmat, &bytes), [""; 0]);
    let heap = load(&bytes);
    let mut of_type: BTreeMap<&str, u64> = BTreeMap::new();
    heap.objects().for_each(|object| *of_type.entry(heap.type_name(object)).or_default() += 1);
    for (package, count) in truth["blessed"].as_object().unwrap() {
        assert_eq!(Some(of_type[&**package]), count.as_u64(), "{package}");
    }
    assert_eq!(of_type["PAD"], pads);
    let immortals = ["sv_undef", "sv_yes", "sv_no"].map(|name| &truth["roots"][name]);
    for row in truth["sample"].as_array().unwrap() {
        let address = row[0].as_str().unwrap();
        let sv = object(&heap, address);
        assert_eq!(Some(heap.shallow_bytes(sv)), row[2].as_u64(), "{row}");
        assert_eq!(
            heap.type_name(sv),
            row[4].as_str().unwrap_or(row[1].as_str().unwrap()),
            "{row}"
        );
        let listed = row[5].as_array().unwrap();
        if listed.len() as u64 != row[6].as_u64().unwrap() {
            continue;
        }
        let listed = listed.iter().filter(|link| !immortals.contains(&&link[2]));
        let mut expected: Vec<_> =
            listed.map(|link| (link[2].as_str().unwrap().to_owned(), link[1] == "weak")).collect();
        let ours = references(&heap, address).into_iter();
        let mut ours: Vec<_> = ours
            .filter(|(label, ..)| !label.ends_with("saved value"))
            .map(|(_, target, weak)| (target, weak))
            .collect();
        expected.sort();
        ours.sort();
        assert_eq!(ours, expected, "{row}");
    }
}

#[test]
fn the_fixture_has_what_its_program_made() {
    let bytes = crate::support::read(&crate::support::fixture("pmat/shop-perl536.pmat.zst"));
    assert_eq!(broken(Format::Pmat, &bytes), [""; 0]);
    let heap = load(&bytes);
    let tree = DominatorTree::new(&heap);
    let items: Vec<_> = heap.objects().filter(|sv| heap.type_name(*sv) == "Item").collect();
    assert_eq!(items.len(), 20);
    assert!(items.iter().all(|item| tree.is_live(*item)));
    let has_key = |sv: &ObjectId, key: &str| {
        let mut links = heap.references_of(*sv);
        links.any(|link| link.label.text(heap.names()) == key)
    };
    let leaked: Vec<_> =
        heap.objects().filter(|sv| has_key(sv, "{self}") && has_key(sv, "{text}")).collect();
    assert!(leaked.len() == 1 && !tree.is_live(leaked[0]));
    let frames: Vec<_> =
        heap.frames().iter().map(|frame| heap.names().text(frame.function)).collect();
    assert_eq!(frames, ["main::save"; 3]);
}

#[test]
fn both_byte_orders_and_word_sizes_are_read() {
    for wide in [true, false] {
        let bytes = shop(wide);
        assert_eq!(broken(Format::Pmat, &bytes), [""; 0]);
        let heap = load(&bytes);
        assert_eq!((heap.len(), heap.pointer_size()), (15, if wide { 8 } else { 4 }));
        let name = |address: &str| heap.type_name(object(&heap, address)).to_owned();
        assert_eq!(name("0x1e0"), "Item");
        assert_eq!((name("0x1a0"), name("0x180")), ("PAD".to_owned(), "ARRAY".to_owned()));
        let text = Value::Text { text: "größe".into(), length: 7 };
        assert_eq!(heap.value(object(&heap, "0x200")), text);
        assert_eq!(heap.value(object(&heap, "0x160")), Value::Name("main::shop".into()));
    }
}

#[test]
fn references_have_names_and_strength() {
    let bytes = shop(true);
    let heap = load(&bytes);
    let of = |address: &str| {
        let row = |(label, target, weak): (String, String, bool)| {
            format!("{label} {target}{}", if weak { " weak" } else { "" })
        };
        references(&heap, address).into_iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(of("0x1e0"), ["{name} 0x200", "{self} 0x220", "the bless package 0x120 weak"]);
    assert_eq!(of("0x220"), ["-> 0x1e0 weak"]);
    assert_eq!(
        of("0x140"),
        ["the array 0x180", "the code 0x160", "the egv 0x140 weak", "saved value 0x200"]
    );
    assert_eq!(
        of("0x160"),
        ["the stash 0x100 weak", "the glob 0x140 weak", "pad at depth 1 0x1a0"]
    );
    assert_eq!(of("0x1a0"), ["@_ 0x180", "$item 0x1c0", "[2] 0x2a0"]);
    // The second element is undef, which is no object.
    assert_eq!(of("0x180"), ["[0] 0x1c0", "[2] 0x200"]);
    assert_eq!(of("0x200"), ["'<' magic object 0x280 weak"]);
    assert_eq!(of("0x280"), ["[0] 0x220 weak"]);
}

#[test]
fn what_no_counted_root_reaches_is_unreachable() {
    let bytes = shop(true);
    let heap = load(&bytes);
    let roots: Vec<_> = heap.roots().iter().map(|root| root.text(heap.names())).collect();
    assert_eq!(roots, ["defstash", "stack [0]", "mortals [0]", "context: code"]);
    let tree = DominatorTree::new(&heap);
    let dead: Vec<_> =
        heap.objects().filter(|sv| !tree.is_live(*sv)).map(|sv| heap.id(sv)).collect();
    assert_eq!(dead, ["0x240", "0x260", "0x280", "0x300"]);
}

/// Ten orders, each in a cycle with a line that is larger, and a cache that holds itself, beside a
/// text of `live` bytes.
fn leaking(live: usize) -> Vec<u8> {
    let mut file = Pmat::new(true, &[("defstash", 0x100)], &[]);
    let text = "x".repeat(live);
    file.stash(0x100, "main", &[("text", 0x110), ("Order::", 0x120), ("Cache::", 0x130)]);
    file.text(0x110, &text).stash(0x120, "Order", &[]).stash(0x130, "Cache", &[]);
    for at in (0..10).map(|row| 0x1000 + row * 0x100) {
        // The line has the lowest address, and the order stands for the cycle.
        file.reference(at, at + 0x60, false).hash(at + 0x20, 0, &[("order", at)]);
        file.hash(at + 0x60, 0x120, &[("line", at + 0x80), ("note", at + 0xa0)]);
        file.reference(at + 0x80, at + 0x20, false).text(at + 0xa0, &"n".repeat(1000));
    }
    file.text(0x8000, &"r".repeat(5000)).hash(0x8100, 0x130, &[("row", 0x8000), ("me", 0x8200)]);
    file.reference(0x8200, 0x8100, false);
    file.bytes(&[0]).words(&[0]).bytes(&[0]).words(&[0]);
    file.bytes.clone()
}

#[test]
fn cycles_that_no_root_reaches_are_suspects() {
    for (live, found) in [(20_000, 2), (1_000_000, 0)] {
        let bytes = leaking(live);
        let loaded = input::load(Format::Pmat, &bytes, LoadOptions::default()).unwrap();
        let (heap, graph) = (&loaded.heap, &Graph::of(&loaded.heap));
        let tree = &DominatorTree::of_graph(heap, graph);
        let verdict = Verdict::of(Surveyed { heap, graph, tree }, &Collections::of(heap));
        let leaks = verdict.suspects.iter().filter(|one| one.kind == SuspectKind::Leaked);
        let leaks: Vec<_> = leaks
            .map(|one| {
                let What::Objects(of, _) = one.what else { panic!("{one:?}") };
                let holder = one.holders.first().and_then(|holder| holder.object);
                let name = heap.names().text(heap.types()[of.0 as usize].name);
                (name, one.count, one.bytes, holder.map(|holder| heap.type_name(holder)))
            })
            .collect();
        let of_order = 24 + 120 + 120 + 24 + 1024;
        let expected = [("Order", 10, 10 * of_order, None), ("SCALAR", 1, 5024, Some("Cache"))];
        assert_eq!(leaks, expected[..found]);
        // The cache and its reference to itself are no part of what it holds.
        assert_eq!(verdict.leaked_bytes, 10 * of_order + 5024 + 120 + 24);
    }
}

#[test]
fn a_cut_file_gives_what_it_has() {
    let bytes = shop(true);
    let whole = load(&bytes).len();
    // The count of temporary values may be missing.
    let optional = bytes.len() - 24;
    let mut most = 0;
    for end in 4..bytes.len() {
        let Ok(loaded) = input::load(Format::Pmat, &bytes[..end], LoadOptions::default()) else {
            assert!(end < 140, "{end}");
            continue;
        };
        assert_eq!(loaded.damage.is_none(), end == optional, "{end}");
        if let Some(damage) = loaded.damage {
            assert_eq!(damage.offset(), Some(end as u64));
        }
        assert!(loaded.heap.len() >= most);
        most = loaded.heap.len();
    }
    assert_eq!(most, whole);
}

#[test]
fn unknown_versions_and_types_are_refused() {
    for (at, byte) in [(4, 0x36), (6, 1), (7, 6), (7, 1)] {
        let mut bytes = shop(true);
        bytes[at] = byte;
        assert!(input::load(Format::Pmat, &bytes, LoadOptions::default()).is_err(), "{at}");
    }
}
