//! What frames of Python profiles are, by the names of their files. MOJO and Austin's text do not say it otherwise.

use crate::model::profile::FrameKind;

/// Whether a file is a Python source, or a name like `<string>`.
pub(crate) fn is_python_file(file: &str) -> bool {
    file.ends_with(".py") || file.starts_with('<') && file.ends_with('>')
}

/// Code, unless the profiler calls the file native, or it is a library of machine code. Scripts need not end in `.py`.
pub(crate) fn kind_of_file(file: &str) -> FrameKind {
    let library = [".so", ".dll", ".dylib", ".pyd"].iter().any(|extension| file.ends_with(extension)) || file.contains(".so.");
    match file.starts_with("native@") || library && !is_python_file(file) {
        true => FrameKind::Native,
        false => FrameKind::Code,
    }
}
