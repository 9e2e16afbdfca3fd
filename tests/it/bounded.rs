//! What hostile profiles may cost: stacks, names, memory and output are bounded, and what was left
//! out is said.

use crate::support::hprof;
use crate::support::mojo::Mojo;
use dumptool::error::ErrorKind;
use dumptool::input::load::{MemoryLimit, ProfileOptions};
use dumptool::input::{self, Format};
use dumptool::model::names::Names;
use dumptool::model::profile::{Profile, StackTree};
use std::path::Path;
use std::process::{Command, Output};

const DEEPEST: usize = StackTree::DEEPEST as usize;

fn load(format: Format, bytes: &[u8]) -> Profile {
    input::load_profile(format, bytes, ProfileOptions::default()).unwrap().profile
}

fn dumptool(arguments: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dumptool")).args(arguments).arg(file).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn header() -> Mojo {
    let mut file = Mojo::new(4);
    file.metadata("mode", "wall").string(5, "a.py").string(6, "f");
    (1..=60).for_each(|key| _ = file.frame(key, 5, 6, key));
    file
}

fn frames(file: &mut Mojo, key: i128, count: usize) {
    (0..count).for_each(|_| _ = file.frame_ref(key));
}

/// Samples of stacks that begin differently and are as deep as can be, which zstd makes very small.
fn deep(samples: i128) -> Vec<u8> {
    let mut file = header();
    for sample in 1..=samples {
        file.stack(1, 0, "a").frame_ref(sample);
        frames(&mut file, 1, DEEPEST - 1);
        file.time(1);
    }
    file.0
}

/// Samples that repeat a deep stack in a few bytes.
fn repeated() -> Vec<u8> {
    let mut file = header();
    file.stack(1, 0, "a");
    frames(&mut file, 1, 20_000);
    file.time(1);
    (0..1000).for_each(|_| _ = file.stack(1, 0, "a").id(13).time(1));
    file.0
}

/// A profile of the JDK with a sample in a trace of each of these depths.
fn java_profile(depths: &[usize]) -> Vec<u8> {
    let mut file = hprof::File::new("1.0.2", 8);
    let method = file.string("f");
    let frame = [file.id(1), file.id(method), file.id(0), file.id(0)].concat();
    file.record(0x04, &[&frame, &[0; 8]]);
    let mut samples = [depths.len() as u32, depths.len() as u32].map(u32::to_be_bytes).concat();
    for (trace, depth) in (1u32..).zip(depths) {
        let head = [trace, 0, *depth as u32].map(u32::to_be_bytes).concat();
        file.record(0x05, &[&head, &file.id(1).repeat(*depth)]);
        samples.extend([1, trace].map(u32::to_be_bytes).concat());
    }
    file.record(0x0d, &[&samples]).bytes.clone()
}

#[test]
fn stacks_beyond_the_deepest_are_cut_and_counted() {
    let mut file = header();
    for depth in [DEEPEST, DEEPEST + 1, 3] {
        file.stack(1, 0, "a");
        frames(&mut file, 1, depth);
        file.time(7);
    }
    let text = format!(
        "P1;T0:1{} 7\nP1;T0:1{} 7\n",
        ";a.py:f:1".repeat(DEEPEST),
        ";a.py:f:1".repeat(DEEPEST + 9)
    );
    let java = java_profile(&[DEEPEST, DEEPEST + 1]);
    let formats = [
        (Format::Mojo, &file.0[..], 3),
        (Format::Austin, text.as_bytes(), 2),
        (Format::Hprof, &java, 2),
    ];
    for (format, bytes, samples) in formats {
        let profile = load(format, bytes);
        assert_eq!(profile.notes.deep, 1, "{format:?}");
        assert_eq!(
            profile.stacks.depths().into_iter().max(),
            Some(StackTree::DEEPEST),
            "{format:?}"
        );
        assert_eq!(profile.total.samples(), samples, "{format:?}");
        // Java's profiles say no time.
        assert_eq!(
            profile.total.time(),
            if format == Format::Hprof { 0 } else { 7 * samples as i64 },
            "{format:?}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep.mojo");
    std::fs::write(&path, &file.0).unwrap();
    assert!(
        stderr(&dumptool(&["top"], &path))
            .contains("1 stack is deeper than 65 536 frames and was truncated")
    );
}

#[test]
fn long_names_are_cut_and_counted() {
    let mut file = header();
    file.string(7, "n".repeat(70_000)).frame(90, 5, 7, 1).stack(1, 0, "a").frame_ref(90).time(1);
    let profile = load(Format::Mojo, &file.0);
    assert_eq!(profile.names.cut(), 1);
    let name = profile.function_name(profile.stacks.leaf(profile.aggregate.get(0).stack).unwrap());
    assert_eq!(
        name.split_once('…').map(|(kept, rest)| (kept.len(), rest)),
        Some((Names::LONGEST, " (70000 bytes)"))
    );
}

#[test]
fn a_profile_that_takes_more_than_it_may_is_refused() {
    let bytes = deep(10);
    let load = |most| {
        let mut options = ProfileOptions::default();
        options.memory = MemoryLimit { most, per_stack: 100 };
        input::load_profile(Format::Mojo, &bytes, options)
    };
    assert_eq!(load(8 << 20).err().map(|error| error.kind()), Some(ErrorKind::Memory));
    assert!(load(1 << 30).is_ok());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep.mojo");
    std::fs::write(&path, &bytes).unwrap();
    for command in ["tree", "find"] {
        let refused = dumptool(&[command, "--max-memory", "8MiB"], &path);
        assert_eq!(refused.status.code(), Some(2), "{command}");
        assert!(
            stderr(&refused).contains("the profile needs more memory than the limit of 8.0 MiB"),
            "{}",
            stderr(&refused)
        );
        assert!(dumptool(&[command], &path).status.success(), "{command}");
    }
}

#[test]
fn a_small_compressed_profile_may_not_take_gigabytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep.mojo.zst");
    std::fs::write(&path, zstd::encode_all(&deep(60)[..], 3).unwrap()).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < 100 << 10);
    for command in ["top", "tree"] {
        let refused = dumptool(&[command], &path);
        assert_eq!(refused.status.code(), Some(2), "{command}: {}", stderr(&refused));
    }
}

/// Tables of nothing but empty rows, which are two or three bytes in the file.
#[test]
fn tables_that_take_more_than_they_may_are_refused_before_they_are_read() {
    let row = br#"{"id":1,"callFrame":{"functionName":"f"}}"#;
    let nodes = [&br#"{"nodes":["#[..], row, &b",{}".repeat(500_000), b"]}"].concat();
    let samples =
        [&br#"{"nodes":["#[..], row, br#"],"samples":[1"#, &b",1".repeat(900_000), b"]}"].concat();
    let deltas =
        [&br#"{"nodes":["#[..], row, br#"],"timeDeltas":[1"#, &b",1".repeat(3 << 20), b"]}"]
            .concat();
    // A sample type, then functions, or a sample of many locations.
    let functions = [&[0x0a, 2, 8, 1][..], &[0x2a, 0].repeat(800_000)].concat();
    let locations = [
        &[0x0a, 2, 8, 1, 0x12, 0x84, 0x80, 0xc0, 1, 0x0a, 0x80, 0x80, 0xc0, 1][..],
        &vec![1; 3 << 20],
    ]
    .concat();
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("nodes.cpuprofile", &nodes),
        ("samples.cpuprofile", &samples),
        ("deltas.cpuprofile", &deltas),
        ("functions.pb", &functions),
        ("locations.pb", &locations),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let is_v8 = name.ends_with("cpuprofile");
        for command in ["top", "tree", "info", "check", "cat"] {
            let ended = dumptool(&[command, "--max-memory", "20MiB"], &path);
            // `cat` keeps nothing of a pprof profile, and `check` no stacks.
            let needs = is_v8 || command != "cat" && (command != "check" || name != "locations.pb");
            assert_eq!(
                ended.status.code() == Some(2),
                needs,
                "{command} {name}: {}",
                stderr(&ended)
            );
            assert!(!needs || stderr(&ended).contains("than the limit of 20.0 MiB"), "{name}");
        }
    }
}

#[test]
fn an_output_out_of_all_proportion_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repeat.mojo");
    std::fs::write(&path, repeated()).unwrap();
    let out = folder.path().join("out.austin");
    let refused = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .arg("convert")
        .args([&path, &out])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("too much for the size of the input")
            && stderr(&refused).contains("--to folded"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left of it");
    let folded = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .arg("convert")
        .arg(&path)
        .args(["-", "--to", "folded"])
        .output()
        .unwrap();
    assert!(folded.status.success());
}

#[cfg(unix)]
#[test]
fn an_endless_device_is_refused_at_once() {
    let refused = dumptool(&["info"], Path::new("/dev/zero"));
    assert!(stderr(&refused).contains("begins with zeros"), "{}", stderr(&refused));
}
