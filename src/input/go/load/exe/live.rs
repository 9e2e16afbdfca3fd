//! Finds the words of a call frame that are live pointers, by the tables that the collector uses.
//!
//! A function has a map of the pointers among its variables for each place where it can be
//! stopped, and one for its arguments. Variables whose address is taken ("stack objects") are in
//! neither: they are alive while a live pointer leads to them.
//!
//! Sources: `runtime/stkframe.go`, `runtime/mgcmark.go` (`scanframeworker`) and
//! `runtime/mgcstack.go` of Go 1.18 to 1.27.

use super::functions::{Function, by_function, by_pc};
use super::image::Memory;
use super::symbols::Symbols;
use crate::input::go::goroutine::StackFrame;
use object::{Architecture, Object};

/// A variable whose address is taken.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct StackObject {
    pub(in super::super) address: u64,
    pub(in super::super) size: u64,
    /// Bytes up to the end of the last pointer.
    pointers: u64,
    /// Link address of a bitmap with one bit for each word, set if the word is a pointer. `None` if
    /// only a program of the collector describes the words, so that each may be a pointer.
    mask: Option<u64>,
}

/// Bytes of a stack object's record.
const RECORD: u64 = 16;

impl Symbols<'_> {
    /// Returns the addresses of the live pointers among the variables and arguments of a frame at
    /// its return address, or `None` if it never returns. The outer value is `None` if there is no
    /// map for the address.
    pub(in super::super) fn live(&mut self, frame: &StackFrame<'_>) -> Option<Vec<u64>> {
        let place = frame.contpc.unwrap_or(frame.pc);
        if place == 0 {
            return Some(Vec::new());
        }
        let (variables, arguments) = self.bases(frame)?;
        let (function, pc) = self.find(place, true)?;
        let (image, functions) = (&self.program.image, &self.program.functions);
        let map = if pc == function.entry {
            None
        } else {
            functions.value(image, function, by_pc::STACK_MAP, pc, &mut self.steps)
        };
        // The first map applies until the function has set up its frame.
        let map = map.unwrap_or(0);
        let word = image.pointer_size;
        let mut live = Vec::new();
        if variables > frame.sp {
            let (bits, count) = self.bits(function, by_function::LOCALS, map)?;
            let size = count.checked_mul(word)?;
            let start = variables.checked_sub(size).filter(|start| *start >= frame.sp)?;
            self.add(bits, count, start, &mut live);
        }
        if functions.data(image, function, by_function::ARGUMENTS).is_some() {
            let (bits, count) = self.bits(function, by_function::ARGUMENTS, map)?;
            self.add(bits, count, arguments, &mut live);
        }
        Some(live)
    }

    /// The stack objects of a frame. A frame has at most as many as bytes.
    pub(in super::super) fn stack_objects(&self, frame: &StackFrame<'_>) -> Vec<StackObject> {
        let read = || {
            let (variables, arguments) = self.bases(frame)?;
            let (function, _) = self.find(frame.pc, true)?;
            let (image, functions) = (&self.program.image, &self.program.functions);
            let list = functions.data(image, function, by_function::STACK_OBJECTS)?;
            let count = image.word(list)?.min(frame.contents.len() as u64);
            let first = list.wrapping_add(image.pointer_size);
            let object = |number: u64| {
                let record = first.wrapping_add(number.wrapping_mul(RECORD));
                let field = |offset| image.number(record.wrapping_add(offset), 4);
                let signed = |offset| Some(i64::from(field(offset)? as i32));
                let (offset, pointers) = (signed(0)?, signed(8)?);
                let base = if offset < 0 { variables } else { arguments };
                let mask = self.program.module.constants.wrapping_add(field(12)?);
                Some(StackObject {
                    address: base.wrapping_add_signed(offset),
                    size: field(4)?,
                    pointers: pointers.unsigned_abs(),
                    mask: (pointers >= 0).then_some(mask),
                })
            };
            let objects = (0..count).map_while(object);
            // The frame may not be large enough for the object yet.
            Some(objects.filter(|object| object.address >= frame.sp).collect())
        };
        read().unwrap_or_default()
    }

    /// Returns the addresses of the pointers in a stack object, at most `limit` of them.
    pub(in super::super) fn pointers(&self, object: &StackObject, limit: u64) -> Vec<u64> {
        let bytes = object.pointers.min(object.size);
        let count = bytes.checked_div(self.program.image.pointer_size).unwrap_or(0);
        let mut pointers = Vec::new();
        self.add(object.mask, count.min(limit), object.address, &mut pointers);
        pointers
    }

    /// Adds the addresses of the words from `start` whose bits are set.
    fn add(&self, bits: Option<u64>, count: u64, start: u64, to: &mut Vec<u64>) {
        let image = &self.program.image;
        for word in 0..count {
            let byte = bits.map(|bits| image.number(bits.wrapping_add(word / 8), 1).unwrap_or(0));
            if byte.is_none_or(|byte| byte >> (word % 8) & 1 != 0) {
                to.push(start.wrapping_add(word.wrapping_mul(image.pointer_size)));
            }
        }
    }

    /// The address of the map with a number among those of a function, and its number of bits.
    /// `None` if the function has no such map.
    fn bits(&mut self, function: Function, table: u64, map: u64) -> Option<(Option<u64>, u64)> {
        let (image, functions) = (&self.program.image, &self.program.functions);
        let maps = functions.data(image, function, table)?;
        let (count, bits) = (image.number(maps, 4)?, image.number(maps.wrapping_add(4), 4)?);
        let bytes = bits.div_ceil(8);
        let first = maps.wrapping_add(8).wrapping_add(map.checked_mul(bytes)?);
        image.bytes(first, bytes)?;
        self.steps = self.steps.checked_sub(bits)?;
        (map < count).then_some((Some(first), bits))
    }

    /// Whether the frames of the program's architecture are known.
    pub(in super::super) fn has_frames(&self) -> bool {
        self.convention().is_some()
    }

    /// The layout of the frames that functions of the architecture make: whether a call pushes its
    /// return address, whether a frame begins with the frame pointer of the caller, and the bytes
    /// that the caller leaves free before the arguments.
    fn convention(&self) -> Option<(bool, bool, u64)> {
        Some(match self.program.image.file.architecture() {
            Architecture::X86_64 => (true, true, 0),
            Architecture::I386 => (true, false, 0),
            Architecture::Aarch64 => (false, true, 8),
            Architecture::Arm | Architecture::Mips => (false, false, 4),
            Architecture::PowerPc64 => (false, false, 32),
            Architecture::S390x
            | Architecture::Riscv64
            | Architecture::Mips64
            | Architecture::LoongArch64 => (false, false, 8),
            _ => return None,
        })
    }

    /// The end of the variables of a frame, and the beginning of its arguments in the frame of the
    /// caller.
    fn bases(&self, frame: &StackFrame<'_>) -> Option<(u64, u64)> {
        let image = &self.program.image;
        let (pushes_return, saves_frame, reserved) = self.convention()?;
        let end = frame.sp.checked_add(frame.contents.len() as u64)?;
        let word = image.pointer_size;
        let mut variables = if pushes_return { end.checked_sub(word)? } else { end };
        if saves_frame && variables > frame.sp {
            variables = variables.checked_sub(word)?;
        }
        Some((variables, end.checked_add(reserved)?))
    }
}
