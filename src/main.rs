//! The program: everything but its allocator is in [`dumptool::cli`].

mod allocator;
mod pages;
#[cfg_attr(not(target_os = "linux"), path = "spill_elsewhere.rs")]
mod spill;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    allocator::map_mebibytes();
    dumptool::cli::main(spill::to)
}
