//! The program: everything is in [`dumptool::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    dumptool::cli::main()
}
