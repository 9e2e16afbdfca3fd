//! Whether an executable is the one that wrote a dump.
//!
//! A program that was built again with a field more agrees in nearly everything, and would give
//! wrong names to most objects. So every check has to pass. Measured on wrong pairs of Go 1.27: a
//! function that was changed shows in the entries of frames, a field that was added shows in the
//! itabs.

use super::facts::Facts;
use super::program::Program;
use super::types::Types;
use crate::error::{Error, Result};
use crate::input::go::roots::Segment;

/// The evidence that an executable matches a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proof {
    /// Address in the process less the link address.
    pub(super) slide: u64,
    /// A description of what matches, such as `118 frames`.
    pub(super) checks: Vec<String>,
}

/// Compares an executable with a dump.
///
/// # Errors
/// `Unsupported` with the first check that fails, and an example.
pub(super) fn prove(program: &Program<'_>, types: &Types, facts: &Facts<'_, '_>) -> Result<Proof> {
    let mut checks = Vec::new();
    let version = facts.version.as_deref().ok_or_else(|| {
        other("the dump does not contain the version of Go that wrote it")
            .expected("a dump of Go 1.17 or later")
    })?;
    if version != program.version {
        return Err(other("its Go version differs")
            .expected(version.to_owned())
            .found(program.version.clone()));
    }
    checks.push(version.to_owned());
    if (facts.pointer_size, facts.big_endian)
        != (program.image.pointer_size, program.image.big_endian)
    {
        return Err(other("its pointer size or byte order differs"));
    }
    let (data, bss) = match (&facts.data, &facts.bss) {
        (Some(data), Some(bss)) => (data, bss),
        _ => return Err(other("the dump has no data and bss segments to compare")),
    };
    let slide = data.addr.wrapping_sub(program.module.data.0);
    for (name, segment, (start, end)) in
        [("data", data, program.module.data), ("bss", bss, program.module.bss)]
    {
        segment_agrees(name, segment, start, end, slide)?;
    }
    checks.push("data and bss segments".to_owned());
    let mut frames = 0u64;
    for frame in facts.frames() {
        let entry = frame.entry.wrapping_sub(slide);
        let found = program.functions.at(&program.image, entry);
        if found != Some((entry, frame.name)) {
            let here = found.map_or("no function".to_owned(), |(start, name)| {
                format!("{} at {start:#x}", String::from_utf8_lossy(name))
            });
            let what = format!(
                "functions on the stack have other addresses in it, such as {}",
                String::from_utf8_lossy(frame.name)
            );
            return Err(other(what).expected(format!("an entry at {entry:#x}")).found(here));
        }
        frames = frames.saturating_add(1);
    }
    checks.push(format!("{frames} stack frames"));
    let within = |address: u64| {
        let address = address.wrapping_sub(slide);
        (program.module.types.0..program.module.types.1).contains(&address).then_some(address)
    };
    let mut compared = 0u64;
    for record in facts.types {
        let Some(address) = within(record.addr) else { continue };
        let size = types.at(address).and_then(|of| types.get(of)).map(|of| of.size);
        if size != Some(record.size) {
            let name = String::from_utf8_lossy(record.name);
            let found = size.map_or("no type there".to_owned(), |size| format!("{size} bytes"));
            let what = format!(
                "its types differ from those of the dump, such as {name} at {:#x}",
                record.addr
            );
            return Err(other(what).expected(format!("{} bytes", record.size)).found(found));
        }
        compared = compared.saturating_add(1);
    }
    checks.push(format!("{compared} types"));
    let mut itabs = 0u64;
    for itab in facts.itabs {
        let Some(dynamic) = itab.dynamic_type else { continue };
        let address = itab.addr.wrapping_sub(slide);
        if !program.image.contains(address) {
            // Made while the program ran.
            continue;
        }
        let found = program
            .image
            .word(address.wrapping_add(program.image.pointer_size))
            .map(|found| found.wrapping_add(slide));
        if found != Some(dynamic) {
            let what = format!(
                "its interface tables differ from those of the dump, such as the one at {:#x}",
                itab.addr
            );
            let found = found.map_or("nothing there".to_owned(), |found| format!("{found:#x}"));
            return Err(other(what).expected(format!("the type at {dynamic:#x}")).found(found));
        }
        itabs = itabs.saturating_add(1);
    }
    checks.push(format!("{itabs} interface tables"));
    Ok(Proof { slide, checks })
}

fn segment_agrees(
    name: &str,
    segment: &Segment<'_>,
    start: u64,
    end: u64,
    slide: u64,
) -> Result<()> {
    let (length, expected) = (segment.contents.len() as u64, end.wrapping_sub(start));
    let address = segment.addr.wrapping_sub(slide);
    if (address, length) == (start, expected) {
        return Ok(());
    }
    let describe = |address: u64, length: u64| format!("{length} bytes at {address:#x}");
    let what = format!("its {name} segment differs from that of the dump");
    Err(other(what).expected(describe(address, length)).found(describe(start, expected)))
}

fn other(what: impl Into<String>) -> Error {
    let what: String = what.into();
    Error::executable(format!("not the executable that wrote the dump: {what}")).hint(
        "use the executable itself, or a build of the same source with the same toolchain and flags; an unstripped build matches the dump of a stripped program",
    )
}
