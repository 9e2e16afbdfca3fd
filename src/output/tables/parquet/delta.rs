//! Differences: of numbers to the previous number, and of texts to the previous text.

use super::packed::{pack, varint, width};

/// Numbers that share a smallest difference, and those that share a width.
const BLOCK: usize = 128;
const PART: usize = 32;

/// Appends numbers of 32 or 64 bits as `DELTA_BINARY_PACKED`. Differences have as many bits: what is
/// beyond is left out, and comes back when a reader adds them up.
pub(super) fn numbers(numbers: &[i64], bits: u32, out: &mut Vec<u8>) {
    let unused = i64::BITS - bits;
    varint(BLOCK as u64, out);
    varint((BLOCK / PART) as u64, out);
    varint(numbers.len() as u64, out);
    let Some(first) = numbers.first() else { return varint(0, out) };
    varint(zigzag(*first), out);
    let mut differences = [0; BLOCK];
    // Each block begins with the last number of the one before.
    for start in (0..numbers.len() - 1).step_by(BLOCK) {
        let block = &numbers[start..numbers.len().min(start + BLOCK + 1)];
        let differences = &mut differences[..block.len() - 1];
        for (difference, pair) in differences.iter_mut().zip(block.windows(2)) {
            *difference = pair[1].wrapping_sub(pair[0]) << unused >> unused;
        }
        self::block(differences, out);
    }
}

fn block(differences: &[i64], out: &mut Vec<u8>) {
    let least = differences.iter().copied().min().unwrap_or(0);
    varint(zigzag(least), out);
    let above = |difference: &i64| difference.wrapping_sub(least) as u64;
    let mut widths = [0; BLOCK / PART];
    for (bits, part) in widths.iter_mut().zip(differences.chunks(PART)) {
        *bits = width(part.iter().map(above).fold(0, |all, difference| all | difference));
    }
    out.extend(widths.map(|width| width as u8));
    for (bits, part) in widths.into_iter().zip(differences.chunks(PART)) {
        if bits > 0 {
            let zeros = std::iter::repeat_n(0, PART - part.len());
            pack(part.iter().map(above).chain(zeros), bits, out);
        }
    }
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// Texts as `DELTA_BYTE_ARRAY`: the length of what each shares with the one before, and the rest.
#[derive(Default)]
pub(super) struct DeltaTexts {
    last: Vec<u8>,
    shared: Vec<i64>,
    lengths: Vec<i64>,
    rest: Vec<u8>,
}

impl DeltaTexts {
    pub(super) fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        let shared = shared(&self.last, text);
        let rest = &text[shared..];
        self.shared.push(shared as i64);
        self.lengths.push(rest.len() as i64);
        self.rest.extend_from_slice(rest);
        self.last.truncate(shared);
        self.last.extend_from_slice(rest);
    }

    /// The bytes that the texts take.
    pub(super) fn bytes(&self) -> usize {
        self.rest.len()
    }

    /// Appends the texts, and removes them.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) {
        numbers(&self.shared, 32, out);
        numbers(&self.lengths, 32, out);
        out.extend_from_slice(&self.rest);
        self.last.clear();
        self.shared.clear();
        self.lengths.clear();
        self.rest.clear();
    }
}

/// The bytes that two texts have in common at the beginning.
#[inline]
fn shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(values: &[i64]) -> Vec<u8> {
        let mut out = Vec::new();
        numbers(values, 64, &mut out);
        out
    }

    /// The examples of the format's specification, which has a block of 8 in one part.
    #[test]
    fn numbers_that_rise_take_no_bits() {
        assert_eq!(written(&[1, 2, 3, 4, 5]), [0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
        let mut expected = vec![0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111];
        expected.extend([0; 6]);
        assert_eq!(written(&[7, 5, 3, 1, 2, 3, 4, 5]), expected);
        assert_eq!(written(&[]), [0x80, 1, 4, 0, 0]);
        assert_eq!(written(&[-1]), [0x80, 1, 4, 1, 1]);
    }

    #[test]
    fn texts_share_beginnings() {
        let mut texts = DeltaTexts::default();
        ["axis", "axle", "babble", "babyhood", ""].iter().for_each(|text| texts.push(text));
        assert_eq!(texts.bytes(), 17);
        assert_eq!(texts.shared, [0, 2, 0, 3, 0]);
        assert_eq!(texts.rest, b"axislebabbleyhood");
    }
}
