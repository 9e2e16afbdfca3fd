//! The kinds of frames of Python profiles, by the names of their files, since MOJO and Austin's
//! text do not state them; and the ids of their threads.

use crate::model::profile::FrameKind;

/// Whether a file is a Python source, or a name like `<string>`.
pub(crate) fn is_python_file(file: &str) -> bool {
    file.ends_with(".py") || file.starts_with('<') && file.ends_with('>')
}

/// Code, unless the profiler calls the file native, or it is a library of machine code. Scripts
/// need not end in `.py`.
pub(crate) fn kind_of_file(file: &str) -> FrameKind {
    let library =
        [".so", ".dll", ".dylib", ".pyd"].iter().any(|extension| file.ends_with(extension))
            || file.contains(".so.");
    match file.starts_with("native@") || library && !is_python_file(file) {
        true => FrameKind::Native,
        false => FrameKind::Code,
    }
}

/// A thread id as MOJO has it, from the decimal number that people see. None for names.
pub(crate) fn raw_thread_id(thread: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(thread).ok()?;
    let id: i128 = text.parse().ok()?;
    // Only what a number is printed as stands for one.
    if id.to_string() != text {
        return None;
    }
    Some(match id {
        0.. => format!("{id:x}"),
        _ => format!("-{:x}", id.unsigned_abs()),
    })
}
