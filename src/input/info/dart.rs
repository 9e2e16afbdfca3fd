//! `info` for Dart snapshots only.

use super::SnapshotInfo;
use super::facts::{Amount, Phrase, Summary, list, phrase};
use serde::Serialize;

/// The names of the kinds of data, by tag.
pub(in crate::input) const TAG_NAMES: [&str; 9] =
    ["none", "null", "bool", "int", "double", "latin1", "utf16", "length", "name"];

/// Details of a snapshot. Sizes are in bytes; `None` means not reached or not known.
#[derive(Clone, Debug, Serialize)]
pub struct DartDetails {
    /// The totals in the header, which may differ from those of the objects.
    pub header: HeaderTotals,
    /// Classes, holes in the class table included.
    pub classes: u64,
    /// References that are 0: slots that hold no object.
    pub zero_references: u64,
    /// Objects by kind of data.
    pub by_tag: ByTag,
    /// Whether the file has identity hash codes.
    pub identity_hashes: Option<bool>,
    /// Size of a word in bytes, inferred: 4 or 8.
    pub word_size: Option<u8>,
    /// Name of the isolate from which the snapshot was requested.
    pub name: String,
    pub flags: u64,
    /// Isolates in the snapshot: all of the isolate group. `None` for files of Dart 2.12 and before.
    pub isolates: Option<u64>,
    /// The version of Dart that wrote the file, as far as its features show it.
    pub vm_generation: Option<&'static str>,
    pub devtools_export: bool,
    /// Unused ids in the class table.
    pub class_holes: u64,
    /// Records of memory outside the heap.
    pub external_properties: u64,
    /// Objects of size 0: Smis, synthetic objects, and objects that all isolates share.
    pub zero_size_objects: u64,
    /// Strings of which the file has only the beginning.
    pub truncated_strings: u64,
    /// Objects with an identity hash code.
    pub nonzero_identity_hashes: Option<u64>,
    /// Zeros after the end.
    pub trailing_zero_bytes: u64,
    /// The classes with the most bytes, largest first.
    pub top_classes: Vec<DartTopClass>,
}

impl DartDetails {
    pub(super) fn summarize(&self, snapshot: &SnapshotInfo, to: &mut Summary) {
        to.head(format!("isolate {}", self.name));
        if let Some(generation) = self.vm_generation {
            to.head(format!("Dart {generation}"));
        }
        if let Some(bytes) = self.word_size {
            to.head(format!("{}-bit", u64::from(bytes).saturating_mul(8)));
        }
        if self.devtools_export {
            to.head("exported by DevTools");
        }
        let count = |number: Option<u64>| Amount::Count(number.unwrap_or(0));
        let sizes = phrase![
            Amount::Bytes(snapshot.shallow_bytes.unwrap_or(0)),
            ", ",
            Amount::Count(self.zero_size_objects),
            " of size 0",
        ];
        to.fact("objects", count(snapshot.objects), sizes);
        let zero = phrase![Amount::Count(self.zero_references), " to no object"];
        to.fact("references", count(snapshot.references), zero);
        let isolates =
            self.isolates.map(|isolates| Amount::Counted(isolates, "isolate", "isolates"));
        to.fact("roots", count(snapshot.roots), isolates.into_iter().collect());
        let holes = phrase![Amount::Counted(self.class_holes, "unused id", "unused ids")];
        to.fact("classes", Amount::Count(self.classes), holes);
        let properties = self.external_properties;
        let external =
            phrase!["in ", Amount::Counted(properties, "object property", "object properties")];
        to.fact("external", Amount::Bytes(snapshot.external_bytes.unwrap_or(0)), external);
        let [.., latin1, utf16, _, _] = self.by_tag.0;
        let truncated = phrase![
            Amount::Count(self.truncated_strings),
            " truncated to 128 characters by the VM"
        ];
        to.fact("strings", Amount::Count(latin1.saturating_add(utf16)), truncated);
        let capacity =
            phrase!["of ", Amount::Bytes(self.header.capacity), " capacity, as counted by the VM"];
        to.fact("heap", Amount::Bytes(self.header.shallow_size), capacity);
        let biggest: Phrase = list(
            self.top_classes
                .iter()
                .take(3)
                .map(|class| phrase![format!("{} ", class.name), Amount::Bytes(class.bytes)]),
        );
        if !biggest.is_empty() {
            to.remark("biggest", biggest);
        }
    }
}

/// Totals of the heap, as the header states them: bytes, and the number of references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HeaderTotals {
    pub shallow_size: u64,
    pub capacity: u64,
    pub external_size: u64,
    pub reference_count: Option<u64>,
}

/// Number of objects by the tag of their data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByTag(pub [u64; TAG_NAMES.len()]);

impl ByTag {
    #[inline]
    pub(in crate::input) fn add(&mut self, tag: u8) {
        if let Some(count) = self.0.get_mut(usize::from(tag)) {
            *count = count.saturating_add(1);
        }
    }
}

impl Serialize for ByTag {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(TAG_NAMES.iter().zip(self.0))
    }
}

/// A class with the sums of its objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DartTopClass {
    pub name: String,
    /// URI of its library; empty for classes of the VM.
    pub library: String,
    pub count: u64,
    pub bytes: u64,
}
