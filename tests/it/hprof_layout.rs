//! Sizes of Java objects: those of layouts made here, and the histograms of real JVMs.

use crate::support::hprof::File;
use crate::support::jvm::{Heap, Jvm, KINDS, OBJECT};
use crate::support::{corpus_folder, files, fixture, info, json, read};
use dumptool::input::hprof::{check, histogram, load};
use dumptool::input::load::{LayoutChoice, LoadOptions};
use dumptool::input::{Format, ReadOptions};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What JVMs of today have: compressed references; those of 8 bytes (ZGC); wide class pointers,
/// before and since JDK 23; compact headers with both; other alignments.
const LAYOUTS: [Jvm; 8] = [
    Jvm { references: 4, header: 12, array: 16, alignment: 8 },
    Jvm { references: 8, header: 12, array: 16, alignment: 8 },
    Jvm { references: 8, header: 16, array: 24, alignment: 8 },
    Jvm { references: 8, header: 16, array: 20, alignment: 8 },
    Jvm { references: 4, header: 8, array: 12, alignment: 8 },
    Jvm { references: 8, header: 8, array: 12, alignment: 8 },
    Jvm { references: 4, header: 12, array: 16, alignment: 16 },
    Jvm { references: 4, header: 12, array: 16, alignment: 32 },
];

/// Objects of all kinds: arrays of each length, several of one class after each other.
fn usual(jvm: Jvm) -> Heap {
    let mut heap = Heap::new(jvm);
    let base = heap.class(None, &[2, 10]);
    let all = [
        base,
        heap.class(Some(base), &[11]),
        heap.class(Some(base), &[2, 8]),
        heap.class(None, &[11]),
        heap.class(None, &[2]),
        heap.class(None, &[10]),
        heap.class(None, &[2, 2, 2]),
    ];
    for count in 0..40 {
        heap.bytes(count).references(count).object();
        all.iter().for_each(|&class| {
            heap.instance(class);
        });
    }
    heap.object();
    heap
}

/// Asserts that every object has the size with which it was placed, in the heap and in sums.
fn assert_sizes(file: &[u8], sizes: &[(u64, u64)], layout: LayoutChoice) {
    let options = LoadOptions::default().layout(layout);
    let heap = load(file, options).unwrap().heap;
    for &(id, size) in sizes {
        let object = heap.find(&format!("{id:#x}")).unwrap();
        let name = heap.names().text(heap.type_of(object).name);
        assert_eq!(heap.shallow_bytes(object), size, "{name} at {id:#x}");
    }
    let total = histogram(file, options).unwrap().total.shallow_bytes;
    assert_eq!(total, heap.objects().map(|object| heap.shallow_bytes(object)).sum::<u64>());
}

#[test]
fn each_layout_is_found() {
    for jvm in LAYOUTS {
        let heap = usual(jvm);
        let sizes = heap.sizes.clone();
        let file = heap.finish(|_| {});
        let found = &info(Format::Hprof, &file)["heap"]["snapshots"][0]["details"]["layout"];
        for (key, value) in [
            ("references", jvm.references),
            ("header", jvm.header),
            ("array_header", jvm.array),
            ("alignment", jvm.alignment),
        ] {
            assert_eq!(found[key], value, "{jvm:?}: {key}");
        }
        assert!(found["pairs"].as_u64().unwrap() > 250, "{jvm:?}: {found}");
        assert_sizes(&file, &sizes, LayoutChoice::default());
    }
}

#[test]
fn the_order_of_the_file_does_not_matter() {
    for jvm in LAYOUTS {
        let heap = usual(jvm);
        let sizes = heap.sizes.clone();
        let file = heap.finish(|objects| {
            let odd = objects.iter().skip(1).step_by(2).cloned().collect::<Vec<_>>();
            let even = objects.iter().step_by(2).rev().cloned().collect::<Vec<_>>();
            *objects = [odd, even].concat();
        });
        assert_sizes(&file, &sizes, LayoutChoice::default());
    }
}

#[test]
fn objects_that_overlap_are_found() {
    let jvm = LAYOUTS[0];
    let mut heap = usual(jvm);
    heap.references(100);
    let inside = heap.sizes.last().unwrap().0 + 200;
    let mut objects = Vec::new();
    let file = heap.finish(|all| objects = all.clone());
    assert_eq!(overlaps(&file, LayoutChoice::default()), 0);
    // An object in the middle of the array.
    let mut heap = usual(jvm);
    heap.references(100).sizes.pop();
    let file = heap.finish(|all| {
        let mut last = all[all.len() - 3].clone();
        last[1..9].copy_from_slice(&inside.to_be_bytes());
        all.push(last);
    });
    assert_eq!(overlaps(&file, LayoutChoice::default()), 1);
}

/// How many objects overlap by the layout that is stated, or else found.
fn overlaps(file: &[u8], layout: LayoutChoice) -> u64 {
    let findings = check(file, ReadOptions::default().layout(layout)).unwrap().findings;
    findings.into_iter().find(|finding| finding.rule == "object.overlap").unwrap().actual
}

/// A heap that is larger than the sample of pages. Each class has one instance; a class object
/// follows it, whose record is elsewhere in the file, and then an object 120 bytes behind that.
#[test]
fn a_class_object_behind_the_only_instance_of_a_class_bounds_its_size() {
    const THREAD: u64 = 0x100;
    const START: u64 = 0x1000_0000;
    let (step, workers) = (0x8000, 48);
    let mut file = File::new("1.0.2", 8);
    file.loads(&[(OBJECT, "java/lang/Object"), (THREAD, "java/lang/Thread")]);
    let mut classes =
        vec![file.class(OBJECT, 0, 0, &[], &[]), file.class(THREAD, OBJECT, 0, &[], &[])];
    let mut objects = Vec::new();
    for worker in 0..workers {
        let start = START + worker * step;
        let class = start + 24;
        file.load(class, &format!("app/Worker{worker}"));
        classes.push(file.class(class, THREAD, 0, &[], &[]));
        objects.push(file.instance(start, class, &[]));
        let others = (start + 24 + 120..start + step).step_by(16);
        objects.extend(others.map(|id| file.instance(id, OBJECT, &[])));
    }
    assert!(objects.len() > 1 << 16);
    let file = file.segment(&[classes, objects].concat()).end();

    let heap = load(&file, LoadOptions::default()).unwrap().heap;
    for worker in 0..workers {
        let object = heap.find(&format!("{:#x}", START + worker * step)).unwrap();
        assert_eq!(heap.shallow_bytes(object), 24, "worker {worker}");
    }
    assert_eq!(overlaps(&file, LayoutChoice::default()), 0);
}

/// A collector that moves nothing leaves equal garbage behind all objects that are made alike.
#[test]
fn equal_garbage_behind_all_objects_of_a_class_is_no_part_of_them() {
    for jvm in LAYOUTS {
        let mut heap = usual(jvm);
        let class = heap.class(None, &[2, 11]);
        let smallest = jvm.instance(&[]) / jvm.alignment;
        for units in [smallest, 20, 40].into_iter().flat_map(|units| [units; 10]) {
            heap.instance(class).gap(units);
        }
        let sizes = heap.sizes.clone();
        assert_sizes(&heap.finish(|_| {}), &sizes, LayoutChoice::default());
    }
}

#[test]
fn check_uses_the_layout_that_the_user_states() {
    let file = usual(LAYOUTS[0]).finish(|_| {});
    assert_eq!(overlaps(&file, LayoutChoice::default()), 0);
    assert_eq!(overlaps(&file, LayoutChoice { header: Some(12), ..LayoutChoice::default() }), 0);
    let wide = LayoutChoice { references: Some(8), header: Some(16), alignment: None };
    assert!(overlaps(&file, wide) > 100);
}

#[test]
fn a_layout_on_the_command_line_counts_more_than_addresses() {
    let heap = usual(LAYOUTS[0]);
    let (id, _) = heap.sizes[0];
    let file = heap.finish(|_| {});
    let size = |layout| {
        let heap = load(&file, LoadOptions::default().layout(layout)).unwrap().heap;
        heap.shallow_bytes(heap.find(&format!("{id:#x}")).unwrap())
    };
    assert_eq!(size(LayoutChoice::default()), 16);
    assert_eq!(size(LayoutChoice { header: Some(16), ..LayoutChoice::default() }), 24);
    assert_eq!(size(LayoutChoice { alignment: Some(64), ..LayoutChoice::default() }), 64);
}

/// The fields of a few classes, each below one before it or java.lang.Object.
fn classes() -> impl Strategy<Value = Vec<(Option<usize>, Vec<u8>)>> {
    let class = (
        any::<prop::sample::Index>(),
        any::<bool>(),
        prop::collection::vec(prop::sample::select(&KINDS[..]), 0..6),
    );
    prop::collection::vec(class, 1..12).prop_map(|classes| {
        let below = |number: usize, parent: prop::sample::Index, top: bool| {
            (number > 0 && !top).then(|| parent.index(number))
        };
        classes
            .into_iter()
            .enumerate()
            .map(|(number, (parent, top, own))| (below(number, parent, top), own))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Objects that do not overlap have their sizes found again, wherever the garbage between them
    /// is.
    #[test]
    fn sizes_are_found_again(
        jvm in prop::sample::select(&LAYOUTS[..]),
        classes in classes(),
        objects in prop::collection::vec((0usize..12, 0u64..8), 0..60),
        seed: u64,
    ) {
        let mut heap = usual(jvm);
        let numbers: Vec<_> = classes.iter().map(|(parent, own)| {
            // The classes of `usual` come first.
            heap.class(parent.map(|parent| parent + 7), own)
        }).collect();
        for &class in &numbers {
            // Five neighbours prove a size.
            for _ in 0..6 {
                heap.instance(class);
            }
            heap.gap(3);
        }
        for (class, gap) in objects {
            heap.instance(numbers[class % numbers.len()]).gap(if gap < 4 { 0 } else { gap });
        }
        let sizes = heap.sizes.clone();
        let file = heap.finish(|objects| {
            let turn = seed as usize % objects.len();
            objects.rotate_left(turn);
        });
        assert_sizes(&file, &sizes, LayoutChoice::default());
        let findings = check(&file, ReadOptions::default()).unwrap().findings;
        prop_assert!(findings.iter().all(|finding| finding.rule != "object.overlap" || finding.ok));
    }

    /// The rules alone say what laying out field by field says, where no neighbour does.
    #[test]
    fn rules_are_those_of_the_field_layout(jvm in prop::sample::select(&LAYOUTS[..]), classes in classes()) {
        let mut heap = Heap::new(jvm);
        for (parent, own) in &classes {
            let class = heap.class(*parent, own);
            heap.instance(class);
        }
        let sizes = heap.sizes.clone();
        let layout = LayoutChoice { references: Some(jvm.references), header: Some(jvm.header), alignment: Some(jvm.alignment) };
        assert_sizes(&heap.finish(|_| {}), &sizes, layout);
    }
}

/// Objects and bytes by class, as the JVM's histogram says. Names of hidden classes have their
/// addresses taken off; fillers are arrays of int in a dump.
fn of_jvm(truth: &Value) -> BTreeMap<String, (u64, u64)> {
    let mut rows = BTreeMap::new();
    for (name, row) in truth["jvm_histogram"]["rows"].as_object().unwrap() {
        let name = dumptool::java::class_name(name.as_bytes(), false).into_owned();
        let name =
            if name == "jdk.internal.vm.FillerElement[]" { "int[]".to_owned() } else { name };
        add(&mut rows, &name, (row[0].as_u64().unwrap(), row[1].as_u64().unwrap()));
    }
    rows
}

fn add(rows: &mut BTreeMap<String, (u64, u64)>, name: &str, (count, bytes): (u64, u64)) {
    let name =
        name.split_once("/0x").or_else(|| name.split_once("+0x")).map_or(name, |(name, _)| name);
    let name = name.split_once(".0x").map_or(name, |(name, _)| name);
    let row = rows.entry(name.to_owned()).or_default();
    *row = (row.0 + count, row.1 + bytes);
}

fn assert_histogram(dump: &Path, truth: &Path) {
    let (file, truth) = (read(dump), json(truth));
    let expected = of_jvm(&truth);
    let mut found = BTreeMap::new();
    let heap = load(&file, LoadOptions::default()).unwrap().heap;
    for object in heap.objects() {
        let name = heap.names().text(heap.type_of(object).name);
        add(&mut found, name, (1, heap.shallow_bytes(object)));
    }
    assert_eq!(found, expected, "{}", dump.display());
    let layout = &info(Format::Hprof, &file)["heap"]["snapshots"][0]["details"]["layout"];
    assert_eq!(layout["references"], truth["layout"]["reference_bytes"]);
    assert_eq!(layout["header"], truth["layout"]["instance_header_bytes"]);
    assert_eq!(layout["alignment"], truth["layout"]["object_alignment"]);
    assert_eq!(layout["array_header"], truth["layout"]["array_base"]["byte[]"][0]);
    let total = histogram(&file, LoadOptions::default()).unwrap().total;
    assert_eq!(total.shallow_bytes, truth["jvm_histogram"]["total_bytes"]);
    let findings = check(&file, ReadOptions::default()).unwrap().findings;
    assert!(findings.iter().any(|finding| finding.rule == "object.overlap" && finding.ok));
}

#[test]
fn real_heaps_have_the_jvm_s_own_histogram() {
    for name in ["layout_java17_zgc", "layout_java25_compact"] {
        let path = |end| fixture(&format!("hprof/{name}.{end}"));
        assert_histogram(&path("hprof.zst"), &path("truth.json"));
    }
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn the_corpus_has_the_jvm_s_own_histogram() {
    let folder = corpus_folder("hprof/layouts");
    let truths: Vec<_> = files(&folder)
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(".truth.json"))
        .collect();
    assert!(truths.len() >= 14, "{}", folder.display());
    for truth in truths {
        let dump = truth.to_string_lossy().replace(".truth.json", ".hprof.zst");
        assert_histogram(Path::new(&dump), &truth);
    }
}

/// Dumps of programs that nobody here wrote. The histogram is from shortly before the dump, so only
/// the size of an object is compared.
#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn the_corpus_of_other_programs_passes_and_has_the_jvm_s_sizes() {
    let folder = corpus_folder("hprof");
    for name in ["jvm11_groovy_parallel", "jvm21_spark_g1"] {
        let file = read(&folder.join(format!("{name}.hprof.zst")));
        let mut found = BTreeMap::new();
        for row in histogram(&file, LoadOptions::default()).unwrap().rows {
            add(&mut found, &row.name, (row.sum.count, row.sum.shallow_bytes));
        }
        let expected = of_jvm(&json(&folder.join(format!("{name}.truth.json"))));
        let is_instance = |name: &str| !name.ends_with("[]") && name != "java.lang.Class";
        let mut compared = 0;
        for (name, row) in expected.iter().filter(|(name, _)| is_instance(name)) {
            // Several hidden classes have one name, and different sizes.
            if let Some(found) = found.get(name).filter(|found| found.0 == row.0) {
                assert_eq!(found, row, "{name}");
                compared += 1;
            }
        }
        assert!(compared > 1000, "{name}: {compared}");
        assert_eq!(overlaps(&file, LayoutChoice::default()), 0, "{name}");
    }
}
