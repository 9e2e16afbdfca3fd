//! `http://` addresses in place of files, for programs that serve profiles, as Go programs do.

#[cfg(feature = "http")]
mod fetch;

use super::args::Common;
use super::status::UsageError;
use super::terminal::show_path;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;

/// Whether an argument is an address and not a path.
pub(super) fn is_address(path: &Path) -> bool {
    scheme(path).is_some()
}

fn scheme(path: &Path) -> Option<&'static str> {
    let (scheme, _) = path.to_str()?.split_once("://")?;
    ["http", "https"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known))
}

/// Fetches the file at an address. Fails with a [`UsageError`] if this program does not fetch it;
/// with an `InputError` if it did not arrive; with an `OutputError` if it cannot be saved.
pub(super) fn fetch(path: &Path, common: &Common) -> anyhow::Result<File> {
    if scheme(path) == Some("https") {
        let error = UsageError::new("https:// addresses are not fetched");
        return Err(error.hint(by_curl(path)).into());
    }
    #[cfg(feature = "http")]
    return fetch::fetch(path, common);
    #[cfg(not(feature = "http"))]
    {
        let _ = common;
        let hint = format!("{}, or {}", super::status::FULL_BUILD, by_curl(path));
        Err(UsageError::new("this build does not fetch addresses").hint(hint).into())
    }
}

/// The hint for an address that is not fetched.
pub(super) fn by_curl(path: &Path) -> String {
    format!("save the file first: curl -fo FILE '{}'", show_path(path))
}

/// Refuses `--save` where it would save nothing, or one file over another. Fails with a
/// [`UsageError`].
pub(super) fn accept_save(common: &Common, words: &[OsString]) -> Result<(), UsageError> {
    let Some(save) = &common.save else { return Ok(()) };
    let addresses = words.iter().filter(|word| is_address(Path::new(word))).count();
    if addresses != 1 {
        let message = format!("--save needs one http:// address, not {addresses}");
        return Err(UsageError::new(message));
    }
    if save.symlink_metadata().is_ok() || save == Path::new("-") {
        let message = format!("--save does not replace {}", show_path(save));
        return Err(UsageError::new(message).hint("choose a name that no file has"));
    }
    Ok(())
}
