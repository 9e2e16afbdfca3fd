//! Small files that are expensive to read carelessly: families that grow with a number, and files
//! that stand alone.

mod heaps;
mod native;
mod profiles;

use super::dart::Snapshot;
use super::hprof::File;
use super::mojo::Mojo;
use super::mvmheap::Writer;
use std::io::Write;

/// Files that differ in size only.
pub struct Family {
    pub name: &'static str,
    pub file: fn(usize) -> Vec<u8>,
    /// The largest one: below 1 MiB.
    pub size: usize,
}

pub const FAMILIES: &[Family] = &[
    Family { name: "alternating-types.dartheap", file: |size| chain(size, 2), size: 4_000 },
    Family { name: "type-chain.dartheap", file: |size| chain(size, size), size: 3_000 },
    Family { name: "list.dartheap", file: |size| chain(size, 1), size: 8_000 },
    Family { name: "many-classes.dartheap", file: many_classes, size: 3_000 },
    Family { name: "long-class-names.dartheap", file: long_class_names, size: 4_000 },
    Family { name: "many-threads.hprof", file: many_threads_of_java, size: 800 },
    Family { name: "deep-stack.mojo", file: deep_stack, size: 40_000 },
    Family { name: "new-stacks.mojo", file: new_stacks, size: 200 },
    Family { name: "long-file-name.mojo", file: long_file_name, size: 4_000 },
    Family { name: "repeated-stack.mojo", file: repeated_stack, size: 6_000 },
    Family { name: "many-threads.mojo", file: many_threads, size: 3_000 },
    Family { name: "deep-line.austin", file: |size| deep_line(size).into_bytes(), size: 10_000 },
    Family { name: "list.heapsnapshot", file: heaps::list_of_v8, size: 1_000 },
    Family { name: "many-names.heapsnapshot", file: heaps::many_names_of_v8, size: 1_000 },
    Family {
        name: "long-text.heapsnapshot",
        file: |size| heaps::long_name(100_000, size),
        size: 4_000,
    },
    Family { name: "deep-trace.heaptimeline", file: heaps::deep_trace, size: 8_000 },
    Family { name: "list.ruby", file: heaps::list_of_ruby, size: 2_000 },
    Family { name: "superclasses.ruby", file: heaps::superclasses, size: 2_000 },
    Family { name: "long-texts.ruby", file: heaps::long_texts, size: 300 },
    Family { name: "equal-texts.hprof", file: heaps::equal_texts, size: 2_000 },
    Family { name: "typed-list.heapdump", file: heaps::typed_list, size: 2_000 },
    Family { name: "goroutines.heapdump", file: heaps::goroutines, size: 1_000 },
    Family { name: "list.pmat", file: heaps::list_of_perl, size: 4_000 },
    Family { name: "pad-names.pmat", file: heaps::pad_names, size: 10_000 },
    Family { name: "magic.pmat", file: heaps::magic, size: 4_000 },
    Family { name: "deep-sample.pb", file: profiles::deep_sample, size: 40_000 },
    Family { name: "many-labels.pb", file: profiles::many_labels, size: 3_000 },
    Family { name: "inlined.pb", file: profiles::inlined, size: 4_000 },
    Family { name: "deep-line.folded", file: profiles::deep_folded, size: 20_000 },
    Family { name: "many-lines.folded", file: profiles::many_lines, size: 5_000 },
    Family { name: "deep-nodes.cpuprofile", file: profiles::deep_nodes, size: 4_000 },
    Family { name: "many-samples.cpuprofile", file: profiles::many_samples, size: 40_000 },
    Family {
        name: "deep-sample.speedscope.json",
        file: profiles::deep_sample_of_speedscope,
        size: 20_000,
    },
    Family { name: "many-profiles.speedscope.json", file: profiles::many_profiles, size: 2_000 },
    Family { name: "deep-stack.firefox.json", file: profiles::deep_stack_of_firefox, size: 20_000 },
    Family {
        name: "many-threads.firefox.json",
        file: profiles::many_threads_of_firefox,
        size: 10_000,
    },
    Family { name: "long-name.firefox.json", file: profiles::long_name_of_firefox, size: 20_000 },
    Family {
        name: "nested-spans.chrome.json",
        file: profiles::nested_spans_of_chrome,
        size: 12_000,
    },
    Family { name: "deep-sample.perf", file: profiles::deep_sample_of_perf, size: 20_000 },
    Family { name: "many-events.perf", file: profiles::many_events, size: 4_000 },
    Family { name: "deep-trace.heaptrack", file: native::deep_trace, size: 20_000 },
    Family { name: "inlined.heaptrack", file: native::inlined, size: 2_000 },
    Family { name: "many-peaks.heaptrack", file: native::many_peaks, size: 20_000 },
    Family { name: "deep-stack.heap", file: native::deep_stack, size: 20_000 },
    Family { name: "many-maps.heap", file: native::many_maps, size: 3_000 },
    Family { name: "deep-point.dhat.json", file: native::deep_point, size: 20_000 },
    Family { name: "deep-tree.massif", file: native::deep_tree, size: 250_000 },
    Family { name: "circle.callgrind", file: native::circle, size: 22_500 },
    Family { name: "many-functions.cprof", file: native::many_functions, size: 10_000 },
    Family { name: "long-name.cprof", file: native::long_name_of_cprofile, size: 10_000 },
    Family { name: "chain.callgrind", file: native::chain_of_calls, size: 6_000 },
    Family { name: "many-chunks.jfr", file: profiles::many_chunks_of_java, size: 800 },
    Family { name: "old-objects.jfr", file: profiles::old_objects_of_java, size: 800 },
    Family { name: "many-pools.jfr", file: profiles::many_pools_of_java, size: 4_000 },
    Family { name: "many-nodes.heapprofile", file: profiles::many_sizes, size: 3_000 },
];

/// Files without a size to vary.
pub fn files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("huge-sum.mojo", huge_sum()),
        ("huge-objects.dartheap", huge_objects()),
        ("compressed-deep-stack.mojo.zst", compressed(&deep_stack(500_000))),
        ("zeros.mvmheap", zeros(300_000)),
        ("functions.pb.zst", compressed(&profiles::empty_functions(20 << 20))),
        ("nodes.cpuprofile.zst", compressed(&profiles::empty_nodes(15 << 20))),
        ("deep-sizes.heapprofile", profiles::deep_sizes(3_000)),
        ("nested.speedscope.json", profiles::nested_events(3_000)),
        ("circular-classes.jfr", profiles::circular_classes_of_java()),
        ("huge-numbers.jfr", profiles::huge_numbers_of_java()),
        ("long-name.heapsnapshot", heaps::long_name(400_000, 300)),
        ("empty-strings.heapsnapshot.zst", compressed(&heaps::empty_strings(3_000_000))),
        ("empty-samples.pb.zst", compressed(&profiles::empty_samples(10_000_000))),
        ("value-types.pb", profiles::value_types(8_000)),
        ("more-value-types.pb", profiles::value_types(110_000)),
    ]
}

/// A snapshot with one string of 40 MiB.
pub fn long_string() -> Vec<u8> {
    compressed(&heaps::long_name(40 << 20, 1))
}

/// A profile that takes seconds to read: of 40 million samples, with and without a number in turn.
pub fn small_samples() -> Vec<u8> {
    compressed(&profiles::small_samples(40_000_000))
}

/// The program that wrote the families of Go dumps.
pub fn program() -> Vec<u8> {
    heaps::program()
}

/// A chain of objects, whose types take turns.
fn chain(objects: usize, types: usize) -> Vec<u8> {
    let mut file = Snapshot::empty().class("Root", "", &[]);
    for number in 0..types {
        file = file.class(&format!("T{number}"), "", &[(0, "next")]);
    }
    // Class ids begin at 1; the first object is the root.
    file = file.object(1, 0, [0], &[2]);
    for object in 0..objects as u64 {
        let next = [object + 3];
        let references = if object + 1 < objects as u64 { &next[..] } else { &[] };
        file = file.object(2 + object % types as u64, 16, [0], references);
    }
    file.bytes()
}

/// As many classes as objects, all of which the root holds.
fn many_classes(size: usize) -> Vec<u8> {
    let mut file = Snapshot::empty().class("Root", "", &[]);
    for number in 0..size {
        file = file.class(&format!("T{number}"), "package:app/a.dart", &[]);
    }
    file = file.object(1, 0, [0], &(0..size as u64).map(|object| object + 2).collect::<Vec<_>>());
    for object in 0..size as u64 {
        file = file.object(2 + object, 16, [0], &[]);
    }
    file.bytes()
}

/// One class with a name that is as long as its objects are many.
fn long_class_names(size: usize) -> Vec<u8> {
    let mut file = Snapshot::empty().class("Root", "", &[]).class(
        &"N".repeat(size * 20),
        "package:app/a.dart",
        &[],
    );
    file = file.object(1, 0, [0], &(0..size as u64).map(|object| object + 2).collect::<Vec<_>>());
    for _ in 0..size {
        file = file.object(2, 16, [0], &[]);
    }
    file.bytes()
}

/// Threads with a frame each, which holds an object.
fn many_threads_of_java(threads: usize) -> Vec<u8> {
    const CLASS: u64 = 8;
    let mut file = File::new("1.0.2", 8);
    let serial = file.load(CLASS, "java/lang/Thread");
    let method = file.string("run");
    let [method, empty] = [file.id(method), file.id(0)];
    for thread in 1..=threads as u32 {
        let frame = file.id(u64::from(thread));
        file.record(0x04, &[&frame, &method, &empty, &empty, &serial.to_be_bytes(), &[0; 4]]);
        file.record(
            0x05,
            &[&thread.to_be_bytes(), &thread.to_be_bytes(), &1u32.to_be_bytes(), &frame],
        );
    }
    let mut heap = vec![file.class(CLASS, 0, 16, &[], &[])];
    for thread in 1..=threads as u32 {
        let object = 1000 + 16 * u64::from(thread);
        heap.push(file.instance(object, CLASS, &[]));
        let serials = [thread.to_be_bytes(), thread.to_be_bytes()].concat();
        heap.push(file.root(0x08, object, &serials));
        heap.push(file.root(0x03, object, &[thread.to_be_bytes(), [0; 4]].concat()));
    }
    file.segment(&heap).end()
}

fn recording() -> Mojo {
    let mut file = Mojo::new(4);
    file.metadata("mode", "wall").string(5, "a.py").string(6, "f");
    file
}

/// One stack.
fn deep_stack(frames: usize) -> Vec<u8> {
    let mut file = recording();
    file.frame(1, 5, 6, 1).frame(2, 5, 6, 2).stack(1, 0, "a");
    (0..frames).for_each(|frame| _ = file.frame_ref(1 + frame as i128 % 2));
    file.time(1);
    file.0
}

/// Stacks of 300 frames, no two of which are alike from the beginning on.
fn new_stacks(stacks: usize) -> Vec<u8> {
    let mut file = recording();
    (0..stacks).for_each(|key| _ = file.frame(1 + key as i128, 5, 6, key as i128));
    for stack in 0..stacks {
        file.stack(1, 0, "a");
        (0..300).for_each(|frame| _ = file.frame_ref(1 + ((stack + frame) % stacks) as i128));
        file.time(1);
    }
    file.0
}

/// One file with a name that is as long as its functions are many.
fn long_file_name(size: usize) -> Vec<u8> {
    let mut file = Mojo::new(4);
    file.metadata("mode", "wall").string(5, "/long".repeat(size * 2)).string(6, "f");
    for key in 0..size as i128 {
        file.string(10 + key, format!("f{key}"))
            .frame(1 + key, 5, 10 + key, key)
            .stack(1, 0, "a")
            .frame_ref(1 + key)
            .time(1);
    }
    file.0
}

/// A deep stack, and as many samples that repeat it.
fn repeated_stack(size: usize) -> Vec<u8> {
    let mut file = recording();
    file.frame(1, 5, 6, 1).stack(1, 0, "a");
    (0..size).for_each(|_| _ = file.frame_ref(1));
    file.time(1);
    for _ in 0..size {
        file.stack(1, 0, "a").id(13).time(1);
    }
    file.0
}

/// A sample in each thread.
fn many_threads(threads: usize) -> Vec<u8> {
    let mut file = recording();
    file.frame(1, 5, 6, 1);
    for thread in 0..threads {
        file.stack(1, 0, &format!("0:thread-{thread}")).frame_ref(1).time(1);
    }
    file.0
}

fn deep_line(frames: usize) -> String {
    format!("# austin: 3.5.0\n# mode: wall\n\nP1;T0:1{} 1\n", ";a.py:f:1".repeat(frames))
}

/// A sum that no small number of rows of 32 bits can hold.
fn huge_sum() -> Vec<u8> {
    let mut file = Mojo::new(3);
    file.metadata("mode", "memory").string(5, "a.py").string(6, "f").frame(1, 5, 6, 1);
    file.stack(1, 0, "a").frame_ref(1).memory(1 << 62);
    file.0
}

/// Objects that are said to be larger than all of the file.
fn huge_objects() -> Vec<u8> {
    let mut file = Snapshot::empty().class("Root", "", &[]).class("Huge", "", &[]);
    file = file.object(1, 0, [0], &(2..22).collect::<Vec<_>>());
    for _ in 0..20 {
        file = file.object(2, 1 << 63, [0], &[]);
    }
    file.bytes()
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Columns of zeros: a few bytes for each 128 KiB.
fn zeros(rows: usize) -> Vec<u8> {
    let mut file = Writer::new();
    file.meta("snapmeta", "{ \"snap_time\": 1, \"gc_seq_num\": 1, \"total_heap_size\": 1 }");
    for (name, width) in [
        ("colkind", 2),
        ("colsize", 2),
        ("coltofi", 4),
        ("colrfcnt", 4),
        ("colrfstr", 8),
        ("colusize", 8),
    ] {
        file.zeros(name, width, rows);
    }
    for name in ["refdescr", "reftrget"] {
        file.column(name, 8, []);
    }
    file.end_group();
    file.close()
}
