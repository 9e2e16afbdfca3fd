//! Options shared by all commands.

use super::one_of;
use crate::cli::size::parse_size;
use crate::input::{FORMATS, Format};
use crate::output::syntax::shell_word;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Common options")]
pub(in crate::cli) struct Common {
    /// Output format: table, json (one document), jsonl (one object per line), csv, markdown
    /// (GitHub tables); for `check` also github (annotations), junit and sarif
    #[arg(long, global = true, value_enum, default_value_t = OutputFormat::Table, hide_possible_values = true)]
    pub(in crate::cli) format: OutputFormat,
    /// Input format (default: detected by content)
    #[arg(long, global = true, value_name = "FORMAT", value_parser = one_of(FORMATS.map(|format| (format.name(), format.title(), format))), hide_possible_values = true)]
    pub(in crate::cli) from: Option<Format>,
    /// Exit with status 0 even if the input is damaged
    #[arg(long, global = true)]
    pub(in crate::cli) lenient: bool,
    /// Number of threads (default: one per core). The output is the same for any number
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(in crate::cli) threads: Option<u16>,
    /// Maximum memory to use, such as 2GiB (default: 80 % of RAM). Commands that need more stop
    /// before they start
    #[arg(long, global = true, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size)]
    pub(in crate::cli) max_memory: Option<u64>,
    /// Maximum processor time in seconds (default: 8 for each MiB of input). For `query`, also the
    /// time that the statement may take; for an address, the time until the file has arrived
    #[arg(long, global = true, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(in crate::cli) timeout: Option<u64>,
    /// With an http:// address: keep the file that the server sends (at most 4 GiB), as FILE, which
    /// must not exist
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) save: Option<PathBuf>,
    /// Keep large columns in unnamed temporary files in DIR, for heaps that do not fit into memory
    /// (Linux). Slower; the limit is then the free space in DIR
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(in crate::cli) spill: Option<PathBuf>,
    /// Program, or folder of programs, libraries and their debug files, for the names of functions of
    /// profiles with addresses only (pprof, perf-data). Searched by build id, name and path, before the
    /// files that the profile names. May be repeated
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(in crate::cli) symbols: Vec<PathBuf>,
    /// File `mapping.txt` of ProGuard or R8, for the names that the classes, fields and methods of a
    /// minified Java program had (hprof, jfr; default: mapping.txt beside the dump)
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) mapping: Option<PathBuf>,
    /// The same for the older dump where two are compared, because each build has names of its own
    /// (default: that of --mapping)
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) old_mapping: Option<PathBuf>,
    /// Source map, or folder of source maps, for the original names, files and lines of functions and
    /// classes of JavaScript (heap snapshots, CPU and heap profiles of V8, pprof of Node.js). Matched
    /// with scripts by file name (app.js.map), `sourceMappingURL` or the map's `file`. May be repeated
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(in crate::cli) source_maps: Vec<PathBuf>,
    /// Write where dumptool itself spends its time, by phase and thread, as a speedscope file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) profile: Option<PathBuf>,
    /// Show sizes in bytes instead of KiB, MiB …
    #[arg(long, global = true)]
    pub(in crate::cli) bytes: bool,
    /// In CSV, put ' before cells that a spreadsheet would run as formulas (those that start with
    /// =, +, -, @, tab or CR)
    #[arg(long, global = true)]
    pub(in crate::cli) csv_safe: bool,
    /// Do not show a progress bar
    #[arg(long, global = true)]
    pub(in crate::cli) no_progress: bool,
    /// When to use color: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", hide_possible_values = true)]
    pub(in crate::cli) color: Color,
    /// Show more detail
    #[arg(short, long, global = true)]
    pub(in crate::cli) verbose: bool,
    /// Do not show warnings
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(in crate::cli) quiet: bool,
}

impl Common {
    /// The options that give names, as words of a command line, with names of files instead of paths,
    /// for output that others see.
    pub(in crate::cli) fn public_names(&self) -> String {
        let mapping = [("--mapping", &self.mapping), ("--old-mapping", &self.old_mapping)];
        let mapping =
            mapping.into_iter().flat_map(|(name, path)| path.iter().map(move |it| (name, it)));
        let maps = self.source_maps.iter().map(|path| ("--source-maps", path));
        let symbols = self.symbols.iter().map(|path| ("--symbols", path));
        let word = |(name, path): (&str, &PathBuf)| {
            let file = path.file_name().unwrap_or(path.as_os_str());
            format!(" {name} {}", shell_word(&file.to_string_lossy()))
        };
        mapping.chain(maps).chain(symbols).map(word).collect()
    }

    /// Returns each option about the reading of files, with whether it was given.
    pub(in crate::cli) fn of_input(&self) -> [(&'static str, bool); 9] {
        [
            ("--from", self.from.is_some()),
            ("--lenient", self.lenient),
            ("--max-memory", self.max_memory.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--save", self.save.is_some()),
            ("--spill", self.spill.is_some()),
            ("--symbols", !self.symbols.is_empty()),
            ("--mapping", self.mapping.is_some()),
            ("--source-maps", !self.source_maps.is_empty()),
        ]
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum OutputFormat {
    /// Text for people
    #[default]
    Table,
    /// One JSON document
    Json,
    /// One JSON object per line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
    /// A table in GitHub-flavored Markdown
    Markdown,
    /// GitHub Actions annotations and a summary table
    Github,
    /// JUnit XML
    Junit,
    /// SARIF 2.1.0
    Sarif,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl OutputFormat {
    /// Whether the format is meant for people, with shares, readable sizes and notes.
    pub(in crate::cli) fn is_for_people(self) -> bool {
        matches!(self, Self::Table | Self::Markdown | Self::Github)
    }
}
