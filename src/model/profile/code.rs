//! The places of a profile's frames in the programs and libraries that ran.

use super::FrameId;
use crate::model::names::NameId;

/// The places of frames in machine code, for formats that state them, if they are kept.
///
/// A frame then is one line of one address: frames that are otherwise equal have different ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The programs and libraries, in the order of the file.
    pub mappings: Vec<Mapping>,
    /// By [`FrameId`]. Frames after the last one have no place.
    pub places: Vec<Option<CodePlace>>,
}

/// A program or library in the memory of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mapping {
    /// The first address.
    pub start: u64,
    /// The address after the last one.
    pub limit: u64,
    /// The offset in the file of the byte at the first address.
    pub offset: u64,
    /// The path of the file.
    pub file: String,
    /// The build id of the file.
    pub build_id: String,
    /// Whether functions, files, lines and inlined calls have been looked up.
    pub is_symbolized: [bool; 4],
}

/// The place of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodePlace {
    /// The address of the instruction.
    pub address: u64,
    /// The row of the mapping. `None` if it is not known.
    pub mapping: Option<u32>,
    /// The frame of the function into which all others at the address were inlined. The frames of
    /// these follow it, from the outermost to the innermost one.
    pub outermost: FrameId,
    /// The number of frames at the address. 0 if the file has no function for it.
    pub lines: u32,
    /// The function's name in the object file, if that differs from its display name.
    pub system_name: NameId,
    /// The line as stated in the file, which may be negative.
    pub line: i64,
    /// The column; 0 if unknown.
    pub column: i64,
    /// The first line of the function; 0 if unknown.
    pub start_line: i64,
}

impl Code {
    /// The place of a frame.
    pub fn place(&self, frame: FrameId) -> Option<CodePlace> {
        self.places.get(frame.index()).copied().flatten()
    }
}
