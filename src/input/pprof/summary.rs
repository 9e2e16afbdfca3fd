//! The `info` summary of a profile, and the invariants for `check`.

use super::load::load;
use super::records::RECORD_NAMES;
use super::tables::Tables;
use super::wire::{Field, Fields};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::check::{Findings, faults};
use crate::input::info::{Info, InfoWarning};
use crate::input::profile_info::{profile_info, warn_of_unnamed};
use crate::input::read::ReadOptions;

pub(super) fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (tables, _) = Tables::read(bytes, options.memory, &|_| {})?;
    let loaded = load(bytes, options.into())?;
    let mut info = super::SPEC.summary("");
    info.set_damage(loaded.damage);
    for (key, value) in tables.metadata() {
        info.add_metadata(key, value);
    }
    info.records.add_all(RECORD_NAMES.iter().copied().zip(tables.counts));
    let notes = &loaded.profile.notes;
    let warnings = [
        (notes.unresolved, InfoWarning::DanglingReferences(notes.unresolved)),
        (notes.replaced, InfoWarning::InvalidNames(notes.replaced)),
    ];
    info.warnings.extend(warnings.into_iter().filter(|(n, _)| *n > 0).map(|(_, warning)| warning));
    let profile = profile_info(&loaded.profile, Some(loaded.profile.mode));
    info.warnings.extend(warn_of_unnamed(&profile));
    info.profile = Some(profile);
    Ok(info)
}

impl Tables<'_> {
    /// Returns the metadata of the file.
    pub(super) fn metadata(&self) -> Vec<(&'static str, String)> {
        let mut all: Vec<(&'static str, String)> =
            self.comments.iter().map(|&comment| ("comment", self.text(comment))).collect();
        if let Some((name, unit)) = self.period_type {
            all.push(("period_type", format!("{} {}", self.text(name), self.text(unit))));
        }
        for (key, number) in [
            ("period", self.period),
            ("time_nanos", self.time_nanos),
            ("duration_nanos", self.duration_nanos),
        ] {
            all.extend((number != 0).then(|| (key, number.to_string())));
        }
        for (key, string) in [
            ("default_sample_type", self.default_type),
            ("doc_url", self.doc_url),
            ("drop_frames", self.drop_frames),
            ("keep_frames", self.keep_frames),
        ] {
            all.extend((string != 0).then(|| (key, self.text(string))));
        }
        all
    }
}

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
