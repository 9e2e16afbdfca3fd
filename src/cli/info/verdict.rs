//! The part of `info --verdict`: what holds the memory of a heap, or takes the
//! time of a profile, in one line.

use crate::analysis::profile::Selected;
use crate::cli::args::{InfoArgs, LoadArgs, ProfileOptions};
use crate::cli::heap::load;
use crate::cli::heap::verdict::Words;
use crate::cli::open::Input;
use crate::cli::profile::{hottest_function, load_profile};
use crate::cli::session::Session;
use crate::input::Kind;

/// The verdict about a file. `None` if there is nothing to say: no roots, or no functions.
///
/// # Errors
/// When the file cannot be loaded.
pub(super) fn of(
    input: &Input,
    args: &InfoArgs,
    session: &Session,
) -> anyhow::Result<Option<String>> {
    match input.kind {
        Kind::Heap => of_heap(input, args, session),
        Kind::Profile => of_profile(input, session),
    }
}

fn of_profile(input: &Input, session: &Session) -> anyhow::Result<Option<String>> {
    let options = ProfileOptions::default();
    let loaded = load_profile(input, &options, session)?;
    let metric = loaded.metric(&options)?;
    let selected = Selected::of(&loaded.profile, &loaded.selection);
    Ok(hottest_function(&selected, &metric, session))
}

fn of_heap(input: &Input, args: &InfoArgs, session: &Session) -> anyhow::Result<Option<String>> {
    let options = LoadArgs::default();
    let options = match &args.exe {
        Some(exe) => options.with_program(exe, args.no_guess),
        None => options,
    };
    let held = load(session, "info --verdict", input, args.snapshot, &options)?;
    let loaded = held.get();
    if loaded.heap.roots.is_empty() {
        return Ok(None);
    }
    let (analysed, verdict) = (loaded.analysed(), loaded.verdict());
    let words = Words::new(loaded, &analysed, verdict.first().into_iter(), session);
    Ok(Some(match verdict.suspects.first() {
        Some(suspect) => words.headline(suspect),
        None => words.nothing(verdict.usual.as_ref()),
    }))
}
