//! speedscope's JSON, as py-spy, rbspy, dotnet-trace, speedscope and dumptool write it.
//!
//! ```text
//! {"$schema":"https://www.speedscope.app/file-format-schema.json","exporter","name",
//!  "shared":{"frames":[{"name","file","line","col"}, …]},
//!  "profiles":[{"type":"sampled","name","unit","startValue","endValue",
//!               "samples":[[frame, … outermost first], …],"weights":[number, …]},
//!              {"type":"evented", …,"events":[{"type":"O" or "C","frame","at"}, …]}]}
//! ```
//!
//! Keys come in any order, so that a file is read twice: once to find the lists, and once to read
//! them. `null` counts as a missing key. A profile is one value of one thread.
//!
//! Sources: speedscope's schema and importer; files of py-spy 0.4.3.

mod document;
mod lists;
mod load;
mod plan;
mod summary;

pub use document::for_each_record;

use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Speedscope,
    name: "speedscope",
    title: "speedscope profile",
    versions: "sampled and evented profiles",
    extensions: &["speedscope.json", "json"],
    detection: Detection::Contents(document::looks_right),
    origin: Origin::Several,
    record_names: &[document::RECORD_NAMES],
    info: summary::info,
    check: summary::check,
    readers: Readers::Profile(ProfileReader { load: load::load, has_order: true }),
};
