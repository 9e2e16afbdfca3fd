//! A rule as it is written in its file.

use super::facts::Facts;
use crate::analysis::glob::Glob;
use crate::analysis::verdict::SuspectKind;
use crate::input::{FORMATS, Format, Kind};
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleFile {
    pub(super) rule: Vec<Rule>,
}

/// A known leak.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(super) id: Spanned<Text>,
    pub(crate) title: Text,
    /// Why the memory is held.
    pub(crate) meaning: Text,
    pub(crate) advice: Text,
    pub(crate) fault: Fault,
    /// The versions that have the leak. `None` if all do.
    pub(crate) versions: Option<Text>,
    /// The address of a public description.
    pub(crate) source: Option<Address>,
    formats: Vec<FormatName>,
    when: Vec<When>,
}

impl Rule {
    pub(crate) fn id(&self) -> &str {
        &self.id.get_ref().0
    }

    #[cfg(test)]
    pub(super) fn format(&self) -> Format {
        self.formats[0].0
    }

    /// Whether a finding matches this leak.
    pub(super) fn fits(&self, facts: &Facts<'_, '_>) -> bool {
        self.formats.iter().any(|format| format.0 == facts.format)
            && self.when.iter().any(|when| when.fits(facts))
    }
}

/// The code that has to change.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fault {
    /// The program's own code.
    Own,
    /// A library or the runtime.
    Library,
}

impl Fault {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Library => "library",
        }
    }
}

/// Conditions on a finding, all of which must hold. A condition without values always holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct When {
    /// The kinds of findings that match.
    kind: Vec<KindName>,
    /// The type that the finding counts.
    #[serde(rename = "type")]
    types: Vec<Glob>,
    /// A type that takes much of the finding's memory.
    contains: Vec<Glob>,
    /// The name or the type of a holder.
    holder: Vec<Glob>,
    /// A function of the stack of a thread of the finding, or what started the thread.
    function: Vec<Glob>,
    /// The state of the threads of the finding.
    state: Vec<Glob>,
    /// Steps of the path to the largest object, in this order.
    path: Vec<Glob>,
    /// A field of an object on the path, with its value.
    value: Vec<Glob>,
    min_count: u64,
    /// The fewest references of the object to which the last step of `path` leads. Without `path`,
    /// the fewest entries of a matching holder.
    min_entries: u64,
    min_share: Share,
}

impl When {
    /// Whether a finding meets all conditions. The most expensive ones are tested last.
    fn fits(&self, facts: &Facts<'_, '_>) -> bool {
        let suspect = facts.suspect;
        let any = |patterns: &[Glob], fits: &mut dyn FnMut(&Glob) -> bool| {
            patterns.is_empty() || patterns.iter().any(fits)
        };
        (self.kind.is_empty() || self.kind.iter().any(|kind| kind.0 == suspect.kind))
            && suspect.count >= self.min_count
            && facts.share * 100.0 >= self.min_share.0
            && any(&self.types, &mut |glob| facts.is_of(glob))
            && any(&self.contains, &mut |glob| facts.contains(glob))
            && any(&self.holder, &mut |glob| facts.is_held_by(glob))
            && any(&self.function, &mut |glob| facts.has_function(glob))
            && any(&self.state, &mut |glob| facts.has_state(glob))
            && facts.has_path(&self.path)
            && any(&self.value, &mut |glob| facts.has_value(glob))
            && self.has_entries(facts)
    }

    fn has_entries(&self, facts: &Facts<'_, '_>) -> bool {
        if self.min_entries == 0 {
            true
        } else if self.path.is_empty() {
            facts.has_holder_with(&self.holder, self.min_entries)
        } else {
            facts.has_path_to(&self.path, self.min_entries)
        }
    }
}

/// A text that is not empty.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(try_from = "String")]
pub(crate) struct Text(pub(crate) String);

impl TryFrom<String> for Text {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let text = text.trim().to_owned();
        if text.is_empty() { Err("expected a text, found an empty one") } else { Ok(Self(text)) }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Address(pub(crate) String);

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.starts_with("https://") {
            Ok(Self(text))
        } else {
            Err(format!("expected an address that begins with https://, found {text:?}"))
        }
    }
}

/// The format of a heap dump.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct FormatName(Format);

impl TryFrom<String> for FormatName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let heaps = FORMATS.into_iter().filter(|format| format.kind() == Kind::Heap);
        one_of(heaps.map(|format| (format.name(), format)), &text).map(Self)
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct KindName(SuspectKind);

impl TryFrom<String> for KindName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        one_of(SuspectKind::ALL.into_iter().map(|kind| (kind.name(), kind)), &text).map(Self)
    }
}

fn one_of<T>(values: impl Iterator<Item = (&'static str, T)>, text: &str) -> Result<T, String> {
    let mut names = Vec::new();
    for (name, value) in values {
        if name == text {
            return Ok(value);
        }
        names.push(name);
    }
    Err(format!("expected one of {}, found {text:?}", names.join(", ")))
}

/// A share of the live heap, in percent.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "f64")]
struct Share(f64);

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(percent: f64) -> Result<Self, Self::Error> {
        if (0.0..=100.0).contains(&percent) {
            Ok(Self(percent))
        } else {
            Err(format!("expected a share from 0 to 100, found {percent}"))
        }
    }
}
