//! Folded stacks: `outer;inner;innermost 12`, one stack a line, as stackcollapse scripts, inferno,
//! async-profiler, py-spy and dumptool write them.
//!
//! The last blank of a line divides the stack from its number. Empty lines and lines that begin
//! with `#` are skipped, but for dumptool's own first line, which names the value and its unit:
//! `# folded: alloc_space in bytes`. A differential file has two numbers in every line: before and
//! after. There is no other magic, and no escape for `;` and blanks in names.
//!
//! Sources: flamegraph.pl, difffolded.pl and inferno; files of py-spy 0.4.3.

mod lines;
mod load;

use crate::error::Result;
use crate::input::check::Findings;
use crate::input::info::Info;
use crate::input::profile_info::profile_info;
use crate::input::read::ReadOptions;
use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};
use load::load;

pub(in crate::input) use lines::FoldedLines;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Folded,
    name: "folded",
    title: "folded stacks",
    versions: "one or two numbers per line",
    extensions: &["folded", "collapsed"],
    detection: Detection::MagicsOrContents(&[lines::VALUE], lines::looks_right),
    origin: Origin::Several,
    record_names: &[&["stack"]],
    info,
    check,
    readers: Readers::Profile(ProfileReader { load: load::load, has_order: false }),
};

fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (profile, damage) = load(bytes, options.into())?.with_samples()?;
    let mut info = SPEC.summary("");
    info.set_damage(damage);
    info.records.add("stack", profile.total.samples());
    info.profile = Some(profile_info(&profile, Some(profile.mode)));
    Ok(info)
}

fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (profile, damage) = load(bytes, options.into())?.with_samples()?;
    let mut findings = Findings::default();
    findings.none("names.utf8", profile.notes.replaced, "names that are not UTF-8");
    findings.none("numbers.clamped", profile.notes.clamped, "numbers that do not fit into 64 bits");
    findings.set_damage(damage);
    Ok(findings)
}
