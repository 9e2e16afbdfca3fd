//! `mcp` as a child process: the protocol, each tool, and what is refused.
#![cfg(unix)]

use crate::support::fixture;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

const TOOLS: [&str; 14] = [
    "info", "top", "suspects", "tree", "path", "show", "find", "threads", "waste", "query", "diff",
    "growth", "check", "convert",
];

struct Server {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    id: u64,
}

impl Server {
    fn start<W: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = W>) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .arg("mcp")
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, requests, answers, id: 0 }
    }

    /// A server that may read all fixtures.
    fn of_fixtures() -> Self {
        Self::start([Path::new("--allow"), &fixture("")])
    }

    /// Sends a line and returns the next answer.
    fn send(&mut self, line: &str) -> Value {
        writeln!(self.requests.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer:?}"));
        assert!(answer.is_array() || answer["jsonrpc"] == "2.0", "{answer}");
        answer
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        let answer = self.send(&request.to_string());
        assert_eq!(answer["id"], self.id, "{answer}");
        answer
    }

    /// The result of a tool.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["error"].is_null(), "{tool} {arguments}: {answer}");
        answer["result"].clone()
    }

    /// The document of a tool.
    #[track_caller]
    fn document(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The error of a tool.
    #[track_caller]
    fn failure(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes the input, and returns what is left of the output.
    fn close(mut self) -> (i32, String) {
        drop(self.requests.take());
        let mut rest = String::new();
        self.answers.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code().unwrap(), rest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dumptool")).args(words).stdin(Stdio::null()).output().unwrap()
}

/// What the command line prints.
fn printed(words: &[&str]) -> String {
    let output = run(&[words, &["--format", "json", "-q"]].concat());
    assert!(!output.stdout.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn path(name: &str) -> String {
    fixture(name).to_str().unwrap().to_owned()
}

#[test]
fn a_client_is_welcomed() {
    let file = path("hprof/small_java17.hprof.zst");
    let mut server = Server::start([&file]);
    let client = |version: &str| {
        json!({"protocolVersion": version, "capabilities": {},
               "clientInfo": {"name": "test", "version": "1"}})
    };
    for (wanted, spoken) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2024-11-05"),
        ("2031-01-01", "2025-11-25"),
    ] {
        let answer = server.ask("initialize", client(wanted));
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], spoken);
        assert!(result["capabilities"]["tools"].is_object());
        assert_eq!(result["serverInfo"]["name"], "dumptool");
        assert!(result["instructions"].as_str().unwrap().contains(&file), "{result}");
    }
    // Notifications and answers have no answer, so the next one is that of the ping.
    let mut silent = String::new();
    for message in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/unknown", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 7, "result": {}}),
    ] {
        silent.push_str(&format!("{message}\n\n"));
    }
    let answer =
        server.send(&format!("{silent}{}", r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#));
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    assert_eq!(server.close(), (0, String::new()));
}

#[test]
fn tools_have_typed_schemas() {
    let mut server = Server::of_fixtures();
    let answer = server.ask("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    for tool in tools {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(tool["annotations"]["readOnlyHint"], tool["name"] != "convert");
        assert!(tool["description"].as_str().unwrap().len() > 30, "{tool}");
        let properties = schema["properties"].as_object().unwrap();
        for required in schema["required"].as_array().unwrap() {
            assert!(properties.contains_key(required.as_str().unwrap()), "{required}");
        }
        for (name, property) in properties {
            let kind = property["type"].as_str().unwrap();
            assert!(["string", "integer", "boolean", "array"].contains(&kind), "{name}");
            let about = property["description"].as_str().unwrap();
            assert!(about.len() > 10, "{} {name}", tool["name"]);
            assert!(!about.contains("standard input") && !about.contains("0 = all"), "{about}");
        }
    }
    let of = |tool: &str| {
        let at = TOOLS.iter().position(|name| *name == tool).unwrap();
        tools[at]["inputSchema"].clone()
    };
    let top = of("top");
    assert_eq!(top["required"], json!(["file"]));
    assert_eq!(top["properties"]["limit"]["type"], "integer");
    assert_eq!(top["properties"]["quick"]["type"], "boolean");
    let sorts = json!(["retained", "shallow", "count", "external"]);
    assert_eq!(top["properties"]["sort"]["enum"], sorts);
    assert_eq!(of("path")["properties"]["paths"]["default"], 2);
    assert_eq!(of("tree")["properties"]["min_share"]["default"], "1%");
    assert_eq!(of("find")["properties"]["min_size"]["type"], "string");
    assert_eq!(of("info")["properties"]["file"]["items"]["type"], "string");
    assert_eq!(of("diff")["required"], json!(["file"]));
    let suspects = of("suspects");
    for gone in ["by", "sort", "objects", "quick", "detached", "suspects", "cum"] {
        assert!(suspects["properties"][gone].is_null(), "{gone}");
    }
    assert!(suspects["properties"]["exe"].is_object());
}

#[test]
fn each_tool_answers_with_the_document_of_the_command_line() {
    let file = &path("hprof/small_java17.hprof.zst");
    let mut server = Server::of_fixtures();
    let found = printed(&["find", file, "-n", "1"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    let object = found["objects"][0]["id"].as_str().unwrap_or_else(|| panic!("{found}"));
    let large = 1 << 25;
    for (tool, arguments, command) in [
        ("info", json!({"file": [file], "records": true}), &["info", file, "--records"][..]),
        (
            "top",
            json!({"file": file, "by": "namespace", "limit": 3}),
            &["top", file, "--by", "namespace", "-n", "3"],
        ),
        (
            "top",
            json!({"file": file, "quick": true, "type": "java.*"}),
            &["top", file, "--quick", "--type", "java.*"],
        ),
        ("suspects", json!({"file": file}), &["top", file, "--suspects"]),
        (
            "query",
            json!({"file": file, "sql": "select count(*) from objects"}),
            &["query", file, "select count(*) from objects"],
        ),
        ("growth", json!({"file": [file, file], "limit": 2}), &["growth", file, file, "-n", "2"]),
        (
            "tree",
            json!({"file": file, "min_share": "0", "depth": 3}),
            &["tree", file, "--min-share", "0", "--depth", "3"],
        ),
        ("tree", json!({"file": file, "object": object}), &["tree", file, object]),
        (
            "path",
            json!({"file": file, "object": object, "paths": 3}),
            &["path", file, object, "-k", "3"],
        ),
        ("path", json!({"file": file, "type": "*String*"}), &["path", file, "--type", "*String*"]),
        (
            "show",
            json!({"file": file, "object": object, "limit": 5, "entries": 2}),
            &["show", file, object, "-n", "5", "--entries", "2"],
        ),
        (
            "find",
            json!({"file": file, "min_size": 64, "value": null}),
            &["find", file, "--min-size", "64"],
        ),
        (
            "find",
            json!({"file": file, "min_size": "1KiB", "live": false}),
            &["find", file, "--min-size", "1KiB"],
        ),
        (
            "diff",
            json!({"file": [file, file], "objects": "all"}),
            &["diff", file, file, "--objects=all"],
        ),
        ("threads", json!({"file": file, "each": true}), &["threads", file, "--each"]),
        ("waste", json!({"file": file}), &["waste", file]),
        (
            "check",
            json!({"file": [file], "max": ["total.retained=1KiB", "*String.count=1"]}),
            &["check", file, "--max", "total.retained=1KiB", "--max", "*String.count=1"],
        ),
    ] {
        let mut arguments = arguments;
        arguments["max_bytes"] = json!(large);
        assert!(server.document(tool, arguments) == printed(command), "{tool}: {command:?}");
    }
}

#[test]
fn two_dumps_a_profile_and_damage_are_answered() {
    let files = ["mvmheap/tiny-nqp.mvmheap", "go/tiny_go127.heapdump.zst", "pprof/go127-cpu.pb.gz"];
    let mut server = Server::start(files.map(path).iter().chain(&["--budget=1".to_owned()]));
    // A budget for one dump at most changes no answer.
    for _ in 0..2 {
        for file in files.map(path) {
            let arguments = json!({"file": file, "limit": 4});
            assert_eq!(server.document("top", arguments), printed(&["top", &file, "-n", "4"]));
        }
    }
    let old = path(files[0]);
    let grown = json!({"file": old, "snapshot": "0..3"});
    assert_eq!(server.document("diff", grown), printed(&["diff", &old, "--snapshot", "0..3"]));

    let cut = path("mvmheap/tiny-nqp-cut-snap3.mvmheap");
    let mut server = Server::start([&cut]);
    let result = server.call("info", json!({"file": [cut]}));
    assert_eq!(result["isError"], false);
    assert_eq!(result["content"][0]["text"], printed(&["info", &cut]));
    let warning = result["content"][1]["text"].as_str().unwrap();
    assert!(warning.starts_with("warning:") && warning.contains("at offset 0xf000"), "{warning}");
}

#[test]
fn the_only_file_need_not_be_named() {
    let file = path("mvmheap/tiny-nqp.mvmheap");
    let mut server = Server::start([&file]);
    assert_eq!(server.document("top", json!({"limit": 2})), printed(&["top", &file, "-n", "2"]));
    let answer = server.ask("tools/list", json!({}));
    let top = &answer["result"]["tools"][1]["inputSchema"];
    assert_eq!(
        (&top["required"], &top["properties"]["file"]["default"]),
        (&json!([]), &json!(file))
    );
    // It may be written in other ways.
    let folder = Path::new(&file).parent().unwrap().to_str().unwrap();
    let other = format!("{folder}/../mvmheap/tiny-nqp.mvmheap");
    assert_eq!(server.document("top", json!({"file": other})), printed(&["top", &other]));
}

#[test]
fn only_files_that_are_allowed_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let dump = fixture("mvmheap/tiny-nqp.mvmheap");
    for name in ["allowed", "allowed/sub", "allowed-not", "real"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    for name in
        ["allowed/a.mvmheap", "allowed/sub/b.mvmheap", "allowed-not/c.mvmheap", "real/d.mvmheap"]
    {
        std::fs::copy(&dump, at(name)).unwrap();
    }
    symlink(at("real/d.mvmheap"), at("allowed/out.mvmheap")).unwrap();
    symlink(at("real"), at("allowed/folder")).unwrap();
    symlink(at("allowed/a.mvmheap"), at("allowed-not/in.mvmheap")).unwrap();
    symlink(at("nowhere"), at("allowed/dangling")).unwrap();
    assert!(Command::new("mkfifo").arg(at("allowed/pipe")).status().unwrap().success());

    let mut server = Server::start(["--allow".to_owned(), at("allowed")]);
    for allowed in [
        "allowed/a.mvmheap",
        "allowed/sub/b.mvmheap",
        "allowed/sub/../a.mvmheap",
        "real/../allowed/a.mvmheap",
        "allowed-not/in.mvmheap",
    ] {
        server.document("info", json!({"file": [at(allowed)]}));
    }
    let a = at("allowed/a.mvmheap");
    let go = at("allowed/go.zst");
    std::fs::copy(fixture("go/tiny_go127.heapdump.zst"), &go).unwrap();
    for refused in [
        at("allowed-not/c.mvmheap"),
        at("real/d.mvmheap"),
        at("allowed/../real/d.mvmheap"),
        at("allowed/out.mvmheap"),
        at("allowed/folder/d.mvmheap"),
        at("allowed/folder/missing.mvmheap"),
        at("allowed/dangling"),
        at("allowed/pipe"),
        at("allowed-not"),
        at("missing.mvmheap"),
        "-".to_owned(),
        "/dev/stdin".to_owned(),
        "/proc/self/fd/0".to_owned(),
        "/etc/passwd".to_owned(),
        String::new(),
        "a\0b".to_owned(),
    ] {
        for (tool, arguments) in [
            ("info", json!({"file": [&a, &refused]})),
            ("top", json!({"file": refused})),
            ("diff", json!({"file": [a, refused]})),
            ("top", json!({"file": go, "exe": refused})),
            ("check", json!({"file": [a], "against": refused, "max_growth": ["total.count=1%"]})),
            ("suspects", json!({"file": a, "rules": [refused]})),
            ("info", json!({"file": [a], "source_maps": [refused]})),
            ("tree", json!({"file": a, "mapping": refused})),
            ("diff", json!({"file": [a, a], "old_mapping": refused})),
        ] {
            let result = server.call(tool, arguments);
            let text = result["content"].to_string();
            // An empty path is no argument for the command line.
            let is_refused = text.contains("may not be read here")
                || refused.is_empty() && text.contains("a value is required");
            assert!(is_refused, "{tool} {refused}: {text}");
        }
    }
    // A folder of source maps may be named, but it is no dump.
    let folder = server.failure("top", json!({"file": at("allowed")}));
    assert!(folder.contains("is a directory"), "{folder}");
    // What is missing where it could be is missing.
    let missing = server.failure("top", json!({"file": at("allowed/missing.mvmheap")}));
    assert!(missing.contains("cannot open"), "{missing}");
    // What was allowed and is now a link to elsewhere is not allowed.
    server.document("top", json!({"file": a}));
    std::fs::remove_file(&a).unwrap();
    symlink(at("real/d.mvmheap"), &a).unwrap();
    let refused = server.failure("top", json!({"file": a}));
    assert!(refused.contains("may not be read here"), "{refused}");
}

#[test]
fn minified_programs_get_their_names_back() {
    let (profile, maps) = (path("names/app.min.cpuprofile"), path("names"));
    let mut server = Server::of_fixtures();
    let short = server.document("top", json!({"file": profile}));
    let named = server.document("top", json!({"file": profile, "source_maps": [maps]}));
    assert_eq!(named, printed(&["top", &profile, "--source-maps", &maps]));
    // Each question has the names that it asks for.
    assert_eq!(server.document("top", json!({"file": profile})), short);
    assert!(named.contains("sortNumbers") && !short.contains("sortNumbers"));
    let arguments = json!({"file": profile, "mapping": path("names/app.min.js.map")});
    let refused = server.failure("top", arguments);
    assert!(refused.contains("--mapping is for"), "{refused}");
    // What the server itself was given holds for all that can use it.
    let mut server = Server::start(["--allow", &path(""), "--source-maps", &maps]);
    assert_eq!(server.document("top", json!({"file": profile})), named);
    let heap = path("hprof/small_java17.hprof.zst");
    assert_eq!(server.document("top", json!({"file": heap})), printed(&["top", &heap]));
}

#[test]
fn a_conversion_writes_only_a_new_file_below_an_allowed_folder() {
    let (allowed, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (file, out) = (path("hprof/small_java17.hprof.zst"), allowed.path().join("new.csv"));
    let mut server = Server::start([Path::new("--allow"), allowed.path(), Path::new(&file)]);
    let ask = |out: &Path| json!({"file": file, "output": out, "to": "csv", "table": "types"});
    let document: Value = serde_json::from_str(&server.document("convert", ask(&out))).unwrap();
    assert_eq!(document["schema"], "dumptool/convert/1");
    let expected = run(&["convert", &file, "-", "--to", "csv", "--table", "types", "-q"]).stdout;
    assert!(expected.len() > 1000 && std::fs::read(&out).unwrap() == expected);
    assert_eq!(document["bytes"], expected.len());

    std::fs::write(&out, "kept").unwrap();
    assert!(server.failure("convert", ask(&out)).contains("would be replaced"));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "kept");
    assert!(server.failure("convert", ask(Path::new(&file))).contains("would be replaced"));
    for place in [
        outside.path().join("new.csv"),
        allowed.path().join("../new.csv"),
        allowed.path().join("missing/new.csv"),
        PathBuf::from("new.csv"),
    ] {
        let why = server.failure("convert", ask(&place));
        assert!(why.contains("may not be written here"), "{}: {why}", place.display());
        assert!(!place.exists());
    }
    let link = allowed.path().join("link.csv");
    symlink(outside.path().join("new.csv"), &link).unwrap();
    assert!(server.failure("convert", ask(&link)).contains("would be replaced"));
    let why = server.failure("convert", ask(Path::new("-")));
    assert!(why.contains("standard output"), "{why}");
    let why = server.failure("convert", ask(&allowed.path().join("tables/")));
    assert!(why.contains("only single tables"), "{why}");
    assert!(server.failure("convert", ask(allowed.path())).contains("would be replaced"));
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    let left = std::fs::read_dir(allowed.path()).unwrap().count();
    assert_eq!(left, 2, "neither a temporary file nor a folder stays");
}

#[test]
fn a_query_has_a_timeout_of_its_own() {
    let file = path("go/tiny_go127.heapdump.zst");
    let mut server = Server::of_fixtures();
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let message = server.failure("query", json!({"file": [file], "sql": endless, "timeout": 1}));
    assert!(message.contains("--timeout"), "{message}");
    let sql = "SELECT count(*) FROM objects";
    server.document("query", json!({"file": [file], "sql": sql, "timeout": 60}));
    let message = server.failure("top", json!({"file": file, "timeout": 1}));
    assert!(message.contains("unknown argument \"timeout\""), "{message}");
}

#[test]
fn wrong_arguments_are_errors_of_the_tool() {
    let file = path("mvmheap/tiny-nqp.mvmheap");
    let mut server = Server::start([Path::new("--allow"), &fixture("")]);
    for (tool, arguments, expected) in [
        ("top", json!({}), "top needs the argument \"file\""),
        ("info", json!({"file": []}), "info needs the argument \"file\""),
        (
            "top",
            json!({"file": file, "nonsense": 1}),
            "unknown argument \"nonsense\"; top has file, more, by, ",
        ),
        ("top", json!({"file": file, "format": "csv"}), "unknown argument \"format\""),
        ("path", json!({"file": file, "object": "1", "dot": true}), "unknown argument \"dot\""),
        (
            "top",
            json!({"file": file, "limit": "3"}),
            "limit is a whole number from 1 to 10000, not \"3\"",
        ),
        (
            "top",
            json!({"file": file, "limit": 0}),
            "limit is a whole number from 1 to 10000, not 0",
        ),
        ("top", json!({"file": file, "limit": 1e300}), "limit is a whole number"),
        ("top", json!({"file": file, "quick": "yes"}), "quick is true or false, not \"yes\""),
        ("top", json!({"file": [file]}), "file is a string"),
        ("info", json!({"file": [[file]]}), "file is a list of strings"),
        ("top", json!({"file": file, "max_bytes": 3}), "max_bytes is a whole number from 1024"),
        ("top", json!({"file": file, "by": "color"}), "invalid value 'color'"),
        ("top", json!({"file": file, "quick": true, "objects": "all"}), "cannot be used with"),
        ("top", json!({"file": file, "by": "type\n--exe=/etc/passwd"}), "invalid value"),
        ("show", json!({"file": file, "object": "99999999"}), "99999999"),
        ("tree", json!({"file": "--help"}), "--help may not be read here"),
        ("find", json!({"file": file, "line": 3}), "--line applies to profiles"),
    ] {
        let message = server.failure(tool, arguments);
        assert!(message.contains(expected), "{tool}: {message:?}, not {expected:?}");
        assert!(!message.contains("Usage:"), "{message}");
    }
    let broken = server.failure("top", json!({"file": path("go/README.md")}));
    assert!(broken.starts_with("error: "), "{broken}");
}

#[test]
fn broken_requests_are_refused_and_the_next_is_answered() {
    let mut server = Server::of_fixtures();
    let deep = "[".repeat(100_000);
    let huge = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#,
        "x".repeat(3 << 20)
    );
    for (line, id, code) in [
        ("{", Value::Null, -32700),
        ("nonsense", Value::Null, -32700),
        ("\u{0}", Value::Null, -32700),
        (&deep, Value::Null, -32700),
        (&huge, Value::Null, -32600),
        ("3", Value::Null, -32600),
        ("[]", Value::Null, -32600),
        (r#"{"id": 1, "method": "ping"}"#, Value::Null, -32600),
        (r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#, Value::Null, -32600),
        (r#"{"jsonrpc": "2.0", "id": [1], "method": "ping"}"#, Value::Null, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1}"#, json!(1), -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}"#, json!(1), -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}"#, json!(1), -32601),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}"#, json!(1), -32602),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "report"}}"#,
            json!(1),
            -32602,
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "top", "arguments": 3}}"#,
            json!(1),
            -32602,
        ),
    ] {
        let answer = server.send(line);
        let shown: String = line.chars().take(80).collect();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{shown}");
        assert!(answer["error"]["message"].as_str().is_some_and(|text| text.len() > 4), "{answer}");
        assert!(server.ask("ping", json!({}))["result"].is_object());
    }
    let batch = server.send(
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},3]"#,
    );
    assert_eq!((&batch[0]["id"], &batch[1]["error"]["code"]), (&json!(1), &json!(-32600)));
    // The last request need not end with a line break.
    write!(server.requests.as_mut().unwrap(), r#"{{"jsonrpc":"2.0","id":9,"method":"ping"}}"#)
        .unwrap();
    let (status, rest) = server.close();
    assert_eq!((status, &*rest), (0, "{\"id\":9,\"jsonrpc\":\"2.0\",\"result\":{}}\n"));
}

#[test]
fn a_client_that_stops_reading_ends_the_server() {
    let mut server = Server::of_fixtures();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args([Path::new("mcp"), Path::new("--allow"), &fixture("")])
        .stdin(Stdio::piped())
        .stdout(writer)
        .spawn()
        .unwrap();
    drop(reader);
    let mut requests = child.stdin.take().unwrap();
    writeln!(requests, r#"{{"jsonrpc":"2.0","id":9,"method":"ping"}}"#).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // Its end has nothing to do with another one.
    assert!(server.ask("ping", json!({}))["result"].is_object());
}

#[test]
fn a_short_request_is_answered_before_a_long_one_that_came_first() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("long.folded");
    let stacks: String = (0..300_000).map(|row| format!("main;work{row} 7\n")).collect();
    std::fs::write(&long, stacks).unwrap();
    let mut server = Server::start([&long]);
    let call = json!({"name": "top", "arguments": {}});
    let request = json!({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": call});
    writeln!(server.requests.as_mut().unwrap(), "{request}").unwrap();
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    let mut answer = String::new();
    server.answers.read_line(&mut answer).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!("long"), &json!(false)));
    assert_eq!(server.close(), (0, String::new()));
}

#[test]
fn long_answers_are_cut_and_say_so() {
    let file = path("hprof/small_java17.hprof.zst");
    let mut server = Server::start([&file]);
    let whole = printed(&["top", &file, "-n", "10000"]);
    let rows = |text: &str| {
        let document: Value = serde_json::from_str(text).unwrap();
        document["rows"].as_array().unwrap().clone()
    };
    let all = rows(&whole);
    let mut before = 0;
    for most in [2048, 8192, 32_768] {
        let result = server.call("top", json!({"limit": 10_000, "max_bytes": most}));
        let text = result["content"][0]["text"].as_str().unwrap();
        let shown = rows(text);
        assert!(text.len() <= most && shown.len() > before, "{}", shown.len());
        assert_eq!(shown[..], all[..shown.len()]);
        let note = result["content"][1]["text"].as_str().unwrap();
        let expected = [
            format!("the answer has {} bytes, max_bytes is {most}", whole.len()),
            format!("{} of {} in rows", shown.len(), all.len()),
        ];
        assert!(expected.iter().all(|part| note.contains(part)), "{note}");
        before = shown.len();
    }
    assert_eq!(server.document("top", json!({"limit": 10_000, "max_bytes": whole.len()})), whole);
    let one = server.call("top", json!({"limit": 10_000, "max_bytes": whole.len() - 1}));
    assert_eq!(one["content"].as_array().unwrap().len(), 2);
    // The default is 32 KiB.
    let usual = server.call("top", json!({"limit": 10_000}));
    let usual = usual["content"][0]["text"].as_str().unwrap();
    assert!(whole.len() > 32 << 10 && usual.len() <= 32 << 10);
}

#[test]
fn a_dump_that_was_written_again_is_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("app.dump");
    let path = file.to_str().unwrap().to_owned();
    let mut server = Server::start(["--allow", folder.path().to_str().unwrap()]);
    for name in ["mvmheap/tiny-nqp.mvmheap", "go/tiny_go127.heapdump.zst"] {
        let new = folder.path().join("new");
        std::fs::copy(fixture(name), &new).unwrap();
        std::fs::rename(new, &file).unwrap();
        assert_eq!(server.document("top", json!({"file": path})), printed(&["top", &path]));
    }
}

#[test]
fn a_server_without_files_does_not_start() {
    for (words, status, expected) in [
        (&["mcp"][..], 2, "no files to read"),
        (&["mcp", "/nowhere/app.hprof"], 3, "/nowhere/app.hprof: cannot open"),
        (&["mcp", "--allow", "/nowhere"], 3, "/nowhere: cannot open"),
        (&["mcp", "--allow", "Cargo.toml"], 2, "is not a folder"),
        (&["mcp", "src"], 2, "is not a file"),
        (&["mcp", "--format", "json", "Cargo.toml"], 2, "--format"),
    ] {
        let output = run(words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {errors}");
        assert!(errors.contains(expected) && output.stdout.is_empty(), "{words:?}: {errors}");
    }
}

#[test]
fn three_dumps_are_compared() {
    let file = &path("heapsnapshot/sessions-node24-small.heapsnapshot.zst");
    let mut server = Server::of_fixtures();
    let answer = server.document("diff", json!({"file": [file, file, file]}));
    assert_eq!(answer, printed(&["diff", file, file, file]));
}

/// It was `files`, `input`, `old` and `new` in some tools.
#[test]
fn every_tool_calls_its_input_file() {
    let mut server = Server::of_fixtures();
    let answer = server.ask("tools/list", json!({}));
    for tool in answer["result"]["tools"].as_array().unwrap() {
        let required = tool["inputSchema"]["required"].as_array().unwrap();
        assert_eq!(required.first(), Some(&json!("file")), "{}", tool["name"]);
    }
    let about = &answer["result"]["tools"][10]["inputSchema"]["properties"]["file"];
    assert!(about["description"].as_str().unwrap().starts_with("Older dump"), "{about}");
    assert_eq!(about["type"], "array");
}
