//! The verdict on a page: findings with links, parts of the bar, and the headline.

use super::{Words, advice};
use crate::analysis::verdict::{Suspect, What};
use crate::cli::heap::{path, type_name};
use crate::cli::known::Rule;
use crate::cli::size::{count, percent};
use crate::model::heap::ObjectId;
use crate::output::report::{
    Answer, BarPart, ReportRule, ReportSuspect, Tone, address, object_address, without_packages,
};

impl Words<'_, '_, '_> {
    pub(crate) fn on_page(&self, finding: &Suspect) -> ReportSuspect {
        let (path, objects) = self.outline(finding);
        let id = |object: &Option<ObjectId>| {
            object.map_or_else(String::new, |object| self.heap().id(object))
        };
        let first = [self.object(finding), finding.example];
        ReportSuspect {
            bytes: finding.bytes,
            share: self.share(finding),
            message: self.message(finding),
            path,
            objects: objects.iter().map(id).collect(),
            way: first.into_iter().chain(objects.into_iter().rev().flatten()).collect(),
            link: self.link(finding),
            known: self.rule(finding).map(on_page),
        }
    }

    /// The address on a page for a finding: that of its objects, or of the object that holds them.
    pub(crate) fn link(&self, finding: &Suspect) -> String {
        match (&finding.what, finding.count) {
            (What::Threads(..), _) => address("table/threads-by-stack", &[]),
            (What::Objects(type_id, None), 2..) => {
                address("objects", &[("type", type_name(self.heap(), *type_id))])
            }
            (What::Objects(_, Some(_)), 2..) => {
                object_address(&self.heap().id(self.object(finding)))
            }
            _ => object_address(&self.heap().id(finding.example)),
        }
    }

    /// An owner as a part of a bar, without packages: `ZipFile$Source ×279`.
    pub(crate) fn part(&self, finding: &Suspect) -> BarPart {
        let name = without_packages(&self.noun(finding));
        let times = match finding.count {
            0 | 1 => String::new(),
            many => format!(" ×{}", count(many)),
        };
        let amount = self.session.size(finding.bytes);
        BarPart {
            name: name + &times,
            amount: format!("{amount} · {}", percent(self.share(finding))),
            width: finding.bytes,
            link: self.link(finding),
            tone: Tone::Distinct,
        }
    }

    /// The headline and the sentence below it, without packages.
    pub(crate) fn answer(&self, finding: &Suspect) -> Answer {
        let held = format!("{}{}", self.session.size(finding.bytes), self.around(finding));
        let contents = Some(self.contents(finding)).filter(|text| !text.is_empty());
        Answer {
            share: format!("{} of the heap:", percent(self.share(finding))),
            headline: without_packages(&self.what(finding)),
            details: [held]
                .into_iter()
                .chain(contents)
                .map(|text| without_packages(&text))
                .collect(),
            ..Answer::default()
        }
    }

    /// The path to the example: a line for the root and each step, and the object of each line.
    pub(super) fn outline(&self, finding: &Suspect) -> (Vec<String>, Vec<Option<ObjectId>>) {
        let Some(path) = self.way(finding) else { return Default::default() };
        let lines = path::outline(self.session, self.analysed, &path);
        (lines, path::outlined_objects(self.heap(), &path))
    }
}

fn on_page(rule: &Rule) -> ReportRule {
    let [title, advice] = advice(rule);
    ReportRule { title, advice, source: rule.source.as_ref().map(|source| source.0.clone()) }
}
