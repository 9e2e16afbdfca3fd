//! Profiles of native programs against what each tool prints itself, and against damage.

use crate::support::{broken, damage, fixture, info, json, read, records};
use dumptool::input::load::{ProfileOptions, SnapshotChoice};
use dumptool::input::{self, Format};
use dumptool::model::profile::{FrameKind, Profile, StackId};
use dumptool::source::Source;
use std::collections::BTreeMap;

fn bytes(name: &str) -> Vec<u8> {
    Source::open(&fixture(&format!("native/{name}"))).unwrap().bytes().to_vec()
}

fn load_with(format: Format, bytes: &[u8], options: ProfileOptions<'_>) -> Profile {
    assert_eq!(dumptool::detect::detect(bytes).unwrap(), format);
    let loaded = input::load_profile(format, bytes, options).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.profile
}

fn load(format: Format, bytes: &[u8]) -> Profile {
    load_with(format, bytes, ProfileOptions::default())
}

fn total(profile: &Profile, metric: &str) -> i64 {
    profile.total.get(&profile.metric(metric).unwrap())
}

/// The sums of a metric by stack, outermost first.
fn stacks(profile: &Profile, metric: &str) -> Vec<(Vec<String>, i64)> {
    let metric = profile.metric(metric).unwrap();
    let stack = |stack: StackId| {
        let mut frames = Vec::new();
        profile.stacks.outermost_first(stack, &mut frames);
        frames.into_iter().map(|frame| profile.function_name(frame).to_owned()).collect()
    };
    profile.aggregate.iter().map(|row| (stack(row.stack), row.values.get(&metric))).collect()
}

/// The sum of the stacks that a function is in.
fn inclusive(profile: &Profile, metric: &str, function: &str) -> i64 {
    let has = |stack: &[String]| stack.iter().any(|name| name.starts_with(function));
    stacks(profile, metric).iter().filter(|(stack, _)| has(stack)).map(|(_, value)| value).sum()
}

/// A name without the arguments of templates, as heaptrack prints it.
fn without_templates(name: &str) -> String {
    let mut depth = 0;
    let mut keep = |c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 || depth == 1 && c == '<'
    };
    name.chars().filter(|c| keep(*c)).collect()
}

/// The frames of a stack in any order, because heaptrack prints inlined frames in another one. Those
/// without names are alike, because it prints them as addresses. What it leaves out, at the
/// beginning and of the allocator, depends on inlining.
fn key<'a>(frames: impl Iterator<Item = &'a str>) -> Vec<String> {
    let left_out = ["_start", "__libc_start_main_impl", "__libc_start_call_main", "calloc"];
    let mut key: Vec<_> =
        frames
            .filter(|name| !left_out.contains(name))
            .map(|name| {
                if name.starts_with(['[', '0']) { "?".to_owned() } else { without_templates(name) }
            })
            .collect();
    key.sort();
    key
}

#[test]
fn stacks_of_heaptrack_have_the_numbers_that_it_prints() {
    let profile = load(Format::Heaptrack, &bytes("heaptrack.store.zst"));
    for (metric, name) in [
        ("alloc_objects", "allocations"),
        ("peak", "peak"),
        ("leaked", "leaked"),
        ("temporary", "temporary"),
    ] {
        let text = read(&fixture(&format!("native/truth/heaptrack.{name}.folded")));
        let mut expected = BTreeMap::<Vec<String>, i64>::new();
        for line in String::from_utf8(text).unwrap().lines() {
            let (stack, number) = line.rsplit_once("; ").unwrap();
            // `name (file)`, but file names have no blanks here.
            let name = |frame| match str::rsplit_once(frame, " (") {
                Some((name, file)) if !file.contains(' ') && file.contains('.') => name,
                _ => frame,
            };
            *expected.entry(key(stack.split(';').map(name))).or_default() +=
                number.parse::<i64>().unwrap();
        }
        let mut found = BTreeMap::<Vec<String>, i64>::new();
        for (stack, number) in stacks(&profile, metric) {
            *found.entry(key(stack.iter().map(String::as_str))).or_default() += number;
        }
        assert_eq!(found, expected, "{metric}");
    }
}

#[test]
fn frames_of_heaptrack_are_outermost_first_also_where_they_are_inlined() {
    let profile = load(Format::Heaptrack, &bytes("heaptrack.store.zst"));
    let stacks = stacks(&profile, "alloc_bytes");
    let of_vector = |stack: &&(Vec<String>, i64)| {
        let at = |name: &str| stack.0.iter().position(|frame| frame.starts_with(name));
        at("cache_images").is_some() && at("std::vector<char*").is_some()
    };
    let (stack, _) = stacks.iter().find(of_vector).unwrap();
    let inner = stack.iter().skip_while(|name| *name != "main").nth(1).unwrap();
    assert_eq!(inner, "cache_images(int)");
    let shown = |options| {
        let profile = load_with(Format::Heaptrack, &bytes("heaptrack.store.zst"), options);
        let stacks = self::stacks(&profile, "alloc_bytes");
        let is_new = |(stack, value): &&(Vec<String>, i64)| {
            *value > 0 && stack.last().is_some_and(|name| name.starts_with("operator new"))
        };
        stacks.iter().filter(is_new).count()
    };
    let all = ProfileOptions::default().all_frames(true);
    assert!(shown(ProfileOptions::default()) == 0 && shown(all) > 5);
}

/// The lines of a recording in an old format, whose strings have no lengths.
const OLD: &str = "v 10100 2\nX ./a b\n# a comment\nI 1000 10\ns /bin/a\ns main\ns a.c\ns malloc\n\
    i 10 1 2 3 7\ni 20 1 4\ni 30 1\nt 1 0\nt 2 1\nt 3 1\na 10 2\na 8 3\n+ 0\n+ 1\n- 1\nc a\n+ 0\n- 0\n- 0\n";

#[test]
fn old_recordings_are_replayed() {
    let profile = load(Format::Heaptrack, OLD.as_bytes());
    let sums = ["peak", "peak_objects", "leaked", "alloc_bytes", "alloc_objects", "temporary"]
        .map(|metric| total(&profile, metric));
    assert_eq!(sums, [0x20, 2, 0, 0x28, 3, 3]);
    assert_eq!(
        stacks(&profile, "peak"),
        [(vec!["main".to_owned()], 0x20), (vec!["main".into(), "[a]".into()], 0)]
    );
    assert_eq!(profile.metadatum("peak_time_ms"), Some("10"));
    let again = OLD.replace("v 10100 2", "v 10200");
    assert_eq!(load(Format::Heaptrack, again.as_bytes()).total, profile.total);
    assert!(broken(Format::Heaptrack, OLD.as_bytes()).is_empty());
    let summary = info(Format::Heaptrack, OLD.as_bytes());
    assert_eq!((&summary["records"]["free"], &summary["format_version"]), (&3.into(), &"2".into()));
}

#[test]
fn strings_with_lengths_may_have_several_lines() {
    let text = "v 10400 3\nX a\ns 6 /bin/a\ns 4 a\nb!\ni 10 1 2\nt 1 0\na 10 1\n+ 0\n";
    let profile = load(Format::Heaptrack, text.as_bytes());
    assert_eq!(stacks(&profile, "leaked"), [(vec!["a\nb!".to_owned()], 16)]);
    let (shown, error) = records(Format::Heaptrack, text.replace("s 4", "s 3").as_bytes());
    assert_eq!((shown.len(), error.unwrap().offset()), (3, Some(25)));
}

#[test]
fn recordings_of_heaptrack_that_cannot_be_read_are_refused_with_advice() {
    let refused = |text: &str| {
        input::for_each_record(
            Format::Heaptrack,
            text.as_bytes(),
            input::ReadOptions::default(),
            &mut Ignore,
        )
        .unwrap_err()
        .to_string()
    };
    assert!(refused("v 10400 4\n").contains("format 4"));
    assert!(refused("v 10400 3\nx 6 /bin/a\n").contains("raw"));
    assert!(refused("t 1 2\n").contains("heaptrack"));
    let dangling = "v 10400 3\nX a\nt 1 9\na 8 7\n+ 3\n- 3\n+ 0\n- 0\n- 0\n";
    assert_eq!(
        broken(Format::Heaptrack, dangling.as_bytes()),
        ["references.defined", "frees.matched"]
    );
}

struct Ignore;

impl input::Visitor for Ignore {
    fn record<R: dumptool::model::fields::Record>(
        &mut self,
        _: u64,
        _: &R,
    ) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }
}

#[test]
fn jemalloc_has_the_totals_of_jeprof() {
    let bytes = bytes("jemalloc_all.heap");
    let profile = load(Format::Jemalloc, &bytes);
    assert_eq!((total(&profile, "live_objects"), total(&profile, "live_bytes")), (2094, 7_635_184));
    assert!(profile.metric("alloc_bytes").is_none(), "nothing was accumulated");
    // The library of the allocator is no caller.
    let all = stacks(&profile, "live_bytes");
    assert!(all.iter().all(|(stack, _)| !stack.iter().any(|name| name.contains("jemalloc"))));
    let shown = load_with(Format::Jemalloc, &bytes, ProfileOptions::default().all_frames(true));
    let shown = stacks(&shown, "live_bytes");
    assert!(shown.iter().all(|(stack, _)| stack.last().unwrap() == "[libjemalloc.so.2]"));
    // The deepest is `recurse`, with 41 calls.
    let deepest = all.iter().max_by_key(|(stack, _)| stack.len()).unwrap();
    assert_eq!(deepest.1, 5120);
    assert!(broken(Format::Jemalloc, &bytes).is_empty());
}

#[test]
fn sampled_numbers_are_scaled_unless_those_of_the_file_are_asked_for() {
    let bytes = bytes("jemalloc_sampled.heap");
    let raw = load_with(Format::Jemalloc, &bytes, ProfileOptions::default().raw_counts(true));
    let sums = |profile: &Profile| {
        ["live_objects", "live_bytes", "alloc_objects", "alloc_bytes"]
            .map(|metric| total(profile, metric))
    };
    let text = String::from_utf8(bytes.clone()).unwrap();
    let rows = text.split("\n@").skip(1).map(|row| row.lines().nth(1).unwrap());
    let numbers: Vec<Vec<i64>> = rows
        .map(|row| {
            let words = row.split([' ', ':', '[', ']']);
            words.filter_map(|word| word.parse().ok()).collect()
        })
        .collect();
    let sum = |at: usize| numbers.iter().map(|row| row[at]).sum::<i64>();
    assert_eq!(sums(&raw), [sum(0), sum(1), sum(2), sum(3)]);
    let scaled = load(Format::Jemalloc, &bytes);
    let scale = |objects: i64, bytes: i64| match objects {
        0 => 0,
        _ => (bytes as f64 / (1.0 - (-(bytes as f64 / objects as f64) / 8192.0).exp())).round()
            as i64,
    };
    assert_eq!(
        total(&scaled, "live_bytes"),
        numbers.iter().map(|row| scale(row[0], row[1])).sum::<i64>()
    );
    let truth = json(&fixture("native/store.truth.json"));
    let images = truth["images"]["allocated"].as_i64().unwrap();
    // Each address is a frame of its own where addresses are kept.
    let kept = load_with(Format::Jemalloc, &bytes, ProfileOptions::default().keep_code(true));
    assert!(stacks(&kept, "alloc_bytes").iter().any(|(_, bytes)| *bytes == images));
    let summary = info(Format::Jemalloc, &bytes);
    assert!(summary["warnings"].to_string().contains("8192 bytes"), "{summary}");
}

#[test]
fn gperftools_has_the_totals_of_google_pprof() {
    let bytes = bytes("tcmalloc.0022.heap");
    let profile = load(Format::Gperftools, &bytes);
    let sums = ["live_objects", "live_bytes", "alloc_objects", "alloc_bytes"]
        .map(|metric| total(&profile, metric));
    assert_eq!(sums, [2093, 7_444_948, 8952, 93_561_384]);
    assert!(broken(Format::Gperftools, &bytes).is_empty());
    let names: Vec<_> =
        profile.frames.iter().map(|frame| profile.names.text(frame.function)).collect();
    assert!(names.contains(&"[store]") && names.iter().all(|name| name.starts_with('[')));
}

#[test]
fn addresses_are_kept_with_their_libraries() {
    let kept = ProfileOptions::default().keep_code(true);
    let profile = load_with(Format::Gperftools, &bytes("tcmalloc.0022.heap"), kept);
    let code = profile.code.as_ref().unwrap();
    let leaf = profile.aggregate.iter().find_map(|row| profile.stacks.leaf(row.stack)).unwrap();
    let place = code.place(leaf).unwrap();
    // The call is before the address to return to.
    assert_eq!((place.address, place.lines), (0x555f_b1b1_9307, 0));
    let mapping = &code.mappings[place.mapping.unwrap() as usize];
    assert_eq!((mapping.start, mapping.offset), (0x555f_b1b1_9000, 0x2000));
    assert_eq!(profile.frame(leaf).kind, FrameKind::Native);
}

#[test]
fn names_before_the_profile_are_those_of_its_addresses() {
    let text = "--- symbol\nbinary=/bin/a\n0x10 outer--inlined--\n0x20 main\n0x30 malloc\n---\n--- heap\n\
        heap profile: 3: 24 [5: 40] @ heapprofile\n3: 24 [5: 40] @ 0x30 0x10 0x20 0x40\n";
    let profile = load(Format::Gperftools, text.as_bytes());
    let names = ["0x3f", "main", "outer", "inlined"].map(str::to_owned).to_vec();
    assert_eq!(stacks(&profile, "alloc_bytes"), [(names, 40)]);
    let jemalloc = text.replace(
        "heap profile: 3: 24 [5: 40] @ heapprofile\n3: 24 [5: 40] @",
        "heap_v2/1\n t*: 1: 2 [0: 0]\n@",
    );
    let jemalloc = jemalloc + " t*: 3: 24 [0: 0]\n t0: 3: 24 [0: 0]\n";
    assert_eq!(total(&load(Format::Jemalloc, jemalloc.as_bytes()), "live_bytes"), 24);
    let go = "heap profile: 1: 8 [2: 16] @ heap/2\n1: 8 [2: 16] @ 0x12 0x22\n#\t0x11\tmain.f+0x1\t/a.go:1\n\n# runtime.MemStats\n";
    let profile = load(Format::Gperftools, go.as_bytes());
    assert_eq!(stacks(&profile, "live_bytes")[0].0, ["0x21", "main.f"]);
}

#[test]
fn cpu_profiles_of_gperftools_have_words_of_any_kind() {
    let bytes = bytes("store.gperf-cpu.prof");
    let profile = load(Format::GperftoolsCpu, &bytes);
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let (mut at, mut samples) = (5, 0);
    while words[at] != 0 {
        samples += words[at];
        at += 2 + words[at + 1] as usize;
    }
    assert_eq!(profile.total.samples(), samples);
    assert_eq!(total(&profile, "cpu") as u64, samples * words[3] * 1000);
    let header = [0, 3, 0, 10, 0];
    let rows = [2, 3, 0x50, 0x50, 0x20, 1, 1, 0x30, 0, 1, 0];
    let words: Vec<u64> = header.into_iter().chain(rows).collect();
    for (name, made) in [
        ("64, little", words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>()),
        ("64, big", words.iter().flat_map(|word| word.to_be_bytes()).collect()),
        ("32, little", words.iter().flat_map(|word| (*word as u32).to_le_bytes()).collect()),
        ("32, big", words.iter().flat_map(|word| (*word as u32).to_be_bytes()).collect()),
    ] {
        let made = [&made, &b"10-40 r-xp 0 00:00 0 /bin/a\n"[..]].concat();
        let profile = load(Format::GperftoolsCpu, &made);
        // The innermost address twice is one, and not a call.
        let expected = [(vec!["[a]".to_owned(), "0x50".into()], 2), (vec!["[a]".to_owned()], 1)];
        assert_eq!(stacks(&profile, "samples"), expected, "{name}");
        assert_eq!(records(Format::GperftoolsCpu, &made).0.len(), 4, "{name}");
    }
}

#[test]
fn dhat_has_the_sums_of_its_file() {
    let bytes = bytes("dhat-heap.json");
    let profile = load(Format::Dhat, &bytes);
    let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let points = document["pps"].as_array().unwrap();
    let sum = |key: &str| points.iter().map(|point| point[key].as_i64().unwrap()).sum::<i64>();
    for (metric, key) in [
        ("peak", "gb"),
        ("peak_objects", "gbk"),
        ("live_bytes", "eb"),
        ("live_objects", "ebk"),
        ("alloc_bytes", "tb"),
        ("alloc_objects", "tbk"),
        ("lifetime", "tl"),
        ("reads", "rb"),
        ("writes", "wb"),
    ] {
        assert_eq!(total(&profile, metric), sum(key), "{metric}");
    }
    let unread = points.iter().filter(|point| point["rb"] == 0);
    assert_eq!(
        total(&profile, "never_read"),
        unread.map(|point| point["tb"].as_i64().unwrap()).sum::<i64>()
    );
    assert!(broken(Format::Dhat, &bytes).is_empty());
    assert_eq!(records(Format::Dhat, &bytes).0.len(), points.len() + 107);
}

#[test]
fn dhat_of_rust_and_other_modes_have_their_own_metrics() {
    let heap = r#"{"dhatFileVersion":2,"mode":"rust-heap","verb":"Allocated","bklt":true,"bkacc":false,"tu":"µs",
        "pps":[{"tb":30,"tbk":3,"tl":9,"mb":30,"mbk":3,"gb":20,"gbk":2,"eb":10,"ebk":1,"fs":[1,2,9]}],
        "ftbl":["[root]","0x1: alloc::alloc::alloc (src/alloc.rs:9:1)","0x2: a::main (src/main.rs:3:5)"]}"#;
    let profile = load(Format::Dhat, heap.as_bytes());
    assert_eq!(stacks(&profile, "peak"), [(vec!["a::main".to_owned()], 20)]);
    let metrics: Vec<_> = profile.metrics().iter().map(|metric| metric.name().to_owned()).collect();
    assert_eq!(metrics.len(), 7, "{metrics:?}");
    assert_eq!(broken(Format::Dhat, heap.as_bytes()), ["references.defined"]);
    let frame = profile.frames[0];
    assert_eq!((profile.names.text(frame.file), frame.line), ("src/alloc.rs", 9));
    let events = heap.replace("rust-heap", "ad-hoc").replace("\"bklt\":true", "\"bklt\":false");
    let profile = load(Format::Dhat, events.as_bytes());
    assert_eq!((total(&profile, "units"), total(&profile, "events")), (30, 3));
    let refused = input::info(
        Format::Dhat,
        heap.replace(":2,\"mode", ":3,\"mode").as_bytes(),
        input::ReadOptions::default(),
    );
    assert!(refused.unwrap_err().to_string().contains("version 3"));
}

#[test]
fn massif_has_the_sum_of_each_snapshot() {
    let bytes = bytes("massif.out");
    let text = String::from_utf8(bytes.clone()).unwrap();
    let blocks: Vec<&str> = text.split("\nsnapshot=").skip(1).collect();
    let heap = |block: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix("mem_heap_B=")).unwrap();
        line.parse::<i64>().unwrap()
    };
    for (number, block) in blocks.iter().enumerate() {
        let choice = Some(SnapshotChoice::Number(number as u64));
        let profile = load_with(Format::Massif, &bytes, ProfileOptions::default().snapshot(choice));
        assert_eq!(total(&profile, "live_bytes"), heap(block), "{number}");
        let has_tree = !block.contains("heap_tree=empty");
        assert_eq!(
            stacks(&profile, "live_bytes").iter().any(|(stack, _)| stack.len() > 1),
            has_tree
        );
    }
    let peak = blocks.iter().find(|block| block.contains("heap_tree=peak")).unwrap();
    let profile = load(Format::Massif, &bytes);
    assert_eq!(total(&profile, "live_bytes"), heap(peak));
    let images = inclusive(&profile, "live_bytes", "allocate_image");
    assert_eq!(images, json(&fixture("native/store.truth.json"))["images"]["allocated"]);
    // Callers are outside.
    let (stack, _) = &stacks(&profile, "live_bytes")[0];
    assert_eq!(stack.join(" "), "main cache_images(int) allocate_image(unsigned long)");
    assert!(broken(Format::Massif, &bytes).is_empty());
    let last = ProfileOptions::default().snapshot(Some(SnapshotChoice::Last));
    let last = load_with(Format::Massif, &bytes, last);
    let with_tree = blocks.iter().rfind(|block| !block.contains("heap_tree=empty")).unwrap();
    assert_eq!(total(&last, "live_bytes"), heap(with_tree));
    let none = ProfileOptions::default().snapshot(Some(SnapshotChoice::Number(999)));
    let error = input::load_profile(Format::Massif, &bytes, none).map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with("no snapshot 999"), "{error}");
    let wrong = text.replacen("mem_heap_B=11651868", "mem_heap_B=11651869", 1);
    assert_eq!(broken(Format::Massif, wrong.as_bytes()), ["snapshots.tree"]);
}

#[test]
fn what_every_function_holds_is_the_truth() {
    for (format, name, metric) in [
        (Format::Heaptrack, "heaptrack.store.zst", "leaked"),
        (Format::Dhat, "dhat-heap.json", "live_bytes"),
    ] {
        holds_the_truth(&load(format, &bytes(name)), metric);
    }
}

fn holds_the_truth(profile: &Profile, metric: &str) {
    let truth = json(&fixture("native/store.truth.json"));
    let of = |function: &str| truth[function]["live"].as_i64().unwrap();
    for (function, key) in [
        ("allocate_image", "images"),
        ("leak_sessions", "sessions"),
        ("grow(int)", "grow"),
        ("zeros", "zeros"),
        ("aligned", "aligned"),
        ("recurse", "recurse"),
    ] {
        let own: i64 = stacks(profile, metric)
            .iter()
            .filter(|(stack, _)| stack.last().unwrap().starts_with(function))
            .map(|(_, value)| value)
            .sum();
        assert_eq!(own, of(key), "{function}");
        assert!(inclusive(profile, metric, function) >= own);
    }
}

#[test]
fn costs_of_a_call_graph_are_those_of_the_stacks() {
    let dump = dumptool::open(fixture("native/heaptrack.store.zst")).unwrap();
    let profile = load(Format::Heaptrack, dump.bytes());
    let mut out = Vec::new();
    dump.convert("callgrind", &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let events = text.lines().find_map(|line| line.strip_prefix("events: ")).unwrap();
    let leaked = events.split(' ').position(|event| event == "leaked_bytes").unwrap();
    let number =
        |line: &str, at: usize| line.split(' ').nth(at + 1).unwrap().parse::<i64>().unwrap();
    let (mut names, mut function) = (BTreeMap::new(), "");
    let (mut own, mut all, mut is_call) = (0, BTreeMap::<&str, i64>::new(), false);
    let mut calls = BTreeMap::<(&str, &str), i64>::new();
    let mut callee = "";
    for line in text.lines() {
        let mut named = |value: &'static str| {
            let (id, name) = line.strip_prefix(value)?.split_once(')')?;
            if !name.is_empty() {
                names.insert(id, name.trim());
            }
            Some(names[id])
        };
        if let Some(name) = named("fn=(") {
            function = name;
        } else if let Some(name) = named("cfn=(") {
            callee = name;
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let cost = number(line, leaked);
            *all.entry(function).or_default() += cost;
            if std::mem::take(&mut is_call) {
                *calls.entry((function, callee)).or_default() += cost
            } else {
                own += cost
            }
        } else if let Some(totals) = line.strip_prefix("totals:") {
            assert_eq!(number(totals, leaked), total(&profile, "leaked"));
        }
    }
    assert_eq!(own, total(&profile, "leaked"));
    for name in ["main", "cache_images(int)", "build_index(int)", "grow(int)"] {
        assert_eq!(all[name], inclusive(&profile, "leaked", name), "{name}");
    }
    // The 40 calls of itself are none.
    assert_eq!((all["recurse(int)"], calls.get(&("recurse(int)", "recurse(int)"))), (5000, None));
    assert_eq!(calls[&("main", "recurse(int)")], 5000);
}

#[test]
fn info_says_which_share_of_allocations_has_no_names() {
    let summary = info(Format::Jemalloc, &bytes("jemalloc_all.heap"));
    let unnamed = &summary["profile"]["unnamed"][0];
    assert_eq!(unnamed["library"], "/data/app/native/store");
    assert!(
        summary["warnings"]
            .to_string()
            .contains("98.7 % of live_bytes is in /data/app/native/store")
    );
    // No file with symbols can help where the tool has looked up names itself.
    let summary = info(Format::Dhat, &bytes("dhat-heap.json"));
    assert!(!summary["warnings"].to_string().contains("--symbols"), "{}", summary["warnings"]);
}

#[test]
fn damaged_files_give_what_they_have() {
    for (format, name) in [
        (Format::Heaptrack, "heaptrack.store.zst"),
        (Format::Jemalloc, "jemalloc_sampled.heap"),
        (Format::Gperftools, "tcmalloc.0022.heap"),
        (Format::GperftoolsCpu, "store.gperf-cpu.prof"),
        (Format::Dhat, "dhat-heap.json"),
        (Format::Massif, "massif.out"),
    ] {
        damage(format, &bytes(name), 60, 150);
    }
}

/// Runs a command, in which FILE is a fixture.
fn run(command: &str, file: &str) -> std::process::Output {
    let file = fixture(&format!("native/{file}")).into_os_string().into_string().unwrap();
    let words = command.split(' ').map(|word| if word == "FILE" { &file } else { word });
    std::process::Command::new(env!("CARGO_BIN_EXE_dumptool")).args(words).output().unwrap()
}

#[test]
fn commands_show_the_frames_of_allocators_on_request() {
    let has_malloc = |command: &str, file: &str| {
        let output = run(command, file);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command} {file}: {message}");
        String::from_utf8(output.stdout).unwrap().contains("malloc")
    };
    for command in [
        "top FILE -n 1000",
        "convert FILE - --to folded",
        "convert FILE - --to csv --table functions",
    ] {
        assert!(!has_malloc(command, "dhat-heap.json"), "{command}");
        assert!(has_malloc(&format!("{command} --all-frames"), "dhat-heap.json"), "{command}");
    }
    for file in ["massif.out", "heaptrack.store.zst", "jemalloc_all.heap", "tcmalloc.0022.heap"] {
        assert!(run("top FILE --all-frames", file).status.success(), "{file}");
    }
}

#[test]
fn raw_counts_are_refused_where_nothing_is_scaled() {
    for command in ["top FILE --raw-counts", "convert FILE - --to folded --raw-counts"] {
        assert!(run(command, "jemalloc_sampled.heap").status.success(), "{command}");
        let refused = run(command, "massif.out");
        let message = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{message}");
        assert!(message.contains("--raw-counts is for jemalloc heap profiles"), "{message}");
    }
}

#[test]
fn details_of_native_profiles_have_the_rate_and_what_has_no_name() {
    let details = |format, name: &str| info(format, &bytes(name))["profile"]["details"].clone();
    for (format, name, rate) in [
        (Format::Jemalloc, "jemalloc_sampled.heap", Some(8192)),
        (Format::Jemalloc, "jemalloc_all.heap", None),
        (Format::Gperftools, "tcmalloc.0022.heap", None),
        (Format::Heaptrack, "heaptrack.store.zst", None),
        (Format::Massif, "massif.out", None),
        (Format::Dhat, "dhat-heap.json", None),
        (Format::Callgrind, "callgrind.out.zst", None),
    ] {
        let details = details(format, name);
        assert_eq!(details["rate"].as_u64(), rate, "{name}: {details}");
        assert_eq!(details["scaled"], rate.is_some(), "{name}: {details}");
        let libraries = details["unnamed"]["libraries"].as_array().unwrap();
        let shares = libraries.iter().map(|library| library["share"].as_f64().unwrap());
        let sum = shares.fold(0.0, |sum, share| sum + share);
        assert_eq!(details["unnamed"]["share"].as_f64(), Some(sum), "{name}: {details}");
    }
    let recording = info(Format::Jfr, &read(&fixture("jfr/shop_java17.jfr.zst")));
    let (profile, details) = (&recording["profile"], &recording["profile"]["details"]);
    assert_eq!(details["metrics"], profile["metrics"], "{details}");
}
