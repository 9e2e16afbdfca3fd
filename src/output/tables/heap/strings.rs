//! The table `strings`.

use crate::model::heap::{Heap, ObjectId, TypeKind, Value};
use crate::output::tables::{Table, TableCells, TableRows};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// The number of bytes of each text that the table `strings` contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextLimit {
    /// No text: hashes and lengths only.
    Nothing,
    /// At most this many bytes, cut between characters.
    Bytes(usize),
    /// All of the text in the file.
    All,
}

impl Default for TextLimit {
    fn default() -> Self {
        Self::Bytes(256)
    }
}

/// One row for each object of kind text whose text is in the file.
pub(super) struct StringRows<'h, 'a> {
    heap: &'h Heap<'a>,
    objects: Vec<ObjectId>,
    texts: TextLimit,
}

impl<'h, 'a> StringRows<'h, 'a> {
    pub(super) fn new(heap: &'h Heap<'a>, texts: TextLimit) -> Self {
        let is_text = |object: &ObjectId| {
            heap.type_of(*object).kind == TypeKind::Text
                && matches!(heap.value(*object), Value::Text { .. })
        };
        Self { heap, objects: heap.objects().filter(is_text).collect(), texts }
    }
}

impl TableRows for StringRows<'_, '_> {
    fn table(&self) -> Table {
        Table::Strings
    }

    fn len(&self) -> usize {
        self.objects.len()
    }

    fn fill(&mut self, column: &str, rows: Range<usize>, cells: &mut TableCells) {
        let objects = &self.objects[rows];
        if column == "object" {
            return cells.integers(objects.iter().map(|object| object.0.into()));
        }
        for object in objects {
            let Value::Text { text, length } = self.heap.value(*object) else { continue };
            match column {
                "bytes" => cells.integers([bytes(&text, length)].into_iter()),
                "hash" => cells.integers.push(hash(&text, length)),
                _ => cells.optional_text(match self.texts {
                    TextLimit::Nothing => None,
                    TextLimit::Bytes(limit) => Some(&text[..text.floor_char_boundary(limit)]),
                    TextLimit::All => Some(&text),
                }),
            }
        }
    }
}

/// The bytes of the whole text. Of a text of which the file has only the beginning, the length in
/// code units is all that is known.
fn bytes(text: &str, length: u64) -> u64 {
    if is_whole(text, length) { text.len() as u64 } else { length }
}

/// The first 64 bits of SHA-256. A text of which the file has only the beginning is hashed with its
/// length, so that it equals no whole text.
fn hash(text: &str, length: u64) -> i64 {
    let mut hasher = Sha256::new_with_prefix(text);
    if !is_whole(text, length) {
        hasher.update([0xff]);
        hasher.update(length.to_be_bytes());
    }
    let digest = hasher.finalize();
    digest.iter().take(8).fold(0, |hash, byte| hash << 8 | i64::from(*byte))
}

/// Whether a text is as long as the file says, whose code units may be bytes, UTF-16 or characters.
fn is_whole(text: &str, length: u64) -> bool {
    text.len() as u64 == length
        || text.encode_utf16().count() as u64 == length
        || text.chars().count() as u64 == length
}
