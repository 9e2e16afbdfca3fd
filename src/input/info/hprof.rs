//! `info` for hprof files only.

use super::facts::{Amount, Summary, numbers, phrase};
use super::{Info, SnapshotInfo};
use serde::Serialize;

/// Details of a file. Sizes are in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct HprofDetails {
    /// Size of an id in bytes: 4 or 8.
    pub id_size: u8,
    pub classes: u64,
    /// Strings, which name everything else.
    pub strings: u64,
    pub threads: u64,
    /// The time at which the file was written, in milliseconds since 1970.
    pub timestamp_ms: u64,
    /// Objects that are not arrays.
    pub instances: u64,
    pub object_arrays: u64,
    pub primitive_arrays: u64,
    /// Fields of instances and elements of arrays that are references, null or not.
    pub reference_slots: u64,
    /// Records that hold parts of the heap.
    pub segments: u64,
    /// Whether the heap is in segments and they are closed. `None` if it is not in segments.
    pub closed: Option<bool>,
    /// Roots by kind, those that occur.
    pub roots: Vec<RootCount>,
    /// The layout of objects in memory. `None` if the file states their sizes.
    pub layout: Option<HprofLayout>,
    /// The classes with the most objects, most first.
    pub top_classes: Vec<HprofTopClass>,
}

impl HprofDetails {
    pub(super) fn summarize(&self, info: &Info, snapshot: &SnapshotInfo, to: &mut Summary) {
        to.head(format!("{}-byte ids", self.id_size));
        let kinds = [
            ("instances", self.instances),
            ("object arrays", self.object_arrays),
            ("primitive arrays", self.primitive_arrays),
        ];
        to.fact("objects", Amount::Count(snapshot.objects.unwrap_or(0)), numbers(kinds));
        let mut roots: Vec<_> = self
            .roots
            .iter()
            .map(|root| (root.kind.trim_start_matches("root_"), root.count))
            .collect();
        roots.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
        roots.truncate(4);
        to.fact("roots", Amount::Count(snapshot.roots.unwrap_or(0)), numbers(roots));
        let strings = phrase![Amount::Count(self.strings), " strings"];
        to.fact("classes", Amount::Count(self.classes), strings);
        let frames = phrase![Amount::Counted(info.records.count("frame"), "frame", "frames")];
        to.fact("threads", Amount::Count(self.threads), frames);
        if let Some(bytes) = snapshot.external_bytes.filter(|bytes| *bytes > 0) {
            to.fact("external", Amount::Bytes(bytes), phrase!["allocated by direct buffers"]);
        }
        if let Some(layout) = &self.layout {
            layout.summarize(to);
        }
        let most = self.top_classes.iter().take(3).map(|class| (class.name.as_str(), class.count));
        let most = numbers(most);
        if !most.is_empty() {
            to.remark("frequent", most);
        }
    }
}

/// The layout of objects in memory. All numbers but the counts are bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HprofLayout {
    /// Size of a reference in bytes.
    pub references: u64,
    /// The header of an object that is not an array.
    pub header: u64,
    /// The offset of array elements of at most 4 bytes.
    pub array_header: u64,
    /// The alignment of object addresses.
    pub alignment: u64,
    /// The treatment of gaps between fields: `filled`, `own` (only the class itself fills them),
    /// `none`, or `rounded` (the fields of each class are rounded up to a reference).
    pub gaps: &'static str,
    /// Pairs of neighbors whose distance is the size of the first one's class, from which the
    /// layout was inferred. `None` if ids are not addresses of a JVM with 8-byte pointers; the
    /// layout is then the default.
    pub pairs: Option<u64>,
    /// Classes whose size is that distance, not the one by HotSpot's rules.
    pub measured_classes: u64,
}

impl HprofLayout {
    fn summarize(&self, to: &mut Summary) {
        let Self { references, header, array_header, alignment, .. } = self;
        let mut phrase = phrase![format!(
            "references {references}, header {header}, arrays {array_header}, alignment {alignment} ("
        )];
        match self.pairs {
            Some(pairs) => phrase.extend([
                "inferred from ".into(),
                Amount::Counted(pairs, "pair of neighbors", "pairs of neighbors"),
            ]),
            None => phrase.push("default".into()),
        }
        if self.measured_classes > 0 {
            let measured = Amount::Counted(self.measured_classes, "class", "classes");
            phrase.extend(["; ".into(), measured, " measured".into()]);
        }
        phrase.push(")".into());
        to.remark("layout", phrase);
    }
}

/// The number of roots of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RootCount {
    /// The name of the record.
    pub kind: &'static str,
    pub count: u64,
}

/// A class with the number and bytes of its objects in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HprofTopClass {
    pub name: String,
    pub count: u64,
    /// Bytes of the objects' fields or elements in the file, which differ from those in memory.
    pub data_bytes: u64,
}
