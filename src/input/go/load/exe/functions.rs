//! The table of functions of a program (pclntab): names, files and lines, and the tables by program
//! counter and by function that the runtime walks stacks with.
//!
//! Sources: `runtime/symtab.go` and `cmd/link/internal/ld/pcln.go` of Go 1.18 to 1.27.

use super::image::{Image, Memory, uvarint};
use std::borrow::Cow;

#[derive(Clone, Debug, Default)]
pub(super) struct Functions {
    text: u64,
    end: u64,
    names: u64,
    /// File numbers of compilation units, as offsets from `files`.
    units: u64,
    files: u64,
    /// Tables by program counter.
    values: u64,
    /// The base address of the offsets in the table.
    base: u64,
    pub(super) count: u64,
    /// The base address of the offsets of tables by function.
    data: u64,
    /// Bytes of the smallest instruction.
    quantum: u64,
    /// The minor version: N of Go 1.N.
    minor: u32,
}

/// A function. Addresses are link addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Function {
    pub(super) entry: u64,
    /// The address of its record (`runtime._func`).
    record: u64,
}

/// Numbers of tables by program counter.
pub(super) mod by_pc {
    pub(in super::super) const STACK_MAP: u64 = 1;
    pub(in super::super) const INLINED: u64 = 2;
}

/// Numbers of tables by function.
pub(super) mod by_function {
    pub(in super::super) const ARGUMENTS: u64 = 0;
    pub(in super::super) const LOCALS: u64 = 1;
    pub(in super::super) const STACK_OBJECTS: u64 = 2;
    pub(in super::super) const INLINED: u64 = 3;
}

/// Offsets in a function's record that are the same in all versions.
mod field {
    pub(super) const NAME: u64 = 4;
    pub(super) const FILE: u64 = 20;
    pub(super) const LINE: u64 = 24;
    pub(super) const BY_PC_COUNT: u64 = 28;
    pub(super) const UNIT: u64 = 32;
}

/// Bytes of the longest name that is read. Names of instantiated generic functions are long, but
/// shorter than this.
pub(super) const MAX_NAME: usize = 1 << 16;

/// The offset that marks a table as missing.
const NO_TABLE: u64 = 0xffff_ffff;

impl Functions {
    /// Reads the header of the table. `text` is the range of the code, `data` the base address of
    /// tables by function.
    pub(super) fn parse(
        image: &Image<'_>,
        table: u64,
        text: (u64, u64),
        data: u64,
        minor: u32,
    ) -> Option<Self> {
        let size = image.pointer_size;
        let place = |number: u64| {
            let word = table.wrapping_add(8).wrapping_add(number.wrapping_mul(size));
            Some(table.wrapping_add(image.word(word)?))
        };
        let base = place(7)?;
        let count = image.word(table.wrapping_add(8))?;
        // Each entry takes 8 bytes, and one more ends the table.
        let length = count.checked_add(1)?.checked_mul(8)?;
        image.bytes(base, length)?;
        Some(Self {
            text: text.0,
            end: text.1,
            names: place(3)?,
            units: place(4)?,
            files: place(5)?,
            values: place(6)?,
            base,
            count,
            data,
            quantum: image.number(table.wrapping_add(6), 1)?.max(1),
            minor,
        })
    }

    /// The function that a program counter lies in: its entry and its name.
    pub(super) fn at<'i>(&self, image: &'i Image<'_>, pc: u64) -> Option<(u64, &'i [u8])> {
        let function = self.find(image, pc)?;
        Some((function.entry, self.name(image, function)?))
    }

    pub(super) fn find(&self, image: &Image<'_>, pc: u64) -> Option<Function> {
        if pc < self.text || pc >= self.end {
            return None;
        }
        let wanted = pc.wrapping_sub(self.text);
        let entry = |index: u64| image.number(self.base.wrapping_add(index.wrapping_mul(8)), 4);
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            if entry(middle)? <= wanted { low = middle.wrapping_add(1) } else { high = middle }
        }
        let index = low.checked_sub(1)?;
        let record =
            image.number(self.base.wrapping_add(index.wrapping_mul(8)).wrapping_add(4), 4)?;
        Some(Function {
            entry: self.text.wrapping_add(entry(index)?),
            record: self.base.wrapping_add(record),
        })
    }

    pub(super) fn name<'i>(&self, image: &'i Image<'_>, function: Function) -> Option<&'i [u8]> {
        self.name_at(image, self.field(image, function, field::NAME)?)
    }

    pub(super) fn name_at<'i>(&self, image: &'i Image<'_>, offset: u64) -> Option<&'i [u8]> {
        text(image, self.names.wrapping_add(offset))
    }

    pub(super) fn has_any(&self, image: &Image<'_>, wanted: &[&[u8]]) -> bool {
        let length = self.units.saturating_sub(self.names);
        let names = image.bytes(self.names, length).unwrap_or_default();
        wanted.iter().any(|wanted| {
            let whole = [&[0], *wanted, &[0]].concat();
            memchr::memmem::find(names, &whole).is_some()
        })
    }

    pub(super) fn named(&self, image: &Image<'_>) -> FunctionNames {
        let length = self.units.saturating_sub(self.names);
        let names = image.bytes(self.names, length).unwrap_or_default().into();
        let entry = |index: u64| {
            let row = self.base.wrapping_add(index.wrapping_mul(8));
            let record = image.number(row.wrapping_add(4), 4)?;
            let name = image.number(self.base.wrapping_add(record).wrapping_add(field::NAME), 4)?;
            Some((self.text.wrapping_add(image.number(row, 4)?), name as u32))
        };
        FunctionNames { entries: (0..self.count).map_while(entry).collect(), names }
    }

    /// The runtime's number for a function that it treats specially; 0 for other functions.
    pub(super) fn special(&self, image: &Image<'_>, function: Function) -> u64 {
        let tail = self.head().wrapping_sub(4);
        image.number(function.record.wrapping_add(tail), 1).unwrap_or(0)
    }

    /// The value of [`Functions::special`] for wrappers made by the compiler.
    pub(super) fn wrapper(&self) -> u64 {
        match self.minor {
            ..22 => 21,
            22..25 => 22,
            _ => 23,
        }
    }

    /// Whether the record of an inlined call also has the file and line of the call.
    pub(super) fn has_call_lines(&self) -> bool {
        self.minor < 20
    }

    pub(super) fn quantum(&self) -> u64 {
        self.quantum
    }

    /// The file and line of the instruction at a program counter; empty and 0 if unknown.
    pub(super) fn line<'i>(
        &self,
        image: &'i Image<'_>,
        function: Function,
        pc: u64,
        steps: &mut u64,
    ) -> (&'i [u8], u32) {
        let mut value = |ty| {
            let table = self.field(image, function, ty)?;
            self.value_in(image, function, table, pc, steps)
        };
        let (file, line) = (value(field::FILE), value(field::LINE));
        let file = file.and_then(|file| {
            let unit = self.field(image, function, field::UNIT)?;
            let number = unit.wrapping_add(u64::try_from(file).ok()?);
            let offset = image.number(self.units.wrapping_add(number.wrapping_mul(4)), 4)?;
            (offset != NO_TABLE).then(|| text(image, self.files.wrapping_add(offset)))?
        });
        (file.unwrap_or_default(), line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0))
    }

    /// The value of a table [by program counter](by_pc). `None` if the function does not have the
    /// table, or the table has no value for the address.
    pub(super) fn value(
        &self,
        image: &Image<'_>,
        function: Function,
        table: u64,
        pc: u64,
        steps: &mut u64,
    ) -> Option<u64> {
        let count = self.field(image, function, field::BY_PC_COUNT)?;
        if table >= count {
            return None;
        }
        let offset =
            self.field(image, function, self.head().wrapping_add(table.wrapping_mul(4)))?;
        let value = self.value_in(image, function, offset, pc, steps)?;
        u64::try_from(value).ok()
    }

    /// The address of a table [by function](by_function).
    pub(super) fn data(&self, image: &Image<'_>, function: Function, table: u64) -> Option<u64> {
        let last = self.head().wrapping_sub(1);
        if table >= image.number(function.record.wrapping_add(last), 1)? {
            return None;
        }
        let before = self.field(image, function, field::BY_PC_COUNT)?.wrapping_add(table);
        let offset =
            self.field(image, function, self.head().wrapping_add(before.wrapping_mul(4)))?;
        (offset != NO_TABLE).then(|| self.data.wrapping_add(offset))
    }

    /// Bytes of a function's record before the tables. Since 1.20, these include its first line.
    fn head(&self) -> u64 {
        if self.minor < 20 { 40 } else { 44 }
    }

    fn field(&self, image: &Image<'_>, function: Function, offset: u64) -> Option<u64> {
        image.number(function.record.wrapping_add(offset), 4)
    }

    /// Returns the value for a program counter from a table of pairs: an increment of the value,
    /// and the length of its range. `steps` limits the pairs that are read, because in a hostile
    /// file all tables could share one as long as the file.
    fn value_in(
        &self,
        image: &Image<'_>,
        function: Function,
        table: u64,
        pc: u64,
        steps: &mut u64,
    ) -> Option<i32> {
        if table == 0 {
            return None;
        }
        let mut bytes = image.tail(self.values.wrapping_add(table))?;
        let (mut value, mut end) = (-1i32, function.entry);
        loop {
            *steps = steps.checked_sub(1)?;
            let change = uvarint(&mut bytes)? as u32;
            if change == 0 && end != function.entry {
                return None;
            }
            value = value.wrapping_add((change >> 1) as i32 ^ ((change & 1) as i32).wrapping_neg());
            end = end.wrapping_add(uvarint(&mut bytes)?.wrapping_mul(self.quantum));
            if pc < end {
                return Some(value);
            }
        }
    }
}

/// Names of functions by their link addresses.
#[derive(Default)]
pub(super) struct FunctionNames {
    /// Entries, ascending, with the offset of the name.
    entries: Vec<(u64, u32)>,
    names: Box<[u8]>,
}

impl FunctionNames {
    /// The link address of the only function with a name.
    pub(super) fn entry(&self, name: &[u8]) -> Option<u64> {
        let is_named = |(_, at): &&(u64, u32)| {
            let rest = self.names.get(*at as usize..);
            rest.and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.first() == Some(&0))
        };
        let mut found = self.entries.iter().filter(is_named);
        let (entry, _) = found.next()?;
        found.next().is_none().then_some(*entry)
    }

    /// The name of the function that begins at a link address.
    pub(super) fn at(&self, entry: u64) -> Option<Cow<'_, str>> {
        let index = self.entries.binary_search_by_key(&entry, |(entry, _)| *entry).ok()?;
        let name = self.names.get(self.entries.get(index)?.1 as usize..)?;
        let end = memchr::memchr(0, name.get(..name.len().min(MAX_NAME))?)?;
        Some(String::from_utf8_lossy(name.get(..end)?))
    }
}

/// The text at an address up to its zero byte.
fn text<'i>(image: &'i Image<'_>, address: u64) -> Option<&'i [u8]> {
    let bytes = image.tail(address)?;
    let end = memchr::memchr(0, bytes.get(..bytes.len().min(MAX_NAME))?)?;
    bytes.get(..end)
}
