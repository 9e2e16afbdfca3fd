//! Recordings of perf: `fixtures/perf-data` with what perf itself prints of them, and files that are
//! made here.

use crate::support::{broken, damage, info, records};
use dumptool::input::load::{NameCode, ProfileOptions};
use dumptool::input::{self, Format};
use dumptool::model::profile::{FrameKind, Metric, Profile};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/perf-data").join(name)
}

fn read(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).unwrap()
}

fn text(name: &str) -> String {
    String::from_utf8(read(name)).unwrap()
}

fn load(bytes: &[u8]) -> Profile {
    let loaded = input::load_profile(Format::PerfData, bytes, ProfileOptions::default()).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.profile
}

/// Nothing is looked up: places stay where they are asked for.
struct NoNames;

impl NameCode for NoNames {
    fn name_code(&self, _: &mut Profile, _: bool) {}
}

fn load_code(bytes: &[u8], symbols: &dyn NameCode) -> Profile {
    let options = ProfileOptions::default().keep_code(true).symbols(Some(symbols));
    input::load_profile(Format::PerfData, bytes, options).unwrap().profile
}

/// A stack of a thread: its id, and innermost first the file of each address and its function, for
/// the program itself.
type Stack = (i64, Vec<(String, String)>);

fn last(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

/// The stacks of `perf script` with the number of samples and the sum of their periods.
fn of_script(name: &str, with_names: bool) -> BTreeMap<Stack, (u64, i64)> {
    of_script_text(&text(name), with_names)
}

fn of_script_text(text: &str, with_names: bool) -> BTreeMap<Stack, (u64, i64)> {
    let mut stacks = BTreeMap::new();
    for sample in text.split("\n\n").filter(|sample| !sample.trim().is_empty()) {
        let mut lines = sample.lines().filter(|line| !line.is_empty());
        let head: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
        let (tid, period) = (head[1].parse().unwrap(), head[3].parse::<i64>().unwrap());
        let frame = |line: &str| {
            let (rest, file) = line.trim().rsplit_once(" (").unwrap();
            let file = last(file.trim_end_matches(')'));
            let symbol = rest.split_once(' ').unwrap().1;
            let symbol = symbol.rsplit_once("+0x").map_or(symbol, |(symbol, _)| symbol);
            let name = if with_names && file == "spin" { symbol } else { "" };
            (file, name.to_owned())
        };
        let stack: Stack = (tid, lines.map(frame).collect());
        let row = stacks.entry(stack).or_insert((0, 0));
        (row.0, row.1) = (row.0 + 1, row.1 + period);
    }
    stacks
}

/// The same of a profile with its places.
fn of_profile(profile: &Profile, with_names: bool) -> BTreeMap<Stack, (u64, i64)> {
    let code = profile.code.as_ref().unwrap();
    let metric = profile.metric("cpu-clock").unwrap();
    let mut stacks = BTreeMap::new();
    for row in profile.aggregate.iter() {
        let thread = profile.thread(row.thread);
        let tid = profile.names.text(thread.name).parse::<i64>().unwrap();
        let frames = profile.stacks.frames(row.stack).filter(|id| {
            // Functions that were inlined are not in the text.
            code.place(*id).unwrap().outermost == *id
        });
        let frame = |id| {
            let mapping = code.place(id).unwrap().mapping.unwrap() as usize;
            let file = last(&code.mappings[mapping].file);
            let is_named = with_names && file == "spin";
            let name = if is_named { profile.function_name(id) } else { "" };
            (file, name.to_owned())
        };
        let stack: Stack = (tid, frames.map(frame).collect());
        let sums = stacks.entry(stack).or_insert((0, 0));
        *sums = (sums.0 + row.values.samples(), sums.1 + row.values.get(&metric));
    }
    stacks
}

#[test]
fn stacks_are_those_of_perf_script() {
    for name in ["spin", "spin_z"] {
        let expected = of_script(&format!("{name}.script.txt"), false);
        let profile = load_code(&read(&format!("{name}.perf.data")), &NoNames);
        assert_eq!(of_profile(&profile, false), expected, "{name}");
    }
}

/// The libraries of the machine that recorded are not here: a stack ends in the first of them, and
/// where one was running it cannot be unwound.
#[cfg(feature = "symbols")]
#[test]
fn recorded_stacks_are_unwound_as_by_perf_script() {
    let symbols = dumptool::symbols::Symbols::new(vec![fixture("spin.exe.zst")]);
    let source = dumptool::source::Source::open(&fixture("spin_dwarf.perf.data.zst")).unwrap();
    let profile = load_code(source.bytes(), &symbols);
    let of_spin = |stacks: BTreeMap<Stack, (u64, i64)>| {
        let mut of_spin = BTreeMap::new();
        for ((tid, mut stack), (samples, _)) in stacks {
            let end = stack.iter().position(|(file, _)| file != "spin").unwrap_or(stack.len());
            // The function that main returns to is known, too.
            assert!(end < stack.len(), "{stack:?}");
            stack.truncate(end);
            *of_spin.entry((tid, stack)).or_insert(0) += samples;
        }
        of_spin.retain(|(_, stack), _| !stack.is_empty());
        of_spin
    };
    let script = text("spin_dwarf.script.txt");
    let frames: Vec<_> = script.lines().filter(|line| !line.ends_with("(inlined)")).collect();
    let expected = of_spin(of_script_text(&frames.join("\n"), true));
    assert_eq!(expected.values().sum::<u64>(), 11);
    assert_eq!(of_spin(of_profile(&profile, true)), expected);
    let summary = info(Format::PerfData, source.bytes());
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("38"), "nothing unwinds without symbols: {warnings}");
}

#[cfg(feature = "symbols")]
#[test]
fn functions_are_those_of_perf_script_and_perf_report() {
    let symbols = dumptool::symbols::Symbols::new(vec![fixture("spin.exe.zst")]);
    for name in ["spin", "spin_z"] {
        let profile = load_code(&read(&format!("{name}.perf.data")), &symbols);
        let stacks = of_profile(&profile, true);
        assert_eq!(stacks, of_script(&format!("{name}.script.txt"), true), "{name}");

        let total: i64 = stacks.values().map(|(_, sum)| sum).sum();
        let mut own = BTreeMap::<(String, String), i64>::new();
        for ((_, stack), (_, sum)) in stacks {
            *own.entry(stack[0].clone()).or_default() += sum;
        }
        for line in text(&format!("{name}.report.txt")).lines().filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let function = if words[2] == "spin" { words[4] } else { "" };
            let sum = own[&(words[2].to_owned(), function.to_owned())];
            let percent = format!("{:.2}%", sum as f64 * 100.0 / total as f64);
            assert_eq!(percent, words[0], "{name}: {line}");
        }
    }
}

#[test]
fn times_are_those_of_perf_script() {
    let (shown, error) = records(Format::PerfData, &read("spin.perf.data"));
    assert!(error.is_none());
    let mut times: Vec<String> = shown
        .iter()
        .filter(|record| record["record"] == "sample")
        .map(|record| record["time"].as_u64().unwrap() / 1000)
        .map(|time| format!("{}.{:06}:", time / 1_000_000, time % 1_000_000))
        .collect();
    times.sort();
    let script = text("spin.script.txt");
    let heads = script.lines().filter(|line| line.contains("cpu-clock"));
    let mut expected: Vec<_> =
        heads.map(|head| head.split_whitespace().nth(2).unwrap().to_owned()).collect();
    expected.sort();
    assert_eq!(times, expected);
}

#[test]
fn info_says_what_was_recorded_where() {
    let summary = info(Format::PerfData, &read("spin.perf.data"));
    let value = |key: &str| {
        let data = summary["metadata"].as_array().unwrap().iter();
        data.filter(|datum| datum["key"] == key)
            .map(|datum| datum["value"].as_str().unwrap())
            .next()
    };
    assert_eq!(value("hostname"), Some("vm"));
    assert_eq!(value("arch"), Some("x86_64"));
    assert_eq!(value("os release"), Some("6.18.44-fc-v595"));
    assert!(value("cmdline").unwrap().ends_with("-g -o spin.perf.data ./spin"));
    let library = &summary["profile"]["unnamed"][0];
    assert_eq!(library["library"], "/usr/lib/x86_64-linux-gnu/libm.so.6");
    assert_eq!((library["share"].as_f64().unwrap() * 10_000.0).round(), 7245.0);
    assert_eq!(broken(Format::PerfData, &read("spin.perf.data")), [""; 0]);
}

/// Writes a recording.
struct Writer {
    is_big: bool,
    bytes: Vec<u8>,
}

impl Writer {
    fn number(&mut self, value: u64, size: usize) -> &mut Self {
        if self.is_big {
            self.bytes.extend(&value.to_be_bytes()[8 - size..])
        } else {
            self.bytes.extend(&value.to_le_bytes()[..size])
        }
        self
    }

    fn words(&mut self, values: &[u64]) -> &mut Self {
        values.iter().for_each(|value| _ = self.number(*value, 8));
        self
    }

    fn attribute(&mut self, kind: u64, config: u64, sample_type: u64, branches: u64) {
        let flags = 1u64 << 18 | 1 << 10;
        let flags = if self.is_big { flags.reverse_bits() } else { flags };
        self.number(kind, 4).number(128, 4).words(&[config, 99, sample_type, 0, flags, 0, 0, 0]);
        self.words(&[branches, 0, 0, 0, 0, 0, 0]);
    }

    fn record(&mut self, kind: u64, misc: u64, body: &[u8]) {
        self.number(kind, 4).number(misc, 2).number(body.len() as u64 + 8, 2);
        self.bytes.extend(body);
    }

    fn of(is_big: bool, write: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut writer = Self { is_big, bytes: Vec::new() };
        write(&mut writer);
        writer.bytes
    }
}

const IP_TID_TIME_CHAIN_ID: u64 = 1 | 2 | 4 | 1 << 5 | 1 << 16;
const KERNEL: u64 = -128i64 as u64;
const USER: u64 = -512i64 as u64;

/// The records of a program: two events (ids 7 and 8), whose thread is renamed, forks and runs another
/// program.
fn story(is_big: bool) -> Vec<(u64, u64, Vec<u8>)> {
    let body = |write: &dyn Fn(&mut Writer)| Writer::of(is_big, |writer| write(writer));
    let trailer = |writer: &mut Writer, pid: u64, time: u64| {
        writer.number(pid, 4).number(pid, 4).words(&[time, 7]);
    };
    let map = |pid: u64, start: u64, file: &str, time: u64| {
        body(&|writer| {
            writer.number(pid, 4).number(pid, 4).words(&[start, 0x1000, 0]);
            let mut name = file.as_bytes().to_vec();
            name.resize(file.len() / 8 * 8 + 8, 0);
            writer.bytes.extend(name);
            trailer(writer, pid, time);
        })
    };
    let comm = |pid: u64, name: &[u8; 8], time: u64| {
        body(&|writer| {
            writer.number(pid, 4).number(pid, 4).bytes.extend(name);
            trailer(writer, pid, time);
        })
    };
    let fork = body(&|writer| {
        [20, 10, 20, 10].iter().for_each(|id| _ = writer.number(*id, 4));
        writer.words(&[50]);
        trailer(writer, 10, 50);
    });
    let sample = |pid: u64, time: u64, id: u64, chain: &[u64]| {
        body(&|writer| {
            writer.words(&[id, chain[1]]).number(pid, 4).number(pid, 4).words(&[time]);
            writer.words(&[chain.len() as u64]).words(chain);
        })
    };
    let kernel = u64::from(u32::MAX);
    vec![
        (9, 2, sample(20, 90, 8, &[USER, 0x5001])),
        (9, 1, sample(10, 40, 7, &[KERNEL, 0xffff_8000_0000_0010, USER, 0x1010, 0x2020])),
        (9, 2, sample(10, 20, 7, &[USER, 0x1010])),
        (9, 2, sample(20, 60, 7, &[USER, 0x1010, 0x9999])),
        (1, 0, map(10, 0x1000, "/bin/one", 10)),
        (1, 0, map(10, 0x2000, "//anon", 11)),
        (1, 1, map(kernel, 0xffff_8000_0000_0000, "[kernel.kallsyms]_text", 0)),
        (3, 0, comm(10, b"first\0\0\0", 5)),
        (3, 0, comm(10, b"second\0\0", 30)),
        (7, 0, fork),
        (3, 1 << 13, comm(20, b"third\0\0\0", 70)),
        (1, 0, map(20, 0x5000, "/bin/two", 71)),
        (
            2,
            0,
            body(&|writer| {
                writer.words(&[7, 5]);
                trailer(writer, 0, 80)
            }),
        ),
    ]
}

fn file(is_big: bool, records: &[(u64, u64, Vec<u8>)]) -> Vec<u8> {
    let data = Writer::of(is_big, |writer| {
        records.iter().for_each(|(kind, misc, body)| writer.record(*kind, *misc, body));
    });
    Writer::of(is_big, |writer| {
        writer.bytes.extend(if is_big { b"2ELIFREP" } else { b"PERFILE2" });
        // The ids of both events, their attributes, the records.
        writer.words(&[104, 144, 120, 288, 408, data.len() as u64, 0, 0, 0, 0, 0, 0]);
        writer.bytes.resize(104, 0);
        writer.words(&[7, 8]);
        for (config, ids) in [(0, 104), (3, 112)] {
            writer.attribute(0, config, IP_TID_TIME_CHAIN_ID, 0);
            writer.words(&[ids, 8]);
        }
        writer.bytes.extend(data);
    })
}

fn pipe(is_big: bool, records: &[(u64, u64, Vec<u8>)]) -> Vec<u8> {
    Writer::of(is_big, |writer| {
        writer.bytes.extend(if is_big { b"2ELIFREP" } else { b"PERFILE2" });
        writer.words(&[16]);
        for (config, id) in [(0, 7), (3, 8)] {
            let body = Writer::of(is_big, |writer| {
                writer.attribute(0, config, IP_TID_TIME_CHAIN_ID, 0);
                writer.words(&[id]);
            });
            writer.record(64, 0, &body);
        }
        let host = Writer::of(is_big, |writer| {
            writer.words(&[3]).number(8, 4).bytes.extend(b"box\0\0\0\0\0");
        });
        writer.record(80, 0, &host);
        records.iter().for_each(|(kind, misc, body)| writer.record(*kind, *misc, body));
    })
}

/// Stacks as text: process, name of the thread, functions outermost first, values.
fn told(profile: &Profile) -> Vec<String> {
    let mut frames = Vec::new();
    let row = |row: dumptool::model::profile::Aggregate| {
        profile.stacks.outermost_first(row.stack, &mut frames);
        let names: Vec<_> = frames.iter().map(|id| profile.function_name(*id)).collect();
        let thread = profile.thread(row.thread);
        let values: Vec<_> =
            profile.metrics_in_order().iter().map(|of| row.values.get(of)).collect();
        let name = profile.label_value(thread, "comm");
        format!("{} {name} {} {values:?}", thread.pid, names.join(";"))
    };
    let mut rows: Vec<_> = profile.aggregate.iter().map(row).collect();
    rows.sort();
    rows
}

const TOLD: [&str; 4] = [
    "10 first [one] [1, 1, 0]",
    "10 second [perf-10.map];[one];[kernel.kallsyms] [1, 1, 0]",
    "20 second [unknown];[one] [1, 1, 0]",
    "20 third [two] [1, 0, 1]",
];

#[test]
fn processes_and_names_hold_by_time_in_files_and_pipes_of_both_byte_orders() {
    for is_big in [false, true] {
        for (way, bytes) in
            [("file", file(is_big, &story(is_big))), ("pipe", pipe(is_big, &story(is_big)))]
        {
            let profile = load(&bytes);
            assert_eq!(told(&profile), TOLD, "{way} {is_big}");
            let names: Vec<_> =
                profile.metrics_in_order().iter().map(|of| of.name().to_owned()).collect();
            assert_eq!(names, ["samples", "cycles", "cache-misses"]);
            assert_eq!(profile.default_metric().name(), "cycles");
            let kernel = profile.frames.iter().filter(|frame| frame.kind == FrameKind::Kernel);
            assert_eq!(kernel.count(), 1);
            let summary = info(Format::PerfData, &bytes);
            let warnings = summary["warnings"].to_string();
            assert!(warnings.contains("perf's buffer was full: 5"), "{warnings}");
            assert_eq!(broken(Format::PerfData, &bytes), ["records.lost"]);
        }
    }
    assert_eq!(load(&pipe(false, &story(false))).metadatum("hostname"), Some("box"));
}

#[test]
fn compressed_records_are_one_stream_whose_parts_end_anywhere() {
    let inner = Writer::of(false, |writer| {
        story(false).iter().for_each(|(kind, misc, body)| writer.record(*kind, *misc, body));
    });
    let packed = zstd::encode_all(&*inner, 3).unwrap();
    let parts: Vec<_> =
        packed.chunks(packed.len() / 3 + 1).map(|part| (81, 0, part.to_vec())).collect();
    assert_eq!(told(&load(&file(false, &parts))), TOLD);
    let counted = |part: &[u8]| [&(part.len() as u64).to_le_bytes()[..], part, &[0; 5]].concat();
    let parts: Vec<_> = packed.chunks(100).map(|part| (83, 0, counted(part))).collect();
    assert_eq!(told(&load(&file(false, &parts))), TOLD);
}

#[test]
fn branches_of_calls_are_the_stack() {
    let body = Writer::of(false, |writer| {
        writer.words(&[7, 0x1010]).number(10, 4).number(10, 4).words(&[20]);
        writer.words(&[4, KERNEL, 0xffff_8000_0000_0010, USER, 0x1010]);
        writer.words(&[2, 0x2010, 0x1000, 0, 0x5010, 0x2000, 0]);
    });
    let maps = story(false).into_iter().filter(|(kind, ..)| *kind == 1 || *kind == 3);
    let mut records: Vec<_> = maps.collect();
    records.push((9, 1, body));
    let mut bytes = file(false, &records);
    for attribute in [120, 264] {
        let sample_type = IP_TID_TIME_CHAIN_ID | 1 << 11;
        bytes[attribute + 24..][..8].copy_from_slice(&sample_type.to_le_bytes());
        bytes[attribute + 72..][..8].copy_from_slice(&(1u64 << 11).to_le_bytes());
    }
    let told = told(&load(&bytes));
    assert_eq!(told, ["10 first [unknown];[perf-10.map];[one];[kernel.kallsyms] [1, 1, 0]"]);
}

#[test]
fn a_recording_that_was_cut_off_gives_what_it_has() {
    let bytes = file(false, &story(false));
    let mut unfinished = bytes.clone();
    unfinished[48..56].fill(0);
    for bytes in [&bytes[..bytes.len() - 10], &unfinished] {
        let loaded =
            input::load_profile(Format::PerfData, bytes, ProfileOptions::default()).unwrap();
        assert!(loaded.damage.is_some());
        assert_eq!(loaded.profile.total.samples(), 4);
        assert_eq!(loaded.profile.total.get(&Metric::SAMPLES), 4);
    }
}

#[test]
fn damage_is_found_and_not_amplified() {
    damage(Format::PerfData, &read("spin.perf.data"), 100, 300);
    damage(Format::PerfData, &read("spin_z.perf.data"), 60, 200);
    damage(Format::PerfData, &pipe(true, &story(true)), 60, 200);
}
