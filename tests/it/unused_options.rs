//! An option that a command or format does not use is refused, never ignored.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Every command with options for heaps, but for the servers, with what it needs besides its file.
/// `{}` is the file, `{out}` a file to write.
const COMMANDS: [&str; 13] = [
    "top {}",
    "top --quick {}",
    "tree {}",
    "path {} --type *",
    "find {}",
    "threads {}",
    "waste {}",
    "query {} SELECT(1)",
    "report {} -o {out}",
    "diff {} {}",
    "growth {} {}",
    "check {} --max total.count=1",
    "convert {} {out} --to csv",
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Runs a command of [`COMMANDS`] with further options.
fn run(command: &str, file: &str, options: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (fixture(file), folder.path().join("out"));
    let words = command.split(' ').map(|word| match word {
        "{}" => file.as_os_str(),
        "{out}" => out.as_os_str(),
        word => word.as_ref(),
    });
    let mut program = Command::new(env!("CARGO_BIN_EXE_dumptool"));
    program.args(words).args(options).output().unwrap()
}

/// Asserts that an option is refused, and returns the error.
fn refused(command: &str, file: &str, options: &[&str]) -> String {
    let output = run(command, file, options);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let case = format!("{command} {options:?} of {file}: {error}");
    assert!(matches!(output.status.code(), Some(2 | 3)), "{case}");
    assert!(
        error.starts_with("error: ") && error.contains(options[0]) || error.contains("missing"),
        "{case}"
    );
    error
}

#[test]
fn options_of_other_formats_are_refused_by_every_command() {
    let (go, java) = ("go/tiny_go127.heapdump.zst", "hprof/small_java17.hprof.zst");
    for command in COMMANDS {
        refused(command, go, &["--layout", "references=8"]);
        refused(command, go, &["--sizes", "devtools"]);
        refused(command, java, &["--roots", "precise"]);
        refused(command, java, &["--exe", "/missing"]);
    }
}

#[test]
fn an_executable_that_is_missing_is_an_error_of_every_command() {
    for command in COMMANDS {
        let error = refused(command, "go/tiny_go127.heapdump.zst", &["--exe", "/missing"]);
        assert!(error.contains("/missing") || error.contains("--quick"), "{command}: {error}");
    }
}

#[test]
fn options_for_profiles_are_refused_for_heaps() {
    for command in COMMANDS.iter().filter(|command| {
        ["top", "tree", "find", "report", "diff", "growth", "check", "convert"]
            .iter()
            .any(|of_profiles| command.starts_with(of_profiles))
    }) {
        refused(command, "go/tiny_go127.heapdump.zst", &["--metric", "time"]);
    }
}

#[test]
fn check_without_rules_refuses_what_only_rules_use() {
    let go = "go/tiny_go127.heapdump.zst";
    for options in [&["--exe", "/missing"], &["--roots", "precise"], &["--snapshot", "0"]] {
        assert_eq!(run("check {}", go, options).status.code(), Some(2), "{options:?}");
    }
}

#[test]
fn counting_refuses_a_choice_of_roots() {
    for command in ["growth {} {}", "top --quick {}", "diff --quick {} {}"] {
        refused(command, "go/tiny_go127.heapdump.zst", &["--roots", "precise"]);
    }
}

#[test]
fn common_options_that_a_command_does_not_use_are_refused() {
    let java = "hprof/small_java17.hprof.zst";
    for command in ["top {}", "info {}", "cat {}", "formats", "convert {} {out} --to folded"] {
        refused(command, java, &["--csv-safe"]);
    }
    for command in ["man", "completions bash"] {
        refused(command, java, &["--format", "json"]);
    }
    for command in ["man", "completions bash", "formats"] {
        for option in [&["--mapping", "m"][..], &["--from", "go"], &["--lenient"]] {
            refused(command, java, option);
        }
    }
    assert!(run("formats", java, &["--format", "json"]).status.success());
}

#[test]
fn usage_errors_and_help_have_the_colors_that_are_asked_for() {
    let has_color = |options: &[&str]| {
        let output = run("--help", "", options);
        let error = run("nonsense", "", options);
        [output.stdout, error.stderr].map(|text| text.contains(&0x1b))
    };
    assert_eq!(has_color(&["--color", "always"]), [true, true]);
    assert_eq!(has_color(&["--color=never"]), [false, false]);
    assert_eq!(has_color(&[]), [false, false], "not on a terminal");
}

#[cfg(feature = "explore")]
#[test]
fn explore_refuses_a_focus() {
    let refused = run("explore {}", "pprof/go127-heap.pb.gz", &["--focus", "main"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("--focus has no effect in explore"), "{message}");
}
