//! Summaries of the texts of all objects, with which a text search skips most objects.

use crate::analysis::readable::ReadableTypes;
use crate::model::heap::{Heap, ObjectId, Value};
use rayon::prelude::*;

/// A set of pairs of neighboring bytes, hashed to 63 bits. If a text contains another one, its
/// signature has all bits of the other's. The last bit stands for any number with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextSignature(u64);

/// The signature of the value of each object: 8 bytes an object.
pub struct TextSignatures(Vec<TextSignature>);

impl TextSignature {
    /// Stands for all numbers with a fraction, because the same number can be written in many ways.
    const NUMBER: u64 = 1 << 63;
    /// The signature of an unknown text: it may contain anything.
    const ANY: Self = Self(!Self::NUMBER);

    /// The signature of a text.
    pub fn of(text: &[u8]) -> Self {
        let mut bits = 0;
        for pair in text.windows(2) {
            let pair = u32::from(pair[0]) << 8 | u32::from(pair[1]);
            // The upper bits of a product depend on all bits of the factor.
            bits |= 1_u64 << ((u64::from(pair.wrapping_mul(0x9e37_79b1)) * 63) >> 32);
            if bits == Self::ANY.0 {
                break;
            }
        }
        Self(bits)
    }

    /// The signature of a text to look for.
    pub fn wanted(text: &str) -> Self {
        let number = if text.parse::<f64>().is_ok() { Self::NUMBER } else { 0 };
        Self(Self::of(text.as_bytes()).0 | number)
    }

    /// The signature of all texts in which a search looks for the value of an object.
    fn of_object(heap: &Heap<'_>, object: ObjectId, readable: &ReadableTypes) -> Self {
        match heap.value(object) {
            Value::Text { text, .. } | Value::Name(text) => Self::of(text.as_bytes()),
            Value::Bytes(_) if heap.is_array_of_chars(object) => Self::ANY,
            Value::Bytes(bytes) => Self::of(&bytes),
            Value::Boolean(value) => Self::of(value.to_string().as_bytes()),
            Value::Integer(value) => Self::of(value.to_string().as_bytes()),
            Value::Float(_) => Self(Self::NUMBER),
            Value::None => {
                readable.text(heap, object).map_or(Self(0), |text| Self::of(text.as_bytes()))
            }
            Value::Length(_) => Self(0),
        }
    }
}

impl TextSignatures {
    /// Decodes the values of all objects.
    pub fn of(heap: &Heap<'_>) -> Self {
        let readable = ReadableTypes::of(heap);
        let objects = (0..heap.len() as u32).into_par_iter().map(ObjectId);
        Self(objects.map(|object| TextSignature::of_object(heap, object, &readable)).collect())
    }

    /// Returns `false` if the value of an object cannot contain the text that is looked for.
    #[inline]
    pub fn may_contain(&self, object: ObjectId, wanted: TextSignature) -> bool {
        let (has, pairs) = (self.0[object.index()].0, wanted.0 & !TextSignature::NUMBER);
        has & pairs == pairs || has & wanted.0 & TextSignature::NUMBER != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_all_bits_of_its_parts() {
        let text = "the quick brown fox jumps over the lazy dog";
        let TextSignature(all) = TextSignature::of(text.as_bytes());
        for start in 0..text.len() {
            for end in start..=text.len() {
                let TextSignature(part) = TextSignature::of(&text.as_bytes()[start..end]);
                assert_eq!(all & part, part);
            }
        }
        let TextSignature(other) = TextSignature::of(b"Elephants");
        assert_ne!(all & other, other);
        let every: Vec<u8> = (0..=u8::MAX).flat_map(|byte| [byte, byte ^ 0x5a]).collect();
        assert_eq!(TextSignature::of(&every.repeat(2)), TextSignature::ANY);
    }
}
