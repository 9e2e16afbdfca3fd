//! The variables of stack frames.

use super::super::debug::{Piece, Variable};
use super::super::facts::Stack;
use super::super::layout::Holds;
use super::super::objects::Level;
use super::super::types::{Kind, TypeRef};
use super::{Form, Item, Propagation, Values};
use crate::input::go::goroutine::StackFrame;
use rustc_hash::FxHashSet;
use std::rc::Rc;

impl<'a> Propagation<'_, '_, '_, 'a> {
    pub(in super::super) fn add_frames(&mut self) {
        let facts = self.facts;
        for stack in &facts.stacks {
            self.add_stack(stack);
        }
        self.drain();
    }

    pub(super) fn add_stack(&mut self, stack: &Stack<'a>) {
        // The arguments of a call lie in the frame of the caller, which alone lists them.
        let listed = stack
            .frames
            .iter()
            .flat_map(|frame| frame.fields.iter().map(|field| frame.sp.wrapping_add(field.offset)));
        let live: FxHashSet<u64> = listed.collect();
        for frame in &stack.frames {
            for variable in self.variables(frame).iter() {
                self.variable(frame, variable, &live);
            }
        }
    }

    pub(super) fn variable(
        &mut self,
        frame: &StackFrame<'a>,
        variable: &Variable,
        live: &FxHashSet<u64>,
    ) {
        let layout = self.types.layout(variable.ty);
        let end = frame.sp.wrapping_add(frame.contents.len() as u64);
        for part in &layout.slots {
            let piece = variable.pieces.iter().find(|piece| {
                let inside = part.offset.wrapping_sub(piece.offset);
                part.offset >= piece.offset && piece.size.is_none_or(|size| inside < size)
            });
            let Some(piece) = piece else { continue };
            let address = end
                .wrapping_add_signed(piece.from_cfa)
                .wrapping_add(part.offset.wrapping_sub(piece.offset));
            let pointer = match part.holds {
                Holds::Interface { .. } | Holds::Reflected => address.wrapping_add(self.word),
                _ => address,
            };
            if !variable.is_stack_object && !live.contains(&pointer) {
                continue;
            }
            let Some(bytes) = self.outside_at(address) else { continue };
            let values = Values { bytes, ty: variable.ty, count: 1, level: Level::Static };
            if let Holds::Slice(element) = part.holds
                && let Some(item) = self.beheaded(piece, part.offset, bytes, element)
            {
                self.queue.push(item);
            } else if let Holds::Array(element, length) = part.holds {
                self.visit(&Values { ty: element, count: length, ..values });
            } else if let Some(ty) = self.follow(&values, 0, part) {
                let bytes = bytes.get(self.word as usize..).unwrap_or_default();
                self.visit(&Values { bytes, ty, ..values });
            }
        }
    }

    /// Finds the array of a slice whose length and capacity are in registers, which are not in the
    /// dump. The object of the array gives the length.
    fn beheaded(&self, piece: &Piece, inside: u64, bytes: &[u8], element: TypeRef) -> Option<Item> {
        let end = inside.wrapping_sub(piece.offset).saturating_add(self.word.wrapping_mul(3));
        if piece.size.is_none_or(|size| end <= size) {
            return None;
        }
        let data = self.ground.word_at(bytes, 0)?;
        self.ground.object_at(data)?;
        Some(Item { form: Form::Slice, ..Item::one(data, element, Level::Static) })
    }

    /// Guesses the targets of live words that no variable claims, such as the hidden copy of a list
    /// in a loop: a type that a variable of the function points to, if only one such type fits.
    pub(in super::super) fn add_frame_guesses(&mut self) {
        let facts = self.facts;
        for frame in facts.frames() {
            let entry = frame.entry.wrapping_sub(self.shifts.text);
            let Some(debug) = &mut self.debug else { return };
            let mut elements: Vec<TypeRef> = Vec::new();
            for &ty in debug.variable_types(entry, &mut self.judge.types).iter() {
                let element = match self.types.get(ty).map(|ty| ty.kind.clone()) {
                    Some(Kind::Pointer { element } | Kind::Slice { element }) => element,
                    _ => match self.types.header(ty) {
                        Some(header) => header,
                        None => continue,
                    },
                };
                // The words may be those of an array of pointers on the stack.
                for element in self.types.target(element).into_iter().chain([element]) {
                    if !elements.contains(&element) {
                        elements.push(element);
                    }
                }
            }
            for field in frame.fields.iter() {
                if let Some(address) = self
                    .ground
                    .word_at(frame.contents, field.offset)
                    .filter(|address| *address != 0)
                {
                    self.guess_among(address, &elements);
                }
            }
        }
        self.drain();
    }

    /// The variables of a frame that are in memory.
    pub(in super::super) fn variables(&mut self, frame: &StackFrame<'_>) -> Rc<[Variable]> {
        let entry = frame.entry.wrapping_sub(self.shifts.text);
        let pc = frame.pc.wrapping_sub(self.shifts.text);
        // A return address may already belong to the next range.
        let pc = if pc == entry { pc } else { pc.wrapping_sub(1) };
        match &mut self.debug {
            Some(debug) => debug.variables(entry, pc, &mut self.judge.types),
            None => Rc::default(),
        }
    }
}
