//! Warnings about data that a loader could not take from a file as it is.

use std::fmt;

/// Something that could not be loaded as it is in the file, and how often.
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

/// A kind of [`LoadWarning`]. Displays as text, such as `references to objects that are not in the
/// file`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// References to objects that are not in the file.
    DanglingReferences,
    /// Roots that refer to no object of the file.
    DanglingRoots,
    /// Objects with the id of an earlier object (hprof, V8).
    RepeatedIds,
    /// Object records at the address of an earlier one (Go).
    RepeatedAddresses,
    /// Objects that overlap the next one (Go).
    OverlappingObjects,
    /// Pointer fields beyond the end of their object (Go).
    FieldsBeyondObjects,
    /// Fields beyond the size of their type (Go).
    FieldsBeyondTypes,
    /// Objects whose type record is missing (Go).
    UnknownTypes,
    /// Interface values whose type record is missing (Go).
    UnknownInterfaceTypes,
    /// Objects whose class record is missing (hprof).
    UnknownClasses,
    /// Objects whose class is missing from the class table (Dart).
    UnknownClass,
    /// Objects whose superclass records are missing (hprof).
    UnknownSuperclasses,
    /// Objects whose type or frame is missing (MoarVM).
    UnknownTypesOrFrames,
    /// References whose label is missing (MoarVM).
    UnknownLabels,
    /// Objects with less data than the fields of their class need (hprof).
    ShortObjects,
    /// External sizes of objects that are not in the file (Dart).
    StrayExternalSizes,
    /// Stack frames without a goroutine (Go).
    StrayFrames,
    /// The params record is missing (Go).
    MissingParams,
    /// Array elements that HotSpot did not write: class objects of archived classes that are not
    /// loaded (hprof). Not damage.
    OmittedElements,
    /// Roots of system classes that HotSpot did not write, because they are not linked yet (hprof).
    /// Not damage.
    OmittedClasses,
    /// The stacks of parked virtual threads, which JDK 21 does not write (hprof). Not damage.
    OmittedStacks,
    /// References that the file's counts announce and that it does not have (V8).
    MissingReferences,
    /// References after those of the last object (V8).
    SurplusReferences,
    /// Arrays that do not end with a whole row (V8).
    PartialRows,
    /// Lines that are not valid JSON, which were skipped (Ruby).
    MalformedLines,
    /// The roots, which a dump of later generations does not have (Ruby). Not damage.
    OmittedRoots,
    /// Objects to which the file has no reference, where these are many (V8). Not damage.
    UnheldObjects,
    /// Names that were cut because they are too long. Not damage.
    CutNames,
    /// Snapshots after the loaded one that are damaged (MoarVM). Not damage of this heap.
    DamagedSnapshots,
    /// The classes of a mapping, none of which the dump has (hprof). Not damage.
    UnusedMapping,
}

impl WarningKind {
    /// The text: a noun phrase in the plural.
    pub fn text(self) -> &'static str {
        match self {
            Self::DanglingReferences => "references to objects that are not in the file",
            Self::DanglingRoots => "roots of objects that are not in the file",
            Self::RepeatedIds => "objects with the id of another object",
            Self::RepeatedAddresses => "object records at the address of another object",
            Self::OverlappingObjects => "objects that overlap the next one",
            Self::FieldsBeyondObjects => "pointer fields beyond the end of their object",
            Self::FieldsBeyondTypes => "fields beyond the size of their type",
            Self::UnknownTypes => "objects of a type that is not in the file",
            Self::UnknownInterfaceTypes => "interfaces of a type that is not in the file",
            Self::UnknownClasses => "objects of classes that are not in the file",
            Self::UnknownClass => "objects whose class is not in the file",
            Self::UnknownSuperclasses => {
                "objects whose superclasses are not in the file, whose references may be missing"
            }
            Self::UnknownTypesOrFrames => "objects whose type or frame is not in the file",
            Self::UnknownLabels => "references whose label is not in the file",
            Self::ShortObjects => {
                "objects with less data than their class has fields, whose references are missing"
            }
            Self::StrayExternalSizes => "external sizes of objects that are not in the file",
            Self::StrayFrames => "stack frames without a goroutine",
            Self::MissingParams => {
                "missing params record: 8-byte little-endian pointers are assumed"
            }
            Self::OmittedElements => {
                "array elements that HotSpot did not write: class objects of its shared archive (CDS) whose classes are not loaded"
            }
            Self::OmittedClasses => {
                "roots of system classes that HotSpot did not write, because their classes are not linked yet"
            }
            Self::OmittedStacks => {
                "JDK 21 does not dump the stacks of parked virtual threads; objects that only these stacks hold count as unreachable"
            }
            Self::MissingReferences => {
                "references that objects declare but that are not in the file"
            }
            Self::SurplusReferences => "references after those of the last object",
            Self::PartialRows => "arrays of objects or references that do not end with a whole row",
            Self::MalformedLines => "lines that are not valid JSON, which were skipped",
            Self::OmittedRoots => {
                "the dump has no roots: every object that nothing refers to counts as a root"
            }
            Self::UnheldObjects => {
                "objects that nothing in the file refers to, so that retained sizes say little (Bun omits the references of Map and Set)"
            }
            Self::CutNames => "names of more than 4096 bytes, which were truncated",
            Self::UnusedMapping => {
                "no class of the dump is among those of the mapping, which is of another build"
            }
            Self::DamagedSnapshots => "later snapshots that are truncated or damaged",
        }
    }

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
