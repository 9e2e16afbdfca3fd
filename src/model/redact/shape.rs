//! The width of a text's characters, which determines its size in any encoding.

/// The number of characters of each class in a text, or of bytes in a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    counts: [usize; CLASSES.len()],
}

/// A class of characters that take the same space in UTF-8, UTF-16 and Latin-1.
struct Class {
    /// The replacement for a character in a blank text.
    blank: char,
    /// The code point of digit 0, the first code point of the class, and the size of the class.
    zero: u32,
    first: u32,
    size: u64,
}

const CLASSES: [Class; 6] = [
    Class { blank: '*', zero: 0, first: 0, size: 0x80 },
    Class { blank: '\u{d7}', zero: 0xc0, first: 0x80, size: 0x80 },
    Class { blank: '\u{2df}', zero: 0x400, first: 0x100, size: 0x700 },
    Class { blank: '\u{203b}', zero: 0x4e00, first: 0x800, size: 0xf000 },
    Class { blank: '\u{1f7b6}', zero: 0x2_0000, first: 0x1_0000, size: 0x10_0000 },
    // Bytes, which are not characters.
    Class { blank: '\0', zero: 0, first: 0, size: 0x100 },
];
const ASCII: usize = 0;
const BELOW_SURROGATES: usize = 3;
const BYTES: usize = 5;

/// All bytes, letters and digits first.
const DIGITS: [u8; 256] = digits();
/// The number of readable digits. Only these are used as long as they suffice.
const READABLE: u64 = 62;

impl Shape {
    pub(super) fn of_text(text: &str) -> Self {
        let mut counts = [0; CLASSES.len()];
        if text.is_ascii() {
            counts[ASCII] = text.len();
            return Self { counts };
        }
        for c in text.chars() {
            let class = match u32::from(c) {
                0..=0x7f => ASCII,
                0x80..=0xff => 1,
                0x100..=0x7ff => 2,
                0x800..=0xffff => BELOW_SURROGATES,
                _ => 4,
            };
            counts[class] += 1;
        }
        Self { counts }
    }

    pub(super) fn of_bytes(length: usize) -> Self {
        let mut counts = [0; CLASSES.len()];
        counts[BYTES] = length;
        Self { counts }
    }

    /// Returns a text of this shape without information.
    pub(super) fn blank_text(&self) -> String {
        let characters = CLASSES.iter().zip(self.counts);
        characters.flat_map(|(class, count)| std::iter::repeat_n(class.blank, count)).collect()
    }

    /// Returns the text of this shape for a number below `count`. Different numbers have different
    /// texts unless there are more numbers than texts.
    pub(super) fn text(&self, number: u64, count: u64) -> String {
        let mut characters = Vec::with_capacity(self.counts.iter().sum());
        self.symbols(number, count, |symbol| {
            characters.push(char::from_u32(symbol).unwrap_or(char::REPLACEMENT_CHARACTER));
        });
        characters.iter().rev().collect()
    }

    /// Returns the bytes of this shape for a number below `count`.
    pub(super) fn bytes(&self, number: u64, count: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.counts[BYTES]);
        self.symbols(number, count, |symbol| bytes.push(symbol as u8));
        bytes.reverse();
        bytes
    }

    /// Passes the symbols of a number, the last one first.
    fn symbols(&self, mut number: u64, count: u64, mut each: impl FnMut(u32)) {
        let readable = self.numbers(READABLE) >= count;
        for (class, repeated) in self.counts.into_iter().enumerate().rev() {
            let radix = radix(class, if readable { READABLE } else { u64::MAX });
            for _ in 0..repeated {
                each(symbol(class, number % radix));
                number /= radix;
            }
        }
    }

    /// The number of texts of this shape that use only the first `digits` of ASCII and bytes.
    fn numbers(&self, digits: u64) -> u64 {
        self.counts.iter().enumerate().fold(1, |product: u64, (class, &count)| {
            product.saturating_mul(radix(class, digits).saturating_pow(count.min(64) as u32))
        })
    }
}

fn radix(class: usize, digits: u64) -> u64 {
    let size = CLASSES[class].size;
    if matches!(class, ASCII | BYTES) { size.min(digits) } else { size }
}

/// The code point, or the byte, of a digit.
fn symbol(class: usize, digit: u64) -> u32 {
    if matches!(class, ASCII | BYTES) {
        return DIGITS[digit as usize].into();
    }
    let Class { zero, first, size, .. } = CLASSES[class];
    let symbol = first + ((u64::from(zero - first) + digit) % size) as u32;
    if class == BELOW_SURROGATES && symbol >= 0xd800 { symbol + 0x800 } else { symbol }
}

const fn digits() -> [u8; 256] {
    let mut digits = [0; 256];
    let mut next = 0;
    let mut pass = 0;
    while pass < 4 {
        let mut byte = 0;
        while byte < 256 {
            let of_pass = match byte as u8 {
                b'0'..=b'9' => 0,
                b'a'..=b'z' | b'A'..=b'Z' => 1,
                0..=0x7f => 2,
                _ => 3,
            };
            if of_pass == pass {
                digits[next] = byte as u8;
                next += 1;
            }
            byte += 1;
        }
        pass += 1;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn replacements_take_the_same_room_in_every_encoding() {
        for text in ["", "plain", "é", "naïve ß", "Ж и", "漢字\u{e000}", "𝄞 a é Ж 漢", "\u{7ff}\0"]
        {
            let shape = Shape::of_text(text);
            let latin1 = |text: &str| text.chars().all(|c| u32::from(c) < 256);
            for other in [shape.blank_text(), shape.text(0, 1), shape.text(123_456, 1_000_000)] {
                assert_eq!(other.len(), text.len(), "{text} {other}");
                assert_eq!(other.encode_utf16().count(), text.encode_utf16().count(), "{text}");
                assert_eq!(other.chars().count(), text.chars().count(), "{text}");
                assert_eq!(
                    (other.is_ascii(), latin1(&other)),
                    (text.is_ascii(), latin1(text)),
                    "{text}"
                );
                assert_eq!(Shape::of_text(&other), shape, "{text}");
            }
        }
    }

    #[test]
    fn different_numbers_have_different_texts_as_long_as_there_are_enough() {
        for (text, count) in [("a", 128), ("é", 128), ("Ж", 0x700), ("漢", 0xf000), ("ab", 5000)]
        {
            let shape = Shape::of_text(text);
            let texts: HashSet<String> =
                (0..count).map(|number| shape.text(number, count)).collect();
            assert_eq!(texts.len() as u64, count, "{text}");
        }
        let shape = Shape::of_bytes(1);
        let bytes: HashSet<Vec<u8>> = (0..256).map(|number| shape.bytes(number, 256)).collect();
        assert_eq!(bytes.len(), 256);
    }

    #[test]
    fn numbers_are_readable_as_long_as_letters_are_enough() {
        assert_eq!(Shape::of_text("hunter2").text(0, 62), "0000000");
        assert_eq!(Shape::of_text("hunter2").text(61, 62), "000000z");
        assert_eq!(Shape::of_bytes(4).bytes(62, 63), b"0010");
        assert_eq!(Shape::of_text("x").text(61, 62), "z");
        assert_eq!(Shape::of_text("x").text(62, 63), "\0");
    }
}
