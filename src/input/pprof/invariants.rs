//! The invariants of a profile, for `check`: everything that `go tool pprof` refuses.

use super::tables::Tables;
use super::wire::{Field, Fields};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::check::{Findings, faults};
use crate::input::read::ReadOptions;

faults! {
    struct Faults {
        value_counts: "sample.values" "samples that do not have one value for each sample type",
        locations: "sample.locations" "references of samples to locations that do not exist",
        functions: "line.function" "references of lines to functions that do not exist",
        mappings: "location.mapping" "references of locations to mappings that do not exist",
        ids: "tables.ids" "ids of mappings, locations or functions that are 0 or not unique",
        strings: "strings.index" "references to strings that do not exist",
        first: "strings.first" "string tables that do not begin with the empty string",
        utf8: "strings.utf8" "strings that are not UTF-8",
    }
}

pub(super) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (tables, mut damage) = Tables::read(bytes, options.memory, options.progress)?;
    if tables.counts.iter().all(|count| *count == 0) {
        return Err(super::records::nothing_read(damage));
    }
    let mut faults = Faults { ids: tables.bad_ids, ..Faults::default() };
    let end = damage.as_ref().and_then(Error::offset).unwrap_or(u64::MAX);
    for field in
        Fields(Cursor::new(bytes, 0)).map_while(Result::ok).take_while(|field| field.offset < end)
    {
        let Field { number: 2, value, .. } = field else { continue };
        if let Err(error) = faults.sample(&tables, value.fields()) {
            damage.get_or_insert(error);
            break;
        }
    }
    // Tables that were cut lack what the rest refers to.
    if damage.is_none() {
        faults.tables(&tables);
    } else {
        (faults.locations, faults.functions) = Default::default();
    }
    let mut findings = Findings::default();
    faults.report(&mut findings);
    findings.set_damage(damage);
    Ok(findings)
}

impl Faults {
    fn sample(&mut self, tables: &Tables<'_>, fields: Fields<'_>) -> Result<()> {
        let mut values = 0usize;
        for field in fields {
            let Field { number, value, .. } = field?;
            match number {
                1 => value
                    .each(|id| self.locations += u64::from(tables.locations.row(id).is_none()))?,
                2 => value.each(|_| values = values.saturating_add(1))?,
                3 => _ = value.numbers::<0>()?,
                _ => {}
            }
        }
        self.value_counts += u64::from(values != tables.types.len());
        Ok(())
    }

    fn tables(&mut self, tables: &Tables<'_>) {
        let missing = |string: u64| u64::from(tables.string(string).is_none());
        for location in &tables.locations.rows {
            self.mappings +=
                u64::from(location.mapping != 0 && tables.mappings.row(location.mapping).is_none());
            for line in tables.lines(location) {
                self.functions += u64::from(tables.functions.row(line.function).is_none());
            }
        }
        for function in &tables.functions.rows {
            [function.name, function.system_name, function.file]
                .into_iter()
                .for_each(|string| self.strings += missing(string));
        }
        tables.mappings.rows.iter().for_each(|mapping| self.strings += missing(mapping.file));
        tables
            .types
            .iter()
            .for_each(|(name, unit)| self.strings += missing(*name).saturating_add(missing(*unit)));
        self.first += u64::from(tables.strings.first().is_none_or(|first| !first.is_empty()));
        self.utf8 +=
            tables.strings.iter().filter(|text| std::str::from_utf8(text).is_err()).count() as u64;
    }
}
