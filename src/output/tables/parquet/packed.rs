//! Numbers in as many bits as the largest one has: the encoding that dictionaries, levels, truth
//! values and differences share.

/// A run of equal numbers is written as such from this length on.
const RUN: usize = 16;

/// Appends an unsigned number, 7 bits in each byte, the low ones first.
pub(super) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends numbers in `width` bits each, the low bits first, and fills up the last byte.
#[inline]
pub(super) fn pack(numbers: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut word, mut used) = (0u64, 0);
    for number in numbers {
        word |= number << used;
        used += width;
        if used >= u64::BITS {
            out.extend_from_slice(&word.to_le_bytes());
            used -= u64::BITS;
            // The bits for which there was no room.
            word = if used == 0 { 0 } else { number >> (width - used) };
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..used.div_ceil(8) as usize]);
}

/// Appends numbers below `2^width` as Parquet's hybrid of runs and packed numbers.
pub(super) fn hybrid(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let (mut at, mut written) = (0, 0);
    while at < numbers.len() {
        let next = &numbers[at..(at + RUN).min(numbers.len())];
        let first = next[0];
        let is_run = (next.len() == RUN || at + next.len() == numbers.len())
            && next.iter().all(|number| *number == first);
        if !is_run {
            at = (at + 8).min(numbers.len());
            continue;
        }
        let more = numbers[at + next.len()..].iter().take_while(|number| **number == first);
        let run = next.len() + more.count();
        groups(&numbers[written..at], width, out);
        varint((run as u64) << 1, out);
        out.extend_from_slice(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
        at += run;
        written = at;
    }
    groups(&numbers[written..], width, out);
}

/// Appends packed numbers in groups of eight. The last one is filled up with zeros.
fn groups(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(8);
    varint((groups as u64) << 1 | 1, out);
    let padding = groups * 8 - numbers.len();
    let zeros = std::iter::repeat_n(0, padding);
    pack(numbers.iter().map(|number| u64::from(*number)).chain(zeros), width, out);
}

/// The bits of the largest number up to this one.
pub(super) fn width(largest: u64) -> u32 {
    u64::BITS - largest.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hybrid_of(numbers: &[u32], width: u32) -> Vec<u8> {
        let mut out = Vec::new();
        hybrid(numbers, width, &mut out);
        out
    }

    /// The example of the format's specification.
    #[test]
    fn numbers_are_packed_from_the_low_bits_on() {
        let mut out = Vec::new();
        pack(0..8, 3, &mut out);
        assert_eq!(out, [0b1000_1000, 0b1100_0110, 0b1111_1010]);
        out.clear();
        pack([u64::MAX, 1].into_iter(), 64, &mut out);
        assert_eq!(out, [[0xff; 8], [1, 0, 0, 0, 0, 0, 0, 0]].concat());
        out.clear();
        pack([(1 << 60) - 1, 0, (1 << 60) - 1].into_iter(), 60, &mut out);
        assert_eq!(out.len(), 23);
        assert_eq!(out[..8], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(out[15..], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    }

    #[test]
    fn runs_are_written_once() {
        assert!(hybrid_of(&[], 3).is_empty());
        assert_eq!(hybrid_of(&[5], 3), [2, 5]);
        assert_eq!(hybrid_of(&[0; 100], 0), [200, 1]);
        assert_eq!(hybrid_of(&[300; 64], 9), [128, 1, 44, 1]);
        let mut numbers = vec![1, 0, 1, 0, 0, 0, 0, 0];
        numbers.extend([1; 20]);
        numbers.extend([0, 1]);
        assert_eq!(hybrid_of(&numbers, 1), [3, 0b101, 40, 1, 3, 0b10]);
    }
}
