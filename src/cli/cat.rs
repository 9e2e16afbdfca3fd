//! `cat`: every record, in file order.

use super::args::{CatArgs, OutputFormat};
use super::budget::Budget;
use super::memory::reading_limit;
use super::profile::refused;
use super::session::Session;
use super::status::{OutputError, Status, UsageError};
use crate::analysis::glob::Glob;
use crate::error::ErrorKind;
use crate::input::{self, Format, ReadOptions, Visitor};
use crate::model::fields::Record;
use crate::output::records::RecordFormat;
use std::io::{self, Write};
use std::ops::ControlFlow;

pub(super) fn run(args: &CatArgs, session: &Session) -> anyhow::Result<Status> {
    session.only(
        &[OutputFormat::Table, OutputFormat::Jsonl],
        "cat supports only --format table and jsonl, because records have different fields",
    )?;
    let json = session.common.format == OutputFormat::Jsonl;
    let input = session.open(&args.file)?;
    let known = input.format.record_names();
    if let Some(name) = args.record.iter().find(|name| !known.contains(&name.as_str())) {
        let hint = format!("records of {}: {}", input.format.title(), known.join(", "));
        return Err(UsageError::new(format!("unknown record {name}")).hint(hint).into());
    }
    input.only(&[Format::Jfr], "--type", args.type_glob.is_some())?;
    let format = RecordFormat {
        json,
        contents: args.contents,
        name_width: known.iter().map(|name| name.len()).max().unwrap_or(0),
        color: session.terminal.color,
    };
    let left = args.limit.filter(|limit| *limit > 0).unwrap_or(u64::MAX);
    let budget = &session.budget;
    let types = args.type_glob.as_deref().map(Glob::new);
    let mut printer =
        Printer { args, types, format, left, buffer: Vec::new(), budget, written: Ok(()) };
    let progress = session.progress(&input);
    let options = ReadOptions {
        memory: reading_limit(&input, &session.common),
        mapping: input.mapping.as_deref(),
        progress: &|offset| progress.passed(offset, &input.source),
        ..ReadOptions::default()
    };
    let read = input::for_each_record(input.format, input.bytes(), options, &mut printer);
    drop(progress);
    let is_full = printer.left == 0;
    printer.finish()?;
    let read = match read {
        Err(error) if error.kind() == ErrorKind::Memory => {
            return Err(refused(error, &input, &session.common));
        }
        read => read,
    };
    if is_full {
        return Ok(Status::Done);
    }
    Ok(input.report_if_damaged(read.as_ref().err(), &session.terminal))
}

struct Printer<'a> {
    args: &'a CatArgs,
    types: Option<Glob>,
    format: RecordFormat,
    left: u64,
    buffer: Vec<u8>,
    budget: &'a Budget,
    written: io::Result<()>,
}

const BUFFER: usize = 64 << 10;

impl Visitor for Printer<'_> {
    #[inline]
    fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()> {
        let wanted = self.args.record.is_empty()
            || self.args.record.iter().any(|name| name == record.name());
        let matches = |glob: &Glob| record.type_name().is_some_and(|name| glob.matches(name));
        let wanted = wanted && self.types.as_ref().is_none_or(matches);
        if !wanted || self.args.offset.is_some_and(|from| offset < from) {
            return ControlFlow::Continue(());
        }
        self.format.append(offset, record, &mut self.buffer);
        self.left -= 1;
        if self.left == 0 || self.buffer.len() >= BUFFER && self.flush().is_break() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Printer<'_> {
    fn flush(&mut self) -> ControlFlow<()> {
        self.written = self.budget.counting(io::stdout()).write_all(&self.buffer);
        self.buffer.clear();
        if self.written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn finish(mut self) -> Result<(), OutputError> {
        if self.written.is_ok() {
            let _ = self.flush(); // The error, if any, is looked at next.
        }
        self.written.and_then(|()| io::stdout().flush()).map_err(OutputError::stdout)
    }
}
