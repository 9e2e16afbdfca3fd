//! The command line: parses arguments, wires one path from a source to standard output, and maps errors to an exit status.
//!
//! Results go to standard output; progress, warnings and errors go to standard error.

mod args;
mod cat;
mod check;
mod convert;
mod destination;
mod diff;
mod export;
mod find;
mod formats;
mod glob;
mod info;
mod interrupt;
mod kind;
mod load;
mod memory;
mod objects;
mod open;
mod path;
mod profile;
mod progress;
mod show;
mod size;
mod status;
mod table;
mod terminal;
mod threads;
mod top;
mod tree;

use args::{Cli, Command, Common, OutputFormat};
use clap::{CommandFactory, Parser};
use status::Status;
use std::io::{self, Write};
use std::process::ExitCode;
use terminal::{Keep, Terminal};

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error).into(),
    };
    interrupt::report_signals();
    let terminal = Terminal::new(&cli.common);
    threads::start(cli.common.threads);
    let started = std::time::Instant::now();
    let status = run(&cli, &terminal).unwrap_or_else(|error| status::report(&error, &terminal));
    if cli.common.verbose {
        terminal::tell(&format!("took {}", size::duration(started.elapsed().as_micros() as u64)));
    }
    match status {
        Status::Damaged if cli.common.lenient => Status::Done.into(),
        status => status.into(),
    }
}

/// Ends the program with status 3 because an allocation of `bytes` failed, and removes what was being written.
///
/// For the allocator of the program: prints one line and allocates nothing.
pub fn out_of_memory(bytes: usize) -> ! {
    interrupt::out_of_memory(bytes)
}

/// Prints what clap says: help and version to standard output, wrong arguments to standard error.
fn print_usage(message: &clap::Error) -> Status {
    let printed = message.print();
    if message.use_stderr() {
        return Status::Usage;
    }
    match printed.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            terminal::tell(&format!("error: {}", status::OutputError::stdout(error)));
            Status::Unwritable
        }
        _ => Status::Done,
    }
}

fn run(cli: &Cli, terminal: &Terminal) -> anyhow::Result<Status> {
    let common = &cli.common;
    match &cli.command {
        Command::Info(args) => info::run(args, common, terminal),
        Command::Cat(args) => cat::run(args, common, terminal),
        Command::Top(args) => top::run(args, common, terminal),
        Command::Tree(args) => tree::run(args, common, terminal),
        Command::Path(args) => path::run(args, common, terminal),
        Command::Show(args) => show::run(args, common, terminal),
        Command::Find(args) => find::run(args, common, terminal),
        Command::Diff(args) => diff::run(args, common, terminal),
        Command::Check(args) => check::run(args, common, terminal),
        Command::Convert(args) => convert::run(args, common, terminal),
        Command::Formats => formats::run(common, terminal),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "dumptool", &mut script);
            print(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            let mut command = Cli::command();
            command.build();
            clap_mangen::Man::new(command.clone()).render(&mut page)?;
            for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
                clap_mangen::Man::new(subcommand.clone()).render(&mut page)?;
            }
            print(&page)
        }
    }
}

/// Writes a whole result in the format that was asked for. What is meant for people is wrapped to the width of the terminal;
/// tables fit already.
fn print_text(text: &str, common: &Common) -> anyhow::Result<Status> {
    if common.format != OutputFormat::Table {
        return print(text.as_bytes());
    }
    let text = terminal::printable(text, Keep { colors: Terminal::new(common).color, lines: true });
    match terminal::columns() {
        Some(columns) => print(terminal::wrapped(&text, columns).as_bytes()),
        None => print(text.as_bytes()),
    }
}

/// Writes to standard output.
fn print(bytes: &[u8]) -> anyhow::Result<Status> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(status::OutputError::stdout)?;
    Ok(Status::Done)
}
