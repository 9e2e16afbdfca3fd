//! The tables of a loaded heap or profile.

use super::{Conversion, Converted, ConvertedCounts, DumpFile};
use crate::analyses::Analyses;
use crate::error::{Error, ErrorKind, Result};
use crate::input::load::{Loaded, LoadedProfile};
use crate::input::{Format, ReadOptions, Visitor, for_each_record};
use crate::model::fields::Record;
use crate::output::{OutputFormat, Syntax};
use crate::tables::{self, DumpRow, EventRows, Relation, Table, TableSelection, TextLimit};
use std::io::{self, Write};
use std::ops::ControlFlow;

/// A loaded dump as tables.
pub struct TableSource<'a> {
    target: OutputFormat,
    model: Model<'a>,
    texts: TextLimit,
    dump: DumpRow,
    /// The events, if the table `events` is wanted. Otherwise empty.
    events: EventRows,
}

enum Model<'a> {
    Heap(Box<Analyses<'a>>),
    Profile(Box<(LoadedProfile, TableSelection)>),
}

impl<'a> TableSource<'a> {
    /// Prepares the analyses of a heap, and the row of the table `dump` if it is among the `tables`.
    ///
    /// # Errors
    /// If the file cannot be read for the table `dump`.
    pub fn of_heap(
        conversion: &Conversion<'_>,
        loaded: &'a Loaded<'a>,
        tables: &[Table],
    ) -> io::Result<Self> {
        let analyses = Analyses::of(loaded);
        let dump = dump_row(conversion, loaded.damage.as_ref(), tables, Some(&analyses))?;
        Ok(Self::new(conversion, Model::Heap(Box::new(analyses)), dump))
    }

    /// Selects the threads and the metric of a profile.
    ///
    /// # Errors
    /// Like [`TableSource::of_heap`], or if the profile does not have the requested metric, or its
    /// events take too much memory.
    pub fn of_profile(
        conversion: &Conversion<'_>,
        loaded: LoadedProfile,
        tables: &[Table],
    ) -> io::Result<Self> {
        let selection = conversion.options.selection.clone();
        let metric = conversion.metric(&loaded.profile)?;
        let dump = dump_row(conversion, loaded.damage.as_ref(), tables, None)?;
        let model = Model::Profile(Box::new((loaded, TableSelection { selection, metric })));
        let mut source = Self::new(conversion, model, dump);
        if tables.contains(&Table::Events) {
            let memory = conversion.options.memory;
            let DumpFile { format, bytes, mapping, .. } = conversion.file;
            let options = ReadOptions { memory, mapping, ..ReadOptions::default() };
            source.events = read_events(format, bytes, false, options).map_err(io::Error::other)?;
        }
        Ok(source)
    }

    fn new(conversion: &Conversion<'_>, model: Model<'a>, dump: DumpRow) -> Self {
        Self {
            target: conversion.target,
            model,
            texts: conversion.options.texts,
            dump,
            events: EventRows::default(),
        }
    }

    /// Returns a table, which the dump must have.
    pub fn relation(&self, table: Table) -> Box<dyn Relation + '_> {
        if table == Table::Events {
            return tables::of_events(&self.events);
        }
        let relation = match &self.model {
            Model::Heap(analyses) => tables::of_heap(analyses, table, self.texts),
            Model::Profile(selected) => tables::of_profile(&selected.0.profile, &selected.1, table),
        };
        relation.unwrap_or_else(|| tables::of_dump(|| self.dump.clone()))
    }

    /// Writes a table and returns its number of rows.
    ///
    /// # Errors
    /// If the output cannot be written, or this build does not support tables in the format.
    pub fn write(&self, table: Table, out: &mut impl Write) -> io::Result<u64> {
        let relation = self.relation(table);
        match self.target {
            OutputFormat::Csv => tables::write(&*relation, Syntax::Csv, out),
            OutputFormat::Jsonl => tables::write(&*relation, Syntax::Jsonl, out),
            #[cfg(feature = "parquet")]
            OutputFormat::Parquet => {
                let facts = [
                    ("dumptool.file", self.dump.file.clone()),
                    ("dumptool.format", self.dump.format.clone()),
                    ("dumptool.complete", self.dump.damage.is_none().to_string()),
                ];
                tables::write_parquet(&*relation, &facts, out)
            }
            other => {
                let message = format!("this build writes no tables as {}", other.name());
                Err(io::Error::new(io::ErrorKind::Unsupported, message))
            }
        }
    }

    /// Writes the only table of a conversion.
    pub(super) fn convert(&self, table: Table, out: &mut impl Write) -> io::Result<Converted> {
        let rows = self.write(table, out)?;
        Ok(Converted { written: ConvertedCounts::Rows { rows }, lost: Vec::new() })
    }
}

/// Returns the row of the table `dump`. Data that requires reading the file is present only if the
/// table is wanted.
fn dump_row(
    conversion: &Conversion<'_>,
    damage: Option<&Error>,
    tables: &[Table],
    heap: Option<&Analyses<'_>>,
) -> io::Result<DumpRow> {
    let file = &conversion.file;
    let damage = file.damage.or(damage).map(ToString::to_string);
    if tables.contains(&Table::Dump) {
        file.row(damage, heap).map_err(io::Error::other)
    } else {
        Ok(file.known(damage))
    }
}

/// Reads the events of a recording up to its first damage, or only counts them.
///
/// # Errors
/// If the events take more memory than allowed.
pub fn read_events(
    format: Format,
    bytes: &[u8],
    only_count: bool,
    options: ReadOptions<'_>,
) -> Result<EventRows> {
    let mut events = Events { rows: EventRows::default(), only_count, options, error: None };
    let damage = for_each_record(format, bytes, options, &mut events);
    match events.error.or(damage.err().filter(|error| error.kind() == ErrorKind::Memory)) {
        Some(error) => Err(error),
        None => Ok(events.rows),
    }
}

struct Events<'o> {
    rows: EventRows,
    only_count: bool,
    options: ReadOptions<'o>,
    error: Option<Error>,
}

impl Visitor for Events<'_> {
    fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()> {
        if self.only_count {
            self.rows.count(record);
            return ControlFlow::Continue(());
        }
        self.rows.add(record);
        match self.options.memory.check_bytes(offset, self.rows.bytes()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}
