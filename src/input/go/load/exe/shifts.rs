//! The differences between the addresses of a program's parts in the process and in the executable.
//!
//! In the executable that wrote the dump, all parts are shifted equally. A build of the same source
//! with other options, such as without `-s -w`, has the same functions and types, but Go writes the
//! options into the build information, so parts that the linker places after that text move. The
//! shift of each part is determined separately: functions by their names on the stack, types by
//! their sizes, interface tables by their types.

use super::facts::{Facts, other};
use super::image::Memory;
use super::program::Program;
use super::types::Types;
use crate::error::Result;
use crate::input::go::roots::Segment;

/// For each part, its address in the process minus its address in the executable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shifts {
    pub(super) text: u64,
    /// Descriptors of types, and the constants before the build information.
    pub(super) types: u64,
    pub(super) itabs: u64,
    pub(super) data: u64,
    pub(super) bss: u64,
}

/// The most places that are tried for the first type or interface table.
const MOST_TRIED: usize = 64;
/// The alignment in bytes of the data after the build information.
const ALIGNMENT: u64 = 64;

impl Shifts {
    /// The shift of functions: that of the data, or else that of the first function on a stack that
    /// the program has.
    pub(super) fn of_text(program: &Program<'_>, facts: &Facts<'_, '_>, data: u64) -> u64 {
        let Some(first) = facts.frames().next() else { return data };
        let entry = first.entry.wrapping_sub(data);
        if program.functions.at(&program.image, entry) == Some((entry, first.name)) {
            return data;
        }
        let named = program.functions.named(&program.image);
        let mut found = facts.frames().filter_map(|frame| Some((frame, named.entry(frame.name)?)));
        found.next().map_or(data, |(frame, entry)| frame.entry.wrapping_sub(entry))
    }

    /// The shift of types: that of functions or of the data; otherwise the first shift that moves a
    /// type of the dump to the type with its name and agrees with all types.
    pub(super) fn of_types(
        types: &Types,
        facts: &Facts<'_, '_>,
        known: [u64; 2],
        agrees: impl Fn(u64) -> bool,
    ) -> u64 {
        let named = facts.types.iter().filter_map(|record| {
            let name = String::from_utf8_lossy(record.name);
            Some(record.addr.wrapping_sub(types.address_of(types.named(&name)?)?))
        });
        let mut tried = known.into_iter().chain(named.take(MOST_TRIED));
        tried.find(|shift| agrees(*shift)).unwrap_or(known[0])
    }

    /// The shift of interface tables: that of types; otherwise the first shift that moves the first
    /// table of the dump to a word with its type and agrees with all tables.
    pub(super) fn of_itabs(
        program: &Program<'_>,
        facts: &Facts<'_, '_>,
        of_types: u64,
        agrees: impl Fn(u64) -> bool,
    ) -> u64 {
        let image = &program.image;
        let in_image = |address: u64| image.contains(address.wrapping_sub(of_types));
        let first = facts.itabs.iter().find_map(|itab| {
            let ty = itab.dynamic_type.filter(|ty| in_image(*ty) && in_image(itab.addr))?;
            Some((itab.addr, ty.wrapping_sub(of_types)))
        });
        if agrees(of_types) {
            return of_types;
        }
        let found = first.and_then(|(address, ty)| {
            let tables = image.places_of(ty).map(|at| at.wrapping_sub(image.pointer_size));
            let mut shifts = tables.map(|table| address.wrapping_sub(table)).take(MOST_TRIED);
            shifts.find(|shift| agrees(*shift))
        });
        found.unwrap_or(of_types)
    }

    /// Checks that interface tables lie farther from the types than in the executable only because
    /// the build information's text has another length. A changed type would move them, too. Fails
    /// with `Unsupported` if there must be another reason.
    pub(super) fn explained(
        self,
        program: &Program<'_>,
        data: &Segment<'_>,
        word: impl Fn(&Segment<'_>, u64) -> Option<u64>,
    ) -> Result<()> {
        let moved = self.itabs.wrapping_sub(self.types);
        if moved == 0 {
            return Ok(());
        }
        let image = &program.image;
        let longer = || {
            let at = image.symbol("runtime.modinfo")?.wrapping_add(image.pointer_size);
            let length = word(data, at.wrapping_add(self.data).wrapping_sub(data.addr))?;
            Some(length.wrapping_sub(image.word(at)?))
        };
        let is_explained = longer().is_some_and(|longer| {
            longer != 0
                && moved.wrapping_sub(longer).wrapping_add(ALIGNMENT) <= ALIGNMENT.wrapping_mul(2)
        });
        if is_explained {
            Ok(())
        } else {
            Err(other("its functions are those of the dump, but its types are not")
                .expected("interface tables as far from the types as in the dump")
                .found(format!("{} bytes more between them in the dump", moved as i64)))
        }
    }
}
