//! The subset of HTTP/1.1 that a page on the same computer needs: one GET for each connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum bytes of a request line and its headers.
const MOST_HEAD: usize = 16 << 10;
/// Maximum bytes of an address.
const MOST_TARGET: usize = 4 << 10;
const MOST_HEADERS: usize = 64;
/// The time that a client has to send its request, and to receive each part of the response.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Request {
    /// Path and query, as the client sent them.
    pub(super) target: String,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
    /// The relation of the requesting page, as the browser reports it: `same-origin`, or `none` for
    /// the address bar.
    pub(super) fetch_site: Option<String>,
}

#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: &'static str,
    pub(super) content_type: &'static str,
    /// The name under which browsers save the body. `None` if they show it.
    pub(super) file_name: Option<String>,
    /// The address to which the client should go instead.
    pub(super) location: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn ok(content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status: "200 OK", content_type, file_name: None, location: None, body }
    }

    /// An error with a text for people.
    pub(super) fn error(status: &'static str, text: &str) -> Self {
        let body = format!("{text}\n").into_bytes();
        Self { status, ..Self::ok("text/plain; charset=utf-8", body) }
    }
}

/// Reads the request of a connection. Returns `Err(None)` if the client is gone or too slow for an
/// answer, and `Err(Some)` with the answer if the request is refused.
pub(super) fn read(stream: &mut TcpStream) -> Result<Request, Option<Response>> {
    let until = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut part = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(None);
        }
        stream.set_read_timeout(Some(left)).map_err(|_| None)?;
        let count = match stream.read(&mut part) {
            Ok(0) => return Err(None),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(None),
        };
        head.extend_from_slice(part.get(..count).unwrap_or_default());
        if head.len() > MOST_HEAD {
            return Err(Some(Response::error(
                "431 Request Header Fields Too Large",
                "the request is too long",
            )));
        }
        if let Some(request) = parse(&head).map_err(Some)? {
            return Ok(request);
        }
    }
}

/// Parses the request at the beginning of these bytes. `None` if the request is not complete.
fn parse(head: &[u8]) -> Result<Option<Request>, Response> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let parsed = request.parse(head);
    if request.path.map_or(head.len(), str::len) > MOST_TARGET && request.method.is_some() {
        return Err(Response::error("414 URI Too Long", "the address is too long"));
    }
    match parsed {
        Ok(httparse::Status::Partial) => return Ok(None),
        Ok(httparse::Status::Complete(_)) => {}
        Err(_) => return Err(Response::error("400 Bad Request", "the request is malformed")),
    }
    if request.method != Some("GET") {
        return Err(Response::error("405 Method Not Allowed", "only GET is allowed"));
    }
    let header = |name: &str| {
        let mut values = request.headers.iter().filter(|it| it.name.eq_ignore_ascii_case(name));
        let value = values.next().map(|it| String::from_utf8_lossy(it.value).into_owned());
        // If a header is repeated, it is unclear which one counts, so an empty value is used.
        match values.next() {
            Some(_) => Some(String::new()),
            None => value,
        }
    };
    Ok(Some(Request {
        target: request.path.unwrap_or_default().to_owned(),
        host: header("host"),
        origin: header("origin"),
        fetch_site: header("sec-fetch-site"),
    }))
}

/// Sends a response, with headers that forbid caching and use by other pages.
pub(super) fn write(stream: &mut TcpStream, response: &Response) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(head(response).as_bytes())?;
    stream.write_all(&response.body)?;
    stream.flush()?;
    // Without this, closing with unread bytes would discard what the client has not taken yet.
    stream.shutdown(std::net::Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut rest = [0; 4096];
    for _ in 0..16 {
        if !matches!(stream.read(&mut rest), Ok(1..)) {
            break;
        }
    }
    Ok(())
}

/// Sends as much of a short response as the system accepts at once, without waiting.
pub(super) fn refuse(stream: &mut TcpStream, response: &Response) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    let whole = [head(response).as_bytes(), &response.body].concat();
    stream.write(&whole).map(drop)
}

fn head(response: &Response) -> String {
    let Response { status, content_type, file_name, location, body } = response;
    let disposition = file_name.as_ref().map_or(String::new(), |name| {
        format!("Content-Disposition: attachment; filename=\"{name}\"\r\n")
    });
    let location =
        location.as_ref().map_or(String::new(), |address| format!("Location: {address}\r\n"));
    let allow = if status.starts_with("405") { "Allow: GET\r\n" } else { "" };
    // The page contains its own policy, which a header could only restrict further.
    let policy = if content_type.starts_with("text/html") { "" } else { "default-src 'none'; " };
    format!(
        "HTTP/1.1 {status}\r\n\
         Content-Type: {content_type}\r\n\
         Content-Length: {}\r\n\
         Connection: close\r\n\
         Cache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\n\
         X-Frame-Options: DENY\r\n\
         Content-Security-Policy: {policy}frame-ancestors 'none'\r\n\
         {disposition}{location}{allow}\r\n",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(head: &[u8]) -> Option<&'static str> {
        parse(head).err().map(|response| response.status)
    }

    #[test]
    fn requests_are_read_when_they_are_whole() {
        let whole = b"GET /a?b=c HTTP/1.1\r\nHost: x\r\nOrigin: y\r\n\r\n";
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).unwrap().is_none(), "{end}");
        }
        let request = parse(whole).unwrap().unwrap();
        assert_eq!((&*request.target, request.host.as_deref()), ("/a?b=c", Some("x")));
        assert_eq!((request.origin.as_deref(), request.fetch_site), (Some("y"), None));
    }

    #[test]
    fn other_requests_are_refused() {
        assert_eq!(status(b"POST / HTTP/1.1\r\n\r\n"), Some("405 Method Not Allowed"));
        assert_eq!(status(b"\x16\x03\x01\x02\x00\x01\x00"), Some("400 Bad Request"));
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(5000));
        assert_eq!(status(long.as_bytes()), Some("414 URI Too Long"));
        let twice = b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
        assert_eq!(parse(twice).unwrap().unwrap().host.as_deref(), Some(""));
    }
}
