//! The symbols that a command may use.

use super::args::Common;
use super::open::Input;
use super::status::UsageError;
use super::terminal::show_path;
use crate::input::load::NameCode;
#[cfg(feature = "symbols")]
use crate::symbols::Symbols;

/// Looks up functions in builds with the feature `symbols`.
#[derive(Default)]
pub(crate) struct SymbolFiles {
    #[cfg(feature = "symbols")]
    symbols: Symbols,
}

impl SymbolFiles {
    /// Uses the files and folders of `--symbols`.
    pub(super) fn new(common: &Common) -> Self {
        #[cfg(feature = "symbols")]
        return Self { symbols: Symbols::new(common.symbols.clone()) };
        #[cfg(not(feature = "symbols"))]
        {
            _ = common;
            Self {}
        }
    }

    /// The source of names for addresses of code. `None` in builds without the feature `symbols`.
    pub(crate) fn names(&self) -> Option<&dyn NameCode> {
        #[cfg(feature = "symbols")]
        return Some(&self.symbols);
        #[cfg(not(feature = "symbols"))]
        None
    }

    /// The reasons why files that were found were not used. Returns each reason once.
    pub(crate) fn warnings(&self) -> Vec<String> {
        #[cfg(feature = "symbols")]
        return self.symbols.take_unused().iter().map(ToString::to_string).collect();
        #[cfg(not(feature = "symbols"))]
        Vec::new()
    }
}

/// Refuses `--symbols` for an input that has no addresses, and in builds that cannot use it. Fails
/// with a [`UsageError`] that says how to get it.
pub(super) fn accept(common: &Common, input: &Input) -> Result<(), UsageError> {
    let Some(path) = common.symbols.first() else { return Ok(()) };
    if cfg!(not(feature = "symbols")) {
        return Err(UsageError::new("--symbols: this build does not read symbols")
            .hint(super::status::FULL_BUILD));
    }
    if !input.format.has_addresses() {
        let file = show_path(&input.path);
        return Err(UsageError::new(format!(
            "--symbols applies to profiles with addresses of machine code; {file} has none"
        )));
    }
    if path.exists() {
        Ok(())
    } else {
        Err(UsageError::new(format!("--symbols: {} does not exist", show_path(path))))
    }
}
