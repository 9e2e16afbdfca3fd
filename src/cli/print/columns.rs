//! The columns of a result, described once for every output format.

use super::table::{Align, Table};
use super::value::Value;
use crate::cli::session::Session;
use crate::cli::size::{count, size};
use crate::cli::terminal::shown;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Describes the columns of rows of type `T`.
///
/// The order of the calls is the order of the keys in JSON and CSV. [`Columns::table`] and
/// [`Columns::csv`] choose another one.
pub(crate) struct Columns<'a, T> {
    columns: Vec<Column<'a, T>>,
    /// Keys of the columns that people see, in their order.
    table: Option<Vec<&'static str>>,
    csv: Option<Vec<&'static str>>,
    minor: Vec<&'static str>,
    session: &'a Session,
}

struct Column<'a, T> {
    /// Key in JSON and CSV. `old.count` is `count` in an object `old` in JSON, and `old_count` in
    /// CSV.
    key: &'static str,
    /// Heading for people. `None` if only programs see the column.
    heading: Option<String>,
    align: Align,
    value: Of<'a, T, Value<'a>>,
    /// Text for people, if it is not made from the value.
    cell: Option<Of<'a, T, String>>,
    kind: Kind,
    is_bold: bool,
    in_json: bool,
    in_csv: bool,
}

type Of<'a, T, R> = Box<dyn Fn(&'a T) -> R + 'a>;

/// The text for a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Bytes,
    Bar,
}

impl<'a, T> Columns<'a, T> {
    /// A description without columns.
    pub(crate) fn new(session: &'a Session) -> Self {
        Self { columns: Vec::new(), table: None, csv: None, minor: Vec::new(), session }
    }

    /// Adds a name or another text, left-aligned.
    pub(crate) fn text<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        heading: &str,
        of: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.add(key, Some(heading), Align::Left, Kind::Plain, Box::new(move |row| of(row).into()))
    }

    /// Adds a number, right-aligned.
    pub(crate) fn number<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        heading: &str,
        of: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.add(key, Some(heading), Align::Right, Kind::Plain, Box::new(move |row| of(row).into()))
    }

    /// Adds a number of bytes, which people see as a size and as `-` when it is absent.
    pub(crate) fn bytes<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        heading: &str,
        of: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.add(key, Some(heading), Align::Right, Kind::Bytes, Box::new(move |row| of(row).into()))
    }

    /// Adds a value that only programs see.
    pub(crate) fn value<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        of: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.add(key, None, Align::Left, Kind::Plain, Box::new(move |row| of(row).into()))
    }

    /// Adds a value for JSON alone: one that has parts.
    pub(crate) fn json<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        of: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.value(key, of).last(|column| column.in_csv = false)
    }

    /// Adds a text that JSON does not have, because it has the parts.
    pub(crate) fn flat<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        heading: &str,
        of: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.text(key, heading, of).last(|column| column.in_json = false)
    }

    /// Adds text for people alone.
    pub(crate) fn cell(
        self,
        key: &'static str,
        heading: &str,
        align: Align,
        of: impl Fn(&'a T) -> String + 'a,
    ) -> Self {
        let column = self
            .add(key, Some(heading), align, Kind::Plain, Box::new(|_| Value::Null))
            .last(|column| {
                column.in_json = false;
                column.in_csv = false;
            });
        column.shown_as(of)
    }

    /// Adds a bar for a share of the whole, drawn on terminals that have room for it.
    pub(crate) fn bar(self, of: impl Fn(&'a T) -> f64 + 'a) -> Self {
        let session = self.session;
        match session.terminal.bar(0.0).is_some() {
            true => self
                .cell("bar", "", Align::Left, move |row| {
                    session.terminal.bar(of(row)).unwrap_or_default()
                })
                .last(|column| column.kind = Kind::Bar),
            false => self,
        }
    }

    /// Shows people another text for the last column than that of its value.
    pub(crate) fn shown_as(self, of: impl Fn(&'a T) -> String + 'a) -> Self {
        self.last(|column| column.cell = Some(Box::new(of)))
    }

    /// Shows the last column in bold.
    pub(crate) fn bold(self) -> Self {
        self.last(|column| column.is_bold = true)
    }

    /// Draws the last column like a bar, which goes first where there is no room.
    pub(crate) fn drawn(self) -> Self {
        self.last(|column| column.kind = Kind::Bar)
    }

    /// Chooses the columns that people see, by their keys, in this order. Without a choice they see
    /// all that have a heading.
    pub(crate) fn table(mut self, keys: &[&'static str]) -> Self {
        self.table = Some(keys.to_vec());
        self
    }

    /// Chooses the columns of CSV, in this order.
    pub(crate) fn csv(mut self, keys: &[&'static str]) -> Self {
        self.csv = Some(keys.to_vec());
        self
    }

    /// Names columns that people can miss. On a narrow terminal they go in this order, before names
    /// are cut short.
    pub(crate) fn minor(mut self, keys: &[&'static str]) -> Self {
        self.minor = keys.to_vec();
        self
    }

    fn add(
        mut self,
        key: &'static str,
        heading: Option<&str>,
        align: Align,
        kind: Kind,
        value: Of<'a, T, Value<'a>>,
    ) -> Self {
        let heading = heading.map(str::to_owned);
        self.columns.push(Column {
            key,
            heading,
            align,
            value,
            cell: None,
            kind,
            is_bold: false,
            in_json: true,
            in_csv: true,
        });
        self
    }

    fn last(mut self, change: impl FnOnce(&mut Column<'a, T>)) -> Self {
        if let Some(column) = self.columns.last_mut() {
            change(column);
        }
        self
    }

    /// The rows as an aligned table with headings, and a line that names the columns that a narrow
    /// terminal has no room for.
    pub(crate) fn render(&self, rows: &'a [T]) -> String {
        let columns = self.for_people();
        let at = |key: &&str| columns.iter().position(|column| column.key == *key);
        let minor: Vec<usize> = self.minor.iter().filter_map(at).collect();
        let bar = columns.iter().position(|column| column.kind == Kind::Bar);
        let aligns: Vec<Align> = columns.iter().map(|column| column.align).collect();
        let mut table = Table::new(&aligns).minor(&minor).bar(bar);
        let terminal = &self.session.terminal;
        let headings = || columns.iter().filter_map(|column| column.heading.as_deref());
        table.row(headings().map(|heading| terminal.dim(heading)));
        for row in rows {
            table.row(columns.iter().map(|column| {
                let text = column.text(row, self.session.common.bytes);
                if column.is_bold { terminal.bold(&text) } else { text }
            }));
        }
        let (mut text, hidden) = table.render_and_tell();
        if !hidden.is_empty() {
            let names: Vec<&str> = headings()
                .enumerate()
                .filter(|(row, _)| hidden.contains(row))
                .map(|(_, name)| name)
                .collect();
            text.push_str(
                &terminal.dim(&format!("  hidden on this narrow terminal: {}", names.join(", "))),
            );
            text.push('\n');
        }
        text
    }

    /// Headings, alignments and rows of cells for people, without colours and bars.
    pub(super) fn plain(
        &self,
        rows: &'a [T],
    ) -> (Vec<(&str, Align)>, impl Iterator<Item = Vec<String>>) {
        let mut columns = self.for_people();
        columns.retain(|column| column.kind != Kind::Bar);
        let headings = columns
            .iter()
            .map(|column| (column.heading.as_deref().unwrap_or_default(), column.align))
            .collect();
        let exact = self.session.common.bytes;
        (
            headings,
            rows.iter()
                .map(move |row| columns.iter().map(|column| column.text(row, exact)).collect()),
        )
    }

    fn for_people(&self) -> Vec<&Column<'a, T>> {
        let shown = || self.columns.iter().filter(|column| column.heading.is_some());
        match &self.table {
            Some(keys) => {
                keys.iter().filter_map(|key| shown().find(|column| column.key == *key)).collect()
            }
            None => shown().collect(),
        }
    }

    fn for_csv(&self) -> Vec<&Column<'a, T>> {
        let written = || self.columns.iter().filter(|column| column.in_csv);
        match &self.csv {
            Some(keys) => {
                keys.iter().filter_map(|key| written().find(|column| column.key == *key)).collect()
            }
            None => written().collect(),
        }
    }

    /// Names of the columns of CSV, and the fields of each row.
    pub(super) fn fields(
        &self,
        rows: &'a [T],
    ) -> (Vec<String>, impl Iterator<Item = Vec<Value<'a>>>) {
        let columns = self.for_csv();
        let names = columns.iter().map(|column| column.key.replace('.', "_")).collect();
        (
            names,
            rows.iter().map(move |row| columns.iter().map(|column| (column.value)(row)).collect()),
        )
    }

    /// A row as a JSON object.
    pub(super) fn object<'r>(&'r self, row: &'a T) -> impl Serialize + use<'r, 'a, T> {
        Object { columns: &self.columns, row }
    }
}

impl<'a, T> Column<'a, T> {
    /// The text for a row.
    fn text(&self, row: &'a T, exact: bool) -> String {
        if let Some(cell) = &self.cell {
            return cell(row);
        }
        match (self.kind, (self.value)(row)) {
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

struct Object<'r, 'a, T> {
    columns: &'r [Column<'a, T>],
    row: &'a T,
}

impl<T> Serialize for Object<'_, '_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut columns = self.columns.iter().filter(|column| column.in_json).peekable();
        while let Some(column) = columns.next() {
            let value = (column.value)(self.row);
            let Some((group, key)) = column.key.split_once('.') else {
                map.serialize_entry(column.key, &value)?;
                continue;
            };
            let mut fields = vec![(key, value)];
            let in_group = |key: &'static str| key.split_once('.').filter(|(of, _)| *of == group);
            while let Some(column) = columns.next_if(|next| in_group(next.key).is_some()) {
                fields.push((
                    in_group(column.key).map_or("", |(_, key)| key),
                    (column.value)(self.row),
                ));
            }
            // A group of which nothing is known is absent.
            let is_absent = fields.iter().all(|(_, value)| matches!(value, Value::Null));
            map.serialize_entry(group, &if is_absent { Value::Null } else { Value::Map(fields) })?;
        }
        map.end()
    }
}
