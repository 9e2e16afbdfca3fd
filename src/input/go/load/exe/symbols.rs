//! Call frames as the runtime prints them: with the calls that the compiler inlined, files and
//! lines, without wrappers.
//!
//! Sources: `runtime/symtabinl.go` and `runtime/traceback.go` of Go 1.18 to 1.27.

use super::functions::{Function, by_function, by_pc};
use super::image::Memory;
use super::program::Program;
use crate::input::go::goroutine::StackFrame;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The functions of a program whose addresses in the process are known.
pub(in super::super) struct Symbols<'p> {
    pub(super) program: &'p Program<'p>,
    /// Address in the process less the link address.
    pub(super) slide: u64,
    known: FxHashMap<u64, Rc<[Call<'p>]>>,
    /// The number of table entries that may still be read.
    pub(super) steps: u64,
}

/// A call of a function of the source, inlined or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Call<'p> {
    pub(in super::super) function: &'p [u8],
    /// The source file of the function. Empty if unknown.
    pub(in super::super) file: &'p [u8],
    pub(in super::super) line: u32,
    /// Whether the compiler generated the function as a wrapper that calls another one.
    pub(in super::super) is_wrapper: bool,
}

impl<'p> Call<'p> {
    /// Returns a call without a place in the source.
    pub(in super::super) fn of(function: &'p [u8]) -> Self {
        Self { function, file: b"", line: 0, is_wrapper: false }
    }
}

/// The most table entries that are read for all frames together. A look-up takes some hundreds.
const MAX_STEPS: u64 = 1 << 27;
/// The most inlined calls in one frame that are read.
const MAX_DEPTH: usize = 1 << 8;

impl<'p> Symbols<'p> {
    pub(super) fn new(program: &'p Program<'p>, slide: u64) -> Self {
        Self { program, slide, known: FxHashMap::default(), steps: MAX_STEPS }
    }

    /// The calls in the frame of a function that stands at `pc`, innermost first. Empty if no
    /// function is known there.
    ///
    /// `is_return` is whether `pc` is a return address, as in a function that called another one. A
    /// return address may already belong to the next line.
    pub(in super::super) fn calls(&mut self, pc: u64, is_return: bool) -> Rc<[Call<'p>]> {
        let Some((function, pc)) = self.find(pc, is_return) else { return Rc::default() };
        if let Some(known) = self.known.get(&pc) {
            return Rc::clone(known);
        }
        let calls: Rc<[Call<'p>]> = self.expand(function, pc).into();
        self.known.insert(pc, Rc::clone(&calls));
        calls
    }

    /// Whether a frame is that of a function of the program.
    pub(in super::super) fn is_known(&self, frame: &StackFrame<'_>) -> bool {
        self.find(frame.pc, true).is_some()
    }

    /// The `go` statement at whose end `pc` is: its function, and its file and line.
    pub(in super::super) fn creator(&mut self, pc: u64) -> Option<Call<'p>> {
        let (function, pc) = self.find(pc, true)?;
        let Program { image, functions, .. } = self.program;
        let (file, line) = functions.line(image, function, pc, &mut self.steps);
        Some(Call { function: functions.name(image, function)?, file, line, is_wrapper: false })
    }

    /// A function and the link address of the instruction that it stands at.
    pub(super) fn find(&self, pc: u64, is_return: bool) -> Option<(Function, u64)> {
        let Program { image, functions, .. } = self.program;
        let pc = pc.wrapping_sub(self.slide);
        // The address after a call at the end of a function is already that of the next function.
        let function = functions.find(image, pc)?;
        let is_inside = is_return && pc != function.entry;
        Some((function, if is_inside { pc.wrapping_sub(functions.quantum()) } else { pc }))
    }

    fn expand(&mut self, function: Function, pc: u64) -> Vec<Call<'p>> {
        let Program { image, functions, .. } = self.program;
        let tree = functions.data(image, function, by_function::INLINED);
        // Name, program counter of the call and number of the function in an entry, and its size.
        let [name, caller, special, size] =
            if functions.has_call_lines() { [12, 16, 2, 20] } else { [4, 8, 0, 16] };
        let mut calls = Vec::new();
        let mut pc = pc;
        while calls.len() < MAX_DEPTH {
            let (file, line) = functions.line(image, function, pc, &mut self.steps);
            let inlined = tree.and_then(|tree| {
                let index =
                    functions.value(image, function, by_pc::INLINED, pc, &mut self.steps)?;
                let entry = tree.wrapping_add(index.wrapping_mul(size));
                let name = image.number(entry.wrapping_add(name), 4)?;
                let name = functions.name_at(image, name)?;
                let special = image.number(entry.wrapping_add(special), 1)?;
                Some((name, special, image.number(entry.wrapping_add(caller), 4)?))
            });
            let (name, special, caller) = match inlined {
                Some((name, special, caller)) => (name, special, Some(caller)),
                None => {
                    let name = functions.name(image, function).unwrap_or_default();
                    (name, functions.special(image, function), None)
                }
            };
            let is_wrapper = special == functions.wrapper();
            calls.push(Call { function: name, file, line, is_wrapper });
            match caller {
                Some(caller) => pc = function.entry.wrapping_add(caller),
                None => break,
            }
        }
        calls
    }
}
