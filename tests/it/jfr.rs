//! Recordings of Java's Flight Recorder, against the JDK's own reading of them.

use crate::support::jfr::{Chunk, async_profiler, class, numbers, old_objects as old_chunk, text};
use crate::support::{broken, corpus_folder, damage, files, fixture, info, json, read, records};
use dumptool::analysis::profile::Selected;
use dumptool::input::jfr::{class_histograms, old_objects};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format, ReadOptions};
use dumptool::model::profile::{LabelValue, Profile};
use dumptool::model::stacks::Selection;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Events and weights by a name.
type Sums = BTreeMap<String, (u64, i64)>;

/// What the truth says of the events of one type.
#[derive(Debug, Default, PartialEq)]
struct OfType {
    events: u64,
    weight: i64,
    without_stack: u64,
    leaf: Sums,
    total: Sums,
    threads: Sums,
    states: Sums,
    classes: Sums,
}

fn add(sums: &mut Sums, name: &str, events: u64, weight: i64) {
    let sum = sums.entry(name.to_owned()).or_default();
    (sum.0, sum.1) = (sum.0 + events, sum.1 + weight);
}

/// The sums of a profile by the type of its events.
fn sums(profile: &Profile) -> BTreeMap<String, OfType> {
    let mut all = BTreeMap::<String, OfType>::new();
    let metrics = profile.metrics_in_order();
    for row in profile.aggregate.iter() {
        let thread = profile.thread(row.thread);
        let label = |key: &str| {
            let mut labels = profile.labels_of(thread).iter();
            labels.find(|label| profile.names.text(label.key) == key).map(|label| {
                match label.value {
                    LabelValue::Text(text) => profile.names.text(text),
                    LabelValue::Number(..) => panic!("a number"),
                }
            })
        };
        let of = all.entry(label("event").unwrap().to_owned()).or_default();
        // The first metric of a type is the one that the truth knows: times before bytes.
        let weight = metrics.iter().map(|metric| row.values.get(metric)).find(|value| *value != 0);
        let (events, weight) = (row.values.samples(), weight.unwrap_or(0));
        (of.events, of.weight) = (of.events + events, of.weight + weight);
        let name = profile.names.text(thread.name);
        add(&mut of.threads, if name.is_empty() { "null" } else { name }, events, weight);
        if let Some(state) = label("state") {
            add(&mut of.states, state, events, weight);
        }
        add(&mut of.classes, label("class").unwrap_or("null"), events, weight);
        match profile.stacks.leaf(row.stack) {
            Some(frame) => add(&mut of.leaf, profile.function_name(frame), events, weight),
            None => of.without_stack += events,
        }
        let mut seen = BTreeSet::new();
        let mut stack = row.stack;
        while let Some(frame) = profile.stacks.leaf(stack) {
            let name = profile.function_name(frame);
            if name != "(truncated)" && seen.insert(name) {
                add(&mut of.total, name, events, weight);
            }
            stack = profile.stacks.parent(stack);
        }
    }
    all
}

/// Compares the largest sums of the truth with ours.
fn assert_sums(ours: &Sums, truth: &Value, what: &str) {
    for (name, of) in truth.as_object().unwrap() {
        // The JDK's reader gives threads without a name an empty one.
        let name = if name.is_empty() { "<unnamed>" } else { name };
        // It gives classes of arrays as the JVM names them.
        let name = dumptool::java::class_name(name.as_bytes(), false);
        let ours = ours.get(&*name).copied().unwrap_or_default();
        assert_eq!(json!([ours.0, ours.1]), *of, "{what}: {name}");
    }
}

fn compare(path: &Path, truth: &Path) {
    let (bytes, truth, at) = (read(path), json(truth), path.display());
    assert_eq!(dumptool::detect::detect(&bytes).unwrap(), Format::Jfr, "{at}");
    assert_eq!(broken(Format::Jfr, &bytes), [""; 0], "{at}");
    let info = info(Format::Jfr, &bytes);
    assert_eq!(info["profile"]["details"]["events"], truth["counts"], "{at}");
    let loaded = input::load_profile(Format::Jfr, &bytes, ProfileOptions::default()).unwrap();
    assert!(loaded.damage.is_none(), "{at}");
    let ours = sums(&loaded.profile);
    let mut compared = 0;
    for (name, truth) in truth["stacks"].as_object().unwrap() {
        let Some(ours) = ours.get(name) else { continue };
        let at = format!("{at}: {name}");
        assert_eq!(ours.events, truth["events"].as_u64().unwrap(), "{at}");
        assert_eq!(ours.weight, truth["weight"].as_i64().unwrap(), "{at}");
        assert_eq!(ours.without_stack, truth["without_stack"].as_u64().unwrap(), "{at}");
        assert_sums(&ours.leaf, &truth["leaf"], &at);
        assert_sums(&ours.total, &truth["total"], &at);
        assert_sums(&ours.threads, &truth["threads"], &at);
        assert_sums(&ours.states, &truth["states"], &at);
        assert_sums(&ours.classes, &truth["classes"], &at);
        compared += 1;
    }
    assert!(compared >= 8, "{at}: only {compared} types of events were compared");
}

/// The bytes of the fixture.
fn shop() -> Vec<u8> {
    read(&fixture("jfr/shop_java17.jfr.zst"))
}

#[test]
fn a_recording_is_what_the_jdk_reads() {
    compare(&fixture("jfr/shop_java17.jfr.zst"), &fixture("jfr/shop_java17.truth.json"));
}

#[test]
fn chunks_of_several_recordings_in_one_file_add_up() {
    let one = shop();
    let both = [&one[..], &one[..]].concat();
    let (one, both) = (info(Format::Jfr, &one), info(Format::Jfr, &both));
    assert_eq!(both["profile"]["details"]["chunks"], 2);
    let metrics = |info: &Value| info["profile"]["metrics"].as_array().unwrap().clone();
    for (one, both) in metrics(&one).iter().zip(metrics(&both)) {
        assert_eq!(one["total"].as_i64().unwrap() * 2, both["total"].as_i64().unwrap());
    }
    assert_eq!(both["profile"]["frames"], one["profile"]["frames"], "methods are joined by name");
}

#[test]
fn an_unfinished_chunk_gives_the_chunks_before_it() {
    let one = shop();
    let mut cut = [&one[..], &one[..one.len() / 2]].concat();
    let info = info(Format::Jfr, &cut);
    assert_eq!(info["complete"], false);
    assert_eq!(info["damage"]["kind"], "truncated");
    // The metadata of this recording comes early, so that its unfinished half has samples, too.
    let samples = &info["profile"]["details"]["events"]["jdk.ExecutionSample"];
    assert!(samples.as_u64().unwrap() > 180, "{samples}");
    // While a chunk is being written, its header has neither its size nor the place of metadata.
    cut[one.len() + 8..one.len() + 32].fill(0);
    let loaded = input::load_profile(Format::Jfr, &cut, ProfileOptions::default()).unwrap();
    assert!(loaded.damage.is_some());
    assert!(loaded.profile.metadatum("time_nanos").is_some());
}

#[test]
fn a_chunk_that_a_killed_recorder_left_open_is_unfinished() {
    let one = shop();
    let mut open = one.clone();
    // The state: 0 if the chunk is finished, otherwise the number of flushes.
    open[64] = 3;
    let events = |info: &Value| info["records"]["event"].as_u64().unwrap();
    let (whole, left) = (info(Format::Jfr, &one), info(Format::Jfr, &open));
    assert_eq!((&left["complete"], &left["damage"]["kind"]), (&json!(false), &json!("truncated")));
    assert_eq!(events(&left), events(&whole));
    // Events that were written after the last flush are behind the end that the header knows.
    let metadata = usize::try_from(u64::from_be_bytes(one[24..32].try_into().unwrap())).unwrap();
    assert!(metadata < one.len() / 2, "the metadata comes early");
    let flushed = (one.len() as u64 / 2).to_be_bytes();
    open[8..16].copy_from_slice(&flushed);
    assert_eq!(events(&info(Format::Jfr, &open)), events(&whole));
    // Another recording may follow.
    open[8..16].copy_from_slice(&one[8..16]);
    let both = info(Format::Jfr, &[&open[..], &one].concat());
    assert_eq!((events(&both), &both["complete"]), (2 * events(&whole), &json!(false)));
}

#[test]
fn samples_of_a_metric_are_events_of_its_types() {
    let profile =
        input::load_profile(Format::Jfr, &shop(), ProfileOptions::default()).unwrap().profile;
    let cpu = Selected::of(&profile, &Selection::default());
    assert_eq!((cpu.total.samples(), cpu.total.get(&profile.default_metric())), (180, 180));
    let alloc = profile.metric("alloc").unwrap();
    let selection = Selection { metrics: vec![alloc], ..Selection::default() };
    let allocations = Selected::of(&profile, &selection);
    assert!(allocations.total.samples() > 500, "{}", allocations.total.samples());
}

#[test]
fn events_have_their_fields_by_name_and_times_in_utc() {
    let (records, error) = records(Format::Jfr, &shop());
    assert!(error.is_none());
    let of = |wanted: &str| records.iter().find(|record| record["type"] == wanted).unwrap();
    let sample = of("jdk.ExecutionSample");
    assert!(sample["startTime"].as_str().unwrap().ends_with('Z'), "{sample}");
    assert!(sample["stackTrace"][0]["method"].is_string(), "{sample}");
    let order = of("shop.Order");
    assert!(order["weight"].is_f64() && order["customer"].is_string(), "{order}");
}

/// Loads a recording with its events.
fn load(bytes: &[u8]) -> Profile {
    let options = ProfileOptions::default().keep_samples(true);
    input::load_profile(Format::Jfr, bytes, options).unwrap().profile
}

#[test]
fn events_that_are_kept_are_in_the_order_of_time_and_add_up_to_the_sums() {
    let profile = load(&shop());
    assert!(profile.events.is_sorted_by_key(|event| event.start));
    for (number, metric) in profile.metrics_in_order().iter().enumerate() {
        let events = profile.events.iter().filter(|event| usize::from(event.metric) == number);
        let sum: i64 = events.map(|event| event.value).sum();
        assert_eq!(sum, profile.total.get(metric), "{}", metric.name());
    }
    // Samples were taken every 10 ms.
    assert_eq!(profile.interval_us(), Some(10_000));
    let selection = Selection { in_order: true, ..Selection::default() };
    let stacks = dumptool::model::stacks::of_profile(profile.clone(), "shop", &selection);
    assert!(stacks.in_order && stacks.len() == profile.events.len());
}

#[test]
fn without_a_metric_a_selection_gets_one_that_it_has() {
    let profile = load(&shop());
    let usual = |labels: &[(&str, &str)], tag: Option<&str>| {
        let labels = labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let selection = Selection { labels, tag: tag.map(Into::into), ..Selection::default() };
        selection.usual_metric(&profile).name().to_owned()
    };
    assert_eq!(usual(&[], None), "cpu");
    assert_eq!(usual(&[], Some("thread")), "cpu");
    assert_eq!(usual(&[], Some("class")), "alloc");
    assert_eq!(usual(&[("event", "jdk.JavaMonitorEnter")], None), "lock");
    assert_eq!(usual(&[("class", "long[]")], None), "alloc");
}

/// The type of events of a histogram of two classes.
fn histograms() -> Chunk {
    let fields = [
        ("startTime", class::LONG, false),
        ("gcId", class::INT, false),
        ("objectClass", class::CLASS, true),
        ("count", class::LONG, false),
        ("totalSize", class::LONG, false),
    ];
    let classes = vec![(1, text("shop/Cart")), (2, text("[B"))];
    let chunk = Chunk::new().class(class::FREE, "jdk.ObjectCount", &fields);
    chunk.pool(class::CLASS, classes)
}

#[test]
fn object_counts_are_histograms_over_time() {
    let id = class::FREE;
    let chunk = histograms()
        .event(id, &numbers(&[2_000, 7, 1, 4, 96]))
        .event(id, &numbers(&[2_001, 7, 2, 10, 1000]))
        .event(id, &numbers(&[9_000, 8, 1, 40, 960]));
    let bytes = chunk.bytes();
    assert_eq!(broken(Format::Jfr, &bytes), [""; 0]);
    let all = class_histograms(&bytes, ReadOptions::default()).unwrap();
    let rows: Vec<Vec<_>> = all
        .iter()
        .map(|of| of.rows.iter().map(|row| (&*row.name, row.count, row.bytes)).collect())
        .collect();
    assert_eq!(
        rows,
        [vec![("shop.Cart", 4, 96), ("byte[]", 10, 1000)], vec![("shop.Cart", 40, 960)]]
    );
    assert_eq!(all[1].time, "1970-01-01T00:00:01.000009Z");
    // The metric has the last one, and two files in one do not add up.
    let profile = load(&[&bytes[..], &bytes].concat());
    let total = |name| profile.total.get(&profile.metric(name).unwrap());
    assert_eq!((total("objects"), total("object-count")), (960, 40));
}

#[test]
fn a_histogram_that_two_types_of_events_have_counts_once() {
    let (id, after) = (class::FREE, class::FREE + 1);
    let fields = [
        ("startTime", class::LONG, false),
        ("gcId", class::INT, false),
        ("objectClass", class::CLASS, true),
        ("count", class::LONG, false),
        ("totalSize", class::LONG, false),
    ];
    let chunk = histograms().class(after, "jdk.ObjectCountAfterGC", &fields);
    let row = numbers(&[2_000, 7, 1, 4, 96]);
    let bytes = chunk.event(id, &row).event(after, &row).bytes();
    let all = class_histograms(&bytes, ReadOptions::default()).unwrap();
    assert_eq!((all.len(), all[0].rows.len()), (1, 1));
}

/// The labels and the threads of a profile's rows.
fn rows(profile: &Profile) -> Vec<(&str, Vec<(&str, &str)>)> {
    let text = |value| match value {
        LabelValue::Text(text) => profile.names.text(text),
        LabelValue::Number(..) => panic!("a number"),
    };
    let of = |thread: &dumptool::model::profile::ProfileThread| {
        let labels = profile.labels_of(thread).iter();
        let labels = labels.map(|label| (profile.names.text(label.key), text(label.value)));
        (profile.names.text(thread.name), labels.collect())
    };
    profile.aggregate.iter().map(|row| of(profile.thread(row.thread))).collect()
}

#[test]
fn events_without_a_metric_of_their_own_have_the_class_they_name_and_threads_may_have_no_name() {
    let id = class::FREE;
    let fields = [
        ("eventThread", class::THREAD, true),
        ("stackTrace", class::STACK, true),
        ("loadedClass", class::CLASS, true),
    ];
    let bytes = Chunk::new()
        .class(id, "jdk.ClassLoad", &fields)
        .pool(class::CLASS, vec![(1, text("shop/Cart"))])
        .pool(class::THREAD, vec![(1, text(""))])
        .pool(class::STACK, vec![(1, numbers(&[0, 0]))])
        .event(id, &numbers(&[1, 1, 1]))
        .event(id, &numbers(&[9, 1, 1]))
        .bytes();
    let profile = load(&bytes);
    let labels = vec![("class", "shop.Cart"), ("event", "jdk.ClassLoad")];
    let mut rows = rows(&profile);
    rows.iter_mut().for_each(|(_, labels)| labels.sort_unstable());
    assert_eq!(rows, [("<unnamed>", labels.clone()), ("", labels)]);
}

#[test]
fn recordings_of_async_profiler_have_its_metrics_in_all_chunks() {
    let bytes = async_profiler().bytes();
    assert_eq!(broken(Format::Jfr, &bytes), [""; 0]);
    let profile = load(&[&bytes[..], &bytes].concat());
    let total = |name| profile.total.get(&profile.metric(name).unwrap());
    assert_eq!(profile.default_metric().name(), "cpu");
    let metrics = ["cpu", "wall", "alloc", "lock", "live", "profiler.NativeLock"];
    assert_eq!(metrics.map(total), [2, 10, 2 * (4096 + 8000), 1800, 48, 600]);
    let leaf = profile.aggregate.iter().filter_map(|row| profile.stacks.leaf(row.stack));
    assert!(leaf.map(|frame| profile.function_name(frame)).all(|name| name == "malloc"));
    let class = |(_, labels): &(_, Vec<_>)| labels.contains(&("class", "byte[]"));
    assert_eq!(rows(&profile).iter().filter(|row| class(row)).count(), 4);
}

#[test]
fn exceptions_with_messages_add_up_to_those_read_one_by_one() {
    let throw = [
        ("startTime", class::LONG, false),
        ("eventThread", class::THREAD, true),
        ("stackTrace", class::STACK, true),
        ("message", class::STRING, false),
        ("thrownClass", class::CLASS, true),
    ];
    let id = class::FREE;
    let mut chunk = Chunk::new()
        .class(id, "jdk.JavaExceptionThrow", &throw)
        .pool(class::CLASS, vec![(1, text("shop/Sold")), (2, text("shop/Late"))])
        .pool(class::THREAD, vec![(7, text("main"))])
        .pool(class::METHOD, vec![(1, [numbers(&[2]), text("sell")].concat())])
        .pool(class::STACK, vec![(1, numbers(&[0, 1, 1, 0]))]);
    // Null, empty, in a pool, UTF-8, UTF-16, Latin-1, and an encoding that nobody knows.
    let messages = [
        vec![0],
        vec![1],
        vec![2, 9],
        text("out of stock"),
        vec![4, 1, 0xe5, 0xca, 1],
        vec![5, 1, 0xe4],
        vec![6],
    ];
    for (message, thrown) in messages.iter().zip([1, 1, 2, 1, 2, 2, 1]) {
        let fields = [numbers(&[30, 7, 1]), message.clone(), numbers(&[thrown])].concat();
        chunk = chunk.event(id, &fields);
    }
    let bytes = chunk.bytes();
    let summed = input::load_profile(Format::Jfr, &bytes, ProfileOptions::default()).unwrap();
    let expected =
        [("shop.Late", (3, 3)), ("shop.Sold", (3, 3))].map(|(name, sum)| (name.into(), sum));
    for profile in [load(&bytes), summed.profile] {
        let sums = sums(&profile);
        assert_eq!(sums["jdk.JavaExceptionThrow"].classes, BTreeMap::from(expected.clone()));
        assert_eq!(sums["jdk.JavaExceptionThrow"].without_stack, 0);
    }
}

#[test]
fn allocations_that_samples_count_too_are_a_metric_of_their_own() {
    let fields = |size| {
        let (stack, about) =
            (("stackTrace", class::STACK, true), ("objectClass", class::CLASS, true));
        [("startTime", class::LONG, false), stack, about, (size, class::LONG, false)]
    };
    let id = class::FREE;
    let bytes = Chunk::new()
        .class(id, "jdk.ObjectAllocationSample", &fields("weight"))
        .class(id + 1, "jdk.ObjectAllocationInNewTLAB", &fields("tlabSize"))
        .pool(class::CLASS, vec![(1, text("shop/Cart"))])
        .pool(class::STACK, vec![(1, numbers(&[0, 0]))])
        .event(id, &numbers(&[1, 1, 1, 4000]))
        .event(id + 1, &numbers(&[1, 1, 1, 2048]))
        .bytes();
    let profile = load(&bytes);
    let total = |name| profile.total.get(&profile.metric(name).unwrap());
    assert_eq!(["alloc", "jdk.ObjectAllocationInNewTLAB"].map(total), [4000, 2048]);
}

#[test]
fn stacks_of_frames_without_bytes_end() {
    let id = class::FREE;
    let bytes = Chunk::new()
        .class(class::FRAME, "jdk.types.StackFrame", &[])
        .class(id, "jdk.ThreadStart", &[("stackTrace", class::STACK, true)])
        .pool(class::STACK, vec![(1, numbers(&[0, u64::MAX >> 8]))])
        .event(id, &numbers(&[1]))
        .bytes();
    assert_eq!(load(&bytes).total.samples(), 1);
    assert_eq!(records(Format::Jfr, &bytes).0.len(), 4);
}

#[test]
fn memory_that_was_freed_is_not_native_memory() {
    let malloc = [
        ("startTime", class::LONG, false),
        ("address", class::LONG, false),
        ("size", class::LONG, false),
    ];
    let (id, free) = (class::FREE, class::FREE + 1);
    let chunk = Chunk::new()
        .class(id, "profiler.Malloc", &malloc)
        .class(free, "profiler.Free", &malloc[..2])
        .event(free, &numbers(&[300, 0x10]))
        .event(id, &numbers(&[100, 0x10, 64]))
        .event(id, &numbers(&[200, 0x20, 32]))
        .event(id, &numbers(&[400, 0x10, 16]));
    let profile = load(&chunk.bytes());
    assert_eq!(profile.total.get(&profile.metric("native").unwrap()), 48);
}

#[test]
fn old_objects_have_paths_and_those_in_a_circle_end() {
    let old = old_objects(&old_chunk(3, 0, 1).bytes(), ReadOptions::default()).unwrap();
    let path: Vec<_> =
        old.path(old.samples[0].object).map(|it| (it.address, &*it.type_name)).collect();
    assert_eq!(path, [(0x1001, "shop.Node"), (0x1002, "shop.Node"), (0x1003, "shop.Node")]);
    assert_eq!(old.objects[0].holder.as_ref().unwrap().label, "next");
    let circle = old_objects(&old_chunk(3, 1, 1).bytes(), ReadOptions::default()).unwrap();
    assert_eq!(circle.objects.len(), 3);
    assert_eq!(circle.path(0).count(), 3);
    // Every chunk repeats the samples that are still alive.
    let one = old_chunk(3, 0, 1).bytes();
    let both = old_objects(&[&one[..], &one].concat(), ReadOptions::default()).unwrap();
    assert_eq!(both.samples.len(), 1);
}

#[test]
fn old_objects_of_a_recording_are_those_of_the_jdk() {
    let old = old_objects(&shop(), ReadOptions::default()).unwrap();
    assert_eq!(old.samples.len(), 224);
    let leak = old.samples.iter().filter(|sample| {
        let mut path = old.path(sample.object);
        path.any(|object| object.holder.as_ref().is_some_and(|by| by.label == "static leak"))
    });
    assert_eq!(leak.count(), 222);
}

#[test]
fn the_summary_knows_the_settings_of_the_jvm() {
    let info = info(Format::Jfr, &shop());
    let details = &info["profile"]["details"];
    assert_eq!((&details["flags"], &details["system_properties"]), (&json!(22), &json!(15)));
    assert!(!info.to_string().contains("java.class.path"), "properties may be secret");
}

fn dumptool(arguments: &[&str]) -> (i32, String) {
    let file = fixture("jfr/shop_java17.jfr.zst");
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(arguments)
        .arg(file)
        .output()
        .unwrap();
    (done.status.code().unwrap(), String::from_utf8(done.stdout).unwrap())
}

#[test]
fn rules_about_metrics_that_are_not_the_main_one_are_not_void() {
    for rule in ["total.alloc=1GiB", "*allocate.alloc=1", "total.park=1ms"] {
        let (status, text) = dumptool(&["check", "--max", rule]);
        assert_eq!(status, 1, "{rule}: {text}");
    }
    let (status, text) = dumptool(&["check", "--max", "total.alloc=1TiB"]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn events_without_sql_are_counted() {
    let (_, text) = dumptool(&["query", "--format", "json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    let tables = answer["tables"].as_array().unwrap();
    let events = tables.iter().find(|table| table["name"] == "events").unwrap();
    let info = info(Format::Jfr, &shop());
    assert_eq!(events["rows"], info["records"]["event"]);
}

#[test]
fn times_that_there_are_not_are_left_out() {
    let (_, text) = dumptool(&["cat", "--type", "jdk.ThreadPark"]);
    assert!(text.contains("jdk.ThreadPark"), "{text}");
    assert!(!text.contains("-9223372036854775808") && !text.contains("-292275055"), "{text}");
    assert!(!text.contains("parkedClass=0"), "{text}");
}

#[test]
fn damaged_recordings_give_errors_and_what_could_be_read() {
    damage(Format::Jfr, &shop(), 6, 10);
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn recordings_of_the_corpus_are_what_the_jdk_reads() {
    let folder = corpus_folder("jfr");
    let recordings =
        files(&folder).into_iter().filter(|path| path.to_string_lossy().ends_with(".jfr.zst"));
    let mut count = 0;
    for path in recordings {
        compare(&path, Path::new(&path.to_string_lossy().replace(".jfr.zst", ".truth.json")));
        count += 1;
    }
    assert!(count >= 3, "only {count} recordings were found");
}
