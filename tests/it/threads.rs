//! Threads: their stacks and states, and what only they keep alive.

use crate::support::hprof::File;
use crate::support::mvmheap::{Writer, world};
use crate::support::{fixture, read};
use dumptool::analysis::glob::TypeFilter;
use dumptool::analysis::histogram::Scope;
use dumptool::analysis::{Graph, Histogram, Threads};
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Heap, Ids, Label, ObjectId, Root, RootKind, StackFrame, TypeKind};
use dumptool::model::names::Names;
use proptest::prelude::*;
use serde_json::Value;
use std::process::Command;

/// Groups what was allocated by its site. Counts of the file need no roots.
fn by_site(heap: &Heap<'_>) -> Histogram {
    Histogram::by_site(heap, None, Scope::Live, &TypeFilter::default())
}

/// Objects with references, and roots: an object and the thread that holds it, if one does. Threads
/// with equal numbers have equal stacks.
#[derive(Clone, Debug)]
struct Sketch {
    sizes: Vec<u64>,
    references: Vec<(u32, u32)>,
    stacks: Vec<u8>,
    roots: Vec<(u32, Option<u32>)>,
}

impl Sketch {
    fn heap(&self) -> Heap<'static> {
        let mut builder = HeapBuilder::with_capacity(0, 0);
        let node = builder.add_type("Node", "", TypeKind::Instance);
        for (object, size) in (0..).zip(&self.sizes) {
            builder.add_object(node, *size);
            let of_object = self.references.iter().filter(|(from, _)| *from == object);
            of_object.for_each(|(_, to)| builder.add_reference(ObjectId(*to), Label::NONE, false));
        }
        for (number, stack) in (1..).zip(&self.stacks) {
            let function = builder.names().intern(&format!("main.f{stack}"));
            builder.add_thread(
                "",
                number,
                None,
                &[StackFrame { function, file: Names::EMPTY, line: 0 }],
            );
        }
        let group = builder.names().intern("test");
        for &(object, thread) in &self.roots {
            let kind = if thread.is_some() { RootKind::Frame } else { RootKind::Global };
            // The row of the only frame of a thread is that of the thread.
            builder.add_root(Root {
                frame: thread,
                thread,
                ..Root::new(ObjectId(object), kind, group)
            });
        }
        let heap = builder.finish(Ids::Rows(0), None);
        assert_eq!(heap.check(), Ok(()));
        heap
    }

    /// Bytes that roots reach, those of some threads left out.
    fn reached(&self, is_left_out: impl Fn(u32) -> bool) -> u64 {
        let mut open: Vec<u32> = self
            .roots
            .iter()
            .filter(|(_, of)| !of.is_some_and(&is_left_out))
            .map(|root| root.0)
            .collect();
        let mut seen = vec![false; self.sizes.len()];
        while let Some(object) = open.pop() {
            if !std::mem::replace(&mut seen[object as usize], true) {
                open.extend(
                    self.references.iter().filter(|(from, _)| *from == object).map(|(_, to)| *to),
                );
            }
        }
        seen.iter().zip(&self.sizes).filter(|(seen, _)| **seen).map(|(_, size)| size).sum()
    }
}

fn sketches() -> impl Strategy<Value = Sketch> {
    (1..12usize, 1..6usize).prop_flat_map(|(objects, threads)| {
        let object = 0..objects as u32;
        (
            prop::collection::vec(1..100u64, objects),
            prop::collection::vec((object.clone(), object.clone()), 0..20),
            prop::collection::vec(0..3u8, threads),
            prop::collection::vec((object, prop::option::weighted(0.8, 0..threads as u32)), 1..8),
        )
            .prop_map(|(sizes, references, stacks, roots)| Sketch {
                sizes,
                references,
                stacks,
                roots,
            })
    })
}

proptest! {
    #[test]
    fn threads_retain_what_no_other_root_reaches(sketch in sketches(), each in any::<bool>()) {
        let heap = sketch.heap();
        let threads = Threads::of(&heap, &Graph::of(&heap), each);
        let all = sketch.reached(|_| false);
        for (thread, retained) in (0..).zip(&threads.retained) {
            prop_assert_eq!(retained.bytes(), all - sketch.reached(|of| of == thread), "thread {}", thread);
        }
        for group in &threads.groups {
            prop_assert_eq!(group.retained.bytes(), all - sketch.reached(|of| group.threads.contains(&of)), "{:?}", group);
            let stack = |thread: &u32| sketch.stacks[*thread as usize];
            prop_assert!(group.threads.iter().all(|thread| stack(thread) == stack(&group.threads[0])));
        }
        let mut members: Vec<u32> = threads.groups.iter().flat_map(|group| group.threads.clone()).collect();
        members.sort_unstable();
        prop_assert_eq!(members, (0..sketch.stacks.len() as u32).collect::<Vec<_>>());
        let mut different = sketch.stacks.clone();
        different.sort_unstable();
        different.dedup();
        prop_assert_eq!(threads.groups.len(), if each { sketch.stacks.len() } else { different.len() });
    }
}

fn run(args: &[&str], file: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(["threads", "--format", "json", "-n", "0"])
        .args(args)
        .arg(fixture(file))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The program of this fixture parks, blocks and waits in threads that are named for it.
#[test]
fn java_threads_have_the_states_of_jstack() {
    let document = run(&["--each"], "hprof/layout_java25_compact.hprof.zst");
    let state = |name: &str| {
        let thread = document["groups"]
            .as_array()
            .unwrap()
            .iter()
            .find(|group| group["name"] == name)
            .unwrap();
        thread["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state("layouts-parker"), "WAITING (parking)");
    assert_eq!(state("layouts-blocked"), "BLOCKED (on object monitor)");
    assert_eq!(state("layouts-waiter"), "WAITING (on object monitor)");
    assert_eq!(state("main"), "TIMED_WAITING (sleeping)");
}

#[test]
fn goroutines_with_equal_stacks_are_one_group() {
    let document = run(&[], "go/tiny_go127.heapdump.zst");
    let groups = document["groups"].as_array().unwrap();
    let of = |function: &str| {
        let has = |group: &&Value| {
            group["frames"].as_array().unwrap().iter().any(|frame| frame["function"] == function)
        };
        groups.iter().find(has).unwrap_or_else(|| panic!("{function}"))
    };
    let receivers = of("main.waitRecv");
    assert_eq!(
        (&receivers["count"], &receivers["state"]),
        (&Value::from(3), &Value::from("chan receive"))
    );
    assert_eq!(receivers["threads"].as_array().unwrap().len(), 3);
    assert_eq!(
        receivers["frames"][0]["locals"],
        Value::Null,
        "threads of a group have different objects"
    );
    let total: u64 = groups.iter().map(|group| group["count"].as_u64().unwrap()).sum();
    assert_eq!(document["threads"], total);
    let each = run(&["--each"], "go/tiny_go127.heapdump.zst");
    assert_eq!(each["groups"].as_array().unwrap().len() as u64, total);
    let locals = |group: &Value| {
        let frames = group["frames"].as_array().unwrap();
        frames.iter().map(|frame| frame["locals"].as_array().unwrap().len()).sum::<usize>()
    };
    assert!(each["groups"].as_array().unwrap().iter().map(locals).sum::<usize>() > 0);
}

#[test]
fn the_call_stack_of_a_moarvm_thread_names_its_functions() {
    let bytes = Writer::new().snapshot(&world()).close();
    let heap = input::load(Format::Mvmheap, &bytes, LoadOptions::default()).unwrap().heap;
    let of_frames: Vec<&Root> = heap.roots().iter().filter(|root| root.frame.is_some()).collect();
    assert_eq!(of_frames.len(), 1);
    for root in of_frames {
        let frame = heap.frames()[root.frame.unwrap() as usize];
        let text = |name| heap.names().text(name);
        let expected = format!("{} ({}:{})", text(frame.function), text(frame.file), frame.line);
        assert_eq!(heap.type_name(root.object), expected);
        assert!(
            heap.threads()[root.thread.unwrap() as usize].frames.contains(&root.frame.unwrap())
        );
    }
}

#[test]
fn damaged_dumps_list_the_threads_that_were_read() {
    let bytes = read(&fixture("go/tiny_go127.heapdump.zst"));
    let mut counts = Vec::new();
    for length in [bytes.len(), bytes.len() - 2000, bytes.len() / 2] {
        let loaded = input::load(Format::Go, &bytes[..length], LoadOptions::default()).unwrap();
        let threads = Threads::of(&loaded.heap, &Graph::of(&loaded.heap), false);
        counts.push(threads.retained.len());
    }
    assert!(counts.is_sorted_by(|a, b| a >= b) && counts[0] > 0, "{counts:?}");
}

/// The test program allocates most in its own functions, which the runtime's profile counts.
#[test]
fn allocation_sites_are_those_of_the_profile_in_the_dump() {
    let bytes = read(&fixture("go/tiny_go127.heapdump.zst"));
    let heap = input::load(Format::Go, &bytes, LoadOptions::default()).unwrap().heap;
    let sites = heap.sites();
    assert!(!sites.sites.is_empty());
    let live: u64 = sites.sites.iter().map(|site| site.live.unwrap().count).sum();
    let histogram = by_site(&heap);
    assert_eq!(histogram.total.count, live);
    assert!(
        sites
            .of
            .iter()
            .all(|(object, site)| object.index() < heap.len()
                && (*site as usize) < sites.sites.len())
    );
    assert!(
        histogram
            .rows
            .iter()
            .any(|row| row.name.starts_with("main.") && row.namespace.contains(".go:")),
        "{histogram:?}"
    );
}

#[test]
fn class_loaders_divide_the_live_objects() {
    let bytes = read(&fixture("hprof/small_java17.hprof.zst"));
    let heap = input::load(Format::Hprof, &bytes, LoadOptions::default()).unwrap().heap;
    let tree = dumptool::analysis::DominatorTree::new(&heap);
    let by = |by| {
        dumptool::analysis::Histogram::of(&heap, Some(&tree), by, dumptool::analysis::Scope::Live)
    };
    let loaders = by(dumptool::analysis::GroupBy::Owner);
    assert_eq!(loaders.total, by(dumptool::analysis::GroupBy::Type).total);
    let app = loaders.rows.iter().find(|row| row.name.contains("AppClassLoader")).unwrap();
    let small = by(dumptool::analysis::GroupBy::Type)
        .rows
        .into_iter()
        .filter(|row| row.name.starts_with("Small"));
    // Its instances, and their class objects.
    assert!(app.sum.count > small.map(|row| row.sum.count).sum());
}

/// What the profiler of Java 8 and earlier writes beside the heap.
#[test]
fn allocation_sites_of_java_are_those_of_its_profiler() {
    let mut file = crate::support::hprof::File::new("1.0.2", 4);
    let class = file.load(0x10, "app/Cache");
    let (method, signature, source) =
        (file.string("put"), file.string("()V"), file.string("Cache.java"));
    let ids = [7u64, method, signature, source].map(|id| file.id(id)).concat();
    file.record(0x04, &[&ids, &class.to_be_bytes(), &42u32.to_be_bytes()]);
    let frame = file.id(7);
    file.record(0x05, &[&[9u32, 1, 1].map(u32::to_be_bytes).concat(), &frame]);
    let sites = |flags: u16, sites: &[[u32; 6]]| {
        let mut body =
            [&flags.to_be_bytes()[..], &[0; 28], &(sites.len() as u32).to_be_bytes()].concat();
        for site in sites {
            body.push(0);
            site.iter().for_each(|number| body.extend(number.to_be_bytes()));
        }
        body
    };
    // A complete record replaces the one before it, an incremental one adds to it.
    file.record(0x06, &[&sites(0, &[[class, 9, 5000, 50, 9000, 90]])]);
    file.record(0x06, &[&sites(0, &[[class, 9, 100, 2, 300, 6], [class, 9, 50, 1, 50, 1]])]);
    file.record(0x06, &[&sites(1, &[[class, 9, 25, 1, 25, 1], [class, 8, 7, 7, 7, 7]])]);
    let object = file.instance(0x20, 0x10, &[]);
    let class = file.class(0x10, 0, 0, &[], &[]);
    let root = file.root(0x05, 0x20, &[]);
    file.segment(&[class, object, root]);
    let bytes = file.end();
    let heap = input::load(Format::Hprof, &bytes, LoadOptions::default()).unwrap().heap;
    let histogram = by_site(&heap);
    let [row] = &histogram.rows[..] else { panic!("{histogram:?}") };
    assert_eq!((row.name.as_str(), row.namespace.as_str()), ("app.Cache.put", "Cache.java:42"));
    assert_eq!((row.sum.count, row.sum.shallow_bytes), (4, 175));
}

const MAIN: u64 = 0x400;

/// A thread that ran out of memory. A static field refers to its object, which has an array, and a
/// frame has arrays of 20, 40 … 240 bytes.
fn out_of_memory() -> Vec<u8> {
    let [object, thread, pool, bytes] = [0x100, 0x110, 0x120, 0x130];
    let mut file = File::new("1.0.2", 8);
    file.loads(&[
        (object, "java/lang/Object"),
        (thread, "java/lang/Thread"),
        (pool, "app/Pool"),
        (bytes, "[B"),
    ]);
    let serial = file.load(0x140, "java/lang/OutOfMemoryError");
    let [locals, worker, init, run] =
        ["threadLocals", "worker", "<init>", "run"].map(|name| file.string(name));
    for (frame, method, class) in [(1u64, init, serial), (2, run, serial - 2)] {
        let ids = [frame, method, 0, 0].map(u64::to_be_bytes).concat();
        file.record(0x04, &[&ids, &class.to_be_bytes(), &7u32.to_be_bytes()]);
    }
    let head = [1u32, 1, 2].map(u32::to_be_bytes).concat();
    file.record(0x05, &[&head, &[1u64, 2].map(u64::to_be_bytes).concat()]);
    let mut records = vec![
        file.class(object, 0, 16, &[], &[]),
        file.class(thread, object, 24, &[], &[(locals, 2)]),
        file.class(pool, object, 16, &[(worker, 2, file.id(MAIN))], &[]),
        file.class(bytes, object, 0, &[], &[]),
        file.class(0x140, object, 16, &[], &[]),
        file.instance(MAIN, thread, &[&file.id(0x500)]),
        file.array(0x500, 8, 1000, &[0; 1000]),
        file.root(0x05, pool, &[]),
        file.root(0x08, MAIN, &[1u32, 1].map(u32::to_be_bytes).concat()),
    ];
    for local in 1..=12u64 {
        let id = 0x1000 + 0x100 * local;
        records.push(file.array(id, 8, 20 * local as u32, &vec![0; 20 * local as usize]));
        records.push(file.root(0x03, id, &[1u32, 1].map(u32::to_be_bytes).concat()));
    }
    file.segment(&records).end()
}

fn threads_of(file: &[u8], args: &[&str]) -> String {
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    std::fs::write(&path, file).unwrap();
    let program = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .arg("threads")
        .args(args)
        .arg(&path)
        .output()
        .unwrap();
    assert!(program.status.success(), "{}", String::from_utf8_lossy(&program.stderr));
    String::from_utf8(program.stdout).unwrap()
}

#[test]
fn a_thread_that_an_executor_reaches_too_has_what_its_object_retains() {
    let file = out_of_memory();
    let document: Value = serde_json::from_str(&threads_of(&file, &["--format", "json"])).unwrap();
    // Arrays have a header of 20 bytes and are rounded up to 8.
    let locals: u64 = (1..=12).map(|local| (20 + 20 * local as u64).next_multiple_of(8)).sum();
    let of_object = 24 + 1024;
    for of in [&document["groups"][0], &document["groups"][0]["threads"][0]] {
        assert_eq!(of["retained_bytes"], locals);
        assert_eq!(of["thread_retained_bytes"], locals + of_object);
    }
    let table = threads_of(&file, &[]);
    assert!(table.contains("RETAINED") && table.contains("ONLY HERE"), "{table}");
}

#[test]
fn the_largest_local_variables_come_first_and_a_thread_without_memory_is_marked() {
    let text = threads_of(&out_of_memory(), &["--each"]);
    assert!(text.contains("RUNNABLE (OutOfMemoryError)"), "{text}");
    let locals: Vec<&str> = text.lines().filter(|line| line.contains("byte[]")).collect();
    assert!(locals[0].contains("0x1c00") && locals[7].contains("0x1500"), "{text}");
    assert!(text.contains("… 4 more"), "{text}");
}
