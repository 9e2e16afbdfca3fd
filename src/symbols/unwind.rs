//! Unwinds recorded stacks with the exception tables of programs (`.eh_frame`), x86-64 only.

use super::binary::Segments;
use super::files::{Files, Library};
use crate::input::load::{CodeRegion, RecordedStack, Unwind};
use crate::source::Source;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, Evaluation, EvaluationResult,
    LittleEndian, Register, RegisterRule, UnwindContext, UnwindExpression, UnwindSection, Value,
};
use object::{Object, ObjectSection};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The maximum number of frames of a stack, as in perf by default.
const DEEPEST: usize = 127;

const MOST_OPERATIONS: u32 = 1000;

/// Registers by their DWARF numbers: 16 integer registers, and the return address.
type Registers = [Option<u64>; 17];
const STACK_POINTER: usize = 7;
const RETURN_ADDRESS: usize = 16;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

pub(super) struct Unwinder<'a> {
    files: &'a Files,
    /// Modules by path and build id. `None` if there is no such file.
    modules: FxHashMap<(Vec<u8>, String), Option<Module>>,
    context: UnwindContext<usize>,
}

struct Module {
    source: Source,
    frames: Range<usize>,
    header: Range<usize>,
    bases: BaseAddresses,
    segments: Segments,
}

impl<'a> Unwinder<'a> {
    pub(super) fn new(files: &'a Files) -> Self {
        Self { files, modules: FxHashMap::default(), context: UnwindContext::new() }
    }

    /// Finds the registers of the caller. Also returns whether the kernel made the frame for a
    /// signal, so that the code below was interrupted and did not make a call.
    fn caller(
        &mut self,
        region: &CodeRegion<'_>,
        address: u64,
        registers: &Registers,
        stack: &RecordedStack<'_>,
    ) -> Option<(Registers, bool)> {
        let key = (region.file.to_vec(), region.build_id.to_owned());
        let module = match self.modules.get(&key) {
            Some(module) => module.as_ref(),
            None => {
                let module = Module::open(self.files, region);
                self.modules.entry(key).or_insert(module).as_ref()
            }
        }?;
        let offset = address.checked_sub(region.start)?.checked_add(region.offset)?;
        let address = module.segments.address(offset)?;
        module.caller(address, registers, stack, &mut self.context)
    }
}

impl Unwind for Unwinder<'_> {
    fn unwind<'m>(
        &mut self,
        stack: &RecordedStack<'_>,
        find: &dyn Fn(u64) -> Option<CodeRegion<'m>>,
        addresses: &mut Vec<u64>,
    ) {
        let mut registers: Registers = [None; 17];
        registers.iter_mut().zip(stack.registers).for_each(|(to, from)| *to = *from);
        let Some(mut address) = registers[RETURN_ADDRESS] else { return };
        addresses.push(address);
        while addresses.len() < DEEPEST {
            let Some(region) = find(address) else { return };
            let Some((caller, is_signal)) = self.caller(&region, address, &registers, stack) else {
                return;
            };
            // The stack pointer of a caller is higher.
            let is_above = caller[STACK_POINTER] > registers[STACK_POINTER];
            let Some(next) = caller[RETURN_ADDRESS].filter(|next| *next != 0 && is_above) else {
                return;
            };
            registers = caller;
            address = if is_signal { next } else { next - 1 };
            addresses.push(address);
        }
    }
}

impl Module {
    fn open(files: &Files, region: &CodeRegion<'_>) -> Option<Self> {
        let library = Library::of_region(region)?;
        files.sources(&library).find_map(Self::parse)
    }

    fn parse(source: Source) -> Option<Self> {
        let file = object::File::parse(source.bytes()).ok()?;
        if file.architecture() != object::Architecture::X86_64 {
            return None;
        }
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            let (offset, size) = section.file_range()?;
            let start = usize::try_from(offset).ok()?;
            let range = start..start.checked_add(usize::try_from(size).ok()?)?;
            source.bytes().get(range.clone()).filter(|bytes| !bytes.is_empty())?;
            Some((range, section.address()))
        };
        let (frames, frames_at) = section(".eh_frame")?;
        let (header, header_at) = section(".eh_frame_hdr")?;
        let bases = BaseAddresses::default().set_eh_frame(frames_at).set_eh_frame_hdr(header_at);
        let segments = Segments::of(&file);
        Some(Self { source, frames, header, bases, segments })
    }

    fn caller(
        &self,
        address: u64,
        registers: &Registers,
        stack: &RecordedStack<'_>,
        context: &mut UnwindContext<usize>,
    ) -> Option<(Registers, bool)> {
        let slice = |range: &Range<usize>| {
            Some(EndianSlice::new(self.source.bytes().get(range.clone())?, LittleEndian))
        };
        let mut frames = EhFrame::from(slice(&self.frames)?);
        frames.set_address_size(8);
        let header = EhFrameHdr::from(slice(&self.header)?).parse(&self.bases, 8).ok()?;
        let entry = header.table()?.fde_for_address(
            &frames,
            &self.bases,
            address,
            EhFrame::cie_from_offset,
        );
        let entry = entry.ok()?;
        let row = entry.unwind_info_for_address(&frames, &self.bases, context, address).ok()?;
        let state = State { frames: &frames, registers, stack, encoding: entry.cie().encoding() };
        let frame = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                state.register(*register)?.wrapping_add_signed(*offset)
            }
            CfaRule::Expression(expression) => state.evaluate(expression, None)?,
        };
        let mut caller: Registers = [None; 17];
        for (number, value) in (0u16..).zip(&mut caller) {
            *value = state.rule(row.register(Register(number)), number, frame);
        }
        if row.register(Register(STACK_POINTER as u16)).is_none() {
            caller[STACK_POINTER] = Some(frame);
        }
        Some((caller, entry.is_signal_trampoline()))
    }
}

struct State<'s> {
    frames: &'s EhFrame<Slice<'s>>,
    registers: &'s Registers,
    stack: &'s RecordedStack<'s>,
    encoding: gimli::Encoding,
}

impl State<'_> {
    fn register(&self, register: Register) -> Option<u64> {
        self.registers.get(usize::from(register.0)).copied().flatten()
    }

    /// The value of a register in the caller. Without a rule, the return address has no value.
    fn rule(&self, rule: Option<RegisterRule<usize>>, number: u16, frame: u64) -> Option<u64> {
        match rule {
            None if usize::from(number) == RETURN_ADDRESS => None,
            None | Some(RegisterRule::SameValue) => self.register(Register(number)),
            Some(RegisterRule::Offset(offset)) => self.memory(frame.wrapping_add_signed(offset), 8),
            Some(RegisterRule::ValOffset(offset)) => Some(frame.wrapping_add_signed(offset)),
            Some(RegisterRule::Register(other)) => self.register(other),
            Some(RegisterRule::Expression(expression)) => {
                self.memory(self.evaluate(&expression, Some(frame))?, 8)
            }
            Some(RegisterRule::ValExpression(expression)) => {
                self.evaluate(&expression, Some(frame))
            }
            Some(RegisterRule::Constant(value)) => Some(value),
            Some(_) => None,
        }
    }

    fn memory(&self, address: u64, size: usize) -> Option<u64> {
        let start = usize::try_from(address.checked_sub(self.stack.start)?).ok()?;
        let bytes = self.stack.bytes.get(start..start.checked_add(size)?)?;
        let mut number = [0; 8];
        number.get_mut(..size)?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(number))
    }

    fn evaluate(&self, expression: &UnwindExpression<usize>, initial: Option<u64>) -> Option<u64> {
        let expression = expression.get(self.frames).ok()?;
        let mut evaluation: Evaluation<Slice<'_>> = expression.evaluation(self.encoding);
        evaluation.set_max_iterations(MOST_OPERATIONS);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = Value::Generic(self.register(register)?);
                    evaluation.resume_with_register(value).ok()?
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let value = Value::Generic(self.memory(address, size.into())?);
                    evaluation.resume_with_memory(value).ok()?
                }
                _ => return None,
            };
        }
        match evaluation.as_result().first()?.location {
            gimli::Location::Address { address } => Some(address),
            _ => None,
        }
    }
}
