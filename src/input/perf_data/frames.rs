//! The frames of samples.

use super::attributes::Attribute;
use super::processes::{KERNEL, KERNEL_FILE, Map, Processes};
use super::sample::Sample;
use crate::input::load::{CodeRegion, RecordedStack, Unwind};
use crate::model::names::Names;
use crate::model::profile::{
    Code, CodePlace, FrameId, FrameKind, Mapping, ProfileBuilder, ProfileFrame, library_name,
};
use rustc_hash::FxHashMap;

/// The owner of the code at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Kernel,
    User,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    address: u64,
    side: Side,
}

/// The lowest marker: markers in a chain are the highest 64-bit numbers.
const FIRST_MARKER: u64 = -4095i64 as u64;
const KERNEL_MARKER: u64 = -128i64 as u64;
const USER_MARKER: u64 = -512i64 as u64;

#[derive(Default)]
pub(super) struct Frames<'u> {
    unwinder: Option<Box<dyn Unwind + 'u>>,
    /// The addresses of an unwound stack; the buffer is reused.
    unwound: Vec<u64>,
    /// Frames by image and address, where the mapping never changes.
    known: FxHashMap<(usize, u64), FrameId>,
    /// Frames by row of the mapping (or [`NOWHERE`]) and address.
    by_place: FxHashMap<(u32, u64), FrameId>,
    mappings: FxHashMap<(u64, u64, u64, Vec<u8>), u32>,
    steps: Vec<Step>,
}

/// The row that stands for an unknown mapping.
const NOWHERE: u32 = u32::MAX;

impl<'u> Frames<'u> {
    pub(super) fn new(unwinder: Option<Box<dyn Unwind + 'u>>) -> Self {
        Self { unwinder, ..Self::default() }
    }

    /// Puts the frames of a sample into a buffer, outermost first. Returns `false` if bytes of the
    /// stack were recorded and not unwound.
    pub(super) fn of_sample(
        &mut self,
        sample: &Sample<'_>,
        side: Side,
        event: &Attribute,
        processes: &Processes,
        to: (&mut ProfileBuilder, &mut Vec<FrameId>),
    ) -> bool {
        let is_whole = sample.stack.is_empty() || self.unwind(sample, event, processes);
        self.collect(sample, side, event);
        let time = sample.time.unwrap_or(u64::MAX);
        let user = processes.image(sample.pid, time);
        let kernel = processes.image(KERNEL, time);
        let (builder, stack) = to;
        stack.clear();
        for step in self.steps.iter().rev() {
            let (image, number) = match step.side {
                Side::User => (user, user.unwrap_or(usize::MAX)),
                Side::Kernel => (kernel, usize::MAX.saturating_sub(1)),
            };
            if let Some(&known) = self.known.get(&(number, step.address)) {
                stack.push(known);
                continue;
            }
            let found = image.map(|image| processes.find(image, step.address, time));
            let (map, is_lasting) = found.unwrap_or_default();
            let mapping = map.map(|map| mapping(&mut self.mappings, map, builder));
            let key = (mapping.unwrap_or(NOWHERE), step.address);
            let frame = *self
                .by_place
                .entry(key)
                .or_insert_with(|| new_frame(*step, map, mapping, builder));
            if is_lasting {
                self.known.insert((number, step.address), frame);
            }
            stack.push(frame);
        }
        is_whole
    }

    /// Unwinds the recorded part of a stack. Returns `false` if this finds no caller.
    fn unwind(&mut self, sample: &Sample<'_>, event: &Attribute, processes: &Processes) -> bool {
        self.unwound.clear();
        let time = sample.time.unwrap_or(u64::MAX);
        let image = processes.image(sample.pid, time);
        let (Some(unwinder), Some(image)) = (&mut self.unwinder, image) else { return false };
        let Some(registers) = registers(sample, event) else { return false };
        let [_, _, _, _, _, _, _, Some(start), ..] = registers else { return false };
        let stack = RecordedStack { registers: &registers, start, bytes: sample.stack };
        let find = |address| {
            let map = processes.find(image, address, time).0?;
            let Map { start, offset, file, build_id, .. } = map;
            Some(CodeRegion { start: *start, offset: *offset, file, build_id })
        };
        unwinder.unwind(&stack, &find, &mut self.unwound);
        self.unwound.len() > 1
    }

    /// Collects the addresses of a sample, innermost first. Callers have return addresses, less one
    /// to be inside the call.
    fn collect(&mut self, sample: &Sample<'_>, side: Side, event: &Attribute) {
        self.steps.clear();
        let (mut side, mut is_first) = (side, true);
        let is_branches = event.has_call_stack && sample.branches.iter().next().is_some();
        for address in sample.chain.iter() {
            if address >= FIRST_MARKER {
                is_first = true;
                side = match address {
                    KERNEL_MARKER => Side::Kernel,
                    USER_MARKER if is_branches => break,
                    USER_MARKER => Side::User,
                    _ => side,
                };
                continue;
            }
            let address = if is_first { address } else { address.saturating_sub(1) };
            is_first = false;
            self.steps.push(Step { address, side });
        }
        if is_branches {
            self.collect_branches(sample);
        }
        if let [_, _, ..] = self.unwound[..] {
            // The chain has the part of the kernel only.
            self.steps.retain(|step| step.side == Side::Kernel);
            let side = Side::User;
            self.steps.extend(self.unwound.drain(..).map(|address| Step { address, side }));
        }
        if self.steps.is_empty() {
            self.steps.push(Step { address: sample.ip, side });
        }
    }

    /// Collects the last branches, the calls that have not returned: the running function, and the
    /// place of each call.
    fn collect_branches(&mut self, sample: &Sample<'_>) {
        let mut numbers = sample.branches.iter();
        let mut is_first = true;
        while let (Some(from), Some(to), Some(_)) = (numbers.next(), numbers.next(), numbers.next())
        {
            if std::mem::take(&mut is_first) {
                self.steps.push(Step { address: to, side: Side::User });
            }
            self.steps.push(Step { address: from, side: Side::User });
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let rows = self.known.len().saturating_add(self.by_place.len());
        (rows as u64).saturating_mul(100)
    }
}

/// The registers of a sample on x86-64, by their numbers in DWARF.
fn registers(sample: &Sample<'_>, event: &Attribute) -> Option<[Option<u64>; 17]> {
    /// The DWARF number of each register in perf's order; 17 is none.
    const PLACES: [usize; 24] =
        [0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 17, 17, 17, 17, 17, 17, 8, 9, 10, 11, 12, 13, 14, 15];
    if event.regs_user >> PLACES.len() != 0 {
        return None;
    }
    let mut registers = [None; 17];
    let mut values = sample.registers.iter();
    for (bit, place) in PLACES.into_iter().enumerate() {
        if event.regs_user >> bit & 1 == 1 {
            let value = values.next()?;
            if let Some(register) = registers.get_mut(place) {
                *register = Some(value);
            }
        }
    }
    Some(registers)
}

/// The row of a mapping, which is new if the mapping is.
fn mapping(
    known: &mut FxHashMap<(u64, u64, u64, Vec<u8>), u32>,
    map: &Map,
    builder: &mut ProfileBuilder,
) -> u32 {
    let next = known.len() as u32;
    let key = (map.start, map.end, map.offset, map.file.clone());
    let row = *known.entry(key).or_insert(next);
    if row == next
        && let Some(code) = builder.code()
    {
        code.mappings.push(Mapping {
            start: map.start,
            limit: map.end,
            offset: map.offset,
            file: String::from_utf8_lossy(&map.file).into_owned(),
            build_id: map.build_id.clone(),
            ..Mapping::default()
        });
    }
    row
}

/// Creates the frame of an address. If places are kept, each address has its own frame; otherwise,
/// all addresses of a library share one.
fn new_frame(
    step: Step,
    map: Option<&Map>,
    mapping: Option<u32>,
    builder: &mut ProfileBuilder,
) -> FrameId {
    let kind = match step.side {
        Side::Kernel => FrameKind::Kernel,
        Side::User => FrameKind::Native,
    };
    let (function, file) = match (map, step.side) {
        // perf names the kernel after the symbol that it begins with.
        (Some(map), Side::Kernel) if map.file.starts_with(KERNEL_FILE) => {
            (builder.name(KERNEL_FILE), builder.name(KERNEL_FILE))
        }
        (Some(map), _) => (builder.name(&library_name(&map.file)), builder.name(&map.file)),
        (None, Side::Kernel) => (builder.name(b"[kernel]"), Names::EMPTY),
        (None, Side::User) => (builder.name(b"[unknown]"), Names::EMPTY),
    };
    let frame = ProfileFrame { function, file, line: 0, kind };
    if builder.code().is_none() {
        return builder.frame(frame);
    }
    let id = builder.new_frame(frame);
    let place = CodePlace {
        address: step.address,
        mapping,
        outermost: id,
        lines: 0,
        system_name: Names::EMPTY,
        line: 0,
        column: 0,
        start_line: 0,
    };
    if let Some(Code { places, .. }) = builder.code() {
        places.resize(id.index(), None);
        places.push(Some(place));
    }
    id
}
