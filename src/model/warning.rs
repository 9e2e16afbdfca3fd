//! Warnings about data that a loader could not load unchanged.

use super::named::named;
use std::fmt;

/// Data that could not be loaded as it is in the file, and the number of occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadWarning {
    /// The kind of warning. Its text is a noun phrase in the plural.
    pub kind: WarningKind,
    /// Number of occurrences.
    pub count: u64,
}

impl LoadWarning {
    /// Returns `true` if the file is damaged: no runtime writes such a file.
    pub fn is_damage(&self) -> bool {
        self.kind.is_damage()
    }

    /// Returns `true` if sound dumps of the runtime usually give this warning.
    pub fn is_usual(&self) -> bool {
        self.kind.is_usual()
    }

    /// The warning with its count, except where it concerns the file as a whole.
    pub fn text(&self) -> String {
        match self.kind {
            WarningKind::OmittedStacks | WarningKind::OmittedRoots => self.kind.to_string(),
            kind => format!("{kind}: {}", self.count),
        }
    }
}

named! {
    /// A kind of [`LoadWarning`]. Displays as text, such as `references to objects that are not in the
    /// file`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum WarningKind {
        DanglingReferences = "references to objects that are not in the file",
        DanglingRoots = "roots of objects that are not in the file",
        /// hprof, V8.
        RepeatedIds = "objects with the id of another object",
        /// Go.
        RepeatedAddresses = "object records at the address of another object",
        /// Go.
        OverlappingObjects = "objects that overlap the next one",
        /// Go.
        FieldsBeyondObjects = "pointer fields beyond the end of their object",
        /// Go.
        FieldsBeyondTypes = "fields beyond the size of their type",
        /// Go.
        UnknownTypes = "objects of a type that is not in the file",
        /// Go.
        UnknownInterfaceTypes = "interfaces of a type that is not in the file",
        /// hprof.
        UnknownClasses = "objects of classes that are not in the file",
        /// Dart.
        UnknownClass = "objects whose class is not in the file",
        /// hprof.
        UnknownSuperclasses = "objects whose superclasses are not in the file, whose references may be missing",
        /// MoarVM.
        UnknownTypesOrFrames = "objects whose type or frame is not in the file",
        /// MoarVM.
        UnknownLabels = "references whose label is not in the file",
        /// hprof.
        ShortObjects = "objects with less data than their class has fields, whose references are missing",
        /// Dart.
        StrayExternalSizes = "external sizes of objects that are not in the file",
        /// Go.
        StrayFrames = "stack frames without a goroutine",
        /// Go.
        MissingParams = "missing params record: 8-byte little-endian pointers are assumed",
        /// hprof.
        OmittedElements = "array elements that HotSpot did not write: class objects of its shared archive (CDS) whose classes are not loaded",
        /// hprof.
        OmittedClasses = "roots of system classes that HotSpot did not write, because their classes are not linked yet",
        /// hprof.
        OmittedStacks = "JDK 21 does not dump the stacks of parked virtual threads; objects that only these stacks hold count as unreachable",
        /// V8.
        MissingReferences = "references that objects declare but that are not in the file",
        /// V8.
        SurplusReferences = "references after those of the last object",
        /// V8.
        PartialRows = "arrays of objects or references that do not end with a whole row",
        /// Ruby.
        MalformedLines = "lines that are not valid JSON, which were skipped",
        /// Ruby.
        OmittedRoots = "the dump has no roots: every object that nothing refers to counts as a root",
        /// V8.
        UnheldObjects = "objects that nothing in the file refers to, so that retained sizes say little (Bun omits the references of Map and Set)",
        CutNames = "names of more than 4096 bytes, which were truncated",
        /// MoarVM. Not damage of this heap.
        DamagedSnapshots = "later snapshots that are truncated or damaged",
        /// hprof.
        UnusedMapping = "no class of the dump is among those of the mapping, which is of another build",
    }
    /// The text: a noun phrase in the plural.
    pub fn text
}

impl WarningKind {
    /// Returns `true` if sound dumps of the runtime usually give this warning.
    pub fn is_usual(self) -> bool {
        matches!(self, Self::OmittedElements | Self::OmittedClasses)
    }

    /// Returns `true` if only damaged files give this warning.
    pub fn is_damage(self) -> bool {
        !matches!(
            self,
            Self::OmittedElements
                | Self::OmittedClasses
                | Self::OmittedStacks
                | Self::OmittedRoots
                | Self::UnheldObjects
                | Self::CutNames
                | Self::DamagedSnapshots
                | Self::UnusedMapping
        )
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
