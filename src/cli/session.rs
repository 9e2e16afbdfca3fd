//! The session of a command: the common options and the terminal.

use super::address::{self, is_address};
use super::args::{Common, HeapOptions, KnownArgs, OutputFormat};
use super::budget::Budget;
use super::dumps::{Dumps, Given};
use super::inputs::Inputs;
use super::lock;
use super::mappings::{self, Build, Mappings, mapping_beside};
use super::open::{Input, Named};
use super::progress::{self, Progress};
use super::size::size;
use super::status::{InputError, UsageError};
use super::symbols::{self, SymbolFiles};
use super::terminal::{Terminal, show_path};
use crate::input::Format;
use crate::names::{JavaMapping, SourceMaps};
use crate::source::Source;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

/// The formats whose names can be changed by source maps.
const SOURCE_MAPS: &[Format] = &[
    Format::Heapsnapshot,
    Format::Cpuprofile,
    Format::ChromeTrace,
    Format::Heapprofile,
    Format::Pprof,
];

/// One run of a command.
pub(crate) struct Session {
    pub(crate) common: Common,
    pub(crate) terminal: Terminal,
    pub(crate) output: Output,
    /// The dumps that stay open between commands. `None` for a process with a single command.
    pub(crate) resident: Option<Arc<Dumps>>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) inputs: Inputs,
    pub(crate) symbols: SymbolFiles,
    pub(crate) mappings: Mappings,
    /// The maps of `--source-maps`. Empty until an input is opened.
    pub(crate) source_maps: OnceLock<Arc<SourceMaps>>,
    /// Standard input, which can be read only once. Empty until it is opened.
    pub(crate) standard_input: Mutex<Option<Input>>,
}

/// The destination of a command's result.
pub(crate) enum Output {
    Stdout,
    /// A buffer in memory.
    Kept(Arc<Mutex<Vec<u8>>>),
}

impl Session {
    /// A session with these options, for the terminal of the process.
    pub(crate) fn new(common: Common) -> Self {
        let terminal = Terminal::new(&common);
        Self::with(common, terminal, Output::Stdout, None)
    }

    /// A session that keeps its result and messages in memory and may use resident dumps.
    pub(crate) fn kept(common: Common, resident: Option<Arc<Dumps>>) -> Self {
        let terminal = Terminal::kept(&common);
        Self::with(common, terminal, Output::Kept(Arc::default()), resident)
    }

    fn with(
        common: Common,
        terminal: Terminal,
        output: Output,
        resident: Option<Arc<Dumps>>,
    ) -> Self {
        progress::allow(terminal.progress);
        Self {
            symbols: SymbolFiles::new(&common),
            terminal,
            common,
            output,
            resident,
            budget: Arc::default(),
            inputs: Inputs::default(),
            mappings: Mappings::default(),
            source_maps: OnceLock::new(),
            standard_input: Mutex::default(),
        }
    }

    /// Opens a dump, or standard input for `-`.
    pub(crate) fn open(&self, path: &Path) -> anyhow::Result<Input> {
        self.open_of(path, Build::New)
    }

    /// Opens the older of two dumps that are compared.
    pub(crate) fn open_old(&self, path: &Path) -> anyhow::Result<Input> {
        self.open_of(path, Build::Old)
    }

    fn open_of(&self, path: &Path, build: Build) -> anyhow::Result<Input> {
        let named = Named {
            mapping: build.mapping(&self.common).1.cloned(),
            source_maps: self.common.source_maps.clone(),
            symbols: self.common.symbols.clone(),
        };
        let open = || -> anyhow::Result<Input> {
            if self.resident.is_some() && is_address(path) {
                let message = "only commands that run once fetch addresses";
                return Err(UsageError::new(message).hint(address::by_curl(path)).into());
            }
            let mut input = if path == Path::new("-") {
                self.standard_input()?
            } else {
                Input::open(path, &self.common)?
            };
            input.mapping = self.mapping(&input, build)?;
            input.named = named.clone();
            Ok(input)
        };
        let input = match &self.resident {
            Some(resident) => resident.input(path, &named, open)?,
            None => open()?,
        };
        if self.gives(|common| &common.symbols) {
            symbols::accept(&self.common, &input)?;
        }
        self.open_source_maps(&input)?;
        self.reads(path, &input.source);
        Ok(input)
    }

    /// Standard input. Commands that open their file several times get the same one.
    fn standard_input(&self) -> anyhow::Result<Input> {
        let mut kept = lock(&self.standard_input);
        Ok(match &*kept {
            Some(input) => input.clone(),
            None => kept.insert(Input::open(Path::new("-"), &self.common)?).clone(),
        })
    }

    /// The mapping of a dump: the one from the options, otherwise the file `mapping.txt` beside the
    /// dump, with a warning that names the file. Fails with a [`UsageError`] if the dump has no
    /// classes of Java; with an [`InputError`] if the mapping cannot be read.
    fn mapping(&self, input: &Input, build: Build) -> anyhow::Result<Option<Arc<JavaMapping>>> {
        let (name, path) = build.mapping(&self.common);
        let is_given = path.is_some() && self.gives(|common| build.mapping(common));
        input.only(mappings::FORMATS, name, is_given)?;
        if !mappings::FORMATS.contains(&input.format) {
            return Ok(None);
        }
        if let Some(path) = path {
            return Ok(Some(self.mappings.read(path)?));
        }
        let beside = mapping_beside(&input.path);
        if input.path == Path::new("-") || !beside.is_file() || self.allow(&beside).is_err() {
            return Ok(None);
        }
        // A file that was not named on the command line is ignored if it cannot be read.
        let Ok(mapping) = self.mappings.read(&beside) else { return Ok(None) };
        // Some commands open a file twice; the warning appears once.
        if !std::fs::metadata(&input.path).is_ok_and(|file| self.inputs.have(&file)) {
            let message = format!("names are those of {}", show_path(&beside));
            self.terminal.warn(&input.path, &message);
        }
        Ok(Some(mapping))
    }

    /// Reads the maps of `--source-maps`, unless they have been read. Fails with a [`UsageError`]
    /// for an input that has no scripts; with an [`InputError`] for a map that cannot be read.
    fn open_source_maps(&self, input: &Input) -> anyhow::Result<()> {
        let is_given = !self.common.source_maps.is_empty();
        let is_given = is_given && self.gives(|common| &common.source_maps);
        input.only(SOURCE_MAPS, "--source-maps", is_given)?;
        self.given_source_maps()?;
        Ok(())
    }

    /// The maps of `--source-maps`, read on first use. `None` if the option is not given. Fails
    /// with an [`InputError`] for a map that cannot be read.
    pub(crate) fn given_source_maps(&self) -> Result<Option<Arc<SourceMaps>>, InputError> {
        let places = &self.common.source_maps;
        if !places.is_empty() && self.source_maps.get().is_none() {
            let resident = self.resident.as_ref().map(|resident| &resident.given);
            let read = resident.filter(|given| given.common.source_maps == *places);
            let maps = match read.and_then(|given| given.source_maps.clone()) {
                Some(read) => read,
                None => Arc::new(
                    SourceMaps::new(places)
                        .map_err(|(path, error)| InputError::new(&path, error))?,
                ),
            };
            _ = self.source_maps.set(maps);
        }
        Ok(self.source_maps.get().cloned())
    }

    /// The options of a program that keeps dumps open. Fails with an [`InputError`] for a source
    /// map that cannot be read.
    pub(crate) fn given(&self, heap: &HeapOptions, known: &KnownArgs) -> Result<Given, InputError> {
        Ok(Given {
            snapshot: heap.snapshot,
            roots: heap.roots.clone(),
            common: self.common.clone(),
            source_maps: self.given_source_maps()?,
            known: known.clone(),
        })
    }

    pub(crate) fn source_maps(&self) -> Option<&SourceMaps> {
        self.source_maps.get().map(Arc::as_ref)
    }

    /// Whether an option was given to this command itself. Options of a program that keeps dumps
    /// open do not count: they apply only to dumps that can use them.
    pub(crate) fn gives<'s, T: PartialEq>(&'s self, option: impl Fn(&'s Common) -> T) -> bool {
        match (&self.resident, &self.output) {
            (Some(resident), Output::Kept(_)) => {
                option(&resident.given.common) != option(&self.common)
            }
            _ => true,
        }
    }

    /// Prints which source maps were found and not used, and whether no script has one.
    pub(crate) fn warn_of_source_maps(&self, input: &Input) {
        let Some(maps) = self.source_maps() else { return };
        let problems = maps.take_problems();
        for problem in &problems {
            self.terminal.warn(&input.path, &problem.to_string());
        }
        if problems.is_empty() && !maps.is_used() {
            self.terminal.warn(
                &input.path,
                "--source-maps: no script has a map; the map of app.js is app.js.map, the file that app.js names as sourceMappingURL, or the map with the file app.js",
            );
        }
    }

    /// Registers an input of the command and adds its share to the budget.
    pub(crate) fn reads(&self, path: &Path, source: &Source) {
        self.inputs.add(path);
        self.budget.earn(source, &self.common, self.resident.is_some());
    }

    /// Refuses a file that the resident program was not given. Fails with a [`UsageError`] that has
    /// the path.
    pub(crate) fn allow(&self, path: &Path) -> Result<(), UsageError> {
        self.resident.as_ref().map_or(Ok(()), |resident| resident.allow(path))
    }

    /// Refuses a file that a resident program may not create: one that exists, or one outside of
    /// the folders that it may read. Fails with a [`UsageError`] that has the path.
    pub(crate) fn allow_new(&self, path: &Path) -> Result<(), UsageError> {
        let Some(resident) = &self.resident else { return Ok(()) };
        if path.symlink_metadata().is_ok() {
            let message = format!("{} is there and would be replaced", show_path(path));
            return Err(UsageError::new(message).hint("choose a name that no file has"));
        }
        resident.allow(path).map_err(|_| {
            UsageError::new(format!("{} may not be written here", show_path(path)))
                .hint("name a new file in a folder that exists and was given with --allow")
        })
    }

    /// Shows how much of an input has been read.
    pub(crate) fn progress(&self, input: &Input) -> Progress {
        Progress::new("reading", Some(input.bytes().len() as u64))
    }

    pub(crate) fn size(&self, bytes: u64) -> String {
        size(bytes, self.common.bytes)
    }

    /// Returns the number of rows to show: `--limit`, where 0 means all. Without it, `usual` if the
    /// output can state what it omits, otherwise all.
    pub(crate) fn rows(&self, limit: Option<u64>, usual: usize) -> usize {
        match (limit, self.common.format) {
            (Some(0), _) | (None, OutputFormat::Jsonl | OutputFormat::Csv) => usize::MAX,
            (Some(limit), _) => usize::try_from(limit).unwrap_or(usize::MAX),
            (None, _) => usual,
        }
    }

    /// Splits rows into those to show, as [`Session::rows`] counts them, and those to omit.
    pub(crate) fn shown<'r, T>(
        &self,
        rows: &'r [T],
        limit: Option<u64>,
        usual: usize,
    ) -> (&'r [T], &'r [T]) {
        rows.split_at(self.rows(limit, usual).min(rows.len()))
    }

    /// Refuses output formats that a command does not have.
    pub(crate) fn only(&self, formats: &[OutputFormat], message: &str) -> Result<(), UsageError> {
        if formats.contains(&self.common.format) { Ok(()) } else { Err(UsageError::new(message)) }
    }
}
