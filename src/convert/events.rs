//! Reads the events of a recording as rows of the table `events`.

use crate::error::{Error, ErrorKind, Result};
use crate::input::{Format, ReadOptions, Visitor, for_each_record};
use crate::model::fields::Record;
use crate::tables::EventRows;
use std::ops::ControlFlow;

/// Reads the events of a recording, or only counts them. Those before its first damage are read.
///
/// # Errors
/// If they take more memory than they may.
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
