//! The program: everything is in [`dumptool::cli`].

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: dumptool::pages::HugePages = dumptool::pages::HugePages;

fn main() -> ExitCode {
    dumptool::cli::main()
}
