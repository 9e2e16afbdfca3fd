//! The `info` summary of a profile.

use super::load::load;
use super::records::RECORD_NAMES;
use super::tables::Tables;
use crate::error::Result;
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
