//! `serve`: the page of `report` on 127.0.0.1, with the dump resident.

mod api;
mod http;

use super::args::{OutputFormat, ReportArgs, ServeArgs, Snapshot};
use super::dumps::Dumps;
use super::mappings::mapping_beside;
use super::page::page;
use super::pool::is_alone;
use super::progress::Progress;
use super::session::Session;
use super::status::{OutputError, Status, UsageError};
use super::terminal::{show_path, tell};
use crate::cli::lock;
use api::Api;
use http::{Request, Response};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

const HTML: &str = "text/html; charset=utf-8";

/// Number of objects whose subtrees are prepared: those that dominate most others.
const HEADS: usize = 16;

pub(super) fn run(args: &ServeArgs, session: &Session) -> anyhow::Result<Status> {
    session.only(&[OutputFormat::Table], "serve shows a page; its documents are JSON")?;
    let files: Vec<PathBuf> = [&args.file].into_iter().chain(&args.new).cloned().collect();
    let given = session.given(&args.heap, &args.known)?;
    let common = &session.common;
    let named = common.mapping.iter().chain(&common.old_mapping).chain(&common.source_maps);
    let read = files.iter().chain(&args.heap.roots.exe).chain(named).cloned();
    // Allows the mapping beside each dump, which commands find by themselves.
    let read: Vec<PathBuf> = read.chain(files.iter().map(|file| mapping_beside(file))).collect();
    let resident = Dumps::new(given, move |path| read.iter().any(|known| known == path), u64::MAX);
    let session =
        &Session { resident: Some(Arc::clone(&resident)), ..Session::new(session.common.clone()) };
    let args_of_page = args.report();
    let (page, status) = match page(&args_of_page, session)? {
        (Some(page), status) => (page, status),
        (None, status) => return Ok(status),
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(|error| {
        UsageError::new(format!("cannot listen on port {}: {error}", args.port))
            .hint("--port chooses another one")
    })?;
    let failed = |error| OutputError::new(Path::new("127.0.0.1"), error);
    let port = listener.local_addr().map_err(failed)?.port();
    let token = token()?;
    let url = format!("http://127.0.0.1:{port}/{token}/");
    let server = Arc::new(Server {
        hosts: ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}")),
        api: Api::new(Arc::clone(&resident), &files),
        page: page.into_bytes(),
        args: args_of_page,
        token,
        connections: Arc::default(),
    });
    // Users click as soon as the page opens, and the first request for a view takes longest.
    let phase = Progress::new("preparing views", None);
    for head in resident.prepare(HEADS) {
        server.api.response("tree", &api::tree_on_page(&head));
    }
    drop(phase);
    tell("", &format!("{}: {url} (press Ctrl-C to stop)", show_path(&args.file)));
    if !args.no_open {
        open_in_browser(&url);
    }
    serve(&server, &listener);
    Ok(status)
}

/// The state that all connections share.
struct Server {
    /// The host names of this server, with the port.
    hosts: [String; 2],
    /// The secret in each address, so that other programs and users cannot guess addresses.
    token: String,
    page: Vec<u8>,
    /// The arguments of the page, used for pages about other snapshots.
    args: ReportArgs,
    api: Api,
    connections: Arc<Connections>,
}

/// Answers until the process ends.
fn serve(server: &Arc<Server>, listener: &TcpListener) {
    let alone = is_alone();
    for stream in listener.incoming() {
        // The client may be gone before its connection is accepted.
        let Ok(mut stream) = stream else { continue };
        let Some(counted) = server.connections.admit(&stream) else {
            let busy = Response::error("503 Service Unavailable", "too many connections");
            let _ = http::refuse(&mut stream, &busy);
            continue;
        };
        let server = Arc::clone(server);
        let mut answer = move || server.answer(&mut stream, &counted);
        // If no thread can be started, the connection is closed.
        if alone { answer() } else { drop(std::thread::Builder::new().spawn(answer)) }
    }
}

impl Server {
    fn answer(&self, stream: &mut TcpStream, counted: &Counted) {
        let request = http::read(stream);
        counted.busy();
        let response = match request {
            Ok(request) => self.response(&request),
            Err(Some(refusal)) => refusal,
            Err(None) => return,
        };
        // If the client does not receive the answer, nothing else can be done.
        let _ = http::write(stream, &response);
    }

    fn response(&self, request: &Request) -> Response {
        if let Some(refusal) = self.refusal(request) {
            return refusal;
        }
        let missing = || {
            Response::error(
                "404 Not Found",
                "not found; use the complete address that dumptool printed",
            )
        };
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let rest = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        match rest {
            Some((token, rest)) if is_same(token, &self.token) => match rest.strip_prefix("api/") {
                Some(command) => self.api.response(command, query),
                None if rest.is_empty() => match query.strip_prefix("snapshot=") {
                    Some(number) => self.page_of_snapshot(number),
                    None => Response::ok(HTML, self.page.clone()),
                },
                None => missing(),
            },
            // The address of the page without its last slash.
            None if path.strip_prefix('/').is_some_and(|path| is_same(path, &self.token)) => {
                let query = request.target.strip_prefix(path).unwrap_or_default();
                let location = Some(format!("/{}/{query}", self.token));
                let moved = Response::error("308 Permanent Redirect", "moved");
                Response { location, ..moved }
            }
            // Browsers request this file on their own.
            _ if path == "/favicon.ico" => {
                Response { status: "204 No Content", ..Response::ok("image/x-icon", Vec::new()) }
            }
            _ => missing(),
        }
    }

    /// The page about another snapshot of the file.
    fn page_of_snapshot(&self, number: &str) -> Response {
        let Ok(number) = number.parse() else {
            return Response::error("400 Bad Request", "snapshot is a number");
        };
        let mut args = self.args.clone();
        args.heap.snapshot = Some(Snapshot::Number(number));
        let common = self.api.resident.given.common.clone();
        let session = Session::kept(common, Some(Arc::clone(&self.api.resident)));
        match page(&args, &session) {
            Ok((Some(page), _)) => Response::ok(HTML, page.into_bytes()),
            Ok((None, _)) => {
                Response::error("422 Unprocessable Content", "the snapshot has no roots")
            }
            Err(error) => Response::error("400 Bad Request", &format!("{error:#}")),
        }
    }

    /// Refuses requests for another host name, as after DNS rebinding, and from other pages.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let is_ours = |host: &str| self.hosts.iter().any(|ours| ours == host);
        let host = request.host.as_deref().is_some_and(is_ours);
        let origin = request
            .origin
            .as_deref()
            .is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_ours));
        let site =
            request.fetch_site.as_deref().is_none_or(|site| matches!(site, "same-origin" | "none"));
        match (host, origin && site) {
            (false, _) => Some(Response::error("421 Misdirected Request", "unknown host")),
            (_, false) => {
                Some(Response::error("403 Forbidden", "requests from other pages are refused"))
            }
            _ => None,
        }
    }
}

/// 128 random bits.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("cannot get random numbers from the system: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares two tokens in a time that does not depend on how much of them is equal.
fn is_same(given: &str, token: &str) -> bool {
    given.len() == token.len()
        && given.bytes().zip(token.bytes()).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

/// Opens an address in the user's browser. Errors are ignored, because the address is also shown on
/// the terminal.
fn open_in_browser(url: &str) {
    let mut command = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => {
            let mut command = Command::new("rundll32");
            command.arg("url.dll,FileProtocolHandler");
            command
        }
        _ => Command::new("xdg-open"),
    };
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        // A thread waits for the process; otherwise it would remain as a zombie.
        drop(std::thread::Builder::new().spawn(move || child.wait()));
    }
}

/// Maximum number of connections that are served at the same time.
const MOST: usize = 32;

/// All open connections, the oldest first.
#[derive(Default)]
struct Connections(Mutex<Open>);

#[derive(Default)]
struct Open {
    /// The number of each connection, and its stream until its request has arrived.
    connections: Vec<(u64, Option<TcpStream>)>,
    next: u64,
}

/// A connection, which counts as open until this value is dropped.
struct Counted {
    all: Arc<Connections>,
    number: u64,
}

impl Connections {
    /// Counts a connection. If there are too many, closes the one that has been without a request for
    /// longest: idle connections must not keep others out. `None` if all of them have requests.
    fn admit(self: &Arc<Self>, stream: &TcpStream) -> Option<Counted> {
        let mut open = lock(&self.0);
        if open.connections.len() >= MOST {
            let idle = open.connections.iter().position(|(_, idle)| idle.is_some())?;
            if let (_, Some(idle)) = open.connections.remove(idle) {
                let _ = idle.shutdown(Shutdown::Both); // It may have been closed by its client.
            }
        }
        let number = open.next;
        open.next += 1;
        open.connections.push((number, stream.try_clone().ok()));
        Some(Counted { all: Arc::clone(self), number })
    }
}

impl Counted {
    /// Marks the connection as not idle, because its request has arrived.
    fn busy(&self) {
        let mut open = lock(&self.all.0);
        let this = open.connections.iter_mut().find(|(number, _)| *number == self.number);
        if let Some((_, idle)) = this {
            *idle = None;
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        lock(&self.all.0).connections.retain(|(number, _)| *number != self.number);
    }
}
