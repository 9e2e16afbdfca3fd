//! `serve` over real sockets: documents as the command line prints them, and what is refused.
#![cfg(unix)]

use crate::support::fixture;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

struct Server {
    child: Child,
    errors: BufReader<ChildStderr>,
    files: Vec<PathBuf>,
    port: u16,
    token: String,
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Server {
    fn start(files: &[&str]) -> Self {
        Self::with(files, &[])
    }

    fn with(files: &[&str], options: &[&str]) -> Self {
        let files: Vec<PathBuf> = files.iter().map(|file| fixture(file)).collect();
        let mut child = Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .args(["serve", "--no-open", "-q"])
            .args(options)
            .args(&files)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        let address = line.split("http://127.0.0.1:").nth(1).unwrap_or_else(|| panic!("{line}"));
        let (port, rest) = address.split_once('/').unwrap();
        let token = rest.split('/').next().unwrap().to_owned();
        assert_eq!(token.len(), 32);
        Self { child, errors, files, port: port.parse().unwrap(), token }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends these bytes and reads until the server closes.
    fn send(&self, request: &str) -> Option<Answer> {
        let mut stream = self.connect();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Some(Answer { status, head, body: answer[end + 4..].to_vec() })
    }

    fn get(&self, path: &str) -> Answer {
        self.get_with(path, "")
    }

    fn get_with(&self, path: &str, headers: &str) -> Answer {
        let Self { port, token, .. } = self;
        self.send(&format!(
            "GET /{token}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n"
        ))
        .unwrap()
    }

    /// The document of a request, and that of the command line.
    #[track_caller]
    fn assert_same(&self, request: &str, command: &[&str]) {
        let answer = self.get(&format!("api/{request}"));
        let body = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status, 200, "{request}: {body}");
        let files = if command[0] == "diff" {
            &self.files[..]
        } else {
            &self.files[self.files.len() - 1..]
        };
        let printed = Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .arg(command[0])
            .args(files)
            .args(&command[1..])
            .args(["--format", "json", "-q"])
            .output()
            .unwrap();
        assert!(!printed.stdout.is_empty(), "{command:?}");
        assert!(printed.stdout == answer.body, "{request} is not what {command:?} prints: {body}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const HEAP: &str = "go/tiny_go127.heapdump.zst";

#[test]
fn documents_are_those_of_the_command_line() {
    for (file, object) in [
        (HEAP, None),
        ("hprof/small_java17.hprof.zst", None),
        ("dart/tiny_derived_3.0.5.dartheap.zst", Some("#7")),
        ("mvmheap/tiny-nqp.mvmheap", Some("#9")),
    ] {
        let server = Server::start(&[file]);
        server
            .assert_same("top?limit=5&by=namespace", &["top", "--limit", "5", "--by", "namespace"]);
        server.assert_same("top?suspects", &["top", "--suspects"]);
        server.assert_same("tree", &["tree"]);
        server.assert_same("threads", &["threads"]);
        server.assert_same("waste", &["waste"]);
        server.assert_same("info", &["info"]);
        server.assert_same("find?limit=3", &["find", "-n", "3"]);
        let found: serde_json::Value =
            serde_json::from_slice(&server.get("api/find?limit=1").body).unwrap();
        let first = found["objects"][0]["id"].as_str().unwrap();
        for id in object.iter().copied().chain([first]) {
            let query = id.replace('#', "%23");
            server.assert_same(&format!("show?object={query}"), &["show", id]);
            server.assert_same(&format!("path?object={query}"), &["path", id]);
            server.assert_same(
                &format!("path?object={query}&paths=2"),
                &["path", id, "--paths", "2"],
            );
            server.assert_same(
                &format!("tree?object={query}&depth=3"),
                &["tree", id, "--depth", "3"],
            );
        }
    }
}

#[test]
fn two_dumps_and_profiles_are_served() {
    let server =
        Server::start(&["mojo/tiny-3.4.1-wall-gen.mojo", "mojo/tiny-3.4.1-full-gc-mem.mojo"]);
    server.assert_same("top?limit=3", &["top", "-n", "3"]);
    server.assert_same("diff?metric=samples", &["diff", "--metric", "samples"]);
    let page = server.get("");
    assert!(String::from_utf8(page.body).unwrap().contains("\"old\":\"tiny-3.4.1-wall-gen.mojo\""));
}

#[test]
fn three_dumps_are_served() {
    let files = ["go/tiny_go119.heapdump.zst", "go/panic_go127.heapdump.zst", HEAP];
    let server = Server::start(&files);
    let document = |request: &str| -> serde_json::Value {
        let answer = server.get(request);
        assert_eq!(answer.status, 200, "{request}");
        serde_json::from_slice(&answer.body).unwrap()
    };
    let growth = document("api/growth?limit=1");
    assert_eq!(growth["files"].as_array().unwrap().len(), 3);
    let ends = document("api/diff?limit=1");
    assert!(ends["old"].as_str().unwrap().ends_with(files[0]), "{ends}");
    assert!(ends["new"].as_str().unwrap().ends_with(files[2]), "{ends}");
    let page = String::from_utf8(server.get("").body).unwrap();
    assert!(page.contains("\"labels\":[\"tiny_go119.heapdump.zst\""));
}

#[test]
fn options_of_loading_hold_for_all_documents() {
    let server = Server::with(&["mvmheap/tiny-nqp.mvmheap"], &["--snapshot", "0"]);
    server.assert_same("top", &["top", "--snapshot", "0"]);
    let plain = Server::start(&["mvmheap/tiny-nqp.mvmheap"]);
    assert_ne!(server.get("api/top").body, plain.get("api/top").body);
    let maps = fixture("names");
    let maps = ["--source-maps", maps.to_str().unwrap()];
    let named = Server::with(&["names/app.min.cpuprofile"], &maps);
    named.assert_same("top", &["top", maps[0], maps[1]]);
    for option in [
        "snapshot=99",
        "exe=/etc/passwd",
        "max-memory=1TiB",
        "spill=/tmp",
        "source-maps=/tmp",
        "mapping=/etc/passwd",
        "suspects&rules=/etc/passwd",
        "Format=csv",
        "=x",
        "--by=type",
    ] {
        assert_eq!(plain.get(&format!("api/top?{option}")).status, 400, "{option}");
    }
}

#[test]
fn each_snapshot_has_a_page_and_documents_of_its_own() {
    let server = Server::start(&["mvmheap/tiny-nqp.mvmheap"]);
    let page = |path: &str| String::from_utf8(server.get(path).body).unwrap();
    assert!(page("").contains("\"snapshots\":[0,1,2"), "{}", page(""));
    let of_first = page("?snapshot=0");
    assert!(of_first.contains("\"reading\":\" --snapshot 0\""), "{of_first}");
    let document = |path: &str| -> serde_json::Value {
        serde_json::from_slice(&server.get(path).body).unwrap()
    };
    assert_eq!(document("api/top?snapshot=0")["snapshot"], 0);
    assert_ne!(document("api/top")["snapshot"], 0);
    for wrong in ["?snapshot=99", "?snapshot=x"] {
        assert_eq!(server.get(wrong).status, 400, "{wrong}");
    }
}

#[test]
fn nothing_may_keep_or_embed_an_answer() {
    let server = Server::start(&[HEAP]);
    for path in ["", "api/top", "api/nonsense"] {
        let head = server.get(path).head;
        for header in [
            "Cache-Control: no-store",
            "X-Content-Type-Options: nosniff",
            "Cross-Origin-Resource-Policy: same-origin",
            "frame-ancestors 'none'",
        ] {
            assert!(head.contains(header), "{path}: {head}");
        }
        assert!(!head.contains("Access-Control"), "{head}");
    }
    assert!(server.get("api/top").head.contains("Content-Type: application/json"));
    assert!(server.get("api/top?format=csv").head.contains("Content-Type: text/csv"));
    assert_eq!(server.get("api/top?by=nonsense").status, 400);
    let refused = server.get("api/top?format=github");
    let message = String::from_utf8(refused.body).unwrap();
    assert!(refused.status == 400 && message.contains("the format github"), "{message}");
    assert_eq!(server.get("api/convert").status, 400);
    assert_eq!(server.get("api/report").status, 400);
    assert_eq!(server.get("api/diff").status, 400);
    assert_eq!(server.get("api/growth").status, 400);
    let answer = server.get("api/query?sql=select%20count(*)%20as%20n%20from%20objects");
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert!(answer["rows"][0]["n"].as_u64().is_some_and(|objects| objects > 0), "{answer}");
    assert_eq!(server.get("api/query?sql=-").status, 400);
}

#[test]
fn a_conversion_is_a_download() {
    let server = Server::start(&[HEAP]);
    let file = server.files[0].to_str().unwrap();
    let stem = server.files[0].file_stem().unwrap().to_str().unwrap();
    for (request, words) in [
        ("to=csv&table=types", &["--to", "csv", "--table", "types"][..]),
        ("to=hprof&redact", &["--to", "hprof", "--redact"]),
        ("to=pprof", &["--to", "pprof"]),
    ] {
        let answer = server.get(&format!("api/convert?{request}"));
        assert_eq!(answer.status, 200, "{request}: {}", String::from_utf8_lossy(&answer.body));
        let printed = Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .args(["convert", "-q", file, "-"])
            .args(words)
            .output()
            .unwrap();
        assert!(!printed.stdout.is_empty() && printed.stdout == answer.body, "{request}");
        assert!(answer.head.contains("Content-Type: application/octet-stream"), "{}", answer.head);
        let name = format!("Content-Disposition: attachment; filename=\"{stem}.");
        assert!(answer.head.contains(&name), "{}", answer.head);
    }
    for request in ["", "?to=nonsense", "?to=mojo", "?to=csv&format=json", "?to=csv&partition=a=b"]
    {
        let answer = server.get(&format!("api/convert{request}"));
        assert_eq!(answer.status, 400, "{request}");
        assert!(!answer.head.contains("Content-Disposition"), "{}", answer.head);
    }
}

#[test]
fn other_hosts_origins_tokens_and_methods_are_refused() {
    let server = Server::start(&[HEAP]);
    let Server { port, token, .. } = &server;
    let send = |request: String| server.send(&request).unwrap().status;
    let host = |host: &str| send(format!("GET /{token}/api/info HTTP/1.1\r\n{host}\r\n"));
    assert_eq!(host(&format!("Host: 127.0.0.1:{port}\r\n")), 200);
    assert_eq!(host(&format!("Host: localhost:{port}\r\n")), 200);
    for wrong in [
        String::new(),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
        format!("Host: 0.0.0.0:{port}\r\n"),
    ] {
        assert_eq!(host(&wrong), 421, "{wrong}");
    }
    let with = |headers: String| server.get_with("api/info", &headers).status;
    assert_eq!(with(format!("Origin: http://127.0.0.1:{port}\r\n")), 200);
    assert_eq!(with("Sec-Fetch-Site: none\r\n".to_owned()), 200);
    for wrong in [
        "Origin: null".to_owned(),
        "Origin: http://evil.example".to_owned(),
        format!("Origin: https://127.0.0.1:{port}"),
        format!("Origin: http://127.0.0.1:{}", port ^ 1),
        "Sec-Fetch-Site: cross-site".to_owned(),
        "Sec-Fetch-Site: same-site".to_owned(),
    ] {
        assert_eq!(with(format!("{wrong}\r\n")), 403, "{wrong}");
    }
    let path = |path: &str| send(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"));
    assert_eq!(path("/favicon.ico"), 204);
    for wrong in ["/", "/api/info", "/0123456789abcdef0123456789abcdef/", "//api/info", "*"] {
        assert_eq!(path(wrong), 404, "{wrong}");
    }
    let moved =
        server.send(&format!("GET /{token}?a=b HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"));
    let moved = moved.unwrap();
    assert!(moved.status == 308 && moved.head.contains(&format!("Location: /{token}/?a=b")));
    assert_eq!(path(&format!("/{token}/../etc/passwd")), 404);
    for method in ["POST", "PUT", "OPTIONS", "HEAD", "DELETE"] {
        let request = format!(
            "{method} /{token}/api/info HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        let answer = server.send(&request).unwrap();
        assert!(answer.status == 405 && answer.head.contains("Allow: GET"), "{method}");
    }
}

#[test]
fn long_and_broken_requests_are_refused() {
    let server = Server::start(&[HEAP]);
    let Server { port, token, .. } = &server;
    assert_eq!(server.get(&format!("api/find?type={}", "a".repeat(5000))).status, 414);
    assert_eq!(server.get(&format!("api/find?type={}", "a".repeat(100_000))).status, 414);
    assert_eq!(server.get_with("", &format!("X: {}\r\n", "a".repeat(40_000))).status, 431);
    assert_eq!(server.get_with("", &format!("X: {}\r\n", "a".repeat(17_000))).status, 431);
    assert_eq!(server.get_with("", &"X: a\r\n".repeat(200)).status, 400);
    assert_eq!(server.send("\0\x16\x03 nonsense\r\n\r\n").unwrap().status, 400);
    let bytes =
        format!("GET /{token}/api/find?value=%ff%00 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    assert_eq!(server.send(&bytes).unwrap().status, 200);
    assert_eq!(server.get("api/info").status, 200);
}

#[test]
fn slow_and_silent_clients_are_dropped_and_others_served() {
    let server = Server::start(&[HEAP]);
    let started = Instant::now();
    let mut silent: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect();
    let mut slow = server.connect();
    slow.write_all(b"GET / HT").unwrap();
    // Others do not wait for them.
    assert_eq!(server.get("api/info").status, 200);
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    // A byte now and then does not keep a connection.
    while started.elapsed() < Duration::from_secs(12) && slow.write_all(b"T").is_ok() {
        std::thread::sleep(Duration::from_millis(500));
    }
    assert!(started.elapsed() < Duration::from_secs(12), "the slow client is still served");
    let mut byte = [0];
    assert!(silent.iter_mut().all(|stream| matches!(stream.read(&mut byte), Ok(0) | Err(_))));
}

#[test]
fn too_many_connections_are_turned_away_and_leave_nothing() {
    let server = Server::start(&[HEAP]);
    let silent: Vec<TcpStream> = (0..60).map(|_| server.connect()).collect();
    std::thread::sleep(Duration::from_millis(300));
    let threads = || {
        std::fs::read_dir(format!("/proc/{}/task", server.child.id())).map_or(0, Iterator::count)
    };
    assert!(threads() < 32 + 16, "{} threads", threads());
    drop(silent);
    let started = Instant::now();
    while server.get("api/info").status != 200 {
        assert!(started.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Any user of the machine can connect, also without the token.
#[test]
fn idle_connections_do_not_lock_others_out() {
    let server = Server::start(&[HEAP]);
    let started = Instant::now();
    let mut idle: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    for _ in 0..5 {
        assert_eq!(server.get("api/info").status, 200);
    }
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    // The oldest were closed for the newer ones.
    assert!(matches!(idle[0].read(&mut [0]), Ok(0) | Err(_)));
}

#[test]
fn a_file_that_shrinks_or_vanishes_is_reported_on_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.heapdump");
    let bytes = crate::support::read(&fixture(HEAP));
    for change in [
        (|path, bytes| std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap())
            as fn(&PathBuf, &[u8]),
        |path, _| std::fs::remove_file(path).unwrap(),
    ] {
        std::fs::write(&path, &bytes).unwrap();
        let server = Server::with(&[path.to_str().unwrap()], &[]);
        assert_eq!(server.get("api/info").status, 200);
        change(&path, &bytes);
        let answer = server.get("api/top");
        let message = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, 410, "{message}");
        assert!(message.contains("app.heapdump was changed, truncated or deleted"), "{message}");
    }
}

#[test]
fn two_clients_at_once_get_the_same() {
    let server = Server::start(&["dart/tiny_derived_3.0.5.dartheap.zst"]);
    let expected = server.get("api/tree").body;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..20).for_each(|_| assert!(server.get("api/tree").body == expected)));
        }
    });
}

#[test]
fn clients_that_are_killed_leave_nothing() {
    let server = Server::start(&[HEAP]);
    let Server { port, token, .. } = &server;
    for _ in 0..100 {
        let mut stream = server.connect();
        let request = format!("GET /{token}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
    }
    let started = Instant::now();
    let threads = || {
        std::fs::read_dir(format!("/proc/{}/task", server.child.id())).map_or(0, Iterator::count)
    };
    while threads() > 12 {
        assert!(started.elapsed() < Duration::from_secs(30), "{} threads", threads());
        std::thread::sleep(Duration::from_millis(50));
    }
    while server.get("api/info").status != 200 {
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn an_interrupt_ends_the_server() {
    let mut server = Server::start(&[HEAP]);
    let _open = server.connect();
    let id = server.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    server.child.wait().unwrap();
    let mut rest = String::new();
    server.errors.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert!(TcpStream::connect(("127.0.0.1", server.port)).is_err());
}

#[test]
fn it_needs_a_port_that_is_free_and_a_file_that_can_be_read() {
    let server = Server::start(&[HEAP]);
    for (words, status) in [
        (
            vec!["--port".to_owned(), server.port.to_string(), fixture(HEAP).display().to_string()],
            2,
        ),
        (vec!["/nowhere/file".to_owned()], 3),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .args(["serve", "--no-open"])
            .args(&words)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(status), "{words:?}");
        assert!(
            String::from_utf8(output.stderr).unwrap().contains("error: cannot listen")
                == (status == 2)
        );
    }
}
