//! `info --verdict`: the largest owner of a heap's memory, or of a profile's time, in one line.

use crate::analysis::profile::Selected;
use crate::cli::args::{InfoArgs, LoadArgs, ProfileOptions};
use crate::cli::heap::load;
use crate::cli::heap::verdict::{Words, advice, rule_json};
use crate::cli::known::Rules;
use crate::cli::open::Input;
use crate::cli::print::Value as Json;
use crate::cli::profile::{hottest_function, load_profile};
use crate::cli::session::Session;
use crate::input::Kind;
use crate::input::info::{Info, InfoWarning};
use crate::model::heap::LoadWarning;
use serde::Serialize;

/// The verdict in a sentence.
#[derive(Serialize)]
pub(super) struct Verdict {
    #[serde(rename = "verdict")]
    sentence: String,
    /// The known leak that the verdict matches, or null.
    rule: Json<'static>,
    /// The lines about the known leak, for people.
    #[serde(skip)]
    known: Vec<String>,
}

impl Verdict {
    /// A verdict that is not a known leak.
    fn plain(sentence: String) -> Self {
        Self { sentence, rule: Json::Null, known: Vec::new() }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        [&self.sentence].into_iter().chain(&self.known).cloned()
    }
}

/// The verdict about a file. `None` for a heap without roots or a profile without functions. Adds
/// damage to the summary that only the graph of a heap shows. Fails when the file cannot be loaded.
pub(super) fn of(
    input: &Input,
    args: &InfoArgs,
    info: &mut Info,
    session: &Session,
) -> anyhow::Result<Option<Verdict>> {
    match input.kind {
        Kind::Heap => of_heap(input, args, info, session),
        Kind::Profile => {
            input.refuse(Kind::Heap, &args.known.given())?;
            of_profile(input, session)
        }
    }
}

fn of_profile(input: &Input, session: &Session) -> anyhow::Result<Option<Verdict>> {
    let options = ProfileOptions::default();
    let loaded = load_profile(input, &options, session)?;
    let metric = loaded.metric(&options)?;
    let selected = Selected::of(&loaded.profile, &loaded.selection);
    Ok(hottest_function(&selected, &metric, session).map(Verdict::plain))
}

fn of_heap(
    input: &Input,
    args: &InfoArgs,
    info: &mut Info,
    session: &Session,
) -> anyhow::Result<Option<Verdict>> {
    let options = LoadArgs::default();
    let options = match &args.exe {
        Some(exe) => options.with_program(exe, args.no_guess),
        None => options,
    };
    let rules = Rules::of(&args.known, session)?;
    let held = load(session, "info --verdict", input, args.snapshot, &options)?;
    let loaded = held.get();
    info.set_damage(loaded.damage.clone());
    let is_known = |new: &LoadWarning| {
        info.warnings
            .iter()
            .any(|old| matches!(old, InfoWarning::Load(old) if old.kind == new.kind))
    };
    let found = loaded.heap.warnings.iter().filter(|new| new.is_damage() && !is_known(new));
    let found: Vec<_> = found.copied().map(InfoWarning::Load).collect();
    info.warnings.extend(found);
    if loaded.heap.roots.is_empty() {
        return Ok(None);
    }
    let (analysed, verdict) = (loaded.analysed(), loaded.verdict());
    let words = Words::new(loaded, &analysed, verdict.first().into_iter(), session)
        .knowing(&rules, input.format);
    Ok(Some(match verdict.suspects.first() {
        Some(suspect) => {
            let rule = words.rule(suspect);
            Verdict {
                sentence: words.headline(suspect),
                rule: rule.map(rule_json).into(),
                known: rule.into_iter().flat_map(advice).collect(),
            }
        }
        None => Verdict::plain(words.nothing(verdict.usual.first())),
    }))
}
