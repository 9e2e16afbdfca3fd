//! What is left behind when a command cannot go on: full disks, folders that cannot be written,
//! signals, an input that becomes shorter while it is read.
#![cfg(unix)]

use crate::support::fixture;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

fn dumptool() -> Command {
    Command::new(env!("CARGO_BIN_EXE_dumptool"))
}

/// A profile whose conversion takes far longer than a test needs to interrupt it: the samples of a
/// small one, repeated.
fn large_profile(folder: &Path) -> PathBuf {
    let small = fs::read(fixture("mojo/tiny-4.0.0-full-gc-mem.mojo")).unwrap();
    let path = folder.join("large.mojo");
    // The header is the magic and the version; metadata may be repeated.
    fs::write(&path, [&small[..4], &small[4..].repeat(3000)].concat()).unwrap();
    path
}

/// What a command leaves in a folder besides the input, once it has ended.
fn left(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name != "large.mojo");
    names.sort();
    names
}

fn wait_for_a_temporary_file(folder: &Path, child: &mut Child) {
    while !left(folder).iter().any(|name| name.starts_with(".dumptool-")) {
        assert!(
            child.try_wait().unwrap().is_none(),
            "the conversion ended before it could be stopped"
        );
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_interrupted_conversion_leaves_nothing() {
    for (signal, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15), ("XCPU", 24)] {
        let folder = tempfile::tempdir().unwrap();
        let input = large_profile(folder.path());
        let out = folder.path().join("out.austin");
        let mut child =
            dumptool().arg("convert").args([&input, &out]).stderr(Stdio::null()).spawn().unwrap();
        wait_for_a_temporary_file(folder.path(), &mut child);
        Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status()
            .unwrap();
        // The signal's own end, so that shells and make see it.
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{signal}");
        assert!(left(folder.path()).is_empty(), "{signal}: {:?}", left(folder.path()));
    }
}

#[test]
fn ignored_signals_stay_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let input = large_profile(folder.path());
    let out = folder.path().join("out.austin");
    let program = env!("CARGO_BIN_EXE_dumptool");
    let script = format!(
        "trap '' HUP INT; exec '{program}' convert '{}' '{}'",
        input.display(),
        out.display()
    );
    let mut child =
        Command::new("bash").args(["-c", &script]).stderr(Stdio::null()).spawn().unwrap();
    wait_for_a_temporary_file(folder.path(), &mut child);
    let kill = |signal: &str| {
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap()
    };
    kill("-HUP");
    kill("-INT");
    kill("-TERM");
    assert_eq!(
        child.wait().unwrap().signal(),
        Some(15),
        "SIGTERM is not ignored, and the first to count"
    );
    assert!(left(folder.path()).is_empty(), "{:?}", left(folder.path()));
}

#[test]
fn memory_that_runs_out_is_status_3_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.firefox.json");
    let input = large_profile(folder.path());
    let program = env!("CARGO_BIN_EXE_dumptool");
    let arguments = format!(
        "convert --max-memory 1TiB --threads 1 '{}' '{}' --to firefox",
        input.display(),
        out.display()
    );
    let mut ended_so = 0;
    // Somewhere between the memory to start and the memory to end.
    for megabytes in [60, 90, 120] {
        let script = format!("ulimit -v {}; exec '{program}' {arguments}", megabytes << 10);
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        if text(&output).starts_with("error: out of memory: an allocation of ") {
            assert_eq!(output.status.code(), Some(3), "{megabytes} MiB: {}", text(&output));
            assert_eq!(text(&output).lines().count(), 2, "{megabytes} MiB: {}", text(&output));
            ended_so += 1;
        }
        assert!(
            output.status.code().is_some(),
            "{megabytes} MiB: {:?} {}",
            output.status,
            text(&output)
        );
        let mut left = left(folder.path());
        left.retain(|name| name != "out.firefox.json");
        assert!(left.is_empty(), "{megabytes} MiB: {left:?}");
    }
    assert!(ended_so > 0, "the limits are too high or too low for this test");
}

#[test]
fn a_limit_on_threads_costs_speed_only() {
    let input = fixture("go/tiny_go127.heapdump.zst");
    let program = env!("CARGO_BIN_EXE_dumptool");
    let free = dumptool().arg("top").arg(&input).output().unwrap();
    // What a thread sets aside for itself is more than there is for the first limits, and nearly
    // all of it for the last.
    for kilobytes in [400_000, 1_500_000, 20_000_000, 80_000_000] {
        let script = format!(
            "ulimit -v {kilobytes}; exec '{program}' top --threads 1000 '{}'",
            input.display()
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert_eq!((output.status.code(), text(&output).as_str()), (Some(0), ""), "{kilobytes}");
        assert_eq!(output.stdout, free.stdout, "{kilobytes}");
    }
}

#[test]
fn a_descriptor_as_output_is_appended_to_and_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let input = fixture("mojo/tiny-4.0.0-full-gc-mem.mojo");
    let plain = dumptool()
        .arg("convert")
        .arg(&input)
        .args(["-", "--to", "folded", "-q"])
        .output()
        .unwrap()
        .stdout;
    assert!(!plain.is_empty());
    let file = folder.path().join("file");
    for out in
        ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", "/dev/fd/7"]
    {
        fs::write(&file, "before\n").unwrap();
        let program = env!("CARGO_BIN_EXE_dumptool");
        let script = format!(
            "'{program}' convert -q '{}' {out} --to folded 7>&1; echo after",
            input.display()
        );
        let append = File::options().append(true).open(&file).unwrap();
        let status = Command::new("bash").args(["-c", &script]).stdout(append).status().unwrap();
        assert!(status.success(), "{out}");
        let expected = [&b"before\n"[..], &plain, b"after\n"].concat();
        assert_eq!(fs::read(&file).unwrap(), expected, "{out}");
    }
    let json = dumptool()
        .arg("convert")
        .arg(&input)
        .args(["/dev/stdout", "--to", "folded", "--format", "json"])
        .output()
        .unwrap();
    assert_eq!(json.status.code(), Some(2), "the report and the output cannot both go there");
    let closed = dumptool()
        .arg("convert")
        .arg(&input)
        .args(["/dev/fd/99", "--to", "folded"])
        .output()
        .unwrap();
    assert_eq!(closed.status.code(), Some(4), "{}", text(&closed));
    assert!(text(&closed).starts_with("error: /dev/fd/99: cannot write"), "{}", text(&closed));
}

#[test]
fn the_input_is_not_appended_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.mojo");
    fs::copy(fixture("mojo/tiny-4.0.0-full-gc-mem.mojo"), &file).unwrap();
    let before = fs::read(&file).unwrap();
    for out in ["-", "/dev/stdout"] {
        let append = File::options().append(true).open(&file).unwrap();
        let output = dumptool()
            .arg("convert")
            .arg(&file)
            .args([out, "--to", "folded"])
            .stdout(append)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{out}: {}", text(&output));
        assert!(
            text(&output).starts_with("error: the output file is also an input"),
            "{}",
            text(&output)
        );
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

#[test]
fn links_are_written_through_also_where_nothing_is_yet() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("there")).unwrap();
    std::os::unix::fs::symlink("there/out.folded", at("second")).unwrap();
    std::os::unix::fs::symlink("second", at("first.folded")).unwrap();
    for _ in 0..2 {
        let input = fixture("mojo/tiny-4.0.0-full-gc-mem.mojo");
        let status = dumptool()
            .arg("convert")
            .arg(input)
            .arg(at("first.folded"))
            .arg("-q")
            .status()
            .unwrap();
        assert!(status.success());
        assert!(fs::symlink_metadata(at("there/out.folded")).unwrap().is_file());
        assert!(fs::symlink_metadata(at("first.folded")).unwrap().is_symlink());
    }
    std::os::unix::fs::symlink("circle", at("circle")).unwrap();
    std::os::unix::fs::symlink("no/such", at("nowhere")).unwrap();
    for (link, reason) in
        [("circle", "too many symbolic links"), ("nowhere", "the folder does not exist")]
    {
        let input = fixture("mojo/tiny-4.0.0-full-gc-mem.mojo");
        let output = dumptool()
            .arg("convert")
            .arg(input)
            .arg(at(link))
            .args(["--to", "folded"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", text(&output));
        assert!(text(&output).contains(reason), "{}", text(&output));
    }
    assert_eq!(left(folder.path()), ["circle", "first.folded", "nowhere", "second", "there"]);
}

#[test]
fn help_that_cannot_be_printed_is_status_4() {
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["help", "convert"],
        &["top", "--help"],
        &["completions", "bash"],
        &["man"],
    ] {
        let run = |stdout: Stdio| {
            dumptool().args(arguments).stdout(stdout).stderr(Stdio::piped()).output().unwrap()
        };
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = run(full.into());
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {}", text(&output));
        assert_eq!(
            text(&output),
            "error: standard output: cannot write: No space left on device (os error 28)\n"
        );
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = run(writer.into());
        assert_eq!(
            (output.status.code(), text(&output).as_str()),
            (Some(0), ""),
            "{arguments:?}: a closed pipe"
        );
    }
}

#[test]
fn a_limit_on_file_sizes_is_an_error_like_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let input = large_profile(folder.path());
    let out = folder.path().join("out.austin");
    let program = env!("CARGO_BIN_EXE_dumptool");
    let script = format!(
        "ulimit -f 100; exec '{program}' convert '{}' '{}'",
        input.display(),
        out.display()
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert!(text(&output).contains("cannot write: File too large"), "{}", text(&output));
    assert!(left(folder.path()).is_empty(), "{:?}", left(folder.path()));
}

#[test]
fn a_full_device_and_a_folder_that_takes_no_files_are_status_4() {
    let input = fixture("mojo/tiny-4.0.0-full-gc-mem.mojo");
    for out in ["/dev/full", "/proc/out.austin", "/no/such/folder/out.austin"] {
        let output =
            dumptool().arg("convert").arg(&input).args([out, "--to", "austin"]).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{out}: {}", text(&output));
        assert!(
            text(&output).starts_with(&format!("error: {out}: cannot write")),
            "{}",
            text(&output)
        );
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = dumptool().arg("cat").arg(&input).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
}

/// Starts a command with pipes for what it prints.
fn piped(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let input = large_profile(folder.path());
    let mut child = piped(dumptool().arg("cat").arg(&input));
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
    let mut child = piped(dumptool().arg("cat").arg(&input));
    let mut stdout = child.stdout.take().unwrap();
    // The first bytes are there, the pipe is full, and most of the input has not been read.
    stdout.read_exact(&mut [0; 10]).unwrap();
    File::options().write(true).open(&input).unwrap().set_len(0).unwrap();
    std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(
        text(&output).contains("the input was truncated while it was read"),
        "{}",
        text(&output)
    );
}

#[test]
fn a_closed_pipe_is_no_error_for_any_target() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("many.austin");
    let frame = |i| format!("P1;T0:1;main.py:<module>:1;main.py:function_{i}:1 100\n");
    let frames: String = (0..10_000).map(frame).collect();
    fs::write(&profile, format!("# austin: 3.4.1\n# mode: wall\n\n{frames}")).unwrap();
    let heap = fixture("go/tiny_go127.heapdump.zst");
    let heap_targets = ["hprof", "heapsnapshot", "csv", "jsonl"];
    let profile_targets =
        ["csv", "jsonl", "speedscope", "firefox", "mojo", "austin", "folded", "svg"];
    let conversions = heap_targets
        .map(|target| (&heap, target))
        .into_iter()
        .chain(profile_targets.iter().map(|target| (&profile, *target)));
    for (input, target) in conversions {
        let mut child = dumptool();
        child
            .arg("convert")
            .arg(input)
            .args(["-", "--quiet", "--to", target])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        // Every target writes more than a pipe holds (64 KiB).
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
    let status = dumptool()
        .args(["convert", "-q"])
        .arg(fixture("go/tiny_go127.heapdump.zst"))
        .arg(&out)
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
}
