//! The tables of a profile, which its samples refer to.

use super::wire::{Field, Fields, Value};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::load::{MemoryLimit, damage};
use crate::model::profile::{self, Code};
use rustc_hash::FxHashMap;
use std::num::Saturating;

/// Everything in a profile except the samples.
#[derive(Debug, Default)]
pub(super) struct Tables<'a> {
    /// Type and unit of each value type, as string numbers.
    pub(super) types: Vec<(u64, u64)>,
    pub(super) strings: Vec<&'a [u8]>,
    pub(super) functions: Table<Function>,
    pub(super) mappings: Table<Mapping>,
    pub(super) locations: Table<Location>,
    lines: Vec<Line>,
    /// The comments, as string numbers.
    pub(super) comments: Vec<u64>,
    pub(super) period_type: Option<(u64, u64)>,
    pub(super) period: i64,
    pub(super) time_nanos: i64,
    pub(super) duration_nanos: i64,
    pub(super) default_type: u64,
    pub(super) doc_url: u64,
    pub(super) drop_frames: u64,
    pub(super) keep_frames: u64,
    pub(super) samples: u64,
    /// The count of fields by field number, as records have names.
    pub(super) counts: [u64; 16],
    /// The number of rows whose id is 0 or was already taken.
    pub(super) bad_ids: Saturating<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Function {
    pub(super) name: u64,
    pub(super) system_name: u64,
    pub(super) file: u64,
    pub(super) start_line: i64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mapping {
    pub(super) start: u64,
    pub(super) limit: u64,
    pub(super) offset: u64,
    pub(super) file: u64,
    pub(super) build_id: u64,
    pub(super) is_symbolized: [bool; 4],
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Location {
    pub(super) mapping: u64,
    pub(super) address: u64,
    /// The range of its lines in the lines of all locations.
    lines: (usize, usize),
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    pub(super) function: u64,
    pub(super) line: i64,
    pub(super) column: i64,
}

/// Rows by ids, which usually are 1, 2, 3 and so on.
#[derive(Debug)]
pub(super) struct Table<T> {
    pub(super) rows: Vec<T>,
    /// Rows by id, once there is an id that is not its row plus one.
    by_id: Option<FxHashMap<u64, usize>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), by_id: None }
    }
}

impl<T> Table<T> {
    /// Adds a row. Returns whether its id is new and not 0. The first row of an id counts.
    fn add(&mut self, id: u64, row: T) -> bool {
        let at = self.rows.len();
        self.rows.push(row);
        if self.by_id.is_none() && id == (at as u64).wrapping_add(1) {
            return true;
        }
        let by_id = self.by_id.get_or_insert_with(|| (1u64..).zip(0..at).collect());
        let mut is_new = false;
        by_id.entry(id).or_insert_with(|| {
            is_new = true;
            at
        });
        is_new && id != 0
    }

    #[inline]
    pub(super) fn row(&self, id: u64) -> Option<usize> {
        match &self.by_id {
            Some(by_id) => by_id.get(&id).copied(),
            None => usize::try_from(id.checked_sub(1)?).ok().filter(|row| *row < self.rows.len()),
        }
    }

    /// Bytes of memory of the rows, of the loader's data for each row, and of the ids.
    fn bytes(&self) -> usize {
        let row = size_of::<T>().saturating_mul(3) / 2;
        let ids = self.by_id.as_ref().map_or(0, FxHashMap::len).saturating_mul(26);
        self.rows.len().saturating_mul(row.saturating_add(16)).saturating_add(ids)
    }

    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<&T> {
        self.rows.get(self.row(id)?)
    }
}

/// Sample types that a file may have. Each makes every sum larger, and tables have a column for each.
const MOST_TYPES: usize = 64;

impl<'a> Tables<'a> {
    /// Reads the tables of a file up to its first damage. Fails when the tables take more memory
    /// than they may.
    pub(super) fn read(
        bytes: &'a [u8],
        memory: MemoryLimit,
        progress: &dyn Fn(u64),
    ) -> Result<(Self, Option<Error>)> {
        let mut tables = Self::default();
        let mut fields = Fields(Cursor::new(bytes, 0));
        let mut number = 0_u64;
        while let Some(field) = fields.next() {
            if let Ok(Field { number: 2, value: Value::Bytes(_), offset }) = field {
                tables.add_samples(fields.skip_copies(bytes, offset));
            }
            number = number.wrapping_add(1);
            let read = field.and_then(|field| {
                if number.is_multiple_of(65536) {
                    progress(field.offset / 2);
                }
                // Lines of locations and comments are kept.
                let is_kept = matches!(field.number, 4 | 13);
                let more = if is_kept { field.value.bytes_at_most() } else { 0 };
                if more > 1 << 16 || number.is_multiple_of(4096) {
                    memory.check_bytes(field.offset, tables.bytes().saturating_add(more))?;
                }
                tables.field(field)
            });
            if let Some(error) = damage(read)? {
                return Ok((tables, Some(error)));
            }
        }
        Ok((tables, None))
    }

    /// Bytes of memory, including the spare room of columns and the columns that the loader adds.
    pub(super) fn bytes(&self) -> u64 {
        let rows = [
            self.strings.len().saturating_mul(36),
            self.lines.len().saturating_mul(36),
            self.comments.len().saturating_mul(12),
            self.types.len().saturating_mul(24),
            self.functions.bytes(),
            self.mappings.bytes(),
            self.locations.bytes(),
        ];
        rows.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes as u64))
    }

    /// Counts samples that equal another one.
    fn add_samples(&mut self, copies: u64) {
        self.samples = self.samples.saturating_add(copies);
        self.counts[1] = self.counts[1].saturating_add(copies);
    }

    fn field(&mut self, field: Field<'a>) -> Result<()> {
        let Field { number, value, offset } = field;
        if let Some(count) = usize::try_from(number.saturating_sub(1).min(15))
            .ok()
            .and_then(|index| self.counts.get_mut(index))
        {
            *count = count.saturating_add(1);
        }
        match (number, value) {
            (1, Value::Bytes(_)) => {
                if self.types.len() >= MOST_TYPES {
                    return Err(Error::limit(offset, "too many sample types")
                        .expected(format!("at most {MOST_TYPES}")));
                }
                self.types.push(value.numbers::<2>()?.into());
            }
            (2, Value::Bytes(_)) => self.samples = self.samples.saturating_add(1),
            (3, Value::Bytes(_)) => self.mapping(value)?,
            (4, Value::Bytes(_)) => self.location(value)?,
            (5, Value::Bytes(_)) => self.function(value)?,
            (6, Value::Bytes(text)) => self.strings.push(text.rest()),
            (7, _) => self.drop_frames = value.number(),
            (8, _) => self.keep_frames = value.number(),
            (9, _) => self.time_nanos = value.number() as i64,
            (10, _) => self.duration_nanos = value.number() as i64,
            (11, Value::Bytes(_)) => self.period_type = Some(value.numbers::<2>()?.into()),
            (12, _) => self.period = value.number() as i64,
            (13, _) => value.each(|number| self.comments.push(number))?,
            (14, _) => self.default_type = value.number(),
            (15, _) => self.doc_url = value.number(),
            _ => {}
        }
        Ok(())
    }

    fn mapping(&mut self, value: Value<'a>) -> Result<()> {
        let [id, start, limit, offset, file, build_id, flags @ ..] = value.numbers::<10>()?;
        let is_symbolized = flags.map(|flag| flag != 0);
        let mapping = Mapping { start, limit, offset, file, build_id, is_symbolized };
        self.bad_ids += u64::from(!self.mappings.add(id, mapping));
        Ok(())
    }

    fn function(&mut self, value: Value<'a>) -> Result<()> {
        let [id, name, system_name, file, start_line] = value.numbers()?;
        let function = Function { name, system_name, file, start_line: start_line as i64 };
        self.bad_ids += u64::from(!self.functions.add(id, function));
        Ok(())
    }

    fn location(&mut self, value: Value<'a>) -> Result<()> {
        let first = self.lines.len();
        let (mut id, mut location) = (0, Location::default());
        for field in value.fields() {
            match field? {
                Field { number: 1, value, .. } => id = value.number(),
                Field { number: 2, value, .. } => location.mapping = value.number(),
                Field { number: 3, value, .. } => location.address = value.number(),
                Field { number: 4, value, .. } => {
                    let [function, line, column] = value.numbers()?;
                    let (line, column) = (line as i64, column as i64);
                    self.lines.push(Line { function, line, column });
                }
                _ => {}
            }
        }
        location.lines = (first, self.lines.len());
        self.bad_ids += u64::from(!self.locations.add(id, location));
        Ok(())
    }

    /// The mappings, without the places of frames.
    pub(super) fn code(&self) -> Code {
        let mapping = |mapping: &Mapping| profile::Mapping {
            start: mapping.start,
            limit: mapping.limit,
            offset: mapping.offset,
            file: self.text(mapping.file),
            build_id: self.text(mapping.build_id),
            is_symbolized: mapping.is_symbolized,
        };
        Code { mappings: self.mappings.rows.iter().map(mapping).collect(), places: Vec::new() }
    }

    /// The lines of a location, innermost first.
    pub(super) fn lines(&self, location: &Location) -> &[Line] {
        self.lines.get(location.lines.0..location.lines.1).unwrap_or_default()
    }

    /// A string by its number; `None` if there is none.
    pub(super) fn string(&self, number: u64) -> Option<&'a [u8]> {
        self.strings.get(usize::try_from(number).ok()?).copied()
    }

    /// A string for people: empty if there is none.
    pub(super) fn text(&self, number: u64) -> String {
        String::from_utf8_lossy(self.string(number).unwrap_or_default()).into_owned()
    }
}
