//! The command line: parses arguments, wires one path from a source to standard output, and maps
//! errors to an exit status.
//!
//! Results go to standard output; progress, warnings and errors go to standard error.

mod address;
mod args;
mod ask;
mod budget;
mod cat;
mod check;
mod convert;
mod destination;
mod diff;
mod dumps;
mod expand;
#[cfg(feature = "explore")]
mod explore;
mod find;
mod fit;
mod formats;
mod growth;
mod heap;
mod help;
mod info;
mod inputs;
mod interrupt;
mod known;
mod mappings;
mod mcp;
mod memory;
mod minified;
mod open;
mod own_profile;
mod page;
mod path;
mod pool;
mod print;
mod profile;
mod progress;
#[cfg(feature = "query")]
mod query;
mod recording;
mod report;
mod serve;
mod session;
mod show;
mod size;
mod source;
mod status;
mod symbols;
mod terminal;
mod threads;
mod top;
mod tree;
mod waste;

use crate::parallel::lock;
use args::{
    CatArgs, CheckArgs, Cli, Common, CompletionsArgs, ConvertArgs, DiffArgs, ExploreArgs, FindArgs,
    GrowthArgs, InfoArgs, McpArgs, NoArgs, OutputFormat, PathArgs, QueryArgs, ReportArgs,
    ServeArgs, ShowArgs, SourceArgs, ThreadsArgs, TopArgs, TreeArgs, WasteArgs,
};
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Subcommand};
use destination::Destination;
use session::Session;
use status::{Status, UsageError};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Whether a word that is not a command is meant as a file, which may be missing.
fn names_file(word: &str) -> bool {
    !word.starts_with('-') && word.contains(['.', '/', '\\'])
}

/// Inserts `info --verdict` as the command if the command line begins with a file or an address.
fn with_command(command: &clap::Command, mut words: Vec<OsString>) -> Vec<OsString> {
    let Some(first) = words.get(1) else { return words };
    let is_command = first.to_str().is_some_and(|first| command.find_subcommand(first).is_some());
    let path = Path::new(first);
    let is_input =
        path.is_file() || address::is_address(path) || first.to_str().is_some_and(names_file);
    if !is_command && is_input {
        words.splice(1..1, ["info", "--verdict"].map(OsString::from));
    }
    words
}

/// Runs the program with the arguments of the process.
///
/// `spill` makes the program's allocator put large allocations into files in a folder
/// (`--spill`).
pub fn main(spill: memory::Spill) -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let command = help::command(&words);
    let words = with_command(&command, words);
    let parsed =
        command.try_get_matches_from(&words).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error).into(),
    };
    interrupt::report_signals();
    memory::start(spill);
    let Cli { command, common } = cli;
    let session = Session::new(common);
    if let Some(folder) = &session.common.spill
        && let Err(error) = spill(folder)
    {
        let message = format!("--spill {}: {error}", terminal::show_path(folder));
        return status::report(&UsageError::new(message).into(), &session.terminal).into();
    }
    if let Err(error) = address::accept_save(&session.common, &words) {
        return status::report(&error.into(), &session.terminal).into();
    }
    pool::start(session.common.threads);
    let started = std::time::Instant::now();
    let status = measured(&command, &session)
        .unwrap_or_else(|error| status::report(&error, &session.terminal));
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

/// Runs a command and writes its profile if `--profile` is given.
fn measured(command: &Command, session: &Session) -> anyhow::Result<Status> {
    let Some(profile) = &session.common.profile else { return run(command, session) };
    own_profile::start();
    let status = run(command, session)?;
    if let Some(stacks) = own_profile::finish(command.name()) {
        let mut file = Destination::create(profile, false, session)?;
        crate::output::speedscope::write(&stacks, &mut file)
            .map_err(|error| status::OutputError::new(profile, error))?;
        file.commit()?;
    }
    Ok(status)
}

/// Ends the program because an allocation of `bytes` failed, and removes the file being written.
/// The status is 3, or 2 if the limit was dumptool's own.
///
/// For the allocator of the program: prints one line and allocates nothing.
pub fn out_of_memory(bytes: usize) -> ! {
    interrupt::out_of_memory(bytes, interrupt::Space::Memory)
}

/// Like [`out_of_memory`], but for an allocation that did not fit into the folder of `--spill`.
pub fn out_of_spill(bytes: usize) -> ! {
    interrupt::out_of_memory(bytes, interrupt::Space::Spill)
}

/// Prints clap's output: help and version to standard output, wrong arguments to standard error.
fn print_usage(message: &clap::Error) -> Status {
    if let Some(ContextValue::String(word)) = message.get(ContextKind::InvalidSubcommand)
        && (names_file(word) || Path::new(word).exists())
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

/// The interfaces that offer a command besides the command line.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Offer {
    serve: Option<ServeFiles>,
    mcp: bool,
}

/// The files that `serve` gives to a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ServeFiles {
    /// The only file, or the newest.
    Newest,
    /// The oldest and the newest file.
    Two,
    /// The only file, or the oldest and the newest.
    OneOrTwo,
    /// All files. The only file if there is just one.
    All,
}

/// A command that is only available on the command line.
const TERMINAL: Offer = Offer { serve: None, mcp: false };
const ASSISTANTS: Offer = Offer { serve: None, mcp: true };
const ONE: Offer = Offer { serve: Some(ServeFiles::Newest), mcp: true };
const TWO: Offer = Offer { serve: Some(ServeFiles::Two), mcp: true };
const ALL: Offer = Offer { serve: Some(ServeFiles::All), mcp: true };
const ONE_OR_TWO: Offer = Offer { serve: Some(ServeFiles::OneOrTwo), mcp: true };
const SQL: Offer = if cfg!(feature = "query") { ONE_OR_TWO } else { TERMINAL };

/// Declares the commands: the name and the arguments of each, the function that runs it, and the
/// programs that offer it.
macro_rules! commands {
    ($($(#[$meta:meta])* $name:literal $command:ident($args:ident) => $run:expr, $offer:expr;)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$meta])* #[command(name = $name)] $command($args),)*
        }

        /// The name of each command, and the programs that offer it.
        const COMMANDS: &[(&str, Offer)] = &[$(($name, $offer)),*];

        impl Command {
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$command(_) => $name,)*
                }
            }

            fn offer(&self) -> Offer {
                match self {
                    $(Self::$command(_) => $offer,)*
                }
            }
        }

        fn run(command: &Command, session: &Session) -> anyhow::Result<Status> {
            // A program that keeps dumps open passes its own `--old-mapping` to all commands.
            if session.resident.is_none() {
                command.accept(&session.common)?;
            }
            match command {
                $(Command::$command(args) => $run(args, session),)*
            }
        }
    };
}

commands! {
    "info" Info(InfoArgs) => info::run, ONE;
    "cat" Cat(CatArgs) => cat::run, TERMINAL;
    "top" Top(TopArgs) => top::run, ONE;
    "tree" Tree(TreeArgs) => tree::run, ONE;
    "path" Path(PathArgs) => path::run, ONE;
    "show" Show(ShowArgs) => show::run, ONE;
    "find" Find(FindArgs) => find::run, ONE;
    "source" Source(SourceArgs) => source::run, TERMINAL;
    "threads" Threads(ThreadsArgs) => threads::run, ONE;
    "waste" Waste(WasteArgs) => waste::run, ONE;
    "query" Query(QueryArgs) => query::run, SQL;
    "explore" Explore(ExploreArgs) => explore::run, TERMINAL;
    "report" Report(ReportArgs) => report::run, TERMINAL;
    "serve" Serve(ServeArgs) => serve::run, TERMINAL;
    "mcp" Mcp(McpArgs) => mcp::run, TERMINAL;
    "diff" Diff(DiffArgs) => diff::run, TWO;
    "growth" Growth(GrowthArgs) => growth::run, ALL;
    "check" Check(CheckArgs) => check::run, ASSISTANTS;
    "convert" Convert(ConvertArgs) => convert::run, ONE;
    /// List the input and output formats
    "formats" Formats(NoArgs) => formats::run, TERMINAL;
    "completions" Completions(CompletionsArgs) => completions, TERMINAL;
    /// Print the manual page (roff)
    #[command(after_help = "Examples:\n  dumptool man > ~/.local/share/man/man1/dumptool.1")]
    "man" Man(NoArgs) => man, TERMINAL;
}

#[cfg(not(feature = "query"))]
mod query {
    use super::args::QueryArgs;
    use super::session::Session;
    use super::status::{FULL_BUILD, Status, UsageError};

    pub(super) fn run(_: &QueryArgs, _: &Session) -> anyhow::Result<Status> {
        Err(UsageError::new("this build does not include SQL").hint(FULL_BUILD).into())
    }
}

#[cfg(not(feature = "explore"))]
mod explore {
    use super::args::ExploreArgs;
    use super::session::Session;
    use super::status::{FULL_BUILD, Status, UsageError};

    pub(super) fn run(_: &ExploreArgs, _: &Session) -> anyhow::Result<Status> {
        Err(UsageError::new("this build does not include explore").hint(FULL_BUILD).into())
    }
}

impl Command {
    /// Refuses common options that the command would ignore.
    fn accept(&self, common: &Common) -> Result<(), UsageError> {
        let writes_csv = common.format == OutputFormat::Csv || matches!(self, Self::Convert(_));
        if common.csv_safe && !writes_csv {
            return Err(UsageError::new("--csv-safe is for --format csv"));
        }
        let reads_nothing = matches!(self, Self::Formats(_) | Self::Completions(_) | Self::Man(_));
        let of_input = common.of_input().into_iter().find(|(_, given)| *given && reads_nothing);
        if let Some((option, _)) = of_input {
            let message = format!("{option} is for commands that read a file");
            return Err(UsageError::new(message));
        }
        let compares = matches!(
            self,
            Self::Diff(_)
                | Self::Growth(_)
                | Self::Report(_)
                | Self::Check(_)
                | Self::Convert(_)
                | Self::Serve(_)
                | Self::Explore(_)
                | Self::Mcp(_)
        );
        if common.old_mapping.is_none() || compares {
            return Ok(());
        }
        Err(UsageError::new("--old-mapping is for commands that compare two dumps")
            .hint("use --mapping for the only dump"))
    }
}

fn completions(args: &CompletionsArgs, session: &Session) -> anyhow::Result<Status> {
    session.only(&[OutputFormat::Table], "completions prints a script; it has no --format")?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dumptool", &mut script);
    print::to_output(session, &mut |out| out.write_all(&script))?;
    Ok(Status::Done)
}

fn man(_: &NoArgs, session: &Session) -> anyhow::Result<Status> {
    session.only(&[OutputFormat::Table], "man prints roff; it has no --format")?;
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help")
    {
        clap_mangen::Man::new(subcommand.clone()).render(&mut page)?;
    }
    print::to_output(session, &mut |out| out.write_all(&page))?;
    Ok(Status::Done)
}
