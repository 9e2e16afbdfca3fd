//! The parts of a page in the order of time: calls, and memory.

use super::Subjects;
use crate::analysis::profile::{FrameBy, GroupLabel, Groups, TimedCall, TimedItem, in_time};
use crate::cli::profile::ProfileInput;
use crate::model::profile::{Metric, Profile, ProfileThread, Unit};
use crate::output::report::{Report, ReportCurve, ReportTree};

/// The calls of a profile in the order of time.
pub(super) struct Timeline {
    calls: Vec<TimedCall>,
    groups: Groups,
    threads: Vec<String>,
}

/// Maximum number of lines of the tree in the order of time.
const TIMED: usize = 5000;

impl Timeline {
    pub(super) fn of(loaded: &ProfileInput<'_>, metric: &Metric, subjects: Subjects<'_>) -> Self {
        let profile = &loaded.profile;
        let groups = Groups::of(profile, FrameBy::Function);
        let calls = match subjects {
            Subjects::Only => in_time(profile, &loaded.selection, &groups, metric, TIMED),
            Subjects::Older | Subjects::Newer(_) => Vec::new(),
        };
        let name = |thread: &ProfileThread| thread.label(&profile.names);
        Self { calls, groups, threads: profile.threads.iter().map(name).collect() }
    }

    /// The tree. `None` if there are no calls, or too many for the size of the page.
    pub(super) fn tree(&self, report: &mut Report, lines: usize) -> Option<ReportTree> {
        let has_room = self.calls.len() > 1 && self.calls.len() <= lines.max(10) * 2;
        let name = |call: &TimedCall| match call.what {
            TimedItem::All => "all".to_owned(),
            TimedItem::Short => "… short calls".to_owned(),
            TimedItem::Thread(thread) => self.threads[thread.index()].clone(),
            TimedItem::Function(group) => match self.groups.label(group) {
                GroupLabel { name, namespace, .. } if namespace.is_empty() => name.to_string(),
                GroupLabel { name, namespace, .. } => format!("{name} ({namespace})"),
            },
        };
        let is_thread = |(_, call): &(u32, &TimedCall)| matches!(call.what, TimedItem::Thread(_));
        has_room.then(|| ReportTree {
            outer: (0..).zip(&self.calls).filter(is_thread).map(|(line, _)| line).collect(),
            title: "In time".to_owned(),
            depth: self.calls.iter().map(|call| call.depth).collect(),
            name: self.calls.iter().map(|call| report.name(&name(call))).collect(),
            total: self.calls.iter().map(|call| call.total).collect(),
            own: self.calls.iter().map(|call| call.own).collect(),
            ..ReportTree::default()
        })
    }
}

const POINTS: usize = 1000;

/// The curve of memory over time. `None` unless the profile has at least two points.
pub(super) fn curve(profile: &Profile) -> Option<ReportCurve> {
    let curve = profile.curve.as_ref().filter(|curve| curve.points.len() > 1)?;
    Some(ReportCurve {
        title: "Heap over time",
        note: curve.note.to_owned(),
        time: curve.time.name().to_owned(),
        unit: Unit::Bytes.name().to_owned(),
        points: curve.thinned(POINTS),
        labels: Vec::new(),
    })
}
