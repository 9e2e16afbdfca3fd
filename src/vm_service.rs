//! Recordings of a Dart VM service's stream of binary frames, from which a heap snapshot is put
//! together.
//!
//! ```text
//! frame = u32 LE offset of the payload (512 so far), JSON padded with spaces, payload
//! JSON  = {"jsonrpc":"2.0","method":"streamNotify","params":{"event":{"kind":"HeapSnapshot","last":false,…},…}}
//! ```
//!
//! A frame does not contain its length; the WebSocket did. In a recording, where frames follow each
//! other, a frame ends where the next header begins. The snapshot is the concatenation of the
//! payloads. Source: the VM writes such frames in `runtime/vm/service.cc`; their form was seen in
//! recordings of Dart 2.17 to 3.7.

use memchr::memmem;
use serde::Deserialize;

/// The maximum length of a header, which is JSON of a few hundred bytes.
const LARGEST_HEADER: usize = 64 << 10;
const JSON: &[u8] = b"{\"jsonrpc\"";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload<'a> {
    pub(crate) bytes: &'a [u8],
    /// No frame follows.
    pub(crate) last: bool,
}

/// The payloads of a recording. `None` if the bytes are not a recording.
pub(crate) fn payloads(bytes: &[u8]) -> Option<impl Iterator<Item = Payload<'_>>> {
    header(bytes)?;
    let mut rest = bytes;
    Some(std::iter::from_fn(move || {
        let header = header(rest)?;
        let end = next_header(rest, header.length).unwrap_or(rest.len());
        let payload = Payload { bytes: rest.get(header.length..end)?, last: header.last };
        rest = rest.get(end..)?;
        Some(payload)
    }))
}

struct Header {
    /// Where the payload begins.
    length: usize,
    last: bool,
}

#[derive(Deserialize)]
struct Envelope {
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    event: Event,
}

#[derive(Deserialize)]
struct Event {
    kind: String,
    #[serde(default)]
    last: bool,
}

fn header(bytes: &[u8]) -> Option<Header> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    if !rest.starts_with(JSON) || length > LARGEST_HEADER {
        return None;
    }
    // The padding is white space, which JSON allows at its end.
    let envelope: Envelope = serde_json::from_slice(bytes.get(4..length)?).ok()?;
    let event = envelope.params.event;
    (event.kind == "HeapSnapshot").then_some(Header { length, last: event.last })
}

/// Where the next frame begins, at or after `from`.
fn next_header(bytes: &[u8], from: usize) -> Option<usize> {
    let payload = bytes.get(from..)?;
    // The same text may stand in the snapshot as a string, but not behind a length that fits and
    // with valid JSON.
    memmem::find_iter(payload, JSON)
        .filter_map(|position| (from + position).checked_sub(4).filter(|&start| start >= from))
        .find(|&start| bytes.get(start..).is_some_and(|bytes| header(bytes).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(payload: &[u8], last: bool) -> Vec<u8> {
        let json = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"streamNotify\",\"params\":{{\"streamId\":\"HeapSnapshot\",\"event\":{{\"type\":\"Event\",\"kind\":\"HeapSnapshot\",\"last\":{last}}}}}}}"
        );
        let mut frame = 512u32.to_le_bytes().to_vec();
        frame.extend(format!("{json:<508}").bytes());
        frame.extend_from_slice(payload);
        frame
    }

    #[test]
    fn payloads_are_what_stands_between_headers() {
        let recording = [
            frame(b"dartheap {\"jsonrpc\" is text here", false),
            frame(b"", false),
            frame(b"the end", true),
        ]
        .concat();
        let payloads: Vec<_> = payloads(&recording).unwrap().collect();
        let bytes: Vec<_> = payloads.iter().map(|payload| payload.bytes).collect();
        assert_eq!(bytes, [&b"dartheap {\"jsonrpc\" is text here"[..], b"", b"the end"]);
        assert_eq!(
            payloads.iter().map(|payload| payload.last).collect::<Vec<_>>(),
            [false, false, true]
        );
    }

    #[test]
    fn other_bytes_are_no_recording() {
        assert!(payloads(b"dartheap").is_none());
        assert!(payloads(b"").is_none());
        assert!(payloads(&[&512u32.to_le_bytes()[..], b"{\"jsonrpc\":1}"].concat()).is_none());
        assert!(payloads(&[&u32::MAX.to_le_bytes()[..], JSON].concat()).is_none());
    }
}
