//! The invariants of a dump, for `check`.

use super::line::Line;
use crate::error::Result;
use crate::input::check::{Findings, faults};
use crate::input::json_lines::read_all;
use crate::input::read::ReadOptions;
use crate::model::addresses::AddressesBuilder;
use std::num::Saturating;

faults! {
    struct Faults {
        dangling: "object.references" "references to objects that are not in the dump",
        dangling_roots: "root.references" "roots that hold no object of the dump",
        classless: "object.class" "objects of classes that are not in the dump",
        repeated: "object.address" "lines with the address of another object",
        malformed: "line.json" "lines that are not valid JSON, which were skipped",
    }
}

/// The data of a part of the lines that is compared.
#[derive(Default)]
struct Part {
    addresses: Vec<u64>,
    references: Vec<u64>,
    roots: Vec<u64>,
    classes: Vec<u64>,
}

pub(super) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    super::SPEC.check_magic(bytes)?;
    let (parts, skipped) =
        read_all(bytes, options.progress, |part: &mut Part, _, line: &Line<'_>| match line.kind {
            b"ROOT" => part.roots.extend(line.references.iter()),
            b"SHAPE" => {}
            _ => {
                part.addresses.extend(line.address);
                part.references.extend(line.references.iter());
                part.classes.extend(line.real_class());
            }
        });
    let mut findings = Findings::default();
    let is_cut = skipped.cut.is_some();
    findings.set_damage(skipped.cut);
    let mut addresses = AddressesBuilder::default();
    parts.iter().flat_map(|part| &part.addresses).for_each(|address| addresses.add(*address));
    let addresses = addresses.finish();
    let absent = |list: &[u64]| {
        list.iter().filter(|address| addresses.at(**address).is_none()).count() as u64
    };
    let mut faults = Faults { malformed: Saturating(skipped.count), ..Faults::default() };
    let mut lines = 0u64;
    for part in &parts {
        lines = lines.saturating_add(part.addresses.len() as u64);
        // References may lead to objects that are cut off.
        if !is_cut && skipped.count == 0 {
            faults.dangling += absent(&part.references);
            faults.dangling_roots += absent(&part.roots);
            faults.classless += absent(&part.classes);
        }
    }
    faults.repeated += lines.saturating_sub(addresses.len() as u64);
    faults.report(&mut findings);
    Ok(findings)
}
