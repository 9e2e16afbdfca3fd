//! The `info` summary of a dump.

use super::records::{Rec, Records};
use crate::error::Result;
use crate::input::info::{CountsByName, FormatDetails, Info, PmatDetails, SnapshotInfo};
use crate::input::read::ReadOptions;
use crate::model::fields::Record;
use rustc_hash::FxHashMap;

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
