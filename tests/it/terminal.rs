//! Tables and the progress bar on a terminal, which is a pseudo terminal of a given width.
#![cfg(unix)]

use crate::support::fixture;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};
#[cfg(feature = "explore")]
use std::time::{Duration, Instant};

/// Both ends of a new terminal.
fn terminal(columns: u16) -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&ours, size).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
    let theirs = OpenOptions::new().read(true).write(true).open(path).unwrap();
    (File::from(ours), theirs)
}

/// Everything up to the end of the terminal, which Linux reports as an error.
fn rest(mut terminal: File) -> String {
    let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(length @ 1..) = terminal.read(&mut buffer) {
        text.extend_from_slice(&buffer[..length]);
    }
    String::from_utf8(text).unwrap().replace("\r\n", "\n")
}

/// What a command shows on a terminal without colours.
fn shown(columns: u16, args: &[&str]) -> String {
    let (ours, theirs) = terminal(columns);
    let mut child = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(args)
        .args(["--color", "never", "--no-progress", "-q"])
        .stdin(Stdio::null())
        .stdout(theirs)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let text = rest(ours);
    assert!(child.wait().unwrap().success(), "{args:?}");
    text
}

/// Every command with a table, with the headings or words that any width has room for, and those
/// that only a wide terminal shows.
fn commands() -> Vec<(Vec<String>, Vec<&'static str>, Vec<&'static str>)> {
    let file = |name: &str| fixture(name).display().to_string();
    let (java, old) = (file("hprof/small_java17.hprof.zst"), file("hprof/wide_java17.hprof.zst"));
    let go = file("go/tiny_go127.heapdump.zst");
    let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    vec![
        (command(&["top", &java]), vec!["RETAINED", "SHARE", "COUNT", "TYPE"], vec!["SHALLOW"]),
        (command(&["tree", &java]), vec!["class Small", "more"], vec!["dumptool tree"]),
        (
            command(&["show", &java, "0xfd5bf118"]),
            vec!["48 B, retains 128 B", "dominator", "referrers"],
            vec![],
        ),
        (
            command(&["diff", &old, &java]),
            vec!["RETAINED ±", "COUNT ±", "TYPE"],
            vec!["RETAINED NOW", "COUNT NOW"],
        ),
        (command(&["threads", &go]), vec!["goroutine", "chan receive"], vec![]),
        (command(&["waste", &java]), vec!["equal texts", "could be saved"], vec![]),
        (
            command(&["growth", &old, &java, &java]),
            vec!["SLOPE", "PEAK", "LAST", "TYPE"],
            vec!["FIRST"],
        ),
    ]
}

#[test]
fn tables_fit_terminals_of_80_and_200_columns() {
    for (args, always, wide) in commands() {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        for columns in [80, 200] {
            let text = shown(columns, &args);
            // Only a word that is too long by itself, such as a path, may reach beyond the edge.
            for line in text.lines() {
                let longest = line.split_whitespace().map(|word| word.chars().count()).max();
                let fits = line.chars().count() <= columns.into();
                assert!(fits || longest > Some(columns.into()), "{args:?} {columns}: {line}");
            }
            let expected = always.iter().chain(wide.iter().filter(|_| columns == 200));
            for word in expected {
                assert!(text.contains(word), "{args:?} {columns}: no {word}\n{text}");
            }
            assert!(!cuts_a_number(&text), "{args:?} {columns}\n{text}");
        }
    }
}

/// Whether a number or its unit was cut: `12.3…`, `1 2…`.
fn cuts_a_number(text: &str) -> bool {
    text.split_whitespace()
        .any(|word| word.strip_suffix('…').is_some_and(|cut| cut.parse::<f64>().is_ok()))
}

#[test]
fn the_progress_bar_names_its_phase() {
    let packed = std::fs::read(fixture("go/tiny_go127.heapdump.zst")).unwrap();
    let (mut ours, theirs) = terminal(80);
    let mut child = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(["top", "-"])
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(theirs)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (first, second) = packed.split_at(packed.len() / 2);
    stdin.write_all(first).unwrap();
    // The rest comes when the bar is there, however long that takes.
    let (mut text, mut buffer) = (Vec::new(), [0; 1024]);
    while !String::from_utf8_lossy(&text).contains("decompressing") {
        let length = ours.read(&mut buffer).unwrap();
        text.extend_from_slice(&buffer[..length]);
    }
    stdin.write_all(second).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    drop(ours);
}

/// With `epoll`, crossterm loses a key if a change of the window waits to be read before it.
#[cfg(feature = "explore")]
#[test]
fn a_key_pressed_while_the_window_changes_its_size_is_not_lost() {
    use rustix::process::{Pid, Signal, kill_process};
    for _ in 0..5 {
        let (mut ours, theirs) = terminal(300);
        let mut child = Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .arg("explore")
            .arg(fixture("go/tiny_go127.heapdump.zst"))
            .env("TERM", "xterm")
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
        while !String::from_utf8_lossy(&text).contains("Verdict") {
            let length = ours.read(&mut buffer).unwrap();
            text.extend_from_slice(&buffer[..length]);
        }
        let (screen, mut keys) = (ours.try_clone().unwrap(), ours);
        let reader = std::thread::spawn(move || rest(screen));
        for change in 0..300 {
            // The program may have ended.
            let _ = kill_process(Pid::from_child(&child), Signal::WINCH);
            if change == 100 {
                keys.write_all(b"q").unwrap();
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < Duration::from_secs(30), "the key was lost");
            std::thread::sleep(Duration::from_millis(5));
        }
        reader.join().unwrap();
    }
}
