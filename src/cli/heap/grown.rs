//! The sentence about what grew between two heaps.

use super::Answers;
use super::verdict::{Words, advice, if_runtime, rule_json};
use crate::analysis::diff::rise;
use crate::analysis::verdict::{Grown, LEAST_BYTES, Size, Suspect, SuspectKind, TracedOwner};
use crate::cli::known::{Rule, Rules};
use crate::cli::print::Value as Json;
use crate::cli::session::Session;
use crate::cli::size::{count, size_change};
use crate::input::Format;
use crate::output::report::ReportSuspect;
use std::sync::Arc;

/// An owner stands out if it grew by this fraction (1/n) of the newer heap.
const LEAST_PART: u64 = 100;

/// The owners of the newer heap with their descriptions. Does not borrow from the heap.
pub(crate) struct Newer {
    owners: Vec<TracedOwner>,
    described: Vec<Described>,
    live: u64,
}

/// The words for an owner.
#[derive(Clone)]
struct Described {
    type_name: String,
    noun: String,
    around: String,
    held_by: String,
    /// The known leak that matches the owner. `None` for owners too small to stand out.
    rule: Option<Arc<Rule>>,
    /// The finding as a page shows it. `None` if it is too small for a page.
    page: Option<ReportSuspect>,
}

/// The growth from an older heap to a newer one.
pub(crate) struct Growth {
    /// The owner that grew most. `None` if none grew.
    most: Option<(Grown, Suspect, Described)>,
    /// The live bytes before and now.
    live: (u64, u64),
}

impl Newer {
    /// Describes the owners of a heap. Returns `None` if the heap has no roots.
    pub(crate) fn of(
        loaded: &Answers<'_>,
        (rules, format): (&Rules, Format),
        session: &Session,
    ) -> Option<Self> {
        if loaded.heap.roots.is_empty() {
            return None;
        }
        let (analysed, owners) = (loaded.analysed(), loaded.owners());
        let findings = || owners.iter().map(|owner| &owner.finding);
        let live = analysed.tree().live_bytes();
        let is_large = |finding: &&Suspect| finding.bytes >= least(live);
        let words = Words::new(loaded, &analysed, findings().filter(is_large), session)
            .knowing(rules, format);
        let described = findings()
            .map(|finding| Described {
                type_name: words.of(finding),
                noun: words.noun(finding),
                around: words.around(finding),
                held_by: words.held_by(finding),
                rule: Some(finding)
                    .filter(is_large)
                    .and_then(|large| words.shared_rule(large).cloned()),
                page: Some(finding).filter(is_large).map(|large| words.on_page(large)),
            })
            .collect();
        Some(Self { described, live, owners })
    }

    /// The findings that are large enough for a page.
    pub(crate) fn on_page(&self) -> impl Iterator<Item = &ReportSuspect> {
        self.described.iter().filter_map(|described| described.page.as_ref())
    }

    /// Finds the growth since an older heap. Returns `None` if the older heap has no roots.
    pub(crate) fn since(&self, older: &Answers<'_>) -> Option<Growth> {
        if older.heap.roots.is_empty() {
            return None;
        }
        let most = older.grown(&self.owners).map(|grown| {
            let owner = grown.owner;
            (grown, self.owners[owner].finding.clone(), self.described[owner].clone())
        });
        Some(Growth { most, live: (older.tree().live_bytes(), self.live) })
    }
}

impl Growth {
    /// `+2.3 MiB: 14 000 more Rec (1 000 → 15 000) in the map app.RECS (HashMap, 15 000 entries);
    /// live heap 1.1 MiB → 3.5 MiB (+2.4 MiB)`.
    pub(crate) fn sentence(&self, session: &Session) -> String {
        let (before, now) = self.live;
        let change = size_change(rise(before, now), session.common.bytes);
        let live = format!("live heap {} → {} ({change})", session.size(before), session.size(now));
        match &self.most {
            Some((grown, finding, words)) if self.stands_out(grown, finding) => {
                format!("{}; {live}", most(grown, finding, words, session))
            }
            Some((grown, finding, words)) => format!(
                "nothing stands out that grew: {live}; the largest growth is {}",
                most(grown, finding, words, session)
            ),
            None => format!("nothing grew: {live}"),
        }
    }

    /// The sentence, followed by the advice for the known leak if it is one.
    pub(crate) fn text(&self, session: &Session) -> String {
        let advice = self.rule().into_iter().flat_map(advice);
        [self.sentence(session)].into_iter().chain(advice).collect::<Vec<_>>().join("\n")
    }

    /// The known leak that matches the owner that grew most, if the growth stands out.
    fn rule(&self) -> Option<&Rule> {
        let (grown, finding, words) = self.most.as_ref()?;
        words.rule.as_deref().filter(|_| self.stands_out(grown, finding))
    }

    /// Whether the growth is worth the first line. For owners of the runtime, the heap must have
    /// grown too, because their memory may only have moved to another owner.
    fn stands_out(&self, grown: &Grown, finding: &Suspect) -> bool {
        let rise = self.live.1.saturating_sub(self.live.0);
        grown.bytes() >= least(self.live.1) && (!finding.is_runtime || rise >= grown.bytes() / 2)
    }

    pub(crate) fn json(&self) -> Json<'_> {
        let Some((grown, finding, words)) = &self.most else { return Json::Null };
        let size =
            |size: Size| Json::from([("count", size.count.into()), ("bytes", size.bytes.into())]);
        Json::from([
            ("kind", finding.kind.name().into()),
            ("type", words.type_name.as_str().into()),
            ("holder", Json::non_empty(&words.held_by)),
            ("stands_out", self.stands_out(grown, finding).into()),
            ("is_runtime", finding.is_runtime.into()),
            ("old", size(grown.old)),
            ("new", size(grown.new)),
            ("rule", self.rule().map(rule_json).into()),
            ("bytes", grown.bytes().into()),
            ("count", rise(grown.old.count, grown.new.count).into()),
        ])
    }

    /// The growth, as a page shows it. `None` if nothing that grew stands out.
    pub(crate) fn on_page(&self, session: &Session) -> Option<ReportSuspect> {
        let (grown, finding, words) = self.most.as_ref()?;
        if !self.stands_out(grown, finding) {
            return None;
        }
        Some(ReportSuspect {
            bytes: grown.bytes(),
            share: grown.bytes() as f64 / self.live.1.max(1) as f64,
            message: self.sentence(session),
            ..words.page.clone()?
        })
    }
}

/// The least growth in bytes that stands out in a heap of `live` bytes.
fn least(live: u64) -> u64 {
    (live / LEAST_PART).max(LEAST_BYTES)
}

/// `+2.3 MiB: 14 000 more Rec (1 000 → 15 000) in the map app.RECS (HashMap, 15 000 entries)`.
fn most(grown: &Grown, finding: &Suspect, words: &Described, session: &Session) -> String {
    let Described { noun, around, .. } = words;
    let (old, new) = (grown.old, grown.new);
    let sizes = match old.bytes {
        0 => "not there before".to_owned(),
        _ => format!("{} → {}", session.size(old.bytes), session.size(new.bytes)),
    };
    let (many, what) = match finding.kind {
        SuspectKind::Large | SuspectKind::Single => (1, format!("one {noun} ({sizes})")),
        _ if new.count > old.count => {
            let (more, old, new) = (new.count - old.count, count(old.count), count(new.count));
            (more, format!("{} more {noun} ({old} → {new})", count(more)))
        }
        _ => (new.count, format!("{} {noun} ({sizes})", count(new.count))),
    };
    let chain = match finding.kind {
        SuspectKind::Chain => " in a chain",
        SuspectKind::Tree => " in a tree",
        _ => "",
    };
    let runtime = if_runtime(finding, many);
    format!("+{}: {what}{chain}{around}{runtime}", session.size(grown.bytes()))
}
