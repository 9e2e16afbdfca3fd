//! The word size of the VM, which the file does not state.

use super::class::ClassKind;

/// Evidence for the word size, collected while objects are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordSize {
    halves: bool,
    wide_smi: bool,
    wide_list: bool,
}

impl WordSize {
    /// Adds the size of an object, in bytes, to the evidence.
    #[inline]
    pub(super) fn see_size(&mut self, shallow_size: u64, kind: ClassKind) {
        // Objects are aligned to 16 bytes in 64-bit VMs, with compressed pointers too, and to 8 in
        // 32-bit VMs.
        self.halves |= shallow_size & 15 == 8;
        // Header and three slots: 16 bytes in 32-bit VMs, 32 in others.
        self.wide_list |= kind == ClassKind::GrowableList && shallow_size == 32;
    }

    /// Adds the stored value of a `_Smi` to the evidence.
    #[inline]
    pub(super) fn see_smi(&mut self, stored: u64) {
        // A negative number in 64 bits: a 32-bit VM writes those in 32.
        self.wide_smi |= stored >> 63 != 0;
    }

    /// The word size, 4 or 8 bytes, or `None` if it is unknown.
    pub fn bytes(self) -> Option<u8> {
        match self {
            Self { halves: true, .. } => Some(4),
            Self { wide_smi: true, .. } | Self { wide_list: true, .. } => Some(8),
            _ => None,
        }
    }

    /// The value of a `_Smi` from its stored form: two's complement in the word size. Without a
    /// known word size, numbers of up to 32 bits are taken unchanged.
    #[inline]
    pub(super) fn smi(self, stored: u64) -> i64 {
        match (self.bytes(), u32::try_from(stored)) {
            (Some(4), Ok(low)) => i64::from(low.cast_signed()),
            _ => stored.cast_signed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_smis_need_the_word_size() {
        let mut size = WordSize::default();
        assert_eq!((size.bytes(), size.smi(0xffff_ffff)), (None, 0xffff_ffff));
        size.see_smi(-5i64 as u64);
        assert_eq!(
            (size.bytes(), size.smi(-5i64 as u64), size.smi(0xffff_ffff)),
            (Some(8), -5, 0xffff_ffff)
        );
        size.see_size(24, ClassKind::Other);
        assert_eq!((size.bytes(), size.smi(0xffff_ffff), size.smi(7)), (Some(4), -1, 7));
    }

    #[test]
    fn a_growable_list_tells_64_bits() {
        let mut size = WordSize::default();
        size.see_size(16, ClassKind::GrowableList);
        assert_eq!(size.bytes(), None);
        size.see_size(32, ClassKind::Other);
        assert_eq!(size.bytes(), None);
        size.see_size(32, ClassKind::GrowableList);
        assert_eq!(size.bytes(), Some(8));
    }
}
