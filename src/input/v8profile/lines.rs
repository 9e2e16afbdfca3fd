//! The source lines of samples: one per sample (traces), or the number of samples of a node in each
//! line (`positionTicks`).

use super::document::Document;
use super::nodes::{Nodes, Place, Ticks};
use crate::input::json::Text;
use crate::model::profile::{FrameKind, ProfileBuilder, ProfileFrame, StackId};
use crate::names::SourceMaps;
use rustc_hash::FxHashMap;

/// The stacks of samples whose lines are known.
pub(super) struct Lines<'d, 'a> {
    nodes: &'d Nodes<'a>,
    source_maps: Option<&'d SourceMaps>,
    /// The line of each sample; 0 is unknown.
    of_samples: &'d [u32],
    /// Sorted by node. The line of each sample is not known, so the first ones count for the first
    /// line.
    ticks: Vec<Ticks>,
    /// The next tick of each node, and the number of its samples that were used.
    next: FxHashMap<u32, (usize, u64)>,
    /// Stacks by node and line.
    stacks: FxHashMap<(u32, u32), StackId>,
}

impl<'d, 'a> Lines<'d, 'a> {
    pub(super) fn of(document: &'d Document<'a>, source_maps: Option<&'d SourceMaps>) -> Self {
        let mut ticks = document.nodes.ticks.clone();
        // Nodes may come in any order.
        ticks.sort_by_key(|ticks| ticks.node);
        Self {
            nodes: &document.nodes,
            source_maps,
            of_samples: document.lines.as_deref().unwrap_or_default(),
            ticks,
            next: FxHashMap::default(),
            stacks: FxHashMap::default(),
        }
    }

    /// The stack of a sample of a node, with the line in which it was taken if that is known.
    pub(super) fn stack(
        &mut self,
        builder: &mut ProfileBuilder,
        sample: usize,
        (node, place): (u32, Place),
    ) -> StackId {
        let frame = place.frame.filter(|frame| frame.kind == FrameKind::Code);
        let (Some(frame), Some(line)) = (frame, self.line(sample, node)) else {
            return place.stack;
        };
        if let Some(known) = self.stacks.get(&(node, line)) {
            return *known;
        }
        let url = self.nodes.all.get(node as usize).map(|node| node.url).unwrap_or_default();
        let line_there = self.original(builder, &frame, url, line).unwrap_or(frame.line);
        let frame = builder.frame(ProfileFrame { line: line_there, ..frame });
        let stack = builder.push(place.above, frame);
        self.stacks.insert((node, line), stack);
        stack
    }

    /// The line in the file of a frame. `None` if the source map does not lead to that file.
    fn original(
        &self,
        builder: &ProfileBuilder,
        frame: &ProfileFrame,
        url: Text<'_>,
        line: u32,
    ) -> Option<u32> {
        let (maps, url) = (self.source_maps, url.decode());
        let Some(maps) = maps.filter(|maps| maps.has(&url)) else { return Some(line) };
        let original = maps.line(&url, u64::from(line).saturating_sub(1))?;
        (builder.text(frame.file) == &*original.file).then_some(original.line)
    }

    fn line(&mut self, sample: usize, node: u32) -> Option<u32> {
        if !self.of_samples.is_empty() {
            return self.of_samples.get(sample).copied().filter(|line| *line > 0);
        }
        let first = || (self.ticks.partition_point(|ticks| ticks.node < node), 0);
        let (at, used) = self.next.entry(node).or_insert_with(first);
        loop {
            let ticks = self.ticks.get(*at).filter(|ticks| ticks.node == node)?;
            if *used < ticks.count {
                *used = used.saturating_add(1);
                return Some(ticks.line).filter(|line| *line > 0);
            }
            (*at, *used) = (at.saturating_add(1), 0);
        }
    }
}
