//! Grouping of frames by function, file or line.

use crate::model::names::NameId;
use crate::model::profile::{FrameId, FrameKind, Profile, ProfileFrame};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The property by which frames are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameBy {
    /// The function and its file.
    Function,
    /// The source file.
    File,
    /// The function, its file and the line.
    Line,
}

/// The name of a group. Comparisons match groups of two profiles by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupLabel {
    /// The function, file or thread.
    pub name: Arc<str>,
    /// The function's file; empty if there is none.
    pub namespace: Arc<str>,
    /// The line, if frames are grouped by line.
    pub line: Option<u32>,
}

/// Frames in groups, which are numbered in the order in which the file has them.
#[derive(Clone, Debug)]
pub struct Groups {
    of_frame: Vec<u32>,
    labels: Vec<GroupLabel>,
}

/// The properties that frames of one group have in common.
type Key = (FrameKind, NameId, NameId, u32);

impl Groups {
    /// Groups the frames of a profile. Frames with the same label are in one group.
    pub fn of(profile: &Profile, by: FrameBy) -> Self {
        let mut labels = Vec::new();
        let mut numbers = FxHashMap::<Key, u32>::default();
        // Frames with different keys can have the same label: a function of the kernel and one of a
        // program, in files of the same name.
        let mut known = FxHashMap::<GroupLabel, u32>::default();
        let mut group = |frame: &ProfileFrame| {
            *numbers.entry(key(frame, by)).or_insert_with(|| {
                let label = label(profile, frame, by);
                *known.entry(label.clone()).or_insert_with(|| {
                    labels.push(label);
                    labels.len() as u32 - 1
                })
            })
        };
        let of_frame = match (&profile.calls, by) {
            (Some(_), FrameBy::Function) => {
                let frames = (0..profile.frames.len() as u32).map(FrameId);
                frames.map(|frame| group(&profile.function_of(frame))).collect()
            }
            _ => profile.frames.iter().map(group).collect(),
        };
        Self { of_frame, labels }
    }

    /// The group of a frame.
    #[inline]
    pub fn of_frame(&self, frame: FrameId) -> u32 {
        self.of_frame[frame.index()]
    }

    /// The label of a group.
    pub fn label(&self, group: u32) -> &GroupLabel {
        &self.labels[group as usize]
    }

    /// The labels of all groups, by number.
    pub fn labels(&self) -> &[GroupLabel] {
        &self.labels
    }
}

fn key(frame: &ProfileFrame, by: FrameBy) -> Key {
    // Machine code and interpreted code already differ in their files.
    let kind = if frame.kind == FrameKind::Native { FrameKind::Code } else { frame.kind };
    match by {
        FrameBy::Function => (kind, frame.function, frame.file, 0),
        FrameBy::File => (kind, crate::model::names::Names::EMPTY, frame.file, 0),
        FrameBy::Line => (kind, frame.function, frame.file, frame.line),
    }
}

fn label(profile: &Profile, frame: &ProfileFrame, by: FrameBy) -> GroupLabel {
    let namespace = profile.names.shared(frame.file);
    let text = profile.names.text(frame.function);
    let name = match crate::model::profile::display_name(frame.kind, text) {
        shown if shown == text => profile.names.shared(frame.function),
        shown => shown.into(),
    };
    match by {
        FrameBy::Function => GroupLabel { name, namespace, line: None },
        FrameBy::Line => GroupLabel { name, namespace, line: Some(frame.line) },
        FrameBy::File => {
            let name = match (&*namespace, frame.kind) {
                ("", FrameKind::Kernel) => "<kernel>",
                ("", FrameKind::Code | FrameKind::Native) => "<unnamed>",
                ("", kind) => crate::model::profile::display_name(kind, ""),
                _ => return GroupLabel { name: namespace, ..GroupLabel::default() },
            };
            GroupLabel { name: name.into(), ..GroupLabel::default() }
        }
    }
}
