//! The facts by which executables and their debug information are found.

use object::{Object, ObjectSection};

/// The build id of an executable (ELF), or its UUID (Mach-O), in hexadecimal digits.
pub(super) fn build_id(bytes: &[u8]) -> Option<String> {
    let file = object::File::parse(bytes).ok()?;
    let id = match file.build_id().ok()? {
        Some(id) => id.to_vec(),
        None => file.mach_uuid().ok()??.to_vec(),
    };
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The name of the file with the debug information, and its checksum.
pub(super) fn debug_link(bytes: &[u8]) -> Option<(String, u32)> {
    let file = object::File::parse(bytes).ok()?;
    let (name, checksum) = file.gnu_debuglink().ok()??;
    let name = std::str::from_utf8(name).ok()?;
    // A name, not a path that leads elsewhere.
    (!name.contains('/') && !name.is_empty()).then(|| (name.to_owned(), checksum))
}

pub(super) fn has_debug(bytes: &[u8]) -> bool {
    object::File::parse(bytes).is_ok_and(|file| {
        file.section_by_name(".debug_info").is_some_and(|section| section.size() > 0)
    })
}
