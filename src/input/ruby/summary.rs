//! The `info` summary of a dump.

use super::line::Line;
use crate::error::Result;
use crate::input::info::{
    CountsByName, FormatDetails, Info, InfoWarning, RubyDetails, SnapshotInfo,
};
use crate::input::json_lines::read_all;
use crate::input::read::ReadOptions;
use rustc_hash::FxHashMap;

#[derive(Default)]
struct Totals<'a> {
    objects: u64,
    bytes: u64,
    references: u64,
    shapes: u64,
    classes: u64,
    traced: u64,
    by_type: FxHashMap<&'a [u8], u64>,
    roots: Vec<(String, u64)>,
}

impl<'a> Totals<'a> {
    fn add(&mut self, line: &Line<'a>) {
        match line.kind {
            b"ROOT" => {
                let name = line.root.map_or_else(String::new, |root| root.decode().into_owned());
                self.roots.push((name, line.references.len() as u64));
            }
            b"SHAPE" => self.shapes = self.shapes.saturating_add(1),
            kind if line.address.is_some() => {
                self.objects = self.objects.saturating_add(1);
                self.bytes = self.bytes.saturating_add(line.memsize);
                self.references = self.references.saturating_add(line.references.len() as u64);
                self.classes =
                    self.classes.saturating_add(u64::from(matches!(kind, b"CLASS" | b"MODULE")));
                self.traced = self.traced.saturating_add(u64::from(line.file.is_some()));
                let count = self.by_type.entry(kind).or_default();
                *count = count.saturating_add(1);
            }
            _ => {}
        }
    }

    fn add_totals(&mut self, other: Self) {
        self.objects = self.objects.saturating_add(other.objects);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.references = self.references.saturating_add(other.references);
        self.shapes = self.shapes.saturating_add(other.shapes);
        self.classes = self.classes.saturating_add(other.classes);
        self.traced = self.traced.saturating_add(other.traced);
        for (kind, count) in other.by_type {
            let total = self.by_type.entry(kind).or_default();
            *total = total.saturating_add(count);
        }
        for (name, count) in other.roots {
            match self.roots.iter_mut().find(|(known, _)| *known == name) {
                Some((_, total)) => *total = total.saturating_add(count),
                None => self.roots.push((name, count)),
            }
        }
    }
}

pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    super::SPEC.check_magic(bytes)?;
    let (parts, skipped) =
        read_all(bytes, options.progress, |totals: &mut Totals<'_>, _, line: &Line<'_>| {
            totals.add(line)
        });
    let mut totals = Totals::default();
    let mut root_lines = 0u64;
    for part in parts {
        root_lines = root_lines.saturating_add(part.roots.len() as u64);
        totals.add_totals(part);
    }
    let mut info = super::SPEC.summary("");
    let counts = [("root", root_lines), ("shape", totals.shapes), ("object", totals.objects)];
    info.records.add_all(counts);
    if root_lines == 0 {
        info.warnings.push(InfoWarning::NoRoots);
    }
    let by_type =
        totals.by_type.iter().map(|(name, count)| (String::from_utf8_lossy(name), *count));
    let roots = totals.roots.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    let heap = SnapshotInfo {
        objects: Some(totals.objects),
        references: Some(totals.references),
        roots: Some(roots),
        types: Some(totals.classes),
        shallow_bytes: Some(totals.bytes),
        external_bytes: Some(0),
        ..SnapshotInfo::new(FormatDetails::Ruby(Box::new(RubyDetails {
            by_type: CountsByName::largest_first(by_type),
            roots: CountsByName(totals.roots),
            shapes: totals.shapes,
            allocations_traced: totals.traced,
            malformed_lines: skipped.count,
        })))
    };
    skipped.summarize(&mut info, heap);
    Ok(info)
}
