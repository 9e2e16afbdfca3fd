//! Rows of results in every output format, for any type of row.

use super::table::{Align, Table};
use super::value::Value;
use crate::cli::session::Session;
use crate::cli::size::{count, size};
use crate::cli::terminal::shown;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;
use std::ops::Range;

/// The rows of a result and the description of their columns.
#[derive(Clone, Copy)]
pub(super) struct Rows<'r, 'a> {
    pub(super) layout: &'r Layout<'a>,
    pub(super) cells: &'r dyn Cells<'a>,
}

pub(super) trait Cells<'a> {
    fn count(&self) -> usize;
    /// The value for programs.
    fn value(&self, row: usize, column: usize) -> Value<'a>;
    /// The text for people. `None` if it is made from the value.
    fn text(&self, row: usize, column: usize) -> Option<String>;
}

/// The columns, and which of them each format shows.
pub(super) struct Layout<'a> {
    pub(super) columns: Vec<Column>,
    /// Keys of the columns that people see, in their order.
    pub(super) table: Option<Vec<&'static str>>,
    pub(super) csv: Option<Vec<&'static str>>,
    pub(super) minor: Vec<&'static str>,
    pub(super) session: &'a Session,
}

pub(super) struct Column {
    /// Key in JSON and CSV. `old.count` is `count` in an object `old` in JSON, and `old_count` in
    /// CSV. A name that is only known at run time is taken as it is.
    key: Cow<'static, str>,
    /// Heading for people. `None` if only programs see the column.
    heading: Option<String>,
    align: Align,
    pub(super) kind: Kind,
    pub(super) is_bold: bool,
    pub(super) room: Room,
    pub(super) in_json: bool,
    pub(super) in_csv: bool,
}

/// The treatment of text of a column on a narrow terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// The text is cut.
    Cut,
    /// The text is never cut.
    Whole,
    /// The text gets lines of its own.
    Below,
}

/// The way a value is shown to people.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Bytes,
    Bar,
}

impl Column {
    pub(super) fn new(
        key: Cow<'static, str>,
        heading: Option<&str>,
        align: Align,
        kind: Kind,
    ) -> Self {
        let heading = heading.map(str::to_owned);
        let room = Room::Cut;
        Self { key, heading, align, kind, is_bold: false, room, in_json: true, in_csv: true }
    }

    /// The group and the key in it: `old` and `count` of `old.count`.
    fn in_group(&self) -> Option<(&'static str, &'static str)> {
        match self.key {
            Cow::Borrowed(key) => key.split_once('.'),
            Cow::Owned(_) => None,
        }
    }

    /// The name in CSV.
    fn flat_key(&self) -> String {
        match &self.key {
            Cow::Borrowed(key) => key.replace('.', "_"),
            Cow::Owned(name) => name.clone(),
        }
    }
}

impl<'a> Layout<'a> {
    pub(super) fn new(session: &'a Session) -> Self {
        Self { columns: Vec::new(), table: None, csv: None, minor: Vec::new(), session }
    }

    /// The columns that people see.
    fn for_people(&self) -> Vec<usize> {
        self.chosen(self.table.as_deref(), |column| column.heading.is_some())
    }

    fn for_csv(&self) -> Vec<usize> {
        self.chosen(self.csv.as_deref(), |column| column.in_csv)
    }

    /// The columns for which `may` is true: those with these keys, in this order, or all.
    fn chosen(&self, keys: Option<&[&str]>, may: fn(&Column) -> bool) -> Vec<usize> {
        let columns = (0..self.columns.len()).filter(|column| may(&self.columns[*column]));
        match keys {
            None => columns.collect(),
            Some(keys) => {
                let columns: Vec<usize> = columns.collect();
                let named = |key: &&str| {
                    columns.iter().copied().find(|column| self.columns[*column].key == *key)
                };
                keys.iter().filter_map(named).collect()
            }
        }
    }
}

impl<'r, 'a> Rows<'r, 'a> {
    /// The rows as an aligned table with headings, and a line that names the columns that a narrow
    /// terminal has no room for.
    pub(super) fn render(&self) -> String {
        let shown: Vec<(usize, &Column)> = self.columns(self.layout.for_people());
        let at = |key: &&str| shown.iter().position(|(_, column)| column.key == *key);
        let minor: Vec<usize> = self.layout.minor.iter().filter_map(at).collect();
        let bar = shown.iter().position(|(_, column)| column.kind == Kind::Bar);
        let aligns: Vec<Align> = shown.iter().map(|(_, column)| column.align).collect();
        let below = shown.iter().position(|(_, column)| column.room == Room::Below);
        let is_whole = |at: &usize| shown[*at].1.room == Room::Whole;
        let whole: Vec<usize> = (0..shown.len()).filter(is_whole).collect();
        let mut table = Table { minor, bar, below, whole, ..Table::new(&aligns) };
        let terminal = &self.layout.session.terminal;
        let headings = || shown.iter().filter_map(|(_, column)| column.heading.as_deref());
        table.row(headings().map(|heading| terminal.dim(heading)));
        for row in 0..self.cells.count() {
            table.row(shown.iter().map(|(at, column)| {
                let text = self.text(row, *at);
                if column.is_bold { terminal.bold(&text) } else { text }
            }));
        }
        let (mut text, hidden) = table.render_and_tell();
        if !hidden.is_empty() {
            let mut names: Vec<&str> = headings()
                .enumerate()
                .filter(|(column, _)| hidden.contains(column))
                .map(|(_, name)| name)
                .collect();
            names.dedup();
            text.push_str(
                &terminal.dim(&format!("  hidden on this narrow terminal: {}", names.join(", "))),
            );
            text.push('\n');
        }
        text
    }

    /// Headings, alignments and rows of cells for people, without colours and bars.
    pub(super) fn plain(&self) -> (Vec<(&'r str, Align)>, impl Iterator<Item = Vec<String>>) {
        let mut columns = self.columns(self.layout.for_people());
        columns.retain(|(_, column)| column.kind != Kind::Bar);
        let headings = columns
            .iter()
            .map(|(_, column)| (column.heading.as_deref().unwrap_or_default(), column.align))
            .collect();
        let text = move |row| columns.iter().map(|(at, _)| self.text(row, *at)).collect();
        (headings, (0..self.cells.count()).map(text))
    }

    /// Names of the columns of CSV, and the fields of each row.
    pub(super) fn fields(&self) -> (Vec<String>, impl Iterator<Item = Vec<Value<'a>>>) {
        let columns = self.columns(self.layout.for_csv());
        let names = columns.iter().map(|(_, column)| column.flat_key()).collect();
        let values = move |row| {
            columns.iter().map(|(at, _)| self.cells.value(row, *at).in_one_field()).collect()
        };
        (names, (0..self.cells.count()).map(values))
    }

    fn columns(&self, numbers: Vec<usize>) -> Vec<(usize, &'r Column)> {
        numbers.into_iter().map(|at| (at, &self.layout.columns[at])).collect()
    }

    fn text(&self, row: usize, column: usize) -> String {
        if let Some(text) = self.cells.text(row, column) {
            return text;
        }
        let exact = self.layout.session.common.bytes;
        match (self.layout.columns[column].kind, self.cells.value(row, column)) {
            (Kind::Bytes, Value::Unsigned(bytes)) => size(bytes, exact),
            (Kind::Bytes, _) => "-".to_owned(),
            (_, Value::Unsigned(number)) => count(number),
            (_, Value::Text(text)) => shown(&text),
            (_, Value::Boolean(value)) => value.to_string(),
            (_, Value::Signed(number)) => number.to_string(),
            (_, Value::Real(number)) => number.to_string(),
            (_, Value::Null | Value::Numbers(_) | Value::List(_) | Value::Map(_)) => String::new(),
        }
    }
}

/// Some of the rows as a JSON array.
pub(super) struct Objects<'r, 'a> {
    pub(super) rows: Rows<'r, 'a>,
    pub(super) range: Range<usize>,
}

impl Serialize for Objects<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (rows, Range { start, end }) = (self.rows, &self.range);
        let shown = *start..(*end).min(rows.cells.count());
        serializer.collect_seq(shown.map(|row| Object { rows, row }))
    }
}

/// A row as a JSON object.
pub(super) struct Object<'r, 'a> {
    pub(super) rows: Rows<'r, 'a>,
    pub(super) row: usize,
}

impl Serialize for Object<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let value = |column| self.rows.cells.value(self.row, column);
        let columns = self.rows.layout.columns.iter().enumerate();
        let columns = columns.filter(|(_, column)| column.in_json);
        for (at, column) in columns.clone() {
            let Some((group, _)) = column.in_group() else {
                map.serialize_entry(&column.key, &value(at))?;
                continue;
            };
            // The columns of a group become one object, at the place of the first of them.
            let members = columns.clone().filter_map(|(at, column)| {
                let (its_group, key) = column.in_group()?;
                (its_group == group).then_some((at, key))
            });
            if members.clone().next().is_some_and(|(first, _)| first < at) {
                continue;
            }
            let fields: Vec<_> = members.map(|(at, key)| (key, value(at))).collect();
            // A group without any value becomes null.
            let is_absent = fields.iter().all(|(_, value)| matches!(value, Value::Null));
            map.serialize_entry(group, &if is_absent { Value::Null } else { Value::Map(fields) })?;
        }
        map.end()
    }
}
