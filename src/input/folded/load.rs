//! Loads folded stacks.

use super::lines::{FoldedLines, MILLIONTHS, named_value};
use crate::error::Result;
use crate::input::frames::own_thread;
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::model::names::Names;
use crate::model::profile::{
    FrameKind, ProfileBuilder, ProfileFrame, ProfileThread, StackId, ThreadId, Unit, ValueType,
    Values,
};
use memchr::memchr_iter;

pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let shape = Shape::of(bytes);
    let mut loader = Loader { builder: ProfileBuilder::new(false), shape };
    loader.builder.set_value_types(shape.value_types(bytes), usize::from(shape.is_differential));
    let damage = damage(loader.read(bytes, options))?;
    Ok(LoadedProfile { profile: loader.builder.finish(), damage })
}

/// The properties that all lines share.
#[derive(Clone, Copy)]
struct Shape {
    /// Whether every line has two numbers.
    is_differential: bool,
    /// Whether all numbers are whole.
    is_whole: bool,
}

impl Shape {
    fn of(bytes: &[u8]) -> Self {
        let (mut is_differential, mut is_whole, mut lines) = (true, true, 0u64);
        for (_, line) in FoldedLines::new(bytes).map_while(Result::ok) {
            let before = line.before().filter(|_| is_differential);
            is_differential &= before.is_some();
            let numbers = [Some(line.millionths()), before.map(|(_, number)| number)];
            is_whole &=
                numbers.into_iter().flatten().all(|number| number.wrapping_rem(MILLIONTHS) == 0);
            lines = lines.saturating_add(1);
        }
        Self { is_differential: is_differential && lines > 0, is_whole }
    }

    fn value_types(self, bytes: &[u8]) -> Vec<ValueType> {
        let (name, unit) = named_value(bytes).unwrap_or(("samples", Unit::Count.name()));
        let unit = if self.is_whole { Unit::named(unit) } else { Unit::named(Unit::MILLIONTHS) };
        let names = if self.is_differential { &["before", "after"][..] } else { &[name] };
        names
            .iter()
            .map(|&name| ValueType { name: name.to_owned().into(), unit: unit.clone() })
            .collect()
    }

    fn number(self, millionths: i128) -> i128 {
        if self.is_whole { millionths.wrapping_div(MILLIONTHS) } else { millionths }
    }
}

struct Loader {
    builder: ProfileBuilder,
    shape: Shape,
}

impl Loader {
    fn read(&mut self, bytes: &[u8], options: ProfileOptions<'_>) -> Result<()> {
        for (row, line) in FoldedLines::new(bytes).enumerate() {
            let (offset, line) = line?;
            if row % 4096 == 0 {
                (options.progress)(offset);
            }
            let (mut stack, mut values) = (line.stack, vec![line.millionths()]);
            if let Some((before, number)) = line.before().filter(|_| self.shape.is_differential) {
                stack = before.stack;
                values.insert(0, number);
            }
            let values: Vec<i64> = values
                .into_iter()
                .map(|value| self.builder.metric(self.shape.number(value)))
                .collect();
            let (thread, frames) = self.thread(stack);
            let stack = self.stack(frames);
            self.builder.add(thread, stack, &Values::of_types(1, &values));
            options.memory.check(offset, &self.builder, 0)?;
        }
        Ok(())
    }

    /// The thread of a stack, and its frames. Dumptool writes `P12;T34` before the frames; other
    /// writers' threads are frames.
    fn thread<'a>(&mut self, stack: &'a [u8]) -> (ThreadId, &'a [u8]) {
        // Names of frames need not be UTF-8.
        let end = memchr_iter(b';', stack).nth(1).unwrap_or(stack.len());
        let (label, frames) = stack.split_at(end);
        let label = std::str::from_utf8(label).ok();
        if let Some((thread, _)) = label.and_then(|label| own_thread(label, &mut self.builder)) {
            return (thread, frames.strip_prefix(b";").unwrap_or(frames));
        }
        (self.builder.labelled_thread(ProfileThread::named(Names::EMPTY)), stack)
    }

    fn stack(&mut self, frames: &[u8]) -> StackId {
        let mut stack = StackId::EMPTY;
        if frames.is_empty() {
            return stack;
        }
        for name in frames.split(|byte| *byte == b';') {
            // Flame graphs colour the kernel by this mark, which is written again.
            let (name, kind) = match name.strip_suffix(b"_[k]") {
                Some(name) => (name, FrameKind::Kernel),
                None => (name, FrameKind::Code),
            };
            let function = self.builder.name(name);
            let frame =
                self.builder.frame(ProfileFrame { function, file: Names::EMPTY, line: 0, kind });
            stack = self.builder.push(stack, frame);
        }
        self.builder.count_cut();
        stack
    }
}
