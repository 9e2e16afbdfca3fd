//! `mcp`: the Model Context Protocol over standard input and output, on resident dumps.
//!
//! The protocol's stdio transport is JSON-RPC 2.0, one message per line, and a server with tools
//! has four methods to answer. This file implements them, because the crate `rmcp` would add an
//! asynchronous runtime and a second declaration of every argument.

mod access;
mod cut;
mod tools;

use super::args::{HeapOptions, McpArgs, OutputFormat};
use super::dumps::Dumps;
use super::known::Rules;
use super::memory;
use super::pool::is_alone;
use super::session::Session;
use super::status::{OutputError, Status};
use access::Access;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, mpsc};
use std::thread;
use tools::{Call, Tools};

/// Versions of the protocol, the newest first. Tools work the same in all of them.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Instructions for assistants that run commands.
const SKILL: &str = include_str!("../../../SKILL.md");

/// Maximum number of requests that are answered at a time.
const AT_ONCE: usize = 4;

/// Longest request in bytes.
const LONGEST: usize = 1 << 20;

const NOT_JSON: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const UNKNOWN_METHOD: i32 = -32601;
const INVALID_PARAMETERS: i32 = -32602;

pub(super) fn run(args: &McpArgs, session: &Session) -> anyhow::Result<Status> {
    session.only(&[OutputFormat::Table], "mcp answers in JSON; it has no --format")?;
    if args.print_skill {
        io::stdout().write_all(SKILL.as_bytes()).map_err(OutputError::stdout)?;
        return Ok(Status::Done);
    }
    let access = Access::of(&args.files, &args.allow)?;
    let half = || memory::limit(&session.common).map(|most| most / 2);
    let budget = args.budget.or_else(half).unwrap_or(u64::MAX);
    let given = session.given(&HeapOptions::default(), &args.known)?;
    // A broken file of rules ends the program before it is asked.
    Rules::of(&args.known, session)?;
    let only_file = match &args.files[..] {
        [file] if args.allow.is_empty() => file.to_str(),
        _ => None,
    };
    let server = Server {
        tools: Tools::of_command_line(only_file),
        instructions: access.to_string(),
        resident: Dumps::new(given, move |path| access.allows(path), budget),
    };
    serve(&Arc::new(server)).map_err(OutputError::stdout)?;
    Ok(Status::Done)
}

/// Answers requests until the input ends, several at a time. Each answer carries the id of its
/// request and is sent as soon as it is ready. Fails if the output cannot be written.
fn serve(server: &Arc<Server>) -> io::Result<()> {
    let (ended, ends) = mpsc::channel();
    // If no other thread could be started, this one has to compute and must not wait for itself.
    let others = if is_alone() { 0 } else { AT_ONCE };
    for _ in 0..others {
        let (server, ended) = (Arc::clone(server), ended.clone());
        let answer = move || _ = ended.send(server.answer_all());
        if thread::Builder::new().spawn(answer).is_err() {
            break;
        }
    }
    drop(ended);
    match ends.recv() {
        Ok(first) => std::iter::once(first).chain(ends).collect(),
        Err(_) => server.answer_all(),
    }
}

struct Server {
    tools: Tools,
    /// The instructions that the assistant gets at the start.
    instructions: String,
    resident: Arc<Dumps>,
}

/// The code and the message of a protocol error.
type Refusal = (i32, String);

impl Server {
    /// Answers one request after the other until the input ends. Fails if the output cannot be
    /// written.
    fn answer_all(&self) -> io::Result<()> {
        let mut line = Vec::new();
        // The lock is released after each line, so that another thread can read the next one.
        let next = |line: &mut Vec<u8>| read_line(&mut io::stdin().lock(), line);
        while let Ok(length) = next(&mut line)
            && length > 0
        {
            let answer = if length > LONGEST {
                let why = format!("a request must be at most {LONGEST} bytes long");
                Some(refusal(Value::Null, (INVALID_REQUEST, why)))
            } else {
                self.answer_line(&line)
            };
            if let Some(answer) = answer {
                let mut output = io::stdout().lock();
                serde_json::to_writer(&mut output, &answer)?;
                output.write_all(b"\n")?;
                output.flush()?;
            }
        }
        Ok(())
    }

    fn answer_line(&self, line: &[u8]) -> Option<Value> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        match serde_json::from_slice(line) {
            Err(error) => Some(refusal(Value::Null, (NOT_JSON, error.to_string()))),
            // A batch, which exists only in version 2025-03-26.
            Ok(Value::Array(messages)) if !messages.is_empty() => {
                let answers: Vec<_> =
                    messages.into_iter().filter_map(|message| self.answer(message)).collect();
                (!answers.is_empty()).then_some(Value::Array(answers))
            }
            Ok(message) => self.answer(message),
        }
    }

    /// Answers a message. Notifications have no answer.
    fn answer(&self, message: Value) -> Option<Value> {
        let invalid = |id, why: &str| Some(refusal(id, (INVALID_REQUEST, why.to_owned())));
        let Value::Object(mut message) = message else {
            return invalid(Value::Null, "a request must be an object");
        };
        let id = message.remove("id");
        let is_valid_id = matches!(id, None | Some(Value::String(_) | Value::Number(_)));
        if !is_valid_id || message.get("jsonrpc") != Some(&json!("2.0")) {
            return invalid(
                Value::Null,
                "a request must have \"jsonrpc\": \"2.0\", and a string or number as its id",
            );
        }
        let Some(Value::String(method)) = message.get("method") else {
            // The server asks nothing, so nothing needs an answer from the client.
            let is_answer = message.contains_key("result") || message.contains_key("error");
            return if is_answer { None } else { invalid(id.unwrap_or_default(), "no method") };
        };
        let id = id?;
        let parameters = match message.get("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(parameters)) => parameters.clone(),
            Some(_) => return invalid(id, "params must be an object"),
        };
        Some(match self.result(method, &parameters) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(refused) => refusal(id, refused),
        })
    }

    fn result(&self, method: &str, parameters: &Map<String, Value>) -> Result<Value, Refusal> {
        match method {
            "initialize" => Ok(self.welcome(parameters)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({"tools": self.tools.list()})),
            "tools/call" => self.call(parameters),
            _ => Err((UNKNOWN_METHOD, format!("unknown method {method:?}"))),
        }
    }

    fn welcome(&self, parameters: &Map<String, Value>) -> Value {
        let wanted = parameters.get("protocolVersion").and_then(Value::as_str);
        let known = VERSIONS.into_iter().find(|version| Some(*version) == wanted);
        json!({
            "protocolVersion": known.unwrap_or(VERSIONS[0]),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "dumptool", "version": env!("CARGO_PKG_VERSION")},
            "instructions": self.instructions,
        })
    }

    fn call(&self, parameters: &Map<String, Value>) -> Result<Value, Refusal> {
        let name = parameters.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(tool) = self.tools.find(name) else {
            return Err((INVALID_PARAMETERS, format!("unknown tool {name:?}")));
        };
        let none = Map::new();
        let arguments = match parameters.get("arguments") {
            None | Some(Value::Null) => &none,
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err((INVALID_PARAMETERS, "arguments must be an object".to_owned())),
        };
        Ok(match tool.call(arguments) {
            Ok(call) => self.ask(call),
            Err(message) => failed(&message),
        })
    }

    /// The result of a command: its document, and a second text if there are warnings or the
    /// document was cut.
    fn ask(&self, call: Call) -> Value {
        self.resident.forget_changed();
        let answer = self.resident.answer(call.words);
        // The text after that is the usage of the command line.
        let messages = answer.messages.split("\n\nUsage:").next().unwrap_or_default().trim_end();
        match answer.status {
            Status::Done | Status::Broken | Status::Damaged if !answer.result.is_empty() => {}
            _ => return failed(messages),
        }
        let mut notes = messages.to_owned();
        let mut document = answer.result;
        if document.len() > call.most {
            let Some(cut) = cut::cut(&document, call.most) else {
                return failed(&format!(
                    "the answer has {} bytes and cannot be cut to {} (max_bytes)",
                    document.len(),
                    call.most
                ));
            };
            notes =
                format!("{}\n{notes}", cut.note(document.len(), call.most)).trim_end().to_owned();
            document = cut.document;
        }
        let mut content = vec![text(&String::from_utf8_lossy(&document))];
        if !notes.is_empty() {
            content.push(text(&notes));
        }
        json!({"content": content, "isError": false})
    }
}

/// Reads a line with its end. Keeps at most one byte more than the longest request may have, and
/// skips the rest. Returns the number of bytes kept, 0 at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    line.clear();
    let length = input.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', line)?;
    if length > LONGEST && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok(length)
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The error of a tool, which the assistant sees.
fn failed(message: &str) -> Value {
    json!({"content": [text(message)], "isError": true})
}

fn refusal(id: Value, (code, message): Refusal) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}
