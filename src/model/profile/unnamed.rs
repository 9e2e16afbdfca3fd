//! Frames of which only the program or library is known.

use super::{FrameKind, Profile, ProfileFrame};

/// The name of a frame of which only the file is known: `[libm.so.6]`. Files that have no path, such
/// as `[vdso]`, have their own name.
pub(crate) fn library_name(file: &[u8]) -> Vec<u8> {
    let name = file.rsplit(|byte| *byte == b'/').next().unwrap_or(file);
    if name.starts_with(b"[") { name.to_vec() } else { [b"[", name, b"]"].concat() }
}

impl Profile {
    /// Whether only the program or library of a frame is known, or only its address.
    pub fn is_unnamed(&self, frame: ProfileFrame) -> bool {
        let (name, file) = (self.names.text(frame.function), self.names.text(frame.file));
        frame.kind == FrameKind::Native
            && match file {
                "" => name.starts_with("0x") || name == "[unknown]",
                file => name.as_bytes() == library_name(file.as_bytes()),
            }
    }
}
