//! The items of lists, and lists that are read in place.

use crate::error::Result;
use crate::input::json::{Scanner, ValueKind};

/// The unit of fractions: enough for any number that a writer divides by a power of ten, and for
/// nanoseconds of a second.
pub(super) const BILLION: i128 = 1_000_000_000;

/// Reads a stack: the numbers of its frames, outermost first.
pub(super) fn stack(scanner: &mut Scanner<'_>, stack: &mut Vec<u64>) -> Result<()> {
    stack.clear();
    scanner.unsigned_array(|frame| stack.push(frame))
}

/// Reads a number in billionths, rounded; nanoseconds if the unit is a second.
pub(super) fn weight(scanner: &mut Scanner<'_>) -> Result<i128> {
    let number = scanner.number()?;
    match number.signed() {
        Ok(whole) => Ok(i128::from(whole).saturating_mul(BILLION)),
        Err(_) => Ok((number.float()? * BILLION as f64).round() as i128),
    }
}

/// The opening or closing of a frame.
pub(super) struct Event {
    pub(super) opens: bool,
    pub(super) frame: u64,
    /// The time or value of the event, in billionths of the unit.
    pub(super) at: i128,
}

/// Reads an event.
pub(super) fn event(scanner: &mut Scanner<'_>) -> Result<Event> {
    let mut event = Event { opens: false, frame: u64::MAX, at: 0 };
    scanner.begin_object()?;
    while let Some(key) = scanner.key()? {
        match (key.raw(), scanner.peek()?) {
            (b"type", ValueKind::String) => event.opens = scanner.text()?.raw() == b"O",
            (b"frame", ValueKind::Number) => event.frame = scanner.unsigned()?,
            (b"at", ValueKind::Number) => event.at = weight(scanner)?,
            _ => scanner.skip()?,
        }
    }
    Ok(event)
}

/// A list, read up to its end or its first damage.
pub(super) struct List<'a> {
    scanner: Scanner<'a>,
    is_open: bool,
}

impl<'a> List<'a> {
    /// Begins with the bracket that opens the list.
    pub(super) fn new(list: Option<&'a [u8]>) -> Self {
        let mut scanner = Scanner::new(list.unwrap_or_default(), 0);
        let is_open = scanner.begin_array().is_ok();
        Self { scanner, is_open }
    }

    /// Reads the next item with one of the functions for it.
    pub(super) fn next<T>(
        &mut self,
        read: impl FnOnce(&mut Scanner<'a>) -> Result<T>,
    ) -> Option<T> {
        self.is_open = self.is_open && self.scanner.item().unwrap_or(false);
        self.is_open.then(|| read(&mut self.scanner))?.ok()
    }
}
