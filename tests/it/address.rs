//! Addresses in place of files, fetched from servers of one thread.
#![cfg(feature = "http")]

use crate::support::fixture;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

/// A server that answers each connection by its path. It lives as long as the test.
fn serve(answer: impl Fn(&str, &mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut part = [0; 1024];
            while !request.ends_with(b"\r\n\r\n") {
                let read = stream.read(&mut part).unwrap();
                request.extend_from_slice(&part[..read]);
            }
            let request = String::from_utf8(request).unwrap();
            answer(request.split(' ').nth(1).unwrap(), &mut stream);
        }
    });
    address
}

/// A server that gives every connection the same answer.
fn serve_bytes(answer: Vec<u8>) -> String {
    serve(move |_, stream| _ = stream.write_all(&answer))
}

fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n");
    [head.as_bytes(), body].concat()
}

fn sized(status: &str, body: &[u8]) -> Vec<u8> {
    response(status, &format!("Content-Length: {}\r\n", body.len()), body)
}

fn heap() -> Vec<u8> {
    std::fs::read(fixture("pprof/go127-heap.pb.gz")).unwrap()
}

fn run(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dumptool")).args(words).output().unwrap()
}

fn printed(words: &[&str]) -> String {
    let output = run(words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The error of a command that fails with a status.
fn error(status: i32, words: &[&str]) -> String {
    let output = run(words);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{words:?}: {errors}");
    assert!(output.stdout.is_empty() && errors.starts_with("error: "), "{words:?}: {errors}");
    errors
}

#[test]
fn an_address_is_read_like_the_file_by_every_command() {
    let file = fixture("pprof/go127-heap.pb.gz");
    let file = file.to_str().unwrap();
    // As the name of a file, the `?` would be a pattern.
    let address = serve_bytes(sized("200 OK", &heap())) + "/debug/pprof/heap?seconds=1&gc=1";
    let of_file = |words: &[&str]| printed(words).replace(file, &address);
    for command in ["top", "tree", "info"] {
        assert_eq!(printed(&[command, &address]), of_file(&[command, file]), "{command}");
    }
    assert_eq!(printed(&[&address]), of_file(&[file]));
    let diff = printed(&["diff", file, &address, "--format", "json"]);
    assert!(diff.contains(&format!("\"new\": \"{address}\"")), "{diff}");
}

#[test]
fn a_chunked_answer_is_put_together() {
    let mut body = Vec::new();
    for chunk in heap().chunks(100) {
        body.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        body.extend([chunk, b"\r\n"].concat());
    }
    body.extend(b"0\r\n\r\n");
    let address = serve_bytes(response("200 OK", "Transfer-Encoding: chunked\r\n", &body));
    assert!(printed(&["top", &address]).contains("inuse_space"));
}

#[test]
fn the_file_is_saved_as_it_was_sent() {
    let folder = tempfile::tempdir().unwrap();
    let (address, target) = (serve_bytes(sized("200 OK", &heap())), folder.path().join("h.pb.gz"));
    let target = target.to_str().unwrap();
    let output = run(&["top", &address, "--save", target]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("saved "), "{output:?}");
    assert_eq!(std::fs::read(target).unwrap(), heap());
    assert!(error(2, &["top", &address, "--save", target]).contains("does not replace"));
    for words in [&["top", target][..], &["diff", &address, &address], &["formats"]] {
        let other = folder.path().join("other");
        let words = [words, &["--save", other.to_str().unwrap()]].concat();
        assert!(error(2, &words).contains("--save needs one http:// address"), "{words:?}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_refusal_is_shown_with_its_reason() {
    let refused = sized("404 Not Found", b"Unknown profile\n");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x");
    let message = error(3, &["top", &serve_bytes(refused), "--save", target.to_str().unwrap()]);
    assert!(message.contains("404 Not Found: Unknown profile"), "{message}");
    assert!(!target.exists());
    let page = sized("200 OK", b"<!doctype html><html><body>hello</body></html>");
    assert!(error(3, &["top", &serve_bytes(page)]).contains("not a heap dump or profile"));
    assert!(error(3, &["top", "http://127.0.0.1:1/heap"]).contains("cannot fetch"));
}

#[test]
fn at_most_five_redirects_are_followed_and_none_to_https() {
    let address = serve(|path, stream| {
        let left: u32 = path.trim_start_matches('/').parse().unwrap();
        _ = stream.write_all(&match left {
            0 => sized("200 OK", &heap()),
            left => response(
                "302 Found",
                &format!("Location: /{}\r\nContent-Length: 0\r\n", left - 1),
                b"",
            ),
        });
    });
    printed(&["top", &format!("{address}/5")]);
    assert!(error(3, &["top", &format!("{address}/6")]).contains("at most 5 redirects"));
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let away =
        format!("Location: https://{}/\r\nContent-Length: 0\r\n", other.local_addr().unwrap());
    let message = error(3, &["top", &serve_bytes(response("301 Moved Permanently", &away, b""))]);
    assert!(message.contains("redirects to https://"), "{message}");
    let message = error(2, &["top", "https://example.com/heap"]);
    assert!(message.contains("curl -fo FILE 'https://example.com/heap'"), "{message}");
}

#[test]
fn a_file_beyond_the_limit_is_refused_before_it_is_fetched() {
    let address = serve_bytes(response("200 OK", "Content-Length: 4294967297\r\n", b"x"));
    let message = error(3, &["top", &address]);
    assert!(message.contains("at most 4.0 GiB is fetched"), "{message}");
}

#[test]
fn a_file_that_breaks_off_is_refused() {
    let heap = heap();
    let length = format!("Content-Length: {}\r\n", heap.len());
    let chunk = format!("{:x}\r\n", heap.len()).into_bytes();
    let chunked = "Transfer-Encoding: chunked\r\n";
    let whole_chunk = [&chunk[..], &heap, b"\r\n"].concat();
    for answer in [
        response("200 OK", &length, &heap[..heap.len() - 1]),
        response("200 OK", chunked, &[&chunk[..], &heap[..100]].concat()),
        response("200 OK", chunked, &whole_chunk),
    ] {
        let message = error(3, &["top", &serve_bytes(answer)]);
        assert!(message.contains("cannot fetch, after "), "{message}");
    }
}

#[test]
fn a_slow_server_is_given_up_after_the_timeout() {
    let address = serve(|path, stream| {
        if path == "/body" {
            _ = stream.write_all(&response("200 OK", "Content-Length: 100\r\n", &heap()[..10]));
        }
        thread::sleep(Duration::from_secs(3600));
    });
    for path in ["/body", "/head"] {
        let message = error(3, &["top", &format!("{address}{path}"), "--timeout", "1"]);
        assert!(message.contains("timeout"), "{message}");
    }
}

/// Sends a request to a server of dumptool with an address that nobody may ask, and asserts that
/// nobody did.
fn assert_not_fetched(ask: impl FnOnce(&str)) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    ask(&format!("http://{}/heap", listener.local_addr().unwrap()));
    assert!(listener.accept().is_err(), "the address was fetched");
}

#[test]
fn programs_that_answer_requests_never_fetch() {
    let folder = fixture("pprof");
    for allowed in [folder.as_path(), Path::new("/")] {
        assert_not_fetched(|address| {
            let mut mcp = Command::new(env!("CARGO_BIN_EXE_dumptool"));
            let mut mcp = mcp
                .args(["mcp", "--allow"])
                .arg(allowed)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let request = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"top","arguments":{{"file":"{address}"}}}}}}"#
            );
            writeln!(mcp.stdin.take().unwrap(), "{request}").unwrap();
            let answer = String::from_utf8(mcp.wait_with_output().unwrap().stdout).unwrap();
            assert!(answer.contains(r#""isError":true"#), "{answer}");
        });
    }
    assert_not_fetched(|address| {
        let message = error(2, &["serve", "--no-open", address]);
        assert!(message.contains("only commands that run once"), "{message}");
        error(3, &["mcp", address]);
    });
}
