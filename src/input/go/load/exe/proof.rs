//! Checks whether an executable is the one that wrote a dump.
//!
//! A program that was rebuilt with one more field agrees in nearly everything, but would give wrong
//! names to most objects. So every check has to pass. Measured on wrong pairs of Go 1.27: the
//! entries of frames reveal a changed function, the itabs reveal an added field.

use super::facts::{Facts, other};
use super::image::{Memory, number};
use super::program::Program;
use super::shifts::Shifts;
use super::types::Types;
use crate::error::Result;
use crate::input::go::roots::Segment;
use crate::input::go::types::Itab;

/// The evidence that an executable matches a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proof {
    pub(super) shifts: Shifts,
    /// A description of what matches, such as `118 frames`.
    pub(super) checks: Vec<String>,
}

/// Compares an executable with a dump. Fails with `Unsupported`, the first check that fails,
/// and an example.
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
    let word = facts.pointer_size;
    let segments = [("data", data, program.module.data), ("bss", bss, program.module.bss)];
    for (name, segment, bounds) in segments {
        segment_agrees(name, segment, bounds)?;
    }
    checks.push("data and bss segments".to_owned());
    let [data_shift, bss_shift] =
        segments.map(|(_, segment, (start, _))| segment.addr.wrapping_sub(start));
    let text = Shifts::of_text(program, facts, data_shift);
    checks.push(frames_agree(program, facts, text)?);
    let of_types = Shifts::of_types(types, facts, [text, data_shift], |shift| {
        let compared = types_agree(program, types, facts, shift);
        compared.is_ok_and(|compared| is_most(compared, facts.types.len()))
    });
    checks.push(format!("{} types", types_agree(program, types, facts, of_types)?));
    let is_static = |itab: &&Itab| program.image.contains(itab.addr.wrapping_sub(of_types));
    let static_itabs = facts.itabs.iter().filter(is_static).count();
    let of_itabs = Shifts::of_itabs(program, facts, of_types, |shift| {
        let compared = itabs_agree(program, facts, (of_types, shift));
        compared.is_ok_and(|compared| is_most(compared, static_itabs))
    });
    checks.push(format!("{} interface tables", itabs_agree(program, facts, (of_types, of_itabs))?));
    let shifts =
        Shifts { text, types: of_types, itabs: of_itabs, data: data_shift, bss: bss_shift };
    let read = |segment: &Segment<'_>, offset: u64| {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(word).ok()?)?;
        Some(number(segment.contents.get(start..end)?, facts.big_endian))
    };
    shifts.explained(program, data, read)?;
    Ok(Proof { shifts, checks })
}

/// Whether enough types were compared for their agreement to be evidence. With a wrong shift, most
/// types lie outside the program and are not compared, like types created at run time.
fn is_most(compared: u64, all: usize) -> bool {
    compared.saturating_mul(2) >= all as u64
}

/// Compares the entries of the functions on all stacks.
fn frames_agree(program: &Program<'_>, facts: &Facts<'_, '_>, shift: u64) -> Result<String> {
    let mut frames = 0u64;
    for frame in facts.frames() {
        let entry = frame.entry.wrapping_sub(shift);
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
    Ok(format!("{frames} stack frames"))
}

/// Compares the sizes of the types that the dump has.
fn types_agree(
    program: &Program<'_>,
    types: &Types,
    facts: &Facts<'_, '_>,
    shift: u64,
) -> Result<u64> {
    let (start, end) = program.module.types;
    let mut compared = 0u64;
    for record in facts.types {
        let address = record.addr.wrapping_sub(shift);
        if !(start..end).contains(&address) {
            continue;
        }
        let size = types.at(address).and_then(|ty| types.get(ty)).map(|ty| ty.size);
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
    Ok(compared)
}

/// Compares the types of interface tables, by the shifts of types and of the tables.
fn itabs_agree(
    program: &Program<'_>,
    facts: &Facts<'_, '_>,
    (of_types, shift): (u64, u64),
) -> Result<u64> {
    let mut itabs = 0u64;
    for itab in facts.itabs {
        let Some(dynamic) = itab.dynamic_type else { continue };
        let address = itab.addr.wrapping_sub(shift);
        if !program.image.contains(address) {
            // Made while the program ran.
            continue;
        }
        let found = program
            .image
            .word(address.wrapping_add(program.image.pointer_size))
            .map(|found| found.wrapping_add(of_types));
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
    Ok(itabs)
}

fn segment_agrees(name: &str, segment: &Segment<'_>, (start, end): (u64, u64)) -> Result<()> {
    let (length, expected) = (segment.contents.len() as u64, end.wrapping_sub(start));
    if length == expected {
        return Ok(());
    }
    let what = format!("its {name} segment differs from that of the dump");
    Err(other(what).expected(format!("{length} bytes")).found(format!("{expected} bytes")))
}
