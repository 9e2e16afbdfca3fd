//! The invariants of a dump, for `check`.

use super::graph::Graph;
use super::load::for_each_link;
use crate::error::Result;
use crate::input::check::{CheckWarning, Findings, faults};
use crate::input::read::ReadOptions;
use crate::model::heap::ObjectId;
use std::num::Saturating;

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
