//! Call graphs: the files of valgrind's callgrind and cachegrind, of PHP's Xdebug, and of all that
//! write for KCachegrind.
//!
//! ```text
//! version: 1 / creator: PROGRAM / cmd: COMMAND / pid: PID / part: N / thread: N
//! positions: instr, line or both; line if there is no such line
//! events: NAME NAME …
//! ob=(ID) object / fl=(ID) file / fn=(ID) function        of the lines that follow
//! fi=(ID) file / fe=(ID) file                             another file, inside the function
//! POSITION COST COST …                                    own costs of a line
//! cob=(ID) object / cfi=(ID) or cfl=(ID) file / cfn=(ID) function
//! calls=COUNT TARGET                                      calls of that function, and on the next line
//! POSITION COST COST …                                    where from, and their inclusive costs
//! jump=COUNT TARGET / jcnd=COUNT/COUNT TARGET             with a line of a position only after them
//! summary: COST COST … / totals: COST COST …
//! ```
//!
//! A name stands once after its ID, which is then enough; each kind of names has its own IDs. A
//! position is `*` as the one before, or `+N` or `-N` relative to it. Costs at the end of a line may
//! be missing and are 0.
//!
//! Sources: the manual of valgrind, "Callgrind Format Specification"; `callgrind_annotate` and
//! `dump.c` of callgrind; files of valgrind 3.19 and Xdebug 3.2.

mod events;
mod lines;
mod load;

pub(super) use lines::CallgrindLines;

use crate::error::Result;
use crate::input::check::Findings;
use crate::input::native::summary;
use crate::input::read::ReadOptions;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};
use load::load;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Callgrind,
    name: "callgrind",
    title: "callgrind call graph",
    versions: "callgrind, cachegrind, Xdebug, version 1",
    extensions: &["out", "callgrind"],
    detection: Detection::MagicsOrContents(&[b"# callgrind format"], lines::looks_right),
    origin: Origin::Several,
    record_names: &[lines::CallgrindLine::NAMES],
    info: |bytes, options| {
        let loaded = load(bytes, options.into())?;
        summary::info(&SPEC, String::new(), loaded, CallgrindLines::new(bytes))
    },
    check,
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};

fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let loaded = load(bytes, options.into())?;
    let wrong = load::wrong_totals(bytes, &loaded.profile);
    let mut findings = summary::check(loaded)?;
    findings.none("totals.sum", wrong, "events whose own costs have another sum than `totals`");
    Ok(findings)
}
