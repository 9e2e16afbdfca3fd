//! Loads the profile of an input for a command.

use super::input::ProfileInput;
use super::require::{require, require_stacks, selection};
use crate::analysis::profile::estimate_stacks;
use crate::cli::args::{Common, ProfileOptions};
use crate::cli::memory::{profile_limit, profile_too_large};
use crate::cli::open::Input;
use crate::cli::session::Session;
use crate::cli::status::UsageError;
use crate::cli::terminal::show_path;
use crate::error::{Error, ErrorKind};
use crate::input::load::{LoadedProfile, MetricChoice};
use crate::input::{self, Format};
use crate::model::profile::Profile;
use std::sync::Arc;

/// The formats with `--all-frames`: some frames are left out otherwise.
const LEAVE_OUT_FRAMES: &[Format] = &[
    Format::Pprof,
    Format::Heaptrack,
    Format::Jemalloc,
    Format::Gperftools,
    Format::Dhat,
    Format::Massif,
];

/// The formats with `--raw-counts`: samples are scaled to all allocations otherwise.
const SCALE_SAMPLES: &[Format] = &[Format::Jemalloc, Format::Gperftools];

/// The formats with `--estimate`: they have calls instead of stacks.
const HAVE_CALLS: &[Format] = &[Format::Callgrind, Format::Cprofile];

/// Loads a profile and shows how far it is. Fails with a [`UsageError`] when the profile has no
/// such thread or process; with an `InputError` when nothing can be loaded. Damage after the loaded
/// part is not an error.
pub(crate) fn load_profile<'a>(
    input: &'a Input,
    options: &ProfileOptions,
    session: &Session,
) -> anyhow::Result<ProfileInput<'a>> {
    load_parts(input, options, session, Kept::of(options, session))
}

/// Loads a profile as [`load_profile`] does, with the parts that are wanted.
pub(crate) fn load_parts<'a>(
    input: &'a Input,
    options: &ProfileOptions,
    session: &Session,
    kept: Kept<'_>,
) -> anyhow::Result<ProfileInput<'a>> {
    let selection = selection(options);
    let kept = Kept { samples: kept.samples || options.narrow.is_timed(), ..kept };
    let load = || -> anyhow::Result<_> {
        let loaded = read(input, options, session, kept)?;
        Ok((Arc::new(loaded.profile), loaded.damage))
    };
    let is_usual = options.is_usual() && input.snapshot.is_none() && !options.narrow.is_timed();
    let resident = session.resident.as_ref().filter(|_| is_usual);
    let (mut profile, damage) = match resident {
        Some(resident) => resident.profile(input, (options.all_frames, kept.samples), load)?,
        None => load()?,
    };
    // Checked before filters apply, because a thread may lose all its samples to them.
    require(&profile, options, input)?;
    let unmatched = narrow(|| Arc::make_mut(&mut profile), options, input)?;
    warn_unmatched(&unmatched, input, session);
    Ok(ProfileInput::of(input, profile, (selection, options), damage))
}

/// Applies the filters of a command to a profile. Returns the filters that match nothing.
fn narrow<'p>(
    profile: impl FnOnce() -> &'p mut Profile,
    options: &ProfileOptions,
    input: &Input,
) -> Result<Vec<&'static str>, UsageError> {
    let filter = options.narrow.filter()?;
    if filter.is_empty() {
        return Ok(Vec::new());
    }
    let profile = profile();
    require_stacks(profile, &input.path, "a filter", "")?;
    if filter.time.is_some() && !profile.has_times() {
        let path = show_path(&input.path);
        return Err(UsageError::new(format!(
            "{path} has only sums and no times of samples, which --from-time and --to-time need"
        )));
    }
    Ok(filter.apply(profile))
}

/// Prints which filters match nothing.
pub(super) fn warn_unmatched(unmatched: &[&'static str], input: &Input, session: &Session) {
    for option in unmatched {
        session.terminal.warn(&input.path, &format!("{option} matches no function"));
    }
}

/// A profile after its filters were applied.
pub(super) struct NarrowedProfile {
    pub(super) loaded: LoadedProfile,
    /// The filters that match nothing.
    pub(super) unmatched: Vec<&'static str>,
    /// The error about a label or a thread that the profile lacked even before it was filtered.
    pub(super) missing: Option<UsageError>,
}

/// Reads a profile and applies the filters. Fails with the errors of [`read`], and with a
/// [`UsageError`] for a filter that does not apply.
pub(super) fn narrowed(
    input: &Input,
    options: &ProfileOptions,
    session: &Session,
    kept: Kept<'_>,
) -> anyhow::Result<NarrowedProfile> {
    let needed = Kept { samples: kept.samples || options.narrow.is_timed(), ..kept };
    let mut loaded = read(input, options, session, needed)?;
    let missing = require(&loaded.profile, options, input).err();
    let unmatched = narrow(|| &mut loaded.profile, options, input)?;
    if !kept.samples {
        // The samples were needed only for their times.
        loaded.profile.samples = None;
        loaded.profile.events.clear();
    }
    Ok(NarrowedProfile { loaded, unmatched, missing })
}

/// The parts of a profile that are read in addition to its sums.
#[derive(Clone, Copy, Default)]
pub(crate) struct Kept<'m> {
    pub(crate) samples: bool,
    /// The addresses of frames, and the programs and libraries that they are in.
    pub(crate) code: bool,
    pub(crate) metrics: MetricChoice<'m>,
}

impl<'m> Kept<'m> {
    /// Keeps the selected metric, or all metrics if the profile is resident for later requests.
    pub(crate) fn of(options: &'m ProfileOptions, session: &Session) -> Self {
        let metrics = session.resident.as_ref().map_or(options.metrics(), |_| MetricChoice::All);
        Self { metrics, ..Self::default() }
    }
}

/// Reads a profile, and prints which files with symbols were found and not used. Fails with a
/// [`UsageError`] for an option that the format does not have; with an `InputError` when nothing
/// can be loaded.
pub(crate) fn read(
    input: &Input,
    options: &ProfileOptions,
    session: &Session,
    kept: Kept<'_>,
) -> anyhow::Result<LoadedProfile> {
    input.only(LEAVE_OUT_FRAMES, "--all-frames", options.all_frames)?;
    input.only(SCALE_SAMPLES, "--raw-counts", options.raw_counts)?;
    input.only(HAVE_CALLS, "--estimate", options.estimate)?;
    let progress = session.progress(input);
    let how = input::load::ProfileOptions {
        keep_samples: kept.samples,
        keep_code: kept.code,
        all_frames: options.all_frames,
        raw_counts: options.raw_counts,
        snapshot: input.snapshot,
        metrics: kept.metrics,
        symbols: session.symbols.names(),
        mapping: input.mapping.as_deref(),
        source_maps: session.source_maps(),
        memory: profile_limit(input, &session.common),
        progress: &|offset| progress.passed(offset, &input.source),
    };
    let mut loaded = input::load_profile(input.format, input.bytes(), how)
        .map_err(|error| refused(error, input, &session.common))?;
    warn_of_symbols(input, session);
    if options.estimate {
        session.terminal.warn(&input.path, "stacks are estimated; own costs are exact");
        loaded.profile = estimate_stacks(&loaded.profile);
    }
    Ok(loaded)
}

/// Prints which files with symbols were found and not used.
pub(crate) fn warn_of_symbols(input: &Input, session: &Session) {
    for warning in session.symbols.warnings() {
        session.terminal.warn(&input.path, &warning);
    }
    session.warn_of_source_maps(input);
}

/// The error of a reader of a profile, as one about this input, or about the memory that it may
/// take.
pub(crate) fn refused(error: Error, input: &Input, common: &Common) -> anyhow::Error {
    match error.kind() {
        ErrorKind::Memory => profile_too_large(input, common).into(),
        _ => input.error(error).into(),
    }
}
