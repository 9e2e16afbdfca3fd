//! Redaction: removes the program's data from a heap, so that it can be shared.
//!
//! Types, sizes, references, roots and lengths stay, so every analysis of the graph has the same
//! result. Contents become unreadable:
//!
//! | data | becomes |
//! |---|---|
//! | text | as many characters of the same widths, so that it takes the same room in every encoding |
//! | memory, numbers, fields and elements that are not references | zero or omitted |
//! | names of threads and isolates | their numbers |
//! | names of references that may be data: keys of hashes, properties and symbols of JavaScript | numbers in braces |
//! | attributes and URLs in the names of native nodes of a browser | omitted |
//!
//! Names that come from source code stay: types, fields, functions, files. JavaScript programs may
//! use an object as a map, so its property names may be data; [`RedactedNames::NotLikeCode`] keeps
//! those that could be identifiers.

mod names;
mod numbers;
mod shape;
mod values;

use super::heap::{Heap, ObjectValues};
use numbers::ContentNumbers;
use values::RedactedValues;

/// The replacement for the contents of objects in [`Heap::redact`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Redaction {
    /// Asterisks for texts, zeros for everything else.
    #[default]
    Blank,
    /// Like `Blank`, but each text and each block of bytes without references becomes a running
    /// number, the same for equal contents. Blocks of zeros stay.
    ///
    /// The numbers follow the order of objects and are not computed from the contents, so that
    /// nobody can find a short text by trying all of them. The same text has different numbers in
    /// different dumps.
    Hash,
}

/// The names of references and types that [`Heap::redact_names`] replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedactedNames {
    /// All that may be data.
    #[default]
    All,
    /// Names that cannot be identifiers in source code. Keys of a map that look like identifiers
    /// stay, as do names of native nodes.
    NotLikeCode,
}

impl<'a> Heap<'a> {
    /// Removes the data that the program kept in its objects, and all names that may be data.
    ///
    /// [`Redaction::Hash`] reads all contents once and takes about 30 bytes of memory for each
    /// distinct one.
    pub fn redact(&mut self, how: Redaction) {
        self.redact_names(how, RedactedNames::All);
    }

    /// Like [`Heap::redact`], with a choice of the names.
    pub fn redact_names(&mut self, how: Redaction, names: RedactedNames) {
        let numbers = (how == Redaction::Hash).then(|| ContentNumbers::of(self));
        let redacted =
            |inner| -> Box<dyn ObjectValues + 'a> { Box::new(RedactedValues::new(inner, numbers)) };
        self.values = self.values.take().map(redacted);
        names::redact(self, names);
    }
}
