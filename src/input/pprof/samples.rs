//! Reads the samples of a profile.

use super::load::{Loader, Place};
use super::wire::{Field, Fields, Value};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::load::{ProfileOptions, damage};
use crate::input::read::count_one;
use crate::model::profile::{FrameId, StackId, StackTree, ThreadId, Values, WholeStacks};

/// The sample that is being read. Its buffers are reused.
#[derive(Default)]
struct Sample<'a> {
    locations: Vec<u64>,
    labels: Vec<Cursor<'a>>,
    stack: Vec<FrameId>,
}

impl<'a> Loader<'_, 'a> {
    /// Reads the samples up to where the tables were cut: first their stacks and labels, then, when
    /// all stacks have a number, their values. If a sample is damaged, those before it stay.
    pub(super) fn samples(
        &mut self,
        bytes: &'a [u8],
        cut: Option<&Error>,
        options: ProfileOptions<'_>,
    ) -> Result<()> {
        let end = cut.and_then(Error::offset).unwrap_or(u64::MAX);
        let mut stacks = WholeStacks::default();
        let mut places = Vec::new();
        let read = self.places(bytes, end, options, (&mut stacks, &mut places));
        let damage = damage(read)?;
        let sorted = stacks.sorted();
        let per_stack = options.memory.per_stack.saturating_add(28);
        let more = (sorted.length() as u64).saturating_mul(per_stack);
        let besides = more.saturating_add(self.besides(&stacks, &places));
        options.memory.check(bytes.len() as u64, &self.builder, besides)?;
        if sorted.length() > StackTree::MOST {
            return Err(Error::limit(bytes.len() as u64, "the profile has too many stacks")
                .expected(format!("at most {}", StackTree::MOST)));
        }
        let numbers = self.builder.set_stacks(&sorted);
        drop(stacks);
        self.values(bytes, end, &places, &numbers)?;
        damage.map_or(Ok(()), Err)
    }

    /// Bytes of memory besides the profile's.
    fn besides(&self, stacks: &WholeStacks, places: &Vec<(ThreadId, u32)>) -> u64 {
        let places = (places.capacity() as u64).saturating_mul(8);
        self.tables.bytes().saturating_add(stacks.bytes()).saturating_add(places)
    }

    /// Reads the thread and the stack of each sample.
    fn places(
        &mut self,
        bytes: &'a [u8],
        end: u64,
        options: ProfileOptions<'_>,
        (stacks, places): (&mut WholeStacks, &mut Vec<(ThreadId, u32)>),
    ) -> Result<()> {
        let mut sample = Sample::default();
        let (mut fields, mut number) = (Fields(Cursor::new(bytes, 0)), 0_u64);
        while let Some(field) = next_sample(&mut fields, end) {
            number = number.wrapping_add(1);
            if number.is_multiple_of(4096) {
                (options.progress)((bytes.len() as u64 / 2).saturating_add(field.offset / 2));
            }
            let more = self.besides(stacks, places).saturating_add(field.value.bytes_at_most());
            options.memory.check(field.offset, &self.builder, more)?;
            sample.read(field)?;
            let thread = self.thread(&sample.labels)?;
            if sample.locations.is_empty() {
                fields.skip_copies(bytes, field.offset);
            }
            self.stack_of(&mut sample);
            if sample.stack.len() > StackTree::DEEPEST as usize {
                count_one(&mut self.builder.notes().deep);
            }
            places.push((thread, stacks.add(&sample.stack)));
        }
        Ok(())
    }

    /// Adds the values of samples whose places are known.
    fn values(
        &mut self,
        bytes: &'a [u8],
        end: u64,
        places: &[(ThreadId, u32)],
        numbers: &[StackId],
    ) -> Result<()> {
        let types = self.tables.types.len().max(1);
        let mut values = Vec::new();
        let mut fields = Fields(Cursor::new(bytes, 0));
        for &(thread, row) in places {
            let Some(field) = next_sample(&mut fields, end) else { break };
            values.clear();
            let mut has_stack = false;
            for field in field.value.fields() {
                match field? {
                    Field { number: 1, value, .. } => has_stack |= !value.is_empty(),
                    Field { number: 2, value, .. } => {
                        value.each(|value| values.push(value as i64))?;
                    }
                    _ => {}
                }
            }
            let copies = if has_stack { 0 } else { fields.skip_copies(bytes, field.offset) };
            let times = copies.saturating_add(1);
            let factor = i64::try_from(times).unwrap_or(i64::MAX);
            // Missing values are 0, and more values than types mean nothing.
            values.resize(types, 0);
            values.iter_mut().for_each(|value| *value = value.saturating_mul(factor));
            let stack = numbers.get(row as usize).copied().unwrap_or_default();
            self.builder.add(thread, stack, &Values::of_types(times, &values));
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
        self.labels.clear();
        for field in field.value.fields() {
            let Field { number, value, .. } = field?;
            match (number, value) {
                (1, _) => value.each(|id| self.locations.push(id))?,
                (3, Value::Bytes(label)) => self.labels.push(label),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The next sample, of a file that is whole up to an offset.
fn next_sample<'a>(fields: &mut Fields<'a>, end: u64) -> Option<Field<'a>> {
    loop {
        let field = fields.next()?.ok()?;
        match (field.number, field.value) {
            (2, Value::Bytes(_)) => return Some(field),
            (2, _) => {}
            _ if field.offset >= end => return None,
            _ => {}
        }
    }
}
