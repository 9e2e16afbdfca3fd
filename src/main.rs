//! The program: everything but its allocator is in [`dumptool::cli`].

mod allocator;
mod pages;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

fn main() -> ExitCode {
    dumptool::cli::main()
}
