//! Bits that are set, as numbers.

/// The numbers of the bits that are set in a sequence of words, from the lowest on.
///
/// Adapters of the standard library would do the same, but the compiler does not always inline the
/// functions that they consist of, and a call for each bit takes longer than all the rest.
pub(crate) struct SetBits<W> {
    words: W,
    /// One more than the number of the current word's last bit.
    end: usize,
    rest: u64,
}

impl<W: Iterator<Item = u64>> SetBits<W> {
    /// The bits of these words. The lowest bit of the first word has the number `start`.
    #[inline]
    pub(crate) fn of(start: usize, words: W) -> Self {
        Self { words, end: start, rest: 0 }
    }
}

impl<W: Iterator<Item = u64>> Iterator for SetBits<W> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.rest == 0 {
            self.rest = self.words.next()?;
            self.end += u64::BITS as usize;
        }
        let bit = self.rest.trailing_zeros();
        self.rest &= self.rest - 1;
        Some(self.end - (u64::BITS - bit) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_all_words_come_in_order() {
        let words = [0, 0b101, 0, 1 << 63 | 1];
        assert_eq!(SetBits::of(128, words.into_iter()).collect::<Vec<_>>(), [192, 194, 320, 383]);
        assert_eq!(SetBits::of(0, std::iter::repeat_n(0, 9)).next(), None);
    }
}
