//! HotSpot's layout of a class's own fields after those of its superclass.

use super::classes::Fields;
use crate::java::FieldType;
use crate::model::named::named;

/// The number of fields of each width that a class adds to its superclass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Widths {
    pub references: u64,
    pub longs: u64,
    pub ints: u64,
    pub shorts: u64,
    pub bytes: u64,
}

impl Widths {
    /// Returns the fields of a class record.
    pub(super) fn of(fields: &Fields<'_>) -> Self {
        let mut widths = Self::default();
        fields.iter().for_each(|field| widths.add(field.kind));
        widths
    }

    pub(super) fn add(&mut self, kind: FieldType) {
        let count = match kind {
            FieldType::Object => &mut self.references,
            FieldType::Long | FieldType::Double => &mut self.longs,
            FieldType::Int | FieldType::Float => &mut self.ints,
            FieldType::Char | FieldType::Short => &mut self.shorts,
            FieldType::Boolean | FieldType::Byte => &mut self.bytes,
        };
        *count = count.saturating_add(1);
    }

    /// Adds the numbers of fields of two classes.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            references: self.references.saturating_add(other.references),
            longs: self.longs.saturating_add(other.longs),
            ints: self.ints.saturating_add(other.ints),
            shorts: self.shorts.saturating_add(other.shorts),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// Bytes of all fields.
    pub(super) fn total(&self, reference: u64) -> u64 {
        reference.saturating_mul(self.references).saturating_add(self.numbers())
    }

    /// Bytes of all fields that are not references.
    fn numbers(&self) -> u64 {
        let ints = self.longs.saturating_mul(2).saturating_add(self.ints).saturating_mul(4);
        ints.saturating_add(self.shorts.saturating_mul(2)).saturating_add(self.bytes)
    }
}

named! {
    /// The treatment of gaps between fields.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Gaps {
        /// All gaps are filled, including those of superclasses: JDK 15 and later
        /// (`FieldLayoutBuilder`, JDK-8237767).
        Filled = "filled",
        /// The fields of a class begin after those of its superclass, rounded up to a reference. The
        /// gap before a long is filled by other fields of the class: up to JDK 14
        /// (`ClassFileParser::layout_fields`), and later with `-UseEmptySlotsInSupers`.
        Own = "own",
        /// Like `Own`, but the gap before a long stays empty: `-CompactFields`.
        None = "none",
        /// The fields of each class are rounded up to a reference, as Eclipse MAT counts them: for
        /// pointers of 4 bytes.
        Rounded = "rounded",
    }
    pub fn name
}

impl Gaps {
    /// Returns the end of the fields of a class that adds `own` to a superclass whose fields end at
    /// `end`. `fixed` classes have their references first and gaps before a long, up to JDK 14,
    /// because its C++ code knows their offsets.
    pub(super) fn extend(self, end: u64, own: &Widths, reference: u64, fixed: bool) -> u64 {
        match self {
            Self::Filled => end.saturating_add(own.total(reference)),
            Self::Rounded => end.saturating_add(own.total(reference)).next_multiple_of(reference),
            Self::Own => behind(end, *own, reference, fixed, !fixed),
            Self::None => behind(end, *own, reference, fixed, false),
        }
    }
}

/// The layout up to JDK 14: longs, ints, shorts, bytes, references. Returns the end of the fields.
fn behind(end: u64, mut own: Widths, reference: u64, references_first: bool, compact: bool) -> u64 {
    let mut offset = end.next_multiple_of(reference);
    if references_first {
        offset =
            offset.saturating_add(reference.saturating_mul(std::mem::take(&mut own.references)));
    }
    if own.longs > 0 && !offset.is_multiple_of(8) {
        let mut gap = offset.next_multiple_of(8).saturating_sub(offset);
        offset = offset.saturating_add(gap);
        if compact {
            for (width, count) in [
                (4, &mut own.ints),
                (2, &mut own.shorts),
                (1, &mut own.bytes),
                (reference, &mut own.references),
            ] {
                // Only one int or reference fits.
                let moved = gap.checked_div(width).unwrap_or(0).min(*count);
                *count = count.saturating_sub(moved);
                gap = gap.saturating_sub(moved.saturating_mul(width));
            }
        }
    }
    offset = offset.saturating_add(own.numbers());
    if own.references > 0 {
        offset = offset
            .next_multiple_of(reference)
            .saturating_add(reference.saturating_mul(own.references));
    }
    offset.next_multiple_of(reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Widths = Widths { references: 0, longs: 1, ints: 0, shorts: 0, bytes: 0 };
    const BYTE: Widths = Widths { references: 0, longs: 0, ints: 0, shorts: 0, bytes: 1 };

    #[test]
    fn gaps_of_superclasses_are_filled_since_15() {
        // A header of 12, a byte, and a long in a subclass: 13 bytes, then 3 that are free for a
        // third class.
        for (gaps, long, byte) in
            [(Gaps::Filled, 21, 22), (Gaps::Own, 24, 28), (Gaps::None, 24, 28)]
        {
            let first = gaps.extend(12, &BYTE, 4, false);
            let second = gaps.extend(first, &LONG, 4, false);
            assert_eq!((second, gaps.extend(second, &BYTE, 4, false)), (long, byte), "{gaps:?}");
        }
    }

    #[test]
    fn the_gap_before_a_long_is_filled_unless_fields_are_not_compact() {
        let own = LONG.and(BYTE).and(Widths { references: 1, ..Widths::default() });
        assert_eq!(Gaps::Own.extend(12, &own, 4, false), 28);
        assert_eq!(
            Gaps::Own.extend(
                12,
                &LONG.and(Widths { references: 1, ..Widths::default() }),
                4,
                false
            ),
            24
        );
        assert_eq!(Gaps::None.extend(12, &own, 4, false), 32);
    }

    #[test]
    fn references_of_a_soft_reference_come_first() {
        // java.lang.ref.Reference has four references, SoftReference a long.
        let reference =
            Gaps::Own.extend(12, &Widths { references: 4, ..Widths::default() }, 4, true);
        assert_eq!((reference, Gaps::Own.extend(reference, &LONG, 4, true)), (28, 40));
    }
}
