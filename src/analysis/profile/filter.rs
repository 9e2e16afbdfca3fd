//! Filters: samples and frames that are left out of a profile before anything is computed.
//!
//! They have the same meaning as those of `go tool pprof` with the same names. Source:
//! `profile/filter.go` of google/pprof.

use super::{FrameBy, Groups, LabelPattern, Pattern};
use crate::model::profile::{
    LabelValue, Narrowed, Profile, ProfileThread, SampleLabel, StackId, StackIndex, StackTree, Unit,
};
use std::ops::Range;

/// Selects samples and frames. The default selects all.
#[derive(Clone, Debug, Default)]
pub struct ProfileFilter {
    /// Selects only samples with a matching function on their stacks.
    pub focus: Option<Pattern>,
    /// Leaves out samples with a matching function on their stacks.
    pub ignore: Option<Pattern>,
    /// Leaves out frames of these functions, and samples that have no other frames.
    pub hide: Option<Pattern>,
    /// Leaves out frames of all other functions, and samples without a matching frame.
    pub show: Option<Pattern>,
    /// Leaves out frames outside the outermost matching function, and samples without one.
    pub show_from: Option<Pattern>,
    /// Selects only samples with all of these labels.
    pub labels: Vec<(String, LabelPattern)>,
    /// Selects only samples that start in this range of microseconds.
    pub time: Option<Range<i64>>,
}

/// The patterns that each function matches.
#[derive(Clone, Copy)]
struct Marks {
    is_focus: bool,
    is_ignored: bool,
    is_visible: bool,
    is_start: bool,
}

/// The properties of a stack that filters test.
#[derive(Clone, Copy)]
struct Way {
    has_focus: bool,
    is_ignored: bool,
    /// Whether a frame that matches `show_from` has been met.
    is_inside: bool,
    stack: StackId,
}

impl ProfileFilter {
    /// Whether the filter leaves nothing out.
    pub fn is_empty(&self) -> bool {
        self.patterns().iter().all(|(_, pattern)| pattern.is_none())
            && self.labels.is_empty()
            && self.time.is_none()
    }

    fn patterns(&self) -> [(&'static str, Option<&Pattern>); 5] {
        [
            ("--focus", self.focus.as_ref()),
            ("--ignore", self.ignore.as_ref()),
            ("--hide", self.hide.as_ref()),
            ("--show", self.show.as_ref()),
            ("--show-from", self.show_from.as_ref()),
        ]
    }

    /// Leaves out samples and frames. Returns the options whose patterns no function matches.
    pub fn apply(&self, profile: &mut Profile) -> Vec<&'static str> {
        let mut unmatched = Vec::new();
        let has_patterns = self.patterns().iter().any(|(_, pattern)| pattern.is_some());
        let stacks = has_patterns.then(|| {
            let groups = Groups::of(profile, FrameBy::Function);
            let matching = self.patterns().map(|(name, pattern)| {
                let pattern = pattern?;
                let matching: Vec<bool> =
                    groups.labels().iter().map(|label| pattern.matches(label)).collect();
                if !matching.contains(&true) {
                    unmatched.push(name);
                }
                Some(matching)
            });
            self.stacks(profile, &groups, &matching)
        });
        let threads = if self.labels.is_empty() {
            Vec::new()
        } else {
            profile.threads.iter().map(|thread| self.has_labels(profile, thread)).collect()
        };
        profile.narrow(Narrowed { stacks, threads, time: self.time.clone() });
        unmatched
    }

    /// The stacks with the remaining frames, and the place of each old stack among them.
    fn stacks(
        &self,
        profile: &Profile,
        groups: &Groups,
        matching: &[Option<Vec<bool>>; 5],
    ) -> (StackTree, Vec<Option<StackId>>) {
        let [focus, ignore, hide, show, from] = matching;
        let is = |marks: &Option<Vec<bool>>, group: usize, without: bool| {
            marks.as_ref().map_or(without, |marks| marks[group])
        };
        let marks: Vec<Marks> = (0..groups.labels().len())
            .map(|group| Marks {
                is_focus: is(focus, group, true),
                is_ignored: is(ignore, group, false),
                is_visible: !is(hide, group, false) && is(show, group, true),
                is_start: is(from, group, true),
            })
            .collect();
        let (mut stacks, mut index) = (StackTree::default(), StackIndex::default());
        let start =
            Way { has_focus: false, is_ignored: false, is_inside: false, stack: StackId::EMPTY };
        let mut ways = vec![start; profile.stacks.len()];
        for stack in profile.stacks.ids() {
            let Some(frame) = profile.stacks.leaf(stack) else { continue };
            let marks = marks[groups.of_frame(frame) as usize];
            let mut way = ways[profile.stacks.parent(stack).index()];
            way.has_focus |= marks.is_focus;
            way.is_ignored |= marks.is_ignored;
            way.is_inside |= marks.is_visible && marks.is_start;
            if marks.is_visible && way.is_inside && !way.is_ignored {
                way.stack = stacks.child(&mut index, way.stack, frame).0;
            }
            ways[stack.index()] = way;
        }
        let moved = ways.iter().map(|way| {
            let is_kept = way.has_focus && !way.is_ignored && way.stack != StackId::EMPTY;
            is_kept.then_some(way.stack)
        });
        (stacks, moved.collect())
    }

    fn has_labels(&self, profile: &Profile, thread: &ProfileThread) -> bool {
        self.labels.iter().all(|(key, wanted)| match *wanted {
            LabelPattern::Text(ref pattern) => {
                let values = profile.label_values(thread, key);
                values.iter().any(|value| pattern.matches_path(value))
            }
            LabelPattern::Range(least, most, is_time) => {
                let is_in_range = |label: &SampleLabel| match label.value {
                    LabelValue::Number(number, unit) => {
                        let factor = factor(profile.names.text(unit), is_time);
                        (least..=most).contains(&number.saturating_mul(factor))
                    }
                    LabelValue::Text(_) => false,
                };
                let mut labels = profile.labels_of(thread).iter();
                labels.any(|label| profile.names.text(label.key) == key && is_in_range(label))
            }
        })
    }
}

/// The number of nanoseconds, or of bytes, in a unit.
fn factor(unit: &str, is_time: bool) -> i64 {
    let unit = Unit::named(unit);
    let factor = if is_time { unit.nanoseconds() } else { unit.bytes() };
    i64::try_from(factor.unwrap_or(1)).unwrap_or(i64::MAX)
}
