//! What is left behind when a command cannot go on: full disks, folders that cannot be written, signals, an input that
//! becomes shorter while it is read.
#![cfg(unix)]

mod support;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use support::fixture;
use support::mojo::Mojo;

fn dumptool() -> Command {
    Command::new(env!("CARGO_BIN_EXE_dumptool"))
}

/// A profile whose conversion takes far longer than a test needs to interrupt it: the samples of a small one, repeated.
fn large_profile(folder: &Path) -> PathBuf {
    let small = fs::read(fixture("mojo/tiny-4.0.0-full-gc-mem.mojo")).unwrap();
    let path = folder.join("large.mojo");
    // The header is the magic and the version; metadata may be repeated.
    fs::write(&path, [&small[..4], &small[4..].repeat(3000)].concat()).unwrap();
    path
}

/// What a command leaves in a folder besides the input, once it has ended.
fn left(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "large.mojo");
    names.sort();
    names
}

fn wait_for_a_temporary_file(folder: &Path, child: &mut Child) {
    while !left(folder).iter().any(|name| name.starts_with(".dumptool-")) {
        assert!(child.try_wait().unwrap().is_none(), "the conversion ended before it could be stopped");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_interrupted_conversion_leaves_nothing() {
    for signal in ["INT", "TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let input = large_profile(folder.path());
        let out = folder.path().join("out.austin");
        let mut child = dumptool().arg("convert").args([&input, &out]).stderr(Stdio::null()).spawn().unwrap();
        wait_for_a_temporary_file(folder.path(), &mut child);
        Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert!(left(folder.path()).is_empty(), "{signal}: {:?}", left(folder.path()));
    }
}

#[test]
fn a_limit_on_file_sizes_is_an_error_like_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let input = large_profile(folder.path());
    let out = folder.path().join("out.austin");
    let program = env!("CARGO_BIN_EXE_dumptool");
    let script = format!("ulimit -f 100; exec '{program}' convert '{}' '{}'", input.display(), out.display());
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert!(text(&output).contains("cannot write: File too large"), "{}", text(&output));
    assert!(left(folder.path()).is_empty(), "{:?}", left(folder.path()));
}

#[test]
fn what_waits_for_its_place_in_the_output_needs_room_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = Mojo::of_new_stacks();
    let (input, out) = (folder.path().join("large.mojo"), folder.path().join("out.speedscope.json"));
    fs::write(&input, file.0).unwrap();
    let program = env!("CARGO_BIN_EXE_dumptool");
    let script = format!("ulimit -f 100; exec '{program}' convert --aggregate '{}' '{}'", input.display(), out.display());
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert!(text(&output).contains("out.speedscope.json: cannot write: File too large"), "{}", text(&output));
    assert!(left(folder.path()).is_empty(), "{:?}", left(folder.path()));
}

#[test]
fn a_full_device_and_a_folder_that_takes_no_files_are_status_4() {
    let input = fixture("mojo/tiny-4.0.0-full-gc-mem.mojo");
    for out in ["/dev/full", "/proc/out.austin", "/no/such/folder/out.austin"] {
        let output = dumptool().arg("convert").arg(&input).args([out, "--to", "austin"]).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{out}: {}", text(&output));
        assert!(text(&output).starts_with(&format!("error: {out}: cannot write")), "{}", text(&output));
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = dumptool().arg("cat").arg(&input).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let input = large_profile(folder.path());
    let mut child = dumptool().arg("cat").arg(&input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("metadata"));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(0), ""));
}

#[test]
fn an_input_that_becomes_shorter_is_said_and_not_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let input = large_profile(folder.path());
    let mut child = dumptool().arg("cat").arg(&input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    // The first bytes are there, the pipe is full, and most of the input has not been read.
    stdout.read_exact(&mut [0; 10]).unwrap();
    File::options().write(true).open(&input).unwrap().set_len(0).unwrap();
    std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("the input became shorter while it was read"), "{}", text(&output));
}

#[test]
fn a_closed_pipe_is_no_error_for_any_target() {
    let folder = tempfile::tempdir().unwrap();
    let profile = large_profile(folder.path());
    let heap = fixture("go/tiny_go127.heapdump.zst");
    let heap_targets = ["hprof", "heapsnapshot", "csv", "jsonl"];
    let profile_targets = ["csv", "jsonl", "speedscope", "firefox", "mojo", "austin"];
    let conversions =
        heap_targets.map(|target| (&heap, target)).into_iter().chain(profile_targets.map(|target| (&profile, target)));
    for (input, target) in conversions {
        let mut child = dumptool();
        child.arg("convert").arg(input).args(["-", "--quiet", "--to", target]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        // More than a pipe holds is still to come.
        child.stdout.take().unwrap().read_exact(&mut [0; 10]).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output).as_str()), (Some(0), ""), "{target}");
    }
}

#[test]
fn a_standard_error_that_takes_nothing_changes_no_status() {
    let folder = tempfile::tempdir().unwrap();
    let heap = fixture("go/tiny_go127.heapdump.zst");
    let run = |arguments: &[&str]| {
        let full = File::options().write(true).open("/dev/full").unwrap();
        dumptool().args(arguments).stdout(Stdio::null()).stderr(full).status().unwrap().code()
    };
    let heap = heap.to_str().unwrap();
    assert_eq!(run(&["convert", heap, folder.path().join("out.hprof").to_str().unwrap()]), Some(0));
    assert_eq!(run(&["check", heap, "--max", "total.count=1", "-v"]), Some(1));
    assert_eq!(run(&["top", "--by", "colour", heap]), Some(2));
    assert_eq!(run(&["info", "/no/such/file"]), Some(3));
}

#[test]
fn an_output_keeps_the_permissions_of_what_it_replaces() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.hprof");
    fs::write(&out, "").unwrap();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o600)).unwrap();
    let status = dumptool().args(["convert", "-q"]).arg(fixture("go/tiny_go127.heapdump.zst")).arg(&out).status().unwrap();
    assert!(status.success());
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
}
