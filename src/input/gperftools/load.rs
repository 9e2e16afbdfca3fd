//! Loads a heap profile as sums of stacks.

use super::lines::{HeapTextLine, HeapTextLines, StackCounts};
use crate::error::Result;
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::input::native::addresses::Addresses;
use crate::input::native::allocators;
use crate::input::native::maps::MapLine;
use crate::model::names::Names;
use crate::model::profile::{ProfileBuilder, ProfileThread, StackId, Unit, ValueType, Values};

/// The value types: those of live objects, and of all allocations if they were counted.
const TYPES: [(&str, Unit); 4] = [
    ("live_bytes", Unit::Bytes),
    ("live_objects", Unit::Count),
    ("alloc_bytes", Unit::Bytes),
    ("alloc_objects", Unit::Count),
];

pub(in crate::input) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let survey = Survey::of(bytes);
    let mut builder = ProfileBuilder::new(false);
    let types = TYPES.map(|(name, unit)| ValueType { name: name.into(), unit });
    let kept = if survey.is_accumulated { 4 } else { 2 };
    builder.set_value_types(types.into_iter().take(kept).collect(), 0);
    let scale = survey.rate.filter(|_| !options.raw_counts);
    for (key, rate) in
        [("sampling_bytes", scale), ("unscaled_sampling_bytes", survey.rate.xor(scale))]
    {
        if let Some(rate) = rate {
            builder.metadata(key.as_bytes(), rate.to_string().as_bytes());
        }
    }
    let mut addresses = Addresses::new(survey.mappings(bytes), &options, &mut builder);
    if options.keep_code {
        // As in a pprof file, which keeps addresses, too.
        builder.metadata(b"default_sample_type", b"live_bytes");
    }
    if survey.has_symbols {
        symbols(bytes, &mut addresses);
    }
    let mut loader = Loader { builder, addresses, scale, kept, stack: None };
    let damage = damage(loader.read(bytes, options))?;
    let mut profile = options.named(loader.builder.finish());
    allocators::fold(&mut profile, &options);
    Ok(LoadedProfile { profile, damage })
}

/// Facts that come after the stacks, or follow from all of them.
struct Survey {
    /// Bytes between samples, if not all allocations were recorded.
    rate: Option<u64>,
    is_accumulated: bool,
    has_symbols: bool,
}

impl Survey {
    fn of(bytes: &[u8]) -> Self {
        let mut survey = Self { rate: None, is_accumulated: false, has_symbols: false };
        for (_, line) in HeapTextLines::new(bytes).map_while(Result::ok) {
            match line {
                HeapTextLine::Header { kind, rate, .. } => {
                    // Go's text has twice its rate.
                    let rate = if kind == b"heap" { rate.map(|rate| rate / 2) } else { rate };
                    survey.rate = rate.filter(|rate| *rate > 1 && kind.starts_with(b"heap"));
                }
                HeapTextLine::Stack { counts: Some(counts), .. }
                | HeapTextLine::Counts { counts, .. } => {
                    survey.is_accumulated |= counts.alloc_objects != 0 || counts.alloc_bytes != 0;
                }
                HeapTextLine::Symbol { .. } => survey.has_symbols = true,
                HeapTextLine::Stack { .. } | HeapTextLine::Mapping(_) => {}
            }
        }
        survey
    }

    fn mappings(&self, bytes: &[u8]) -> Vec<crate::model::profile::Mapping> {
        let lines = HeapTextLines::new(bytes).map_while(Result::ok);
        MapLine::code(lines.filter_map(|(_, line)| match line {
            HeapTextLine::Mapping(mapping) => Some(mapping),
            _ => None,
        }))
    }
}

fn symbols(bytes: &[u8], addresses: &mut Addresses) {
    for (_, line) in HeapTextLines::new(bytes).map_while(Result::ok) {
        let HeapTextLine::Symbol { address, functions } = line else { continue };
        let mut names = Vec::new();
        let mut rest = functions;
        while let Some(end) = memchr::memmem::find(rest, b"--") {
            let (name, after) = rest.split_at_checked(end).unwrap_or_default();
            names.push(name.to_vec());
            rest = after.get(2..).unwrap_or_default();
        }
        names.push(rest.to_vec());
        names.retain(|name| !name.is_empty());
        if !names.is_empty() {
            addresses.name(address, names);
        }
    }
}

struct Loader {
    builder: ProfileBuilder,
    addresses: Addresses,
    /// Bytes between samples, for the scale.
    scale: Option<u64>,
    /// The number of value types.
    kept: usize,
    /// The stack whose numbers follow.
    stack: Option<StackId>,
}

impl Loader {
    fn read(&mut self, bytes: &[u8], options: ProfileOptions<'_>) -> Result<()> {
        for (row, line) in HeapTextLines::new(bytes).enumerate() {
            let (offset, line) = line?;
            match line {
                HeapTextLine::Stack { addresses, counts } => {
                    let stack = self.addresses.stack(addresses, true, &mut self.builder);
                    self.stack = Some(stack);
                    if let Some(counts) = counts {
                        self.add(&counts);
                    }
                }
                // Numbers of threads add up to those of all.
                HeapTextLine::Counts { thread: b"t*", counts } => self.add(&counts),
                _ => {}
            }
            if row % 1024 == 0 {
                (options.progress)(offset);
                options.memory.check(offset, &self.builder, self.addresses.bytes())?;
            }
        }
        Ok(())
    }

    /// Adds the numbers of a stack; those before any stack are the total.
    fn add(&mut self, counts: &StackCounts) {
        let Some(stack) = self.stack.take() else { return };
        let samples = counts.objects.max(counts.alloc_objects).max(0).unsigned_abs();
        let live = self.scaled(counts.objects, counts.bytes);
        let all = self.scaled(counts.alloc_objects, counts.alloc_bytes);
        let numbers = [live.1, live.0, all.1, all.0];
        let thread = self.builder.labelled_thread(ProfileThread::named(Names::EMPTY));
        let numbers = numbers.get(..self.kept).unwrap_or(&numbers);
        self.builder.add(thread, stack, &Values::of_types(samples, numbers));
    }

    /// Objects and bytes of all allocations, of which those were sampled: an allocation of `size`
    /// bytes is sampled with the probability 1 − exp(−size / rate).
    fn scaled(&self, objects: i64, bytes: i64) -> (i64, i64) {
        let Some(rate) = self.scale.filter(|_| objects > 0 && bytes > 0) else {
            return (objects, bytes);
        };
        let size = bytes as f64 / objects as f64;
        let factor = 1.0 / -(-size / rate as f64).exp_m1();
        let scale = |number: i64| (number as f64 * factor).round() as i64;
        (scale(objects), scale(bytes))
    }
}
