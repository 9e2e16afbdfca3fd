//! The stacks of goroutines with the executable, against the program's own traceback, and what
//! they hold.

use dumptool::analysis::DominatorTree;
use dumptool::analysis::threads::frames;
use dumptool::input::load::{Executable, LoadOptions, Loaded, RootScan};
use dumptool::input::{self, Format};
use dumptool::model::heap::{Heap, StackFrame, Thread};
use dumptool::source::Source;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/go-types").join(name)
}

fn load<'a>(dump: &'a Source, exe: Option<&Source>, roots: RootScan) -> Loaded<'a> {
    let options = LoadOptions::default().roots(roots);
    let options = match exe {
        Some(exe) => options.executable(Some(Executable { bytes: exe.bytes(), guesses: true })),
        None => options,
    };
    input::load(Format::Go, dump.bytes(), options).unwrap()
}

/// The calls of a traceback by goroutine: function and place, and the `go` statement.
type Traces = BTreeMap<u64, Vec<String>>;

/// The traceback that the program printed, without arguments, offsets and addresses.
fn printed(text: &str) -> Traces {
    let goroutine = |block: &str| {
        let mut lines = block.lines();
        let head = lines.next().unwrap().strip_prefix("goroutine ").unwrap();
        let number = head.split(' ').next().unwrap().parse().unwrap();
        let lines: Vec<&str> = lines.collect();
        let call = |pair: &[&str]| {
            let function = match pair[0].strip_prefix("panic(") {
                Some(_) => "runtime.gopanic",
                None => pair[0]
                    .rfind('(')
                    .filter(|_| pair[0].ends_with(')'))
                    .map_or(pair[0], |end| &pair[0][..end]),
            };
            format!("{function} {}", pair[1].trim().split(' ').next().unwrap())
        };
        (number, lines.chunks(2).map(call).collect())
    };
    text.trim().split("\n\n").map(goroutine).collect()
}

/// The same from a dump: the runtime's own functions are not printed, except a panic.
fn dumped(heap: &Heap<'_>) -> Traces {
    let call = |frame: &StackFrame| {
        let [function, file] = [frame.function, frame.file].map(|name| heap.names().text(name));
        format!("{function} {file}:{}", frame.line)
    };
    let is_printed =
        |call: &String| !call.starts_with("runtime.") || call.starts_with("runtime.gopanic");
    let trace = |thread: &Thread| {
        let calls = frames(heap, thread).iter().map(call).filter(is_printed);
        let creator = thread.created_by.map(|it| format!("created by {}", call(&it.call)));
        (thread.id, calls.chain(creator).collect())
    };
    heap.threads().iter().map(trace).collect()
}

#[test]
fn stacks_of_goroutines_equal_the_traceback_of_the_program() {
    let truth = std::fs::read_to_string(fixture("stacks_go119.goroutines.txt")).unwrap();
    let dump = Source::open(&fixture("stacks_go119.heapdump.zst")).unwrap();
    let exe = Source::open(&fixture("stacks_go119.exe.zst")).unwrap();
    let loaded = load(&dump, Some(&exe), RootScan::Default);
    let (mut printed, dumped) = (printed(&truth), dumped(&loaded.heap));
    // The first goroutine printed the traceback, and wrote the dump later.
    printed.remove(&1);
    assert_eq!(printed.len(), 13);
    for (number, calls) in printed {
        assert_eq!(dumped[&number], calls, "goroutine {number}");
    }
    assert!(dumped[&1].last().unwrap().starts_with("main.main ./stacks.go:"));
}

/// Live objects of the size classes of the program's types: `Held`, which are in use, and `Stale`,
/// which are not.
fn live(heap: &Heap<'_>) -> [usize; 2] {
    let tree = DominatorTree::new(heap);
    [1152, 1408].map(|size| {
        heap.objects().filter(|it| tree.is_live(*it) && heap.shallow_bytes(*it) == size).count()
    })
}

#[test]
fn goroutines_hold_what_the_collector_would_keep_for_them() {
    let dump = Source::open(&fixture("stacks_go119.heapdump.zst")).unwrap();
    let exe = Source::open(&fixture("stacks_go119.exe.zst")).unwrap();
    for roots in [RootScan::Default, RootScan::Precise] {
        assert_eq!(live(&load(&dump, Some(&exe), roots).heap), [11, 0], "{roots:?}");
    }
    // Without the executable, frames are all or nothing.
    let [held, stale] = live(&load(&dump, None, RootScan::Default).heap);
    assert!(held == 11 && stale > 0, "{held} {stale}");
    let [held, _] = live(&load(&dump, None, RootScan::Precise).heap);
    assert!(held < 11, "{held}");
}
