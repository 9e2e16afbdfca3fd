//! The command line: parses arguments, wires one path from a source to standard output, and maps
//! errors to an exit status.
//!
//! Results go to standard output; progress, warnings and errors go to standard error.

mod args;
mod ask;
mod cat;
mod check;
mod convert;
mod destination;
mod diff;
mod dump_row;
mod dumps;
mod find;
mod fit;
mod formats;
mod growth;
mod heap;
mod help;
mod info;
mod interrupt;
mod mcp;
mod memory;
mod open;
mod path;
mod pool;
mod print;
mod profile;
mod progress;
#[cfg(feature = "query")]
mod query;
mod report;
mod serve;
mod session;
mod show;
mod size;
mod status;
mod terminal;
mod threads;
mod top;
mod tree;
mod waste;

use args::{Cli, Command};
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use session::Session;
use status::{Status, UsageError};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs the program with the arguments of the process.
///
/// `spill` makes the program's allocator put large allocations into files in a folder
/// (`--spill`).
pub fn main(spill: fn(&Path) -> io::Result<()>) -> ExitCode {
    let parsed =
        help::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error).into(),
    };
    interrupt::report_signals();
    let Cli { command, common } = cli;
    let session = Session::new(common);
    if let Some(folder) = &session.common.spill
        && let Err(error) = spill(folder)
    {
        let message = format!("--spill {}: {error}", terminal::show_path(folder));
        return status::report(&UsageError::new(message).into(), &session.terminal).into();
    }
    pool::start(session.common.threads);
    let started = std::time::Instant::now();
    let status =
        run(&command, &session).unwrap_or_else(|error| status::report(&error, &session.terminal));
    if session.common.verbose {
        terminal::tell(
            "",
            &format!("took {}", size::duration(started.elapsed().as_micros() as u64)),
        );
    }
    match status {
        Status::Damaged if session.common.lenient => Status::Done.into(),
        status => status.into(),
    }
}

/// Ends the program with status 3 because an allocation of `bytes` failed, and removes what was
/// being written.
///
/// For the allocator of the program: prints one line and allocates nothing.
pub fn out_of_memory(bytes: usize) -> ! {
    interrupt::out_of_memory(bytes, interrupt::Space::Memory)
}

/// As [`out_of_memory`], where an allocation did not fit into the folder of `--spill`.
pub fn out_of_spill(bytes: usize) -> ! {
    interrupt::out_of_memory(bytes, interrupt::Space::Spill)
}

/// Prints clap's output: help and version to standard output, wrong arguments to standard error.
fn print_usage(message: &clap::Error) -> Status {
    if let Some(ContextValue::String(word)) = message.get(ContextKind::InvalidSubcommand)
        && (word.contains(['.', '/', '\\']) || Path::new(word).exists())
    {
        terminal::tell("error:", &format!("{word} is not a command"));
        terminal::tell(
            "  hint:",
            &format!(
                "`dumptool info {word}` shows a summary of a file; `dumptool --help` lists the commands"
            ),
        );
        return Status::Usage;
    }
    let printed = message.print();
    if let Some(ContextValue::Strings(missing)) = message.get(ContextKind::InvalidArg)
        && missing.iter().any(|argument| argument == "<OBJECT>")
    {
        terminal::tell("  hint:", "a shell treats # as a comment: write '#12' or 12");
    }
    if message.use_stderr() {
        return Status::Usage;
    }
    match printed.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            terminal::tell("error:", &status::OutputError::stdout(error).to_string());
            Status::Unwritable
        }
        _ => Status::Done,
    }
}

fn run(command: &Command, session: &Session) -> anyhow::Result<Status> {
    match command {
        Command::Info(args) => info::run(args, session),
        Command::Cat(args) => cat::run(args, session),
        Command::Top(args) => top::run(args, session),
        Command::Tree(args) => tree::run(args, session),
        Command::Path(args) => path::run(args, session),
        Command::Show(args) => show::run(args, session),
        Command::Find(args) => find::run(args, session),
        Command::Diff(args) => diff::run(args, session),
        Command::Growth(args) => growth::run(args, session),
        Command::Check(args) => check::run(args, session),
        #[cfg(feature = "query")]
        Command::Query(args) => query::run(args, session),
        #[cfg(not(feature = "query"))]
        Command::Query(_) => Err(status::UsageError::new("this build does not include SQL")
            .hint(status::FULL_BUILD)
            .into()),
        Command::Report(args) => report::run(args, session),
        Command::Serve(args) => serve::run(args, session),
        Command::Mcp(args) => mcp::run(args, session),
        Command::Threads(args) => threads::run(args, session),
        Command::Waste(args) => waste::run(args, session),
        Command::Convert(args) => convert::run(args, session),
        Command::Formats => formats::run(session),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "dumptool", &mut script);
            print::to_output(session, &mut |out| out.write_all(&script))?;
            Ok(Status::Done)
        }
        Command::Man => {
            let mut page = Vec::new();
            let mut command = Cli::command();
            command.build();
            clap_mangen::Man::new(command.clone()).render(&mut page)?;
            for subcommand in
                command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help")
            {
                clap_mangen::Man::new(subcommand.clone()).render(&mut page)?;
            }
            print::to_output(session, &mut |out| out.write_all(&page))?;
            Ok(Status::Done)
        }
    }
}
