//! Several profiles as one.

use super::input::ProfileInput;
use super::load::{Kept, NarrowedProfile, load_profile, narrowed, warn_unmatched};
use super::require::selection;
use crate::analysis::profile::{MergedProfile, NotMerged};
use crate::cli::args::ProfileOptions;
use crate::cli::memory::{profile_limit, profile_too_large};
use crate::cli::open::Input;
use crate::cli::session::Session;
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::show_path;
use crate::input::Kind;
use crate::input::load::LoadedProfile;
use std::path::PathBuf;
use std::sync::Arc;

/// The inputs of a command whose profiles are added up.
#[derive(Clone, Copy)]
pub(crate) struct Several<'a> {
    /// The first input.
    pub(crate) input: &'a Input,
    /// The paths of the other inputs.
    pub(crate) more: &'a [PathBuf],
    /// The key of a label that gives samples the number of their input. `None` for no label.
    pub(crate) tag: Option<&'static str>,
}

impl Several<'_> {
    /// Whether samples of files are added up or labeled with their files.
    pub(crate) fn is_merged(&self) -> bool {
        !self.more.is_empty() || self.tag.is_some()
    }
}

/// Loads profiles as one, with their sums. Returns the status of all but the first one. Fails with
/// the errors of [`load_profile`], and with a [`UsageError`] for profiles that measure different
/// things.
pub(crate) fn load_several<'a>(
    several: Several<'a>,
    options: &ProfileOptions,
    session: &Session,
) -> anyhow::Result<(ProfileInput<'a>, Status)> {
    let input = several.input;
    if !several.is_merged() {
        return Ok((load_profile(input, options, session)?, Status::Done));
    }
    let (loaded, status) = read_several(several, options, session, Kept::default())?;
    let profile = Arc::new(loaded.profile);
    Ok((ProfileInput::of(input, profile, (selection(options), options), loaded.damage), status))
}

/// Reads profiles, applies the filters and adds the profiles up, one after the other, so that only
/// one is in memory besides the sum. Returns the status of all but the first one, whose damage is
/// in the result. Fails with the errors of [`super::load::read`], and with a [`UsageError`] for a
/// filter that does not apply, for a label or a thread that no profile has, or for profiles that
/// measure different things.
pub(crate) fn read_several(
    several: Several<'_>,
    options: &ProfileOptions,
    session: &Session,
    kept: Kept<'_>,
) -> anyhow::Result<(LoadedProfile, Status)> {
    let input = several.input;
    if !several.is_merged() {
        let NarrowedProfile { loaded, unmatched, missing } =
            narrowed(input, options, session, kept)?;
        missing.map_or(Ok(()), Err)?;
        warn_unmatched(&unmatched, input, session);
        return Ok((loaded, Status::Done));
    }
    let kept = Kept { samples: false, ..kept };
    let NarrowedProfile { loaded, mut unmatched, mut missing } =
        narrowed(input, options, session, kept)?;
    let mut merged = MergedProfile::like(&loaded.profile, several.tag);
    merged.add(&loaded.profile, "0").map_err(|error| not_merged(error, input))?;
    let (damage, mut status) = (loaded.damage, Status::Done);
    for (number, path) in (1u32..).zip(several.more) {
        let next = session.open(path)?;
        if next.kind == Kind::Heap {
            return Err(not_profiles(&next).into());
        }
        let NarrowedProfile { loaded, unmatched: without, missing: lacks } =
            narrowed(&next, options, session, kept)?;
        unmatched.retain(|option| without.contains(option));
        // It is enough if one of the profiles has the label or thread.
        missing = missing.and(lacks);
        status = status.max(next.report_if_damaged(loaded.damage.as_ref(), &session.terminal));
        merged
            .add(&loaded.profile, &number.to_string())
            .map_err(|error| not_merged(error, &next))?;
        if merged.bytes() > profile_limit(input, &session.common).most {
            return Err(profile_too_large(&next, &session.common).into());
        }
    }
    missing.map_or(Ok(()), Err)?;
    warn_unmatched(&unmatched, input, session);
    Ok((LoadedProfile { profile: merged.finish(), damage }, status))
}

/// The error for several heap dumps.
pub(crate) fn not_profiles(input: &Input) -> UsageError {
    UsageError::new(format!(
        "{} is a heap dump; only profiles are added up",
        show_path(&input.path)
    ))
    .hint("`dumptool growth` and `dumptool diff` compare heap dumps")
}

fn not_merged(error: NotMerged, input: &Input) -> UsageError {
    let path = show_path(&input.path);
    match error {
        NotMerged::OtherMetrics => {
            UsageError::new(format!("{path} has other metrics than the first profile"))
                .hint("`dumptool info` lists the metrics of each")
        }
        NotMerged::Calls => UsageError::new(format!("{path} is a call graph and has no stacks"))
            .hint("--estimate splits the costs of functions among their callers"),
    }
}
