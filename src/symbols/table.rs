//! Symbol tables.

use super::demangle::demangle;
use object::{
    Architecture, BinaryFormat, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable,
    RelocationFlags, RelocationTarget, SymbolKind, elf,
};

pub(super) struct Table<'a> {
    /// Rows sorted by start.
    rows: Vec<Row<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct Row<'a> {
    start: u64,
    /// The address after the last one.
    end: u64,
    /// The preference among several symbols at one address: the smallest one wins.
    rank: u8,
    name: &'a str,
    suffix: &'static str,
}

impl<'a> Table<'a> {
    /// The functions of several files together.
    pub(super) fn of<'f>(files: impl Iterator<Item = &'f object::File<'a>>) -> Self
    where
        'a: 'f,
    {
        let mut rows = Vec::new();
        for file in files {
            let sized = rows.len();
            rows.extend(file.symbols().chain(file.dynamic_symbols()).filter_map(|it| row(&it)));
            if file.format() != BinaryFormat::Elf {
                end_at_next(file, &mut rows[sized..]);
            }
            rows.extend(stubs(file).unwrap_or_default());
        }
        rows.retain(|row| row.start < row.end);
        rows.sort_by(|a, b| (a.start, a.rank, a.name).cmp(&(b.start, b.rank, b.name)));
        rows.dedup_by_key(|row| row.start);
        Self { rows }
    }

    /// The demangled name of the function at an address. `None` beyond the end of every symbol.
    pub(super) fn name(&self, address: u64) -> Option<String> {
        let after = self.rows.partition_point(|row| row.start <= address);
        // A function may contain other symbols.
        const INSIDE: usize = 8;
        let before = &self.rows[after.saturating_sub(INSIDE)..after];
        let row = before.iter().rev().find(|row| address < row.end)?;
        Some(demangle(row.name) + row.suffix)
    }
}

fn row<'a>(symbol: &object::Symbol<'a, '_>) -> Option<Row<'a>> {
    if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
        return None;
    }
    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
    let rank = u8::from(!symbol.is_global()) * 2 + u8::from(symbol.is_weak());
    let start = symbol.address();
    Some(Row { start, end: start.saturating_add(symbol.size()), rank, name, suffix: "" })
}

/// Ends each symbol at the next one, because Mach-O and PE files have no sizes.
fn end_at_next(file: &object::File<'_>, rows: &mut [Row<'_>]) {
    rows.sort_by_key(|row| row.start);
    let ends: Vec<u64> =
        file.sections().map(|section| section.address().saturating_add(section.size())).collect();
    let mut next = u64::MAX;
    for at in (0..rows.len()).rev() {
        if let Some(after) = rows.get(at + 1).filter(|after| after.start > rows[at].start) {
            next = after.start;
        }
        let row = &mut rows[at];
        let section = ends.iter().copied().filter(|end| *end > row.start).min();
        row.end = row.end.max(next.min(section.unwrap_or(row.start)));
    }
}

/// The stubs that call functions of other libraries (`sin@plt`), which have no symbols.
fn stubs<'a>(file: &object::File<'a>) -> Option<Vec<Row<'a>>> {
    let (kind, header) = match file.architecture() {
        Architecture::X86_64 => (elf::R_X86_64_JUMP_SLOT, 16),
        Architecture::Aarch64 => (elf::R_AARCH64_JUMP_SLOT, 32),
        _ => return None,
    };
    const STUB: u64 = 16;
    let with_checks = file.section_by_name(".plt.sec");
    let header = if with_checks.is_some() { 0 } else { header };
    let section = with_checks.or_else(|| file.section_by_name(".plt"))?;
    let table = file.dynamic_symbol_table()?;
    let slots = file.dynamic_relocations()?.filter(|(_, relocation)| {
        matches!(relocation.flags(), RelocationFlags::Elf { r_type, .. } if r_type == kind)
    });
    let mut slots: Vec<_> = slots.collect();
    slots.sort_by_key(|(address, _)| *address);
    let end = section.address().checked_add(section.size())?;
    let first = section.address().checked_add(header)?;
    let stub = |(number, (_, relocation)): (usize, &(u64, object::Relocation))| {
        let RelocationTarget::Symbol(symbol) = relocation.target() else { return None };
        let name = table.symbol_by_index(symbol).ok()?.name().ok()?;
        let start = first.checked_add((number as u64).checked_mul(STUB)?)?;
        let rank = u8::MAX;
        (start < end).then_some(Row {
            start,
            end: start.saturating_add(STUB),
            rank,
            name,
            suffix: "@plt",
        })
    };
    Some(slots.iter().enumerate().filter_map(stub).collect())
}
