//! Profiles whose size varies: pprof, folded stacks, V8, speedscope, perf script.

use crate::support::dart::uleb;
use crate::support::jfr::{self, Chunk, class};

/// A field of a protobuf message: a number, or bytes.
fn number(field: u64, value: u64) -> Vec<u8> {
    [uleb(field << 3), uleb(value)].concat()
}

fn bytes(field: u64, bytes: &[u8]) -> Vec<u8> {
    [&uleb(field << 3 | 2), &uleb(bytes.len() as u64), bytes].concat()
}

/// A profile of samples, with a function `f` at location 1.
fn pprof() -> Vec<u8> {
    let line = [number(1, 1), number(2, 7)].concat();
    [
        bytes(1, &[number(1, 1), number(2, 2)].concat()),
        bytes(4, &[number(1, 1), bytes(4, &line)].concat()),
        bytes(5, &[number(1, 1), number(2, 3)].concat()),
        bytes(6, b""),
        bytes(6, b"samples"),
        bytes(6, b"count"),
        bytes(6, b"f"),
        bytes(6, b"key"),
    ]
    .concat()
}

/// One sample.
pub(super) fn deep_sample(size: usize) -> Vec<u8> {
    [pprof(), bytes(2, &[bytes(1, &vec![1; size]), number(2, 1)].concat())].concat()
}

/// Samples with a label each.
pub(super) fn many_labels(size: usize) -> Vec<u8> {
    let mut file = pprof();
    for value in 0..size as u64 {
        let label = [number(1, 4), number(3, value)].concat();
        file.extend(bytes(2, &[number(1, 1), number(2, 1), bytes(3, &label)].concat()));
    }
    file
}

/// A location of many inlined functions, and samples that are there several times.
pub(super) fn inlined(size: usize) -> Vec<u8> {
    let line = |line: usize| bytes(4, &[number(1, 1), number(2, line as u64)].concat());
    let lines: Vec<u8> = (0..size).flat_map(line).collect();
    let mut file = [pprof(), bytes(4, &[number(1, 2), lines].concat())].concat();
    for depth in 0..8 {
        file.extend(bytes(2, &[bytes(1, &vec![2; depth + 1]), number(2, 1)].concat()));
    }
    file
}

/// As many value types of the same name, and a sample with a value for each.
pub(super) fn value_types(size: usize) -> Vec<u8> {
    let value_type = bytes(1, &[number(1, 1), number(2, 2)].concat());
    let sample = bytes(2, &[bytes(1, &[1]), bytes(2, &vec![5; size])].concat());
    [pprof(), value_type.repeat(size), sample].concat()
}

/// Samples of two bytes.
pub(super) fn empty_samples(size: usize) -> Vec<u8> {
    [pprof(), [0x12, 0].repeat(size)].concat()
}

/// Samples of two and of four bytes in turn.
pub(super) fn small_samples(size: usize) -> Vec<u8> {
    [pprof(), [0x12, 0, 0x12, 2, 0x10, 0].repeat(size / 2)].concat()
}

/// Functions of two bytes.
pub(super) fn empty_functions(size: usize) -> Vec<u8> {
    [pprof(), [0x2a, 0].repeat(size / 2)].concat()
}

pub(super) fn deep_folded(size: usize) -> Vec<u8> {
    format!("a{} 1\n", ";f".repeat(size)).into_bytes()
}

/// Stacks of 20 frames, of which the outer ones are alike.
pub(super) fn many_lines(size: usize) -> Vec<u8> {
    let line = |line| format!("{}leaf{line} {line}\n", "frame;".repeat(19));
    (0..size).map(line).collect::<String>().into_bytes()
}

fn frame(name: &str) -> String {
    format!(r#""callFrame":{{"functionName":"{name}","url":"a.js","lineNumber":1}}"#)
}

/// Nodes below each other, the deepest of which has all samples.
pub(super) fn deep_nodes(size: usize) -> Vec<u8> {
    let node = |id| format!(r#"{{"id":{id},{},"children":[{}]}}"#, frame("f"), id + 1);
    let nodes: Vec<String> = (1..size).map(node).collect();
    format!(
        r#"{{"nodes":[{},{{"id":{size},{}}}],"startTime":1,"endTime":100,"samples":[{size}],"timeDeltas":[5]}}"#,
        nodes.join(","),
        frame("f")
    )
    .into_bytes()
}

/// Samples of two nodes in turn.
pub(super) fn many_samples(size: usize) -> Vec<u8> {
    let samples: Vec<&str> = (0..size).map(|sample| ["2", "3"][sample % 2]).collect();
    let nodes = format!(
        r#"{{"id":1,{},"children":[2,3]}},{{"id":2,{}}},{{"id":3,{}}}"#,
        frame("(root)"),
        frame("f"),
        frame("g")
    );
    format!(
        r#"{{"nodes":[{nodes}],"startTime":1,"endTime":{size},"samples":[{}],"timeDeltas":[{}]}}"#,
        samples.join(","),
        vec!["1"; size].join(",")
    )
    .into_bytes()
}

/// Nodes of two bytes, and a comma.
pub(super) fn empty_nodes(size: usize) -> Vec<u8> {
    format!(r#"{{"nodes":[{{"id":1,{}}}{}]}}"#, frame("f"), ",{}".repeat(size / 3)).into_bytes()
}

/// Functions side by side.
pub(super) fn many_sizes(size: usize) -> Vec<u8> {
    let node =
        |id| format!(r#"{{"id":{id},{},"selfSize":16,"children":[]}}"#, frame(&format!("f{id}")));
    let nodes: Vec<String> = (2..size).map(node).collect();
    format!(
        r#"{{"head":{{"id":1,{},"selfSize":0,"children":[{}]}},"samples":[]}}"#,
        frame("(root)"),
        nodes.join(",")
    )
    .into_bytes()
}

/// Functions below each other, all with memory of their own: as many stacks as they are deep.
pub(super) fn deep_sizes(size: usize) -> Vec<u8> {
    let node = |id| format!(r#"{{"id":{id},{},"selfSize":16,"children":["#, frame("f"));
    let nodes: String = (1..=size).map(node).collect();
    format!(r#"{{"head":{nodes}{}}}"#, "]}".repeat(size)).into_bytes()
}

/// speedscope's JSON with three frames and these profiles.
fn speedscope(profiles: &[String]) -> Vec<u8> {
    format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{{"name":"a"}},{{"name":"b"}},{{"name":"c"}}]}},"profiles":[{}]}}"#,
        profiles.join(",")
    )
    .into_bytes()
}

/// One sample.
pub(super) fn deep_sample_of_speedscope(size: usize) -> Vec<u8> {
    let sample = vec!["1"; size].join(",");
    speedscope(&[format!(
        r#"{{"type":"sampled","name":"t","unit":"none","startValue":0,"endValue":1,"samples":[[{sample}]],"weights":[1]}}"#
    )])
}

/// Frames that open one inside of the other, and close again: as many stacks as they are deep.
pub(super) fn nested_events(size: usize) -> Vec<u8> {
    let event = |kind, at: usize| format!(r#"{{"type":"{kind}","frame":1,"at":{at}}}"#);
    let opens = (0..size).map(|at| event("O", at));
    let closes = (size..2 * size).map(|at| event("C", at));
    let events: Vec<String> = opens.chain(closes).collect();
    speedscope(&[format!(
        r#"{{"type":"evented","name":"t","unit":"milliseconds","startValue":0,"endValue":{},"events":[{}]}}"#,
        2 * size,
        events.join(",")
    )])
}

/// Threads with a sample each, of as many units as speedscope knows.
pub(super) fn many_profiles(size: usize) -> Vec<u8> {
    const UNITS: [&str; 6] =
        ["none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"];
    let profile = |number: usize| {
        format!(
            r#"{{"type":"sampled","name":"t{number}","unit":"{}","startValue":0,"endValue":1,"samples":[[0,1,2]],"weights":[1]}}"#,
            UNITS[number % UNITS.len()]
        )
    };
    speedscope(&(0..size).map(profile).collect::<Vec<_>>())
}

/// One sample.
pub(super) fn deep_sample_of_perf(size: usize) -> Vec<u8> {
    format!("a 1/1 [000] 1.5: 1 cycles: \n{}", "\tf0 f (a)\n".repeat(size)).into_bytes()
}

/// Samples of as many events, and of as many commands.
pub(super) fn many_events(size: usize) -> Vec<u8> {
    let sample =
        |number| format!("c{number} 1/{number} [000] 1.5: 9 e{number}: \n\tf0 f{number} (a)\n\n");
    (0..size).map(sample).collect::<String>().into_bytes()
}

/// Recordings of one chunk, one after the other.
pub(super) fn many_chunks_of_java(size: usize) -> Vec<u8> {
    Chunk::new().bytes().repeat(size)
}

/// A chain of objects, each of which was sampled.
pub(super) fn old_objects_of_java(size: usize) -> Vec<u8> {
    jfr::old_objects(size as u64, 0, size as u64).bytes()
}

/// One method many times, in as many pools as there are stacks.
pub(super) fn many_pools_of_java(size: usize) -> Vec<u8> {
    let frames = |id: u64| (id, [vec![0], jfr::numbers(&[50]), vec![1; 100]].concat());
    let sample = [("stackTrace", class::STACK, true)];
    let mut chunk = Chunk::new()
        .class(class::FREE, "jdk.ExecutionSample", &sample)
        .pool(class::METHOD, vec![(1, [jfr::numbers(&[0]), jfr::text("main")].concat())]);
    for id in 1..=size as u64 {
        chunk = chunk.pool(class::STACK, vec![frames(id)]);
        chunk = chunk.event(class::FREE, &jfr::numbers(&[id]));
    }
    chunk.bytes()
}

/// A class that contains itself.
pub(super) fn circular_classes_of_java() -> Vec<u8> {
    let id = class::FREE;
    let chunk = Chunk::new().class(id, "shop.Loop", &[("self", id, false)]);
    chunk.event(id, &jfr::numbers(&[1; 50])).bytes()
}

/// Lengths and counts that are as large as numbers can be.
pub(super) fn huge_numbers_of_java() -> Vec<u8> {
    let id = class::FREE;
    let fields = [("stackTrace", class::STACK, true), ("name", class::STRING, false)];
    let stack = [vec![0], jfr::numbers(&[u64::MAX])].concat();
    let text = [vec![4], jfr::numbers(&[u64::MAX])].concat();
    Chunk::new()
        .class(id, "shop.Event", &fields)
        .pool(class::STACK, vec![(1, stack)])
        .event(id, &[jfr::numbers(&[1]), text].concat())
        .bytes()
}

/// A profile of the Firefox Profiler with a stack so deep, which all of as many samples have.
pub fn deep_stack_of_firefox(depth: usize) -> Vec<u8> {
    let list =
        |number: &dyn Fn(usize) -> String| (0..depth).map(number).collect::<Vec<_>>().join(",");
    let prefix = list(&|row| if row == 0 { "null".to_owned() } else { (row - 1).to_string() });
    let (stack, zero) = (list(&|_| (depth - 1).to_string()), list(&|_| "0".to_owned()));
    format!(
        r#"{{"meta":{{"preprocessedProfileVersion":55}},"threads":[{{"samples":{{"stack":[{stack}]}},"stackTable":{{"prefix":[{prefix}],"frame":[{zero}]}},"frameTable":{{"func":[0]}},"funcTable":{{"name":[0]}},"stringArray":["f"]}}]}}"#
    )
    .into_bytes()
}

/// A profile of the Firefox Profiler with so many threads, which share a table of as many stacks.
pub fn many_threads_of_firefox(threads: usize) -> Vec<u8> {
    let numbers = |count: usize| (0..count).map(|row| row.to_string()).collect::<Vec<_>>();
    let threads = vec![r#"{"samples":{"stack":[1]}}"#; threads].join(",");
    let (prefix, frame) = (numbers(20_000).join(","), ["0"; 20_001].join(","));
    format!(
        r#"{{"meta":{{"preprocessedProfileVersion":58}},"shared":{{"stackTable":{{"prefix":[null,{prefix}],"frame":[{frame}]}},"frameTable":{{"func":[0]}},"funcTable":{{"name":[0]}},"stringArray":["f"]}},"threads":[{threads}]}}"#
    )
    .into_bytes()
}

/// A raw profile of the Firefox Profiler with so many frames, all of one function with a long name.
pub fn long_name_of_firefox(frames: usize) -> Vec<u8> {
    let list =
        |number: &dyn Fn(usize) -> String| (0..frames).map(number).collect::<Vec<_>>().join(",");
    let (frame, stack) = (list(&|row| format!("[0,{row}]")), list(&|row| format!("[null,{row}]")));
    let name = "f".repeat(20 * frames);
    format!(
        r#"{{"meta":{{"version":30,"interval":1}},"threads":[{{"samples":{{"schema":{{"stack":0}},"data":[[0]]}},"stackTable":{{"schema":{{"prefix":0,"frame":1}},"data":[{stack}]}},"frameTable":{{"schema":{{"location":0,"line":1}},"data":[{frame}]}},"stringTable":["{name}"]}}]}}"#
    )
    .into_bytes()
}

/// A trace of Chrome with so many spans, each in the one before.
pub fn nested_spans_of_chrome(spans: usize) -> Vec<u8> {
    let span = |row: usize| {
        let length = 2 * (spans - row);
        format!(r#"{{"name":"f{}","ph":"X","ts":{row},"dur":{length},"pid":1,"tid":1}}"#, row % 7)
    };
    format!("[{}]", (0..spans).map(span).collect::<Vec<_>>().join(",")).into_bytes()
}
