//! Types of closures: a program counter, followed by the variables that the function captured.

use super::super::debug::Capture;
use super::super::layout::{Layout, Slot as Part};
use super::super::objects::{Fit, Level, Typed};
use super::super::size_classes::size_class;
use super::super::types::{Field, Kind, TypeRef};
use super::{HEADER, Item, Propagation};

impl<'a> Propagation<'_, '_, '_, 'a> {
    /// Types a closure by the function that it calls.
    pub(super) fn function(&mut self, address: u64, level: Level) {
        let Some((object, inside)) = self.ground.object_at(address) else {
            return self.function_on_stack(address, level);
        };
        if inside > HEADER {
            return;
        }
        let memory = self.ground.read(object);
        let Some(pc) = self.ground.word_at(memory.contents, memory.header) else { return };
        let pointers: Vec<u64> = memory.pointers().collect();
        if let Some(ty) = self.closure(pc, memory.contents, &pointers) {
            self.assign(object, Typed { ty, count: 1, fit: Fit::Exact, level });
        }
    }

    /// Follows the captured variables of a closure on a stack. The runtime does not record its
    /// size, so only DWARF and the names of methods describe them.
    pub(super) fn function_on_stack(&mut self, address: u64, level: Level) {
        let Some(contents) = self.outside_at(address) else { return };
        let Some(pc) = self.ground.word_at(contents, 0) else { return };
        let entry = pc.wrapping_sub(self.shifts.text);
        let known = self.closures.get(&entry).copied();
        let ty = known.or_else(|| {
            let name = self.function_at(entry)?;
            let captures = self.captures(entry, &name);
            (!captures.is_empty()).then(|| {
                let ty = self.closure_type(&name, &captures, 0);
                self.closures.insert(entry, ty);
                ty
            })
        });
        if let Some(ty) = ty {
            self.place_outside(&Item::one(address, ty, level));
        }
    }

    /// The name of the function that begins at a link address.
    fn function_at(&self, entry: u64) -> Option<String> {
        let (start, name) = self.program.functions.at(&self.program.image, entry)?;
        (start == entry).then(|| String::from_utf8_lossy(name).into_owned())
    }

    /// Returns the variables that a closure captures, by DWARF or by the name of a method.
    fn captures(&mut self, entry: u64, name: &str) -> Vec<Capture> {
        match (&mut self.debug, name.strip_suffix("-fm")) {
            (_, Some(method)) => self.receiver(method).into_iter().collect(),
            (Some(debug), None) => debug.captures(entry, &mut self.judge.types),
            (None, None) => Vec::new(),
        }
    }

    /// The type of closures of the function that begins at an address of the process.
    pub(super) fn closure(
        &mut self,
        pc: u64,
        contents: &[u8],
        pointers: &[u64],
    ) -> Option<TypeRef> {
        let entry = pc.wrapping_sub(self.shifts.text);
        if let Some(known) = self.closures.get(&entry) {
            return Some(*known);
        }
        let name = self.function_at(entry)?;
        let mut captures = self.captures(entry, &name);
        if captures.is_empty() {
            captures = self.described_captures(entry, contents, pointers);
        }
        let ty = self.closure_type(&name, &captures, contents.len() as u64);
        self.closures.insert(entry, ty);
        Some(ty)
    }

    /// The receiver that a method value captures, after the program counter.
    pub(super) fn receiver(&self, method: &str) -> Option<Capture> {
        let (ty, _) = method.rsplit_once('.')?;
        let name = match ty.split_once("(*") {
            Some((package, name)) => format!("*{package}{}", name.strip_suffix(')')?),
            None => ty.to_owned(),
        };
        Some(Capture {
            name: "receiver".to_owned(),
            ty: self.types.named(&name)?,
            offset: self.word,
        })
    }

    /// Finds captured variables without DWARF's description (up to Go 1.22, or without DWARF): the
    /// descriptor of a struct may describe them, a program counter followed by the variables. With
    /// DWARF their types have to be among those of the function's variables; without, exactly one
    /// such struct has to be plausible.
    pub(super) fn described_captures(
        &mut self,
        entry: u64,
        contents: &[u8],
        pointers: &[u64],
    ) -> Vec<Capture> {
        if contents.len() as u64 <= self.word || self.debug.is_some() && self.program.at_least(23) {
            return Vec::new();
        }
        let variables =
            self.debug.as_mut().map(|debug| debug.variable_types(entry, &mut self.judge.types));
        // Closures capture the variables that they change by reference.
        let is_captured = |ty: TypeRef| {
            variables.as_ref().is_none_or(|variables| {
                let types = [Some(ty), self.types.target(ty)];
                types.iter().flatten().any(|ty| variables.contains(ty))
            })
        };
        let fits = |ty: &super::super::types::Type| match &ty.kind {
            Kind::Struct { fields }
                if ty.name.starts_with("struct { F uintptr")
                    || ty.name.starts_with("struct { .F uintptr") =>
            {
                size_class(ty.size) == contents.len() as u64
                    && fields.iter().skip(1).all(|field| is_captured(field.ty))
            }
            _ => false,
        };
        let candidates: Vec<TypeRef> =
            self.types.iter().filter(|(_, ty)| fits(ty)).map(|(number, _)| number).collect();
        let mut plausible = Vec::new();
        for ty in candidates {
            let layout = self.types.layout(ty);
            if *layout.pointers == *pointers && self.is_plausible(contents, ty, &layout) {
                plausible.push(ty);
            }
        }
        let chosen = match plausible.as_slice() {
            [only] => Some(*only),
            [first, ..] if variables.is_some() => Some(*first),
            _ => None,
        };
        let fields = chosen.map_or(&[][..], |ty| self.types.fields(ty));
        let capture = |field: &Field| Capture {
            name: field.name.to_string(),
            ty: field.ty,
            offset: field.offset,
        };
        fields.iter().skip(1).map(capture).collect()
    }

    pub(super) fn closure_type(&mut self, name: &str, captures: &[Capture], size: u64) -> TypeRef {
        let mut slots = Vec::new();
        let mut pointers = Vec::new();
        let mut end = self.word;
        for capture in captures {
            let layout = self.types.layout(capture.ty);
            let at = |part: &Part| Part {
                offset: part.offset.wrapping_add(capture.offset),
                holds: part.holds,
            };
            slots.extend(layout.slots.iter().map(at));
            pointers
                .extend(layout.pointers.iter().map(|pointer| pointer.wrapping_add(capture.offset)));
            end = end.max(capture.offset.saturating_add(layout.size));
        }
        let size = if captures.is_empty() { size } else { end };
        let field = |capture: &Capture| Field {
            name: capture.name.as_str().into(),
            ty: capture.ty,
            offset: capture.offset,
        };
        let fields = captures.iter().map(field).collect();
        let (name, layout) = (format!("func {name}"), Layout::new(slots, pointers, true, size));
        self.types.add_fields(name, fields, layout)
    }
}
