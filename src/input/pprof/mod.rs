//! pprof's `profile.proto`: sums of samples by stack, as Go, Rust, C++, Node and most profiling
//! services write them.
//!
//! The file is one protobuf message, usually gzipped, without a magic:
//!
//! ```text
//! Profile    1 sample_type*  2 sample*  3 mapping*  4 location*  5 function*  6 string*  9 time_nanos  10 duration_nanos
//!            7 drop_frames  8 keep_frames  11 period_type  12 period  13 comment*  14 default_sample_type  15 doc_url
//! ValueType  1 type  2 unit                                          indexes of strings, as all names are
//! Sample     1 location id*  2 value*  3 label*                      the first location is the innermost
//! Label      1 key  2 text  3 number  4 unit
//! Mapping    1 id  2 start  3 limit  4 offset  5 file  6 build id
//! Location   1 id  2 mapping id  3 address  4 line*                  the first line is the innermost inlined function
//! Line       1 function id  2 line  3 column
//! Function   1 id  2 name  3 system name  4 file  5 start line
//! ```
//!
//! Tables come in any order, before or after what uses them, so the file is read twice: tables
//! first, then samples. Repeated numbers are packed or not. Ids are any numbers but 0. Unknown
//! fields are skipped.
//!
//! Sources: google/pprof `proto/profile.proto` and `profile/encode.go`; `go tool pprof` of Go
//! 1.27.3 on the files of all tests.

mod load;
mod prune;
mod records;
mod samples;
mod summary;
mod tables;
mod wire;

pub use records::{PprofRecord, Records};

use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Pprof,
    name: "pprof",
    title: "pprof profile",
    versions: "profile.proto",
    extensions: &["pb", "pb.gz", "pprof", "prof"],
    detection: Detection::Contents(begins_otherwise),
    origin: Origin::Several,
    record_names: &[records::RECORD_NAMES],
    info: summary::info,
    check: summary::check,
    readers: Readers::Profile(ProfileReader { load: load::load, has_order: false }),
};

/// Whether the first fields are those of a profile. As there is no magic, they must make sense.
fn begins_otherwise(bytes: &[u8]) -> bool {
    records::looks_right(bytes.get(..HEAD).unwrap_or(bytes), bytes.len())
}

/// Bytes of a file in which its first fields are looked for.
const HEAD: usize = 64 << 10;
