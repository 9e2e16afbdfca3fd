//! Every command on small hostile files: memory and output stay in proportion to what was read,
//! whatever a file claims.
//!
//! The files are those of `tests/support/hostile.rs` and of the folders that DUMPTOOL_HOSTILE names.
//! Each command runs in a process of its own, whose peak of memory, processor time and output are
//! measured.
#![cfg(unix)]
#![allow(unsafe_code)]

use crate::support::hostile::{FAMILIES, files, program};
use rayon::prelude::*;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Bytes of memory, and of output, that any command may take for an input of at most 1 MiB.
const MEMORY: u64 = 300 << 20;
const OUTPUT: u64 = 64 << 20;
const INPUT: u64 = 1 << 20;

/// Seconds of processor time after which a command is ended. A build for debugging is slower.
const SECONDS: u64 = if cfg!(debug_assertions) { 60 } else { 10 };

/// How much larger the large file of a family is than the small one. Four doublings of the cost of
/// a step would be 16 times.
const GROWTH: usize = 4;

/// What a run took.
#[derive(Clone, Copy, Debug)]
struct Cost {
    status: ExitStatus,
    memory: u64,
    output: u64,
    seconds: f64,
}

/// Runs the program with a file; `OUT` in the arguments is a path beside nothing else.
fn run(file: &Path, command: &str) -> (Cost, String) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut child = Command::new(env!("CARGO_BIN_EXE_dumptool"));
    for word in command.split(' ') {
        match word {
            "FILE" => child.arg(file),
            "EXE" => child.arg(file.with_extension("exe")),
            _ if word.starts_with("OUT") => child.arg(at(word)),
            _ => child.arg(word),
        };
    }
    child.stdout(File::create(at("stdout")).unwrap()).stderr(File::create(at("stderr")).unwrap());
    child.args(["--threads", "2"]).env("TMPDIR", folder.path());
    // What goes wrong must not take the machine with it.
    let limits = [
        (libc::RLIMIT_AS, 1 << 30),
        (libc::RLIMIT_FSIZE, 400 << 20),
        (libc::RLIMIT_CPU, SECONDS),
        (libc::RLIMIT_CORE, 0),
    ];
    // SAFETY: setrlimit may be called between fork and exec.
    unsafe {
        child.pre_exec(move || {
            for (resource, limit) in limits {
                libc::setrlimit(resource, &libc::rlimit { rlim_cur: limit, rlim_max: limit });
            }
            Ok(())
        });
    }
    let id = child.spawn().unwrap().id() as libc::pid_t;
    let (mut status, mut usage) = (0, unsafe { std::mem::zeroed::<libc::rusage>() });
    // SAFETY: the child was started above and nobody else waits for it; both pointers are to local
    // variables.
    assert_eq!(unsafe { libc::wait4(id, &mut status, 0, &mut usage) }, id);
    let mut output = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        assert!(!name.starts_with(".dumptool"), "{command} on {} leaves {name}", file.display());
        // Messages say that a limit was reached.
        if name != "stderr" {
            output += entry.metadata().unwrap().len();
        }
    }
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let seconds = usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6;
    let cost = Cost {
        status: ExitStatus::from_raw(status),
        memory: usage.ru_maxrss as u64 * unit,
        output,
        seconds,
    };
    (cost, String::from_utf8_lossy(&fs::read(at("stderr")).unwrap()).chars().take(300).collect())
}

/// The commands for a file, by what is in it. All of them print rows in the same way: one format
/// with all rows stands for the others.
fn commands(file: &Path) -> Vec<String> {
    const BOTH: &[&str] = &[
        "info --records FILE --format json",
        "cat FILE --contents --format jsonl",
        "check FILE --format json",
        "top FILE",
        "top FILE -n 0 --format json",
        "tree FILE --format json",
        "find FILE -n 0 --format json",
        "find FILE --format csv",
        "diff FILE FILE -n 0 --format json",
        "growth FILE FILE FILE -n 0 --format json",
        "report FILE -o OUT.html",
        "report FILE FILE -o OUT.html",
        "convert FILE OUT.svg",
        "convert FILE OUT.svg --base FILE",
    ];
    const HEAP: &[&str] = &[
        "top FILE --suspects",
        "top FILE --by root",
        "threads FILE",
        "waste FILE",
        "waste FILE -n 0 --format json",
        "threads FILE --each -n 0",
        "threads FILE --each -n 0 --format json",
        "path FILE --type *",
        "path FILE --type * -n 0 --format json",
        "path FILE OBJECT --format json",
        "path FILE OBJECT -k 1000",
        "path FILE OBJECT --dot",
        "show FILE OBJECT --format json",
        "convert FILE OUT.hprof",
        "convert FILE OUT.heapsnapshot",
        "convert FILE OUT.heapsnapshot --redact=hash",
        "convert FILE OUT.jsonl --table objects",
        "convert FILE OUT.csv --table references",
        "convert FILE OUT.folded",
        "convert FILE OUT.pb",
    ];
    const PROFILE: &[&str] = &[
        "top FILE --by line",
        "convert FILE OUT.austin",
        "convert FILE OUT.folded",
        "convert FILE OUT.pb",
        "convert FILE OUT.speedscope.json",
        "convert FILE OUT.json --to firefox",
        "convert FILE OUT.jsonl",
        "convert FILE OUT.mojo",
        "convert FILE OUT.csv --table samples",
        "convert FILE OUT.csv --table functions",
        "convert FILE OUT.hprof",
    ];
    const PROFILES: [&str; 16] = [
        ".mojo",
        ".austin",
        ".pb",
        ".folded",
        ".cpuprofile",
        ".heapprofile",
        ".speedscope",
        ".perf",
        ".jfr",
        ".heaptrack",
        ".dhat",
        ".massif",
        ".callgrind",
        ".cprof",
        ".chrome",
        ".firefox",
    ];
    const RECORDING: &[&str] = &["top FILE --suspects", "path FILE", "growth FILE"];
    // SQL without spaces, at which the words of a command are split.
    const HEAP_TABLES: &[&str] = &[
        "convert FILE OUT.parquet",
        "convert FILE OUT.parquet --table references",
        "convert FILE OUT.parquet --table strings --text all",
        "convert FILE OUT.parquet --table strings --redact",
        "query FILE",
        "query FILE select*from(objects) --format csv",
        "query FILE select*from(refs) --format csv",
        "query FILE select(count(*))from(refs)join(objects)on(dst=object)",
        "query FILE select(path(id))from(objects)limit(50) --format csv",
        "query FILE select*from(dump)",
    ];
    const PROFILE_TABLES: &[&str] = &[
        "convert FILE OUT.parquet",
        "convert FILE OUT.parquet --table stacks",
        "query FILE select*from(samples) --format csv",
        "query FILE select*from(functions) --format csv",
        "query FILE select*from(dump)",
    ];
    const HAS_TABLES: bool = cfg!(all(feature = "parquet", feature = "query"));
    let name = file.file_name().unwrap().to_string_lossy();
    let is_profile =
        PROFILES.iter().any(|profile| name.contains(profile)) || name.ends_with(".heap");
    let mut commands: Vec<_> = BOTH
        .iter()
        .chain(if is_profile { PROFILE } else { HEAP })
        .chain(if is_profile { PROFILE_TABLES } else { HEAP_TABLES }.iter().filter(|_| HAS_TABLES))
        .chain(if name.contains(".jfr") { RECORDING } else { &[] })
        .map(|&command| command.to_owned())
        .collect();
    let last = last_object(file);
    commands.iter_mut().for_each(|command| *command = command.replace("OBJECT", &last));
    if file.with_extension("exe").exists() {
        let is_typed = |command: &&mut String| !command.starts_with("c") || command.contains("OUT");
        commands.iter_mut().filter(is_typed).for_each(|command| command.push_str(" --exe EXE"));
    }
    commands
}

/// The object that was dumped last: the end of a chain.
fn last_object(file: &Path) -> String {
    let name = file.file_name().unwrap().to_string_lossy();
    match name.rsplit('.').next() {
        Some("hprof") => "0x3f8".to_owned(),
        Some("dartheap" | "heapsnapshot" | "heaptimeline" | "ruby") => {
            let bytes = crate::support::read(file);
            let info = crate::support::info(dumptool::detect::detect(&bytes).unwrap(), &bytes);
            let last = info["heap"]["snapshots"][0]["objects"].as_u64().unwrap_or(1);
            // Dart counts from 1.
            format!("#{}", if name.ends_with("dartheap") { last } else { last.saturating_sub(1) })
        }
        Some("heapdump") => "0x20000000".to_owned(),
        _ => "#1".to_owned(),
    }
}

/// What is wrong with a run, if anything is.
fn over_budget(file: &Path, command: &str, (cost, message): &(Cost, String)) -> Option<String> {
    let what = match (cost.status.code(), cost.status.signal()) {
        (None, Some(libc::SIGXCPU | libc::SIGKILL)) => format!("takes more than {SECONDS} s"),
        (None, signal) => format!("ends with signal {signal:?}"),
        (Some(0..=3), _) if message.contains("out of memory") => "runs out of memory".to_owned(),
        (Some(0..=3), _) if message.contains("panicked") => "panics".to_owned(),
        (Some(0..=3), _) if cost.memory > MEMORY => {
            format!("takes {} MiB of memory", cost.memory >> 20)
        }
        (Some(0..=3), _) if cost.output > OUTPUT => format!("writes {} MiB", cost.output >> 20),
        (Some(0..=3), _) => return None,
        (Some(status), _) => format!("ends with status {status}"),
    };
    Some(format!("{}: {command}: {what}: {message}", file.file_name().unwrap().to_string_lossy()))
}

/// What is wrong with how the cost of a command grows, if anything is.
fn out_of_proportion(file: &Path, command: &str, small: Cost, large: Cost) -> Option<String> {
    /// What every run takes, even one that only refuses its arguments (9 MiB).
    const PROGRAM: f64 = (8 << 20) as f64;
    /// Of blocks that are taken as a whole.
    const MEMORY_SLACK: f64 = (24 << 20) as f64;
    const OUTPUT_SLACK: f64 = (64 << 10) as f64;
    const SECONDS_SLACK: f64 = 0.5;
    // MOJO 3, which is written, cannot repeat a stack: it is spelt out, up to the limit of the
    // output, which check_budget holds.
    let spells_out =
        command.ends_with("OUT.mojo") && file.to_string_lossy().contains("repeated-stack");
    if spells_out {
        return None;
    }
    let bound = |small: f64, tolerance: f64| small * GROWTH as f64 * tolerance;
    let memory = PROGRAM + bound(small.memory as f64 - PROGRAM, 1.3) + MEMORY_SLACK;
    let what = if large.memory as f64 > memory {
        format!("memory grows from {} to {} MiB", small.memory >> 20, large.memory >> 20)
    } else if large.output as f64 > bound(small.output as f64, 1.3) + OUTPUT_SLACK {
        format!("output grows from {} to {} bytes", small.output, large.output)
    } else if large.seconds > bound(small.seconds, 2.0) + SECONDS_SLACK {
        format!("time grows from {:.2} to {:.2} s", small.seconds, large.seconds)
    } else {
        return None;
    };
    Some(format!(
        "{}: {command}: {what}, for {GROWTH} times the input",
        file.file_name().unwrap().to_string_lossy()
    ))
}

/// Reports all that is wrong.
fn assert_all_well(results: Vec<Option<String>>) {
    let wrong: Vec<_> = results.iter().flatten().map(|what| format!("{what}\n")).collect();
    assert!(wrong.is_empty(), "{} of {} runs:\n{}", wrong.len(), results.len(), wrong.concat());
}

fn check_budget(files: &[PathBuf]) {
    let runs: Vec<_> = files
        .iter()
        .flat_map(|file| commands(file).into_iter().map(move |command| (file, command)))
        .collect();
    let results = runs
        .into_par_iter()
        .map(|(file, command)| over_budget(file, &command, &run(file, &command)));
    assert_all_well(results.collect());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: add --release")]
fn small_files_take_little_memory_and_give_little_output() {
    let folder = tempfile::tempdir().unwrap();
    let paths = files().into_iter().map(|(name, bytes)| {
        assert!(bytes.len() as u64 <= INPUT, "{name}");
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    });
    check_budget(&paths.collect::<Vec<_>>());
}

#[test]
fn the_families_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    for family in FAMILIES {
        let path = folder.path().join(family.name);
        fs::write(&path, (family.file)(10)).unwrap();
        let (cost, message) = run(&path, "info FILE");
        assert!(cost.status.success(), "{}: {message}", family.name);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: add --release")]
fn larger_files_cost_as_much_more_as_they_are_larger() {
    let folder = tempfile::tempdir().unwrap();
    let mut runs = Vec::new();
    for family in FAMILIES {
        let mut sizes = Vec::new();
        let [small, large] =
            [("small", family.size / GROWTH), ("large", family.size)].map(|(name, size)| {
                let path = folder.path().join(format!("{name}-{}", family.name));
                let bytes = (family.file)(size);
                assert!(bytes.len() as u64 <= INPUT, "{}: {} bytes", family.name, bytes.len());
                sizes.push(bytes.len());
                fs::write(&path, bytes).unwrap();
                if family.name.starts_with("typed") {
                    fs::write(path.with_extension("exe"), program()).unwrap();
                }
                path
            });
        assert!(sizes[1] < sizes[0] * GROWTH * 3 / 2, "{}: {sizes:?} bytes", family.name);
        let of_large = commands(&large);
        runs.extend(
            commands(&small)
                .into_iter()
                .zip(of_large)
                .map(|commands| (small.clone(), large.clone(), commands)),
        );
    }
    let results = runs.into_par_iter().map(|(small, large, (of_small, command))| {
        let taken = run(&large, &command);
        // What is refused, because it would write too much, was bounded by that and not by the
        // small file's cost.
        if taken.1.contains("out of all proportion") {
            return over_budget(&large, &command, &taken);
        }
        over_budget(&large, &command, &taken).or_else(|| {
            // Time is what it is on a machine with other work: it is too much only if it is so
            // twice.
            let compare = |large_cost| {
                out_of_proportion(&large, &command, run(&small, &of_small).0, large_cost)
            };
            compare(taken.0).and_then(|_| compare(run(&large, &command).0))
        })
    });
    assert_all_well(results.collect());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: add --release")]
fn hostile_files_of_a_folder_stay_within_the_budget() {
    let Some(folder) = std::env::var_os("DUMPTOOL_HOSTILE") else {
        eprintln!("DUMPTOOL_HOSTILE is not set: only the project's own hostile files are tried");
        return;
    };
    let folders = std::env::split_paths(&folder);
    let mut paths: Vec<_> = folders.flat_map(|folder| crate::support::files(&folder)).collect();
    paths.retain(|path| {
        path.extension().is_none_or(|extension| extension != "md")
            && fs::metadata(path).unwrap().len() <= INPUT
    });
    assert!(!paths.is_empty(), "{} has no files of at most 1 MiB", folder.display());
    check_budget(&paths);
}
