//! Arguments of `completions`.

use clap::Args;

/// Print a completion script
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool completions bash > ~/.local/share/bash-completion/completions/dumptool
  dumptool completions zsh > ~/.zfunc/_dumptool")]
pub(in crate::cli) struct CompletionsArgs {
    /// Shell to complete for
    pub(in crate::cli) shell: clap_complete::Shell,
}
