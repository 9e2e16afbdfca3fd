//! `info` of Austin's text.

use super::load::load;
use crate::error::{Error, Result};
use crate::input::info::{Info, InfoWarning};

use crate::input::profile_info::profile_info;
use crate::input::read::ReadOptions;
use crate::model::profile::Profile;

/// Summarizes a profile.
///
/// # Errors
/// When no line has the format.
pub fn info(bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    let (profile, damage) = read(bytes, options)?;
    let version = profile.metadatum("austin").unwrap_or("").to_owned();
    let mut info = super::SPEC.summary(version);
    info.set_damage(damage);
    for datum in &profile.metadata {
        info.add_metadata(&datum.key, &datum.value);
    }
    info.records.add_all([
        ("metadata", profile.metadata.len() as u64),
        ("sample", profile.total.samples()),
    ]);
    info.warnings.extend(profile.metadatum("errors").and_then(InfoWarning::invalid_samples));
    let mode = profile.metadatum("mode").map(|_| profile.mode);
    info.profile = Some(profile_info(&profile, mode));
    Ok(info)
}

/// The sums of a profile. A file whose first line is damaged is an error.
pub(super) fn read(bytes: &[u8], options: ReadOptions<'_>) -> Result<(Profile, Option<Error>)> {
    let loaded = load(bytes, options.into())?;
    match loaded.damage {
        Some(error)
            if loaded.profile.total.samples() == 0 && loaded.profile.metadata.is_empty() =>
        {
            Err(error)
        }
        damage => Ok((loaded.profile, damage)),
    }
}
