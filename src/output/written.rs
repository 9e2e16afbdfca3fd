//! Reports and helpers shared by the writers of weighted stacks.

use super::loss::Loss;
use crate::model::profile::{FrameKind, ProfileFrame, StackId, Unit};
use crate::model::stacks::{MAX_DEPTH, ValueType, WeightedStacks};
use crate::output::loss::LossKind;
use serde::{Serialize, Serializer};

/// The report of a writer: counts, sums and losses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Written {
    /// Lines, samples or rows.
    pub stacks: u64,
    /// The sums of the written entries, by the names of their values.
    pub sums: Vec<ValueSum>,
    /// Data that the format cannot store.
    #[serde(skip)]
    pub lost: Vec<Loss>,
}

/// The sum of one value type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueSum {
    /// The name of the value.
    pub value: String,
    /// The unit of the value.
    #[serde(serialize_with = "unit_name")]
    pub unit: Unit,
    /// The sum in this unit.
    pub sum: i64,
}

impl ValueSum {
    pub(super) fn of(value: &ValueType, sum: i64) -> Self {
        Self { value: value.name.to_string(), unit: value.unit.clone(), sum }
    }
}

fn unit_name<S: Serializer>(unit: &Unit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(unit.name())
}

impl Written {
    pub(super) fn new(stacks: &WeightedStacks) -> Self {
        let sums = stacks.values.iter().map(|value| ValueSum::of(value, 0));
        let mut written = Self { sums: sums.collect(), ..Self::default() };
        const { assert!(MAX_DEPTH == 500, "this is what the text says") };
        written.lose(LossKind::CutStacks, stacks.cut_entries);
        written
    }

    #[inline]
    pub(super) fn add(&mut self, values: &[i64]) {
        self.sums
            .iter_mut()
            .zip(values)
            .for_each(|(sum, value)| sum.sum = sum.sum.saturating_add(*value));
    }

    #[inline]
    pub(super) fn add_one(&mut self, value: usize, number: i64) {
        self.sums[value].sum = self.sums[value].sum.saturating_add(number);
    }

    /// Counts losses, and merges them with those of the same kind.
    pub(crate) fn lose(&mut self, what: LossKind, count: u64) {
        match self.lost.iter_mut().find(|loss| loss.what == what) {
            Some(loss) => loss.count += count,
            None => self.lost.extend(Loss::of(what, count, None)),
        }
    }
}

/// A function as one text: `name (file)`; kernel functions as `name_[k]`, a suffix that flame
/// graphs color.
pub(super) fn label(stacks: &WeightedStacks, frame: ProfileFrame) -> String {
    let name = crate::model::profile::display_name(frame.kind, stacks.text(frame.function));
    let file = stacks.text(frame.file);
    match frame.kind {
        FrameKind::Kernel => format!("{name}_[k]"),
        _ if file.is_empty() => name.to_owned(),
        _ => format!("{name} ({file})"),
    }
}

/// A function and a line of it as one text: `name (file:line)`. A line of 0 is none.
pub(super) fn line_label(stacks: &WeightedStacks, frame: ProfileFrame, line: u32) -> String {
    let label = label(stacks, frame);
    match (line, label.strip_suffix(')')) {
        (0, _) => label,
        (line, Some(open)) if !stacks.text(frame.file).is_empty() => format!("{open}:{line})"),
        (line, _) => format!("{label}:{line}"),
    }
}

/// The rows of the entries of each track, in their order.
pub(super) fn rows_by_track(stacks: &WeightedStacks) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); stacks.tracks.len()];
    for (row, entry) in stacks.iter().enumerate() {
        rows[entry.track].push(row as u32);
    }
    rows
}

/// Entries whose stack has no frames.
pub(super) fn empty_entries(stacks: &WeightedStacks) -> u64 {
    stacks.iter().filter(|entry| entry.stack == StackId::EMPTY).count() as u64
}
