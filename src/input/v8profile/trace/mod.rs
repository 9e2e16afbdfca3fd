//! Traces of Chrome: what the Performance panel of DevTools saves, `chrome://tracing`, and `node --trace-events-enabled`.
//!
//! ```text
//! {"traceEvents":[{"name","cat","ph","pid","tid","ts":µs,"dur":µs,"id","args":{…}}, …]}, or only the array
//! ph P  Profile       args.data {"startTime":µs}
//!       ProfileChunk  args.data {"cpuProfile":{"nodes":[{"id","parent","callFrame"}, …],"samples":[node id, …]},
//!                                "timeDeltas":[µs, …],"lines":[line, …]}; comes from another thread, with the same `pid` and `id`
//! ph X  a span of `dur`;  ph B and E  its beginning and its end, one in the other
//! ph M  thread_name   args {"name"}
//! ```
//!
//! A trace with CPU profiles of V8 has their samples. Any other has its spans: the stack of a thread at a time are the
//! spans that are open.
//!
//! Sources: Google's "Trace Event Format"; DevTools' `SamplesHandler` and `CPUProfileDataModel`; traces of Chromium 149
//! and Node 20.

mod document;
mod event;
mod load;
mod scripts;
mod spans;

pub(in crate::input) use event::Events;
pub(in crate::input) use scripts::source_texts;

use crate::error::{Error, Result};
use crate::input::check::Findings;
use crate::input::info::Info;
use crate::input::native::summary;
use crate::input::read::ReadOptions;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};
use load::load;

pub(in crate::input) static SPEC: FormatSpec = FormatSpec {
    format: Format::ChromeTrace,
    name: "chrome-trace",
    title: "Chrome trace",
    versions: "Chrome's Performance panel, chrome://tracing, Node's trace events",
    extensions: &["json", "log"],
    detection: Detection::Contents(event::looks_right),
    origin: Origin::Several,
    record_names: &[event::RECORD_NAMES],
    info,
    check,
    readers: Readers::Profile(ProfileReader { load, has_order: true }),
};

fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    is_a_trace(bytes)?;
    summary::info(&SPEC, String::new(), load(bytes, options.into())?, Events::new(bytes))
}

fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    is_a_trace(bytes)?;
    summary::check(load(bytes, options.into())?)
}

/// Refuses files without events.
fn is_a_trace(bytes: &[u8]) -> Result<()> {
    match Events::new(bytes).next() {
        Some(Err(error)) => Err(error),
        Some(Ok(_)) => Ok(()),
        None => Err(Error::corrupt(0, "no events of a trace")),
    }
}
