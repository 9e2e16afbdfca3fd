//! The table `strings`.

use crate::model::heap::{Heap, ObjectId, TypeKind, Value};
use crate::parallel::lock;
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::Rows;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

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
pub(in crate::tables) struct Strings<'h> {
    heap: &'h Heap<'h>,
    texts: TextLimit,
    objects: OnceLock<Vec<ObjectId>>,
    /// Measurements of texts that many objects may share, by text number.
    measured: Mutex<FxHashMap<usize, Measured>>,
}

/// The length of a text and the state of its hash.
struct Measured {
    bytes: u64,
    units: u64,
    characters: u64,
    hasher: OnceCell<Sha256>,
}

impl<'h> Strings<'h> {
    pub(super) fn of(heap: &'h Heap<'h>, texts: TextLimit) -> Self {
        Self { heap, texts, objects: OnceLock::new(), measured: Mutex::default() }
    }

    fn objects(&self) -> &[ObjectId] {
        let is_text = |object: &ObjectId| {
            self.heap.type_of(*object).kind == TypeKind::Text
                && matches!(self.heap.value(*object), Value::Text { .. })
        };
        self.objects.get_or_init(|| self.heap.objects().filter(is_text).collect())
    }

    /// Calls a function with each text and the length that the file states.
    fn each(&self, rows: Range<usize>, mut f: impl FnMut(ObjectId, &str, u64)) {
        for object in &self.objects()[rows] {
            if let Value::Text { text, length } = self.heap.value(*object) {
                f(*object, &text, length);
            }
        }
    }

    /// Measures a text, once if many objects may share it.
    fn measured<T>(&self, object: ObjectId, text: &str, f: impl FnOnce(&Measured) -> T) -> T {
        let Some(long) = self.heap.long_text(object) else { return f(&Measured::of(text)) };
        let mut measured = lock(&self.measured);
        f(measured.entry(long).or_insert_with(|| Measured::of(text)))
    }

    fn shown<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self.texts {
            TextLimit::Nothing => None,
            TextLimit::Bytes(limit) => Some(&text[..text.floor_char_boundary(limit)]),
            TextLimit::All => Some(text),
        }
    }
}

impl Rows for Strings<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            Column::number("object", "The object")
                .numbers(|this: &Self, row| this.objects()[row].0.into()),
            Column::number("bytes", "The bytes of the whole text in UTF-8").bytes().of(
                |this: &Self, rows, cells| {
                    this.each(rows, |object, text, length| {
                        let bytes =
                            this.measured(object, text, |measured| measured.whole_bytes(length));
                        cells.integers([bytes].into_iter());
                    });
                },
            ),
            Column::number("hash", "The first 64 bits of SHA-256 of the whole text").of(
                |this: &Self, rows, cells| {
                    this.each(rows, |object, text, length| {
                        // An unknown length counts as one that no other text has.
                        let length = match length {
                            Value::UNKNOWN_LENGTH => length.wrapping_sub(object.0.into()),
                            length => length,
                        };
                        let hash =
                            this.measured(object, text, |measured| measured.hash(text, length));
                        cells.integers.push(hash);
                    });
                },
            ),
            Column::text("text", "The text, or its beginning; null with `--text none`")
                .or_null()
                .of(|this: &Self, rows, cells| {
                    this.each(rows, |_, text, _| cells.optional_text(this.shown(text)));
                }),
        ]
    }

    fn len(&self) -> usize {
        self.objects().len()
    }
}

impl Measured {
    fn of(text: &str) -> Self {
        let bytes = text.len() as u64;
        let (units, characters) = if text.is_ascii() {
            (bytes, bytes)
        } else {
            (text.encode_utf16().count() as u64, text.chars().count() as u64)
        };
        Self { bytes, units, characters, hasher: OnceCell::new() }
    }

    /// The number of bytes of the whole text. If the file contains only the beginning, this is the
    /// length in code units, if that is known.
    fn whole_bytes(&self, length: u64) -> u64 {
        let is_here = self.is_whole(length) || length == Value::UNKNOWN_LENGTH;
        if is_here { self.bytes } else { length }
    }

    /// The first 64 bits of SHA-256. A text of which the file contains only the beginning is hashed
    /// with its length, so that it equals no whole text.
    fn hash(&self, text: &str, length: u64) -> i64 {
        let mut hasher = self.hasher.get_or_init(|| Sha256::new_with_prefix(text)).clone();
        if !self.is_whole(length) {
            hasher.update([0xff]);
            hasher.update(length.to_be_bytes());
        }
        let digest = hasher.finalize();
        digest.iter().take(8).fold(0, |hash, byte| hash << 8 | i64::from(*byte))
    }

    /// Whether the text has the length that the file states, whose code units may be bytes, UTF-16
    /// or characters.
    fn is_whole(&self, length: u64) -> bool {
        [self.bytes, self.units, self.characters].contains(&length)
    }
}
