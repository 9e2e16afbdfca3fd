//! Names for addresses: `fixtures/perf-data/spin.exe.zst` is the program, and its profile is made
//! here, so that every address is known.
#![cfg(feature = "symbols")]

use crate::support::dart::uleb;
use dumptool::input::load::{NameCode, ProfileOptions};
use dumptool::input::{self, Format};
use dumptool::model::profile::Profile;
use dumptool::symbols::Symbols;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const BUILD_ID: &str = "6b05fa5952495f60c95db4580c68c0f02f1f0e55";
const START: u64 = 0x55e1_d6f5_8000;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/perf-data").join(name)
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [uleb(field << 3), uleb(value)].concat()
}

fn bytes(field: u64, bytes: &[u8]) -> Vec<u8> {
    [uleb(field << 3 | 2), uleb(bytes.len() as u64), bytes.to_vec()].concat()
}

/// A pprof of stacks of offsets in the program's file, innermost first, each counted once.
fn profile(path: &str, build_id: &str, stacks: &[&[u64]]) -> Vec<u8> {
    let mut out = bytes(1, &[number(1, 1), number(2, 2)].concat());
    let mut places: Vec<u64> = Vec::new();
    for stack in stacks {
        let mut sample = Vec::new();
        for place in *stack {
            let known = places.iter().position(|known| known == place).unwrap_or_else(|| {
                places.push(*place);
                places.len() - 1
            });
            sample.extend(number(1, known as u64 + 1));
        }
        sample.extend(number(2, 1));
        out.extend(bytes(2, &sample));
    }
    let mapping = [(1, 1), (2, START), (3, START + 0x1000), (4, 0x1000), (5, 3), (6, 4)];
    out.extend(bytes(3, &mapping.map(|(field, value)| number(field, value)).concat()));
    for (row, place) in places.iter().enumerate() {
        let fields = [(1, row as u64 + 1), (2, 1), (3, START + place - 0x1000)];
        out.extend(bytes(4, &fields.map(|(field, value)| number(field, value)).concat()));
    }
    ["", "samples", "count", path, build_id]
        .iter()
        .for_each(|text| out.extend(bytes(6, text.as_bytes())));
    out
}

fn load(file: &[u8], symbols: &Symbols) -> Profile {
    let options = ProfileOptions::default().symbols(Some(symbols as &dyn NameCode));
    input::load_profile(Format::Pprof, file, options).unwrap().profile
}

/// The stacks of a profile, outermost first: function and line of each frame.
fn stacks(profile: &Profile) -> Vec<String> {
    let mut frames = Vec::new();
    let stack = |row: dumptool::model::profile::Aggregate| {
        profile.stacks.outermost_first(row.stack, &mut frames);
        let names = frames.iter().map(|id| match profile.frame(*id).line {
            0 => profile.function_name(*id).to_owned(),
            line => format!("{}:{line}", profile.function_name(*id)),
        });
        names.collect::<Vec<_>>().join(";")
    };
    profile.aggregate.iter().map(stack).collect()
}

const STACKS: [&[u64]; 4] =
    [&[0x12dd, 0x1324, 0x139d], &[0x1239, 0x1318, 0x139d], &[0x1040, 0x1239], &[0x1430]];

const NAMES: [&str; 4] = [
    "main:7;outer:6;roots:5",
    "main:7;outer:6;sines:4;std::sin<int>:438",
    "sines:4;std::sin<int>:438;sin@plt",
    // `_fini` has no size, and so no address after its first one.
    "[spin]",
];

#[test]
fn addresses_get_functions_inlined_ones_lines_and_stubs() {
    let symbols = Symbols::new(vec![fixture("spin.exe.zst")]);
    let named = load(&profile("/data/app/native/spin", BUILD_ID, &STACKS), &symbols);
    assert_eq!(stacks(&named), NAMES);
    assert_eq!(symbols.take_unused(), []);
    assert!(named.code.is_none(), "places are kept only where they are asked for");
}

#[test]
fn without_a_build_id_a_file_of_the_name_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let file = profile("/data/app/native/spin", "", &STACKS);
    for name in ["spin", "spin.debug", "data/app/native/spin"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(fixture("spin.exe.zst"), &path).unwrap();
        let symbols = Symbols::new(vec![folder.path().to_owned()]);
        assert_eq!(stacks(&load(&file, &symbols)), NAMES, "{name}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_folder_is_searched_by_build_id() {
    let (folder, file) = (tempfile::tempdir().unwrap(), profile("/x/other", BUILD_ID, &STACKS));
    let below = format!(".build-id/{}/{}.debug", &BUILD_ID[..2], &BUILD_ID[2..]);
    for name in ["any name", &below] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(fixture("spin.exe.zst"), &path).unwrap();
        let symbols = Symbols::new(vec![folder.path().to_owned()]);
        assert_eq!(stacks(&load(&file, &symbols))[..3], NAMES[..3], "{name}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_file_of_another_build_is_refused_by_name() {
    let other = format!("00{}", &BUILD_ID[2..]);
    let symbols = Symbols::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spin");
    fs::copy(fixture("spin.exe.zst"), &path).unwrap();
    let named = load(&profile(path.to_str().unwrap(), &other, &STACKS), &symbols);
    assert_eq!(stacks(&named), ["[spin];[spin];[spin]", "[spin];[spin]", "[spin]"]);
    let unused = symbols.take_unused();
    assert_eq!(unused.len(), 1);
    assert_eq!(
        unused[0].to_string(),
        format!(
            "symbols of {} are not used: its build id is {BUILD_ID}, that of the recording is {other}",
            path.display()
        )
    );
}

fn dumptool(arguments: &[&str]) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_dumptool")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn a_converted_profile_has_names_and_keeps_its_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("in.pb"), folder.path().join("out.pb"));
    fs::write(&from, profile("/data/app/native/spin", BUILD_ID, &STACKS)).unwrap();
    let (program, from, to) =
        (fixture("spin.exe.zst"), from.to_str().unwrap(), to.to_str().unwrap());
    let program = program.to_str().unwrap();
    dumptool(&["convert", from, to, "--symbols", program]);
    let written = dumptool::Source::open(Path::new(to)).unwrap();
    let named = load(written.bytes(), &Symbols::default());
    assert_eq!(stacks(&named), NAMES);
    let (locations, _) = dumptool(&["cat", to, "--record", "location"]);
    assert!(locations.contains(&format!("address={:#x}", START + 0x239)), "{locations}");

    let (found, _) = dumptool(&["find", from, "--function", "roots", "--symbols", program]);
    assert!(found.contains("spin.cpp:5"), "{found}");
    let (_, error) = dumptool(&["info", from, "--symbols", "/nonexistent"]);
    assert!(error.contains("--symbols: /nonexistent does not exist"), "{error}");
}

#[test]
fn info_says_which_share_has_no_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.pb");
    fs::write(&path, profile("/data/app/native/spin", BUILD_ID, &STACKS)).unwrap();
    let path = path.to_str().unwrap();
    let program = fixture("spin.exe.zst");
    let (plain, _) = dumptool(&["info", path]);
    assert!(
        plain.contains(
            "100.0 % of samples is in /data/app/native/spin, of which no symbols were found"
        ),
        "{plain}"
    );
    let (named, _) = dumptool(&["info", path, "--symbols", program.to_str().unwrap()]);
    assert!(named.contains("25.0 % of samples is in /data/app/native/spin"), "{named}");
}

#[test]
fn a_file_without_proof_is_used_only_if_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spin");
    fs::copy(fixture("spin.exe.zst"), &path).unwrap();
    let file = profile(path.to_str().unwrap(), "", &STACKS);
    let unnamed = ["[spin];[spin];[spin]", "[spin];[spin]", "[spin]"];
    assert_eq!(stacks(&load(&file, &Symbols::default())), unnamed);
    assert_eq!(stacks(&load(&file, &Symbols::new(vec!["/".into()]))), NAMES);
}

#[test]
fn symbols_are_refused_for_inputs_without_addresses() {
    let heap = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/go/tiny_go127.heapdump.zst");
    let (_, error) = dumptool(&["top", heap.to_str().unwrap(), "--symbols", "/tmp"]);
    assert!(error.contains("--symbols applies to profiles with addresses"), "{error}");
}

#[test]
fn damaged_programs_name_what_they_can() {
    let packed = fs::read(fixture("spin.exe.zst")).unwrap();
    let whole = zstd::decode_all(&*packed).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spin");
    let file = profile("/data/app/native/spin", "", &STACKS);
    let look_up = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        stacks(&load(&file, &Symbols::new(vec![path.clone()]))).len()
    };
    for step in 0..40 {
        assert!(look_up(&whole[..whole.len() * step / 40]) >= 1);
    }
    let mut damaged = whole.clone();
    for step in 0..400usize {
        let at = step.wrapping_mul(0x9e37_79b9) % whole.len();
        damaged[at] ^= 1 << (step % 8);
        assert!(look_up(&damaged) >= 1);
        if step % 4 == 3 {
            damaged.copy_from_slice(&whole);
        }
    }
}
