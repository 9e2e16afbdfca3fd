//! Differences between heaps, of types and of single objects, and growth over snapshots.

use super::sketches::typed;
use crate::support::{Random, fixture, read};
use dumptool::analysis::diff::changes;
use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::growth::Growth;
use dumptool::analysis::histogram::{GroupBy, Histogram, Scope};
use dumptool::analysis::identity::{Identified, Tracker, fates};
use dumptool::input::{Format, identity_hashes};
use dumptool::model::addresses::AddressesBuilder;
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Ids, TypeKind};
use std::collections::BTreeMap;

fn histogram(seed: u64) -> Histogram {
    let heap = typed(seed).heap;
    Histogram::of(&heap, Some(&DominatorTree::new(&heap)), GroupBy::Type, Scope::Live)
}

#[test]
fn what_is_old_and_what_changed_is_what_is_new() {
    for seed in 0..500 {
        let (old, new) = (histogram(seed), histogram(seed + 1));
        let changes = changes(&old, &new);
        let rise = |of: &dyn Fn(&dumptool::analysis::diff::Delta) -> i64| {
            changes.iter().map(|row| of(&row.delta())).sum::<i64>()
        };
        assert_eq!(
            rise(&|delta| delta.count),
            new.total.count as i64 - old.total.count as i64,
            "seed {seed}"
        );
        assert_eq!(
            rise(&|delta| delta.shallow_bytes),
            new.total.shallow_bytes as i64 - old.total.shallow_bytes as i64
        );
        for row in &changes {
            assert_ne!(row.old, row.new, "seed {seed}");
            let find = |of: &Histogram| {
                of.rows.iter().find(|other| other.name == row.name).map(|row| row.sum)
            };
            assert_eq!(
                (row.old.map(|side| side.sum), row.new.map(|side| side.sum)),
                (find(&old), find(&new)),
                "seed {seed}"
            );
        }
        let retained: Vec<_> =
            changes.iter().map(|row| row.delta().retained_bytes.unwrap().unsigned_abs()).collect();
        assert!(retained.is_sorted_by(|a, b| a >= b), "seed {seed}: {retained:?}");
    }
    assert!(changes(&histogram(1), &histogram(1)).is_empty());
}

#[test]
fn objects_are_known_by_type_and_hash() {
    for seed in 0..500 {
        let (old, new) = (typed(seed), typed(seed + 7));
        let mut random = Random(seed);
        let mut hashes = |of: &super::sketches::Typed| -> Vec<u32> {
            of.types.iter().map(|_| random.below(4) as u32).collect()
        };
        let (old_hashes, new_hashes) = (hashes(&old), hashes(&new));
        let all = fates(
            Identified { heap: &old.heap, hashes: Some(&old_hashes) },
            Identified { heap: &new.heap, hashes: Some(&new_hashes) },
        );
        // Counts of each (type, hash), and of those without.
        let count = |of: &super::sketches::Typed, hashes: &[u32]| {
            let mut counts: BTreeMap<(u32, u32), u64> = BTreeMap::new();
            let keys = of.types.iter().zip(hashes).filter_map(|(of, hash)| Some((((*of)?), *hash)));
            keys.for_each(|key| *counts.entry(key).or_default() += 1);
            counts
        };
        let (before, after) = (count(&old, &old_hashes), count(&new, &new_hashes));
        for number in 0..3 {
            let of = |counts: &BTreeMap<(u32, u32), u64>, hash: u32| {
                counts.get(&(number, hash)).copied().unwrap_or(0)
            };
            let kept: u64 = (1..4).map(|hash| of(&before, hash).min(of(&after, hash))).sum();
            let total = |counts| (1..4).map(|hash| of(counts, hash)).sum::<u64>();
            let expected = (kept, total(&after) - kept, total(&before) - kept, of(&after, 0));
            let fate = all.iter().find(|fate| fate.name == format!("T{number}"));
            let found = fate.map_or((0, 0, 0, 0), |fate| {
                (fate.kept, fate.new.len() as u64, fate.gone.len() as u64, fate.unknown)
            });
            assert_eq!(found, expected, "seed {seed} T{number}");
        }
    }
}

#[test]
fn identity_hashes_are_those_of_the_file() {
    let of = |name: &str| identity_hashes(Format::Dart, &read(&fixture(name))).unwrap();
    let hashes = of("dart/tiny_derived_3.0.5.dartheap.zst").unwrap();
    assert_eq!(hashes.len(), 3480);
    assert_eq!(hashes.iter().filter(|hash| **hash != 0).count(), 2178);
    assert_eq!(of("dart/synth_old_nohash_3k.dartheap.zst"), None);
    let bytes = read(&fixture("dart/tiny_derived_3.0.5.dartheap.zst"));
    assert!(identity_hashes(Format::Dart, &bytes[..bytes.len() - 100]).is_err());
}

#[test]
fn types_that_grow_come_first() {
    let mut growth = Growth::default();
    for snapshot in 0..3_u64 {
        growth.begin_snapshot();
        growth.add("steady", "", 5, 1000);
        growth.add("leak", "", snapshot, 100 * snapshot);
        // Two types of one name are one.
        growth.add("steady", "", 1, 1);
        if snapshot == 0 {
            growth.add("gone", "", 1, 50);
        }
    }
    let series = growth.finish();
    let rows: Vec<_> =
        series.iter().map(|row| (row.name.as_str(), row.growth(), row.bytes.clone())).collect();
    assert_eq!(
        rows,
        [
            ("leak", 200, vec![0, 100, 200]),
            ("steady", 0, vec![1001, 1001, 1001]),
            ("gone", -50, vec![50, 0, 0]),
        ]
    );
    assert_eq!(series[1].counts, [6, 6, 6]);
}

/// V8 never gives an id twice, and objects of Ruby, Perl and Go do not move.
#[test]
fn objects_are_known_by_id_and_doubtful_if_their_type_or_size_changed() {
    let heap = |objects: &[(&str, u64, u64)]| {
        let mut builder = HeapBuilder::with_capacity(0, 0);
        let mut addresses = AddressesBuilder::default();
        for (name, address, size) in objects {
            let of = builder.add_type(name, "", TypeKind::Instance);
            builder.add_object(of, *size);
            addresses.add(*address);
        }
        builder.finish(Ids::Addresses(addresses.finish()), None)
    };
    let old = heap(&[("A", 16, 8), ("A", 32, 8), ("A", 48, 8), ("B", 64, 8)]);
    let new = heap(&[("A", 16, 8), ("B", 32, 8), ("A", 48, 9), ("B", 80, 8)]);
    let of = |heap| Identified { heap, hashes: None };
    let fates: Vec<_> = fates(of(&old), of(&new))
        .into_iter()
        .map(|fate| (fate.name, fate.kept, fate.doubtful, fate.new.len(), fate.gone.len()))
        .collect();
    assert_eq!(fates, [("A".to_owned(), 1, 1, 0, 0), ("B".to_owned(), 0, 1, 1, 1)]);
}

/// Objects by address with their type and size, as a person would follow them.
#[test]
fn survivors_are_what_was_born_and_is_still_there() {
    let mut random = crate::support::Random(7);
    for _ in 0..300 {
        let mut sketch = || -> BTreeMap<u64, (u8, u64)> {
            let objects = (0..random.below(12)).map(|_| random.below(16) as u64 * 16 + 16);
            let addresses: Vec<u64> = objects.collect();
            let of = |address| (address, (random.below(2) as u8, 8 + random.below(2) as u64));
            addresses.into_iter().map(of).collect()
        };
        let sketches = [sketch(), sketch(), sketch()];
        let heaps = sketches.each_ref().map(|sketch| heap_at(sketch));
        let of = |heap| Identified { heap, hashes: None };
        let mut tracker = Tracker::new(of(&heaps[0]));
        let born = tracker.born(of(&heaps[1]));
        let alive = tracker.survivors(of(&heaps[2]));
        let [base, before, after] = &sketches;
        let is_born = |address: &u64| !base.contains_key(address);
        let expected = before.keys().filter(|address| is_born(address)).count();
        assert_eq!(born.len(), expected, "{sketches:?}");
        let survives = |(address, object): &(&u64, &(u8, u64))| {
            is_born(address) && before.get(address) == Some(object)
        };
        assert_eq!(alive.len(), after.iter().filter(survives).count(), "{sketches:?}");
    }
}

fn heap_at(objects: &BTreeMap<u64, (u8, u64)>) -> dumptool::Heap<'static> {
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let types = ["A", "B"].map(|name| builder.add_type(name, "", TypeKind::Instance));
    let mut addresses = AddressesBuilder::default();
    for (&address, &(of, size)) in objects {
        builder.add_object(types[of as usize], size);
        addresses.add(address);
    }
    builder.finish(Ids::Addresses(addresses.finish()), None)
}

/// Two sessions are born after the first dump, and one of them is gone in the third, where another
/// object has its place.
#[test]
fn three_dumps_show_what_was_born_and_stays() {
    let dump = |objects: &[(&str, &str, u64)]| {
        let ids: Vec<String> = objects.iter().map(|(id, ..)| format!("\"{id}\"")).collect();
        let mut text = format!(
            "{{\"type\":\"ROOT\", \"root\":\"vm\", \"references\":[\"0x10\"]}}\n{{\"address\":\"0x10\", \"type\":\"ARRAY\", \"class\":\"0x1\", \"length\":2, \"references\":[{}], \"memsize\":40}}\n",
            ids.join(", ")
        );
        for (id, class, size) in objects {
            text += &format!(
                "{{\"address\":\"{id}\", \"type\":\"OBJECT\", \"class\":\"{class}\", \"ivars\":0, \"memsize\":{size}}}\n"
            );
        }
        for (id, name) in [("0x1", "Array"), ("0x2", "Session"), ("0x3", "Request")] {
            text += &format!(
                "{{\"address\":\"{id}\", \"type\":\"CLASS\", \"name\":\"{name}\", \"memsize\":500}}\n"
            );
        }
        text
    };
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("base.json", dump(&[("0x100", "0x2", 40)])),
        ("before.json", dump(&[("0x100", "0x2", 40), ("0x200", "0x2", 48), ("0x300", "0x2", 48)])),
        ("after.json", dump(&[("0x100", "0x2", 40), ("0x200", "0x2", 48), ("0x300", "0x3", 40)])),
    ];
    files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
    let run = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_dumptool");
        let mut command = std::process::Command::new(program);
        let run = command.current_dir(&folder).arg("diff").args(arguments).output().unwrap();
        String::from_utf8(if run.status.success() { run.stdout } else { run.stderr }).unwrap()
    };
    let text = run(&["base.json", "before.json", "after.json"]);
    assert!(text.starts_with("48 B: 1 Session born between base.json and before.json"), "{text}");
    let json = run(&["base.json", "before.json", "after.json", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let [row] = &json["rows"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!((&row["name"], &row["example"]), (&"Session".into(), &"0x200".into()));
    assert_eq!((&row["born"]["count"], &row["survived"]["count"]), (&2.into(), &1.into()));
    assert_eq!(row["survived"]["retained_bytes"], 48);
    let none = run(&["base.json", "base.json", "after.json"]);
    assert!(none.starts_with("nothing that was born"), "{none}");
    let refused = run(&["base.json", "before.json", "after.json", "--quick"]);
    assert!(refused.contains("--quick applies to two dumps"), "{refused}");
}
