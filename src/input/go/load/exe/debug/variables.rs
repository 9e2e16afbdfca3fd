//! The variables of functions.

use super::super::types::{TypeRef, Types};
use super::{Debug, Entry, MAX_ENTRIES, Slice, go};
use gimli::{DebuggingInformationEntry, Expression, Operation, Unit, constants as dw};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A variable of a function at a place in its code.
#[derive(Clone, Debug)]
pub(in super::super) struct Variable {
    pub(in super::super) name: String,
    pub(in super::super) ty: TypeRef,
    /// The parts of the variable in memory. Parts in registers are omitted: a dump has no
    /// registers.
    pub(in super::super) pieces: Vec<Piece>,
    /// Whether its address is taken, so that the frame does not list its pointers even if they are
    /// live.
    pub(in super::super) is_stack_object: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Piece {
    pub(in super::super) offset: u64,
    /// The number of bytes. `None` for the whole value.
    pub(in super::super) size: Option<u64>,
    /// The address relative to the canonical frame address, the end of the frame's contents.
    pub(in super::super) from_cfa: i64,
}

#[derive(Clone, Debug)]
pub(in super::super) struct Capture {
    pub(in super::super) name: String,
    pub(in super::super) ty: TypeRef,
    pub(in super::super) offset: u64,
}

/// A cache of variables that have been read: many goroutines are in the same functions.
#[derive(Default)]
pub(super) struct Known {
    /// Variables in memory, by the function's entry and the program counter.
    in_memory: FxHashMap<(u64, u64), Rc<[Variable]>>,
    /// The types of all variables, by the function's entry.
    types: FxHashMap<u64, Rc<[TypeRef]>>,
}

/// The cost of a variable in the budget, as the number of entries that take the same memory.
const VARIABLE: u64 = 16;

impl<'d> Debug<'d> {
    /// The variables of the function with this entry that are in memory at `pc`, inlined calls
    /// included.
    pub(in super::super) fn variables(
        &mut self,
        entry: u64,
        pc: u64,
        types: &mut Types,
    ) -> Rc<[Variable]> {
        if let Some(known) = self.variables.in_memory.get(&(entry, pc)) {
            return Rc::clone(known);
        }
        let mut found = Vec::new();
        self.each_variable(entry, |debug, unit, child, declared| {
            let (is_stack_object, pieces) = debug.pieces(unit, child, pc)?;
            let target = debug.target(unit, declared, dw::DW_AT_type)?;
            debug.spend(VARIABLE)?;
            found.push((debug.name(unit, declared)?, target, is_stack_object, pieces));
            Some(())
        });
        let typed = found.into_iter().map(|(name, target, is_stack_object, pieces)| {
            let ty = self.of(target, types);
            Variable { name, ty, pieces, is_stack_object }
        });
        let variables: Rc<[Variable]> = typed.collect();
        self.finish(types);
        self.variables.in_memory.insert((entry, pc), Rc::clone(&variables));
        variables
    }

    /// The distinct types of all variables of a function, whether they are in memory or not.
    pub(in super::super) fn variable_types(
        &mut self,
        entry: u64,
        types: &mut Types,
    ) -> Rc<[TypeRef]> {
        if let Some(known) = self.variables.types.get(&entry) {
            return Rc::clone(known);
        }
        let mut targets = Vec::new();
        self.each_variable(entry, |debug, unit, _, declared| {
            targets.push(debug.target(unit, declared, dw::DW_AT_type)?);
            Some(())
        });
        let mut list: Vec<TypeRef> = Vec::new();
        for ty in targets.into_iter().map(|target| self.of(target, types)) {
            if !list.contains(&ty) {
                list.push(ty);
            }
        }
        self.finish(types);
        let list: Rc<[TypeRef]> = list.into();
        self.variables.types.insert(entry, Rc::clone(&list));
        list
    }

    /// The variables that closures of a function capture, by offset; since Go 1.23.
    pub(in super::super) fn captures(&mut self, entry: u64, types: &mut Types) -> Vec<Capture> {
        let mut captures = Vec::new();
        self.each_variable(entry, |debug, unit, child, declared| {
            let offset = debug.number(child, go::CLOSURE_OFFSET)?;
            captures.push((
                debug.name(unit, declared)?,
                debug.target(unit, declared, dw::DW_AT_type)?,
                offset,
            ));
            Some(())
        });
        let mut captures: Vec<Capture> = captures
            .into_iter()
            .map(|(name, target, offset)| Capture { name, ty: self.of(target, types), offset })
            .collect();
        self.finish(types);
        captures.sort_by_key(|capture| capture.offset);
        captures
    }

    /// Visits every variable and parameter of a function. `visit` receives its entry, and the entry
    /// that declares its name and type, which is a different one for inlined calls.
    fn each_variable(
        &self,
        entry: u64,
        mut visit: impl FnMut(&Self, &Unit<Slice<'d>>, &Entry<'d>, &Entry<'d>) -> Option<()>,
    ) {
        let mut walk = || -> Option<()> {
            let (number, offset) = self.functions.get(&entry).copied()?;
            let unit = self.units.get(number as usize)?;
            let mut entries = unit.entries_raw(Some(offset)).ok()?;
            let mut child = DebuggingInformationEntry::null();
            let level = entries.next_depth();
            entries.read_entry(&mut child).ok()?;
            for _ in 0..MAX_ENTRIES {
                self.spend(1)?;
                if entries.is_empty() || entries.next_depth() <= level {
                    return Some(());
                }
                if !entries.read_entry(&mut child).ok()? {
                    continue;
                }
                if !matches!(child.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter) {
                    continue;
                }
                match self
                    .target(unit, &child, dw::DW_AT_abstract_origin)
                    .and_then(|origin| self.entry(origin))
                {
                    Some((number, origin)) => {
                        visit(self, self.units.get(number as usize)?, &child, &origin)
                    }
                    None => visit(self, unit, &child, &child),
                };
            }
            Some(())
        };
        walk();
    }

    /// Returns the location of a variable in memory at `pc`, and whether it is valid in the whole
    /// function.
    fn pieces(
        &self,
        unit: &Unit<Slice<'d>>,
        entry: &Entry<'d>,
        pc: u64,
    ) -> Option<(bool, Vec<Piece>)> {
        let value = entry.attr_value(dw::DW_AT_location)?;
        if let Some(location) = value.exprloc_value() {
            return Some((true, pieces(unit, location)));
        }
        let mut list = self.dwarf.attr_locations(unit, value).ok()??;
        while let Some(range) = list.next().ok()? {
            self.spend(1)?;
            if (range.range.begin..range.range.end).contains(&pc) {
                return Some((false, pieces(unit, range.data)));
            }
        }
        None
    }
}

/// The parts of a location that are in memory.
fn pieces(unit: &Unit<Slice<'_>>, location: Expression<Slice<'_>>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut operations = location.operations(unit.encoding());
    let (mut offset, mut place) = (0u64, None);
    while let Ok(Some(operation)) = operations.next() {
        match operation {
            Operation::CallFrameCFA => place = Some(0i64),
            Operation::FrameOffset { offset } => place = Some(offset),
            Operation::PlusConstant { value } => {
                place = place.map(|place: i64| place.wrapping_add(value as i64))
            }
            Operation::Piece { size_in_bits, .. } => {
                let size = size_in_bits / 8;
                pieces.extend(place.take().map(|from_cfa| Piece {
                    offset,
                    size: Some(size),
                    from_cfa,
                }));
                offset = offset.wrapping_add(size);
            }
            _ => place = None,
        }
    }
    pieces.extend(place.map(|from_cfa| Piece { offset, size: None, from_cfa }));
    pieces
}
