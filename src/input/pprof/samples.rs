//! Reads the samples of a profile.

use super::load::{Loader, Place};
use super::wire::{Field, Fields, Value};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::load::{ProfileOptions, damage};
use crate::input::read::count_one;
use crate::model::profile::{FrameId, StackTree, Values, WholeStacks};

/// The sample that is being read. Its buffers are reused.
#[derive(Default)]
struct Sample<'a> {
    locations: Vec<u64>,
    values: Vec<i64>,
    labels: Vec<Cursor<'a>>,
    stack: Vec<FrameId>,
}

impl<'a> Loader<'_, 'a> {
    /// Reads the samples up to where the tables were cut, and then sets their stacks. If a sample is
    /// damaged, those before it stay.
    pub(super) fn samples(
        &mut self,
        bytes: &'a [u8],
        cut: Option<&Error>,
        options: ProfileOptions<'_>,
    ) -> Result<()> {
        let end = cut.and_then(Error::offset).unwrap_or(u64::MAX);
        let mut stacks = WholeStacks::default();
        let damage = damage(self.read_samples(bytes, end, options, &mut stacks))?;
        let sorted = stacks.sorted();
        let per_stack = options.memory.per_stack.saturating_add(28);
        let tree = (sorted.length() as u64).saturating_mul(per_stack);
        let besides = tree.saturating_add(stacks.bytes()).saturating_add(self.tables.bytes());
        options.memory.check(bytes.len() as u64, &self.builder, besides)?;
        if sorted.length() > StackTree::MOST {
            return Err(Error::limit(bytes.len() as u64, "the profile has too many stacks")
                .expected(format!("at most {}", StackTree::MOST)));
        }
        self.builder.set_stacks(&sorted);
        damage.map_or(Ok(()), Err)
    }

    fn read_samples(
        &mut self,
        bytes: &'a [u8],
        end: u64,
        options: ProfileOptions<'_>,
        stacks: &mut WholeStacks,
    ) -> Result<()> {
        let (tables, types) = (self.tables.bytes(), self.tables.types.len().max(1));
        let mut sample = Sample::default();
        let (mut fields, mut number) = (Fields(Cursor::new(bytes, 0)), 0_u64);
        while let Some(Ok(field)) = fields.next() {
            number = number.wrapping_add(1);
            if number.is_multiple_of(4096) {
                (options.progress)((bytes.len() as u64 / 2).saturating_add(field.offset / 2));
            }
            if field.offset >= end && field.number != 2 {
                break;
            }
            let (2, Value::Bytes(_)) = (field.number, field.value) else { continue };
            let besides = tables.saturating_add(stacks.bytes());
            let besides = besides.saturating_add(field.value.bytes_at_most());
            options.memory.check(field.offset, &self.builder, besides)?;
            sample.read(field)?;
            let thread = self.thread(&sample.labels)?;
            // Missing values are 0, and more values than types mean nothing.
            sample.values.resize(types, 0);
            let mut times = 1_u64;
            if sample.locations.is_empty() {
                times = times.saturating_add(fields.skip_copies(bytes, field.offset));
                let factor = i64::try_from(times).unwrap_or(i64::MAX);
                let values = sample.values.iter_mut();
                values.for_each(|value| *value = value.saturating_mul(factor));
            }
            self.stack_of(&mut sample);
            if sample.stack.len() > StackTree::DEEPEST as usize {
                count_one(&mut self.builder.notes().deep);
            }
            let values = Values::of_types(times, &sample.values);
            self.builder.add_row(thread, stacks.add(&sample.stack), &values);
        }
        Ok(())
    }

    /// Puts together the frames of a sample, outermost first.
    fn stack_of(&mut self, sample: &mut Sample<'a>) {
        sample.stack.clear();
        let pruned = self.prune.as_ref().map(|prune| prune.shorten(self.tables, &sample.locations));
        if let Some((kept, is_shorter)) = pruned {
            sample.locations.drain(..kept);
            let dropped = &mut self.builder.notes().dropped;
            *dropped = dropped.saturating_add(is_shorter.into());
        }
        for &id in sample.locations.iter().rev() {
            match self.place(id) {
                Place { at, count: 1 } => sample.stack.push(FrameId(at)),
                place => self.push_inlined(place, &mut sample.stack),
            }
        }
    }
}

impl<'a> Sample<'a> {
    #[inline]
    fn read(&mut self, field: Field<'a>) -> Result<()> {
        self.locations.clear();
        self.values.clear();
        self.labels.clear();
        for field in field.value.fields() {
            let Field { number, value, .. } = field?;
            match (number, value) {
                (1, _) => value.each(|id| self.locations.push(id))?,
                (2, _) => value.each(|value| self.values.push(value as i64))?,
                (3, Value::Bytes(label)) => self.labels.push(label),
                _ => {}
            }
        }
        Ok(())
    }
}
