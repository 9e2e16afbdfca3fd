//! The `info` summary of a dump, and the invariants for `check`.

use super::graph::Graph;
use super::load::for_each_link;
use super::records::{Rec, Records};
use crate::error::Result;
use crate::input::check::{CheckWarning, Findings, faults};
use crate::input::info::{CountsByName, FormatDetails, Info, PmatDetails, SnapshotInfo};
use crate::input::read::ReadOptions;
use crate::model::fields::Record;
use crate::model::heap::ObjectId;
use rustc_hash::FxHashMap;
use std::num::Saturating;

pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let mut records = Records::new(bytes)?;
    let layout = records.layout.clone();
    let mut info = super::SPEC.summary(format!("0.{}", layout.minor));
    let mut by_type: FxHashMap<&str, u64> = FxHashMap::default();
    let (mut roots, mut objects, mut bytes_of_objects) = (0u64, 0u64, 0u64);
    let (mut packages, mut blessed) = (0u64, 0u64);
    let mut damage = None;
    let read =
        records.by_ref().map_while(|record| record.map_err(|error| damage = Some(error)).ok());
    for (number, (offset, record)) in read.enumerate() {
        if number.is_multiple_of(65536) {
            (options.progress)(offset);
        }
        info.records.add(record.name(), 1);
        match record {
            Rec::Root { address, .. } => roots = roots.saturating_add(u64::from(address != 0)),
            Rec::Sv { sv, type_name } => {
                objects = objects.saturating_add(1);
                bytes_of_objects = bytes_of_objects.saturating_add(sv.size);
                blessed = blessed.saturating_add(u64::from(sv.package() != 0));
                packages =
                    packages.saturating_add(u64::from(matches!(type_name, "STASH" | "CLASS")));
                let count = by_type.entry(type_name).or_default();
                *count = count.saturating_add(1);
            }
            _ => {}
        }
    }
    let [revision, version, subversion] = layout.perl;
    info.add_metadata("perl", format!("{revision}.{version}.{subversion}"));
    info.add_metadata("threads", layout.threads);
    info.add_metadata("pointer_size", layout.words.pointer_size());
    info.add_metadata("big_endian", layout.words.is_big_endian());
    let heap = SnapshotInfo {
        objects: Some(objects),
        roots: Some(roots),
        types: Some(packages),
        shallow_bytes: Some(bytes_of_objects),
        external_bytes: Some(0),
        ..SnapshotInfo::new(FormatDetails::Pmat(Box::new(PmatDetails {
            by_type: CountsByName::largest_first(by_type),
            blessed,
        })))
    };
    info.set_heap(heap, damage);
    Ok(info)
}

faults! {
    struct Faults(is_cut: bool) {
        dangling_roots: "root.references" "roots that hold no SV of the dump" if !is_cut,
        classless: "object.blessed" "SVs that are blessed into no package of the dump" if !is_cut,
        owners: "extension.sv" "extensions of SVs that are not in the dump",
        repeated: "object.address" "SVs with the address of another one",
        rest: "file.end" "bytes after the last record",
    }
}

pub(super) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let mut graph = Graph::read(bytes, options.progress)?;
    let is_absent = |address: u64| {
        address != 0
            && graph.addresses.at(address).is_none()
            && !graph.layout.immortals.contains(&address)
    };
    let mut dangling = 0u64;
    let mut faults = Faults {
        repeated: Saturating(graph.repeated),
        rest: Saturating(graph.rest),
        ..Faults::default()
    };
    for object in (0..graph.len() as u32).map(ObjectId) {
        let Some(sv) = graph.sv(object) else { continue };
        for_each_link(&graph, &sv, &mut |link| {
            dangling = dangling.saturating_add(u64::from(is_absent(link.target)));
        });
        let package = sv.package();
        faults.classless += u64::from(package != 0 && !graph.packages.contains_key(&package));
    }
    let roots = graph.roots.iter().map(|(_, address)| *address);
    let held = graph.contexts.iter().flat_map(|context| context.holds);
    let lists = graph.stack.iter().chain(&graph.mortals).copied();
    faults.dangling_roots +=
        roots.chain(held).chain(lists).filter(|address| is_absent(*address)).count() as u64;
    faults.owners += graph.extensions.iter().filter(|(owner, _)| is_absent(*owner)).count() as u64;
    let mut findings = Findings::default();
    let damage = graph.damage.take();
    faults.report(&mut findings, damage.is_some());
    findings.tolerate(dangling, CheckWarning::DanglingPointers);
    findings.set_damage(damage);
    Ok(findings)
}
