//! Loads one snapshot as sums of stacks.

use super::lines::{MassifLine, MassifLines, Node};
use crate::error::Result;
use crate::input::load::{LoadedProfile, ProfileOptions, SnapshotChoice, damage, no_snapshot};
use crate::input::native::allocators;
use crate::model::names::Names;
use crate::model::profile::{
    FrameId, FrameKind, ProfileBuilder, ProfileFrame, ProfileThread, StackId, Unit, ValueType,
    Values,
};

/// A snapshot without its tree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapshot {
    pub(super) time: u64,
    pub(super) heap: u64,
    extra: u64,
    stacks: u64,
    is_peak: bool,
    /// Bytes of the first node; 0 without a tree.
    pub(super) tree: u64,
}

#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) snapshots: Vec<Snapshot>,
    /// The unit of times, for people.
    time_unit: &'static str,
}

impl Survey {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut survey = Self::default();
        for (_, line) in MassifLines::new(bytes).map_while(Result::ok) {
            if let MassifLine::Snapshot(_) = line {
                survey.snapshots.push(Snapshot::default());
            }
            if let MassifLine::Fact { key: b"time_unit", value } = line {
                survey.time_unit = match value {
                    b"ms" => "milliseconds",
                    b"B" => "bytes",
                    _ => "instructions",
                };
            }
            let Some(last) = survey.snapshots.last_mut() else { continue };
            match line {
                MassifLine::Number { key: b"time", value } => last.time = value,
                MassifLine::Number { key: b"mem_heap_B", value } => last.heap = value,
                MassifLine::Number { key: b"mem_heap_extra_B", value } => last.extra = value,
                MassifLine::Number { key: b"mem_stacks_B", value } => last.stacks = value,
                MassifLine::Tree(b"peak") => last.is_peak = true,
                MassifLine::Node(node) if node.depth == 0 => last.tree = node.bytes,
                _ => {}
            }
        }
        survey
    }

    /// The last snapshot with a tree, or the last one.
    fn last(&self) -> Option<usize> {
        let with_tree = self.snapshots.iter().rposition(|snapshot| snapshot.tree > 0);
        with_tree.or(self.snapshots.len().checked_sub(1))
    }

    /// The peak: the one that massif marks, or the largest one with a tree, or the largest one.
    fn peak(&self) -> Option<usize> {
        let rows = 0..self.snapshots.len();
        rows.max_by_key(|row| {
            let snapshot = self.snapshots.get(*row).copied().unwrap_or_default();
            (snapshot.is_peak, snapshot.tree > 0, snapshot.heap, std::cmp::Reverse(*row))
        })
    }
}

/// Loads the peak, or the snapshot that is asked for. Fails when there is no such snapshot, or the
/// profile takes more memory than it may. A file of which nothing can be read gives an empty
/// profile with its damage.
pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let survey = Survey::of(bytes);
    let count = survey.snapshots.len() as u64;
    let wanted = match options.snapshot {
        Some(SnapshotChoice::Number(number)) if number >= count => {
            return Err(no_snapshot(number, count));
        }
        Some(SnapshotChoice::Number(number)) => usize::try_from(number).ok(),
        Some(SnapshotChoice::Last) => survey.last(),
        None => survey.peak(),
    };
    let mut builder = ProfileBuilder::new(false);
    builder.set_value_types(vec![ValueType { name: "live_bytes".into(), unit: Unit::Bytes }], 0);
    let mut loader = Loader { builder, open: Vec::new(), stack: Vec::new() };
    loader.describe(&survey, wanted);
    loader.builder.set_curve(Unit::named(survey.time_unit), "Bytes of the heap in each snapshot.");
    for snapshot in &survey.snapshots {
        loader.builder.curve_point(snapshot.time, snapshot.heap);
    }
    let damage = damage(loader.read(bytes, wanted, options))?;
    let tree = wanted.and_then(|row| survey.snapshots.get(row));
    if let Some(snapshot) = tree.filter(|snapshot| snapshot.tree == 0) {
        loader.add(StackId::EMPTY, snapshot.heap);
    }
    let mut profile = loader.builder.finish();
    allocators::fold(&mut profile, &options);
    Ok(LoadedProfile { profile, damage })
}

struct Loader {
    builder: ProfileBuilder,
    /// The nodes from the first one to the last one read: the frame, and the bytes that are not those
    /// of a node below.
    open: Vec<(Option<FrameId>, u64)>,
    /// The frames of a stack; the buffer is reused.
    stack: Vec<FrameId>,
}

impl Loader {
    fn describe(&mut self, survey: &Survey, wanted: Option<usize>) {
        let Some(row) = wanted else { return };
        let snapshot = survey.snapshots.get(row).copied().unwrap_or_default();
        for (key, value) in [
            ("snapshots", survey.snapshots.len() as u64),
            ("snapshot", row as u64),
            ("snapshot_time", snapshot.time),
            ("heap_extra_bytes", snapshot.extra),
            ("stacks_bytes", snapshot.stacks),
        ] {
            self.builder.metadata(key.as_bytes(), value.to_string().as_bytes());
        }
    }

    fn read(
        &mut self,
        bytes: &[u8],
        wanted: Option<usize>,
        options: ProfileOptions<'_>,
    ) -> Result<()> {
        let mut snapshots = 0usize;
        let read = MassifLines::new(bytes).enumerate().try_for_each(|(row, line)| {
            let (offset, line) = line?;
            match line {
                MassifLine::Snapshot(_) => snapshots = snapshots.saturating_add(1),
                MassifLine::Fact { key, value } => self.builder.metadata(key, value),
                MassifLine::Node(node) if snapshots.checked_sub(1) == wanted => self.node(&node),
                _ => {}
            }
            if row % 1024 == 0 {
                (options.progress)(offset);
                options.memory.check(offset, &self.builder, 0)?;
            }
            Ok(())
        });
        self.close(0);
        read
    }

    fn node(&mut self, node: &Node<'_>) {
        self.close(node.depth);
        if let Some((_, rest)) = self.open.last_mut() {
            *rest = rest.saturating_sub(node.bytes);
        }
        let frame = (node.depth > 0).then(|| match node.frame() {
            Some(frame) => frame.add(&mut self.builder),
            None => {
                let function = self.builder.name(b"[below massif's threshold]");
                let kind = FrameKind::Native;
                self.builder.frame(ProfileFrame { function, file: Names::EMPTY, line: 0, kind })
            }
        });
        self.open.push((frame, node.bytes));
    }

    /// Ends nodes until `depth` are open. Bytes that no node below has belong to the node's stack.
    fn close(&mut self, depth: usize) {
        while self.open.len() > depth {
            let bytes = self.open.last().map_or(0, |(_, rest)| *rest);
            if bytes > 0 {
                // The innermost function is the first one.
                self.stack.clear();
                self.stack.extend(self.open.iter().rev().filter_map(|(frame, _)| *frame));
                let stack = self.builder.push_all(StackId::EMPTY, &self.stack);
                self.builder.count_cut();
                self.add(stack, bytes);
            }
            self.open.pop();
        }
    }

    fn add(&mut self, stack: StackId, bytes: u64) {
        let thread = self.builder.labelled_thread(ProfileThread::named(Names::EMPTY));
        let bytes = self.builder.metric(bytes.into());
        self.builder.add(thread, stack, &Values::of_types(1, &[bytes]));
    }
}
