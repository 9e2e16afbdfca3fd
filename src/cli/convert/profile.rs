//! Converts a profile.

use super::{Converted, Job};
use crate::cli::args::Target;
use crate::cli::profile::{Kept, UNAPPLIED, named, read_several, require_stacks};
use crate::cli::size::count;
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::show_path;
use crate::convert::Streamed;
use crate::input::ReadOptions;

/// The end of the hint for a profile with calls instead of stacks: how to write its exact costs.
pub(super) const EXACT: &str = "; --table functions writes the exact costs";

pub(super) fn run(job: &Job<'_>) -> anyhow::Result<Status> {
    let Job { args, conversion, input, session, .. } = *job;
    let (samples, code) = (conversion.keeps_samples(), conversion.keeps_code());
    let kept = Kept { samples, code, ..Kept::default() };
    let (mut loaded, of_others) = read_several(job.several(), &args.profile, session, kept)?;
    if conversion.target != Target::Callgrind {
        require_stacks(&loaded.profile, &input.path, conversion.target.name(), EXACT)?;
    }
    let (profile, damage) = (&loaded.profile, loaded.damage.clone());
    if matches!(conversion.target, Target::Mojo | Target::Austin) && profile.samples.is_none() {
        input.report_if_damaged(damage.as_ref(), &session.terminal);
        return Err(without_samples(job).into());
    }
    if let Some(name) = &conversion.options.metric {
        named(profile, name, &input.path)?;
    }
    let (unresolved, samples) = (profile.notes.unresolved, profile.total.samples());
    let is_unapplied = profile.notes.unapplied > 0;
    if args.no_files {
        loaded.profile.rename_files(|_| Some(String::new()));
    }
    if args.no_threads {
        loaded.profile.merge_threads();
    }
    let (converted, bytes) = job.write(|out| conversion.profile(loaded, out))?;
    job.report_converted(Converted::Samples(samples), bytes, &converted)?;
    warn_of_unresolved(job, unresolved);
    if is_unapplied {
        session.terminal.warn(&input.path, UNAPPLIED);
    }
    Ok(input.report_if_damaged(damage.as_ref(), &session.terminal).max(of_others))
}

/// Converts a recording sample by sample.
pub(super) fn stream(job: &Job<'_>) -> anyhow::Result<Status> {
    let Job { conversion, input, session, .. } = *job;
    let progress = session.progress(input);
    let options =
        ReadOptions { progress: &|offset| progress.reached(offset), ..ReadOptions::default() };
    let (streamed, bytes) = job.write(|out| conversion.stream(options, out))?;
    drop(progress);
    let Streamed { converted, samples, unresolved, damage } = streamed;
    job.report_converted(Converted::Samples(samples), bytes, &converted)?;
    warn_of_unresolved(job, unresolved);
    Ok(input.report_if_damaged(damage.as_ref(), &session.terminal))
}

fn warn_of_unresolved(job: &Job<'_>, unresolved: u64) {
    if unresolved > 0 {
        let message = format!("{} undefined keys are shown as <unresolved>", count(unresolved));
        job.session.terminal.warn(&job.input.path, &message);
    }
}

/// The error for a target that is made of samples, where the input has only sums.
fn without_samples(job: &Job<'_>) -> UsageError {
    let (file, target) = (show_path(&job.input.path), job.conversion.target.name());
    UsageError::new(format!("{file} has only sums and no samples, which {target} needs"))
        .hint("--to folded writes the sums")
}
