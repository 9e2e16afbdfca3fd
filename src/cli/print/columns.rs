//! The columns of a result, described once for every output format.

use super::rows::{Cells, Column, Kind, Layout, Room};
use super::table::Align;
use super::value::Value;
use crate::cli::session::Session;
use std::borrow::Cow;

/// Describes the columns of rows of type `T`.
///
/// The order of the calls is the order of the keys in JSON and CSV. [`Columns::table`] and
/// [`Columns::csv`] choose another one.
pub(crate) struct Columns<'a, T> {
    pub(super) layout: Layout<'a>,
    values: Vec<Read<'a, T, Value<'a>>>,
    /// Texts for people, for the columns where they are not made from the value.
    cells: Vec<Option<Read<'a, T, String>>>,
}

type Read<'a, T, R> = Box<dyn Fn(&'a T) -> R + 'a>;

impl<'a, T> Columns<'a, T> {
    /// A description without columns.
    pub(crate) fn new(session: &'a Session) -> Self {
        Self { layout: Layout::new(session), values: Vec::new(), cells: Vec::new() }
    }

    /// Adds a name or another text, left-aligned.
    pub(crate) fn text<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        heading: &str,
        read: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.add(key, Some(heading), Align::Left, Kind::Plain, read)
    }

    /// Adds a number, right-aligned.
    pub(crate) fn number<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        heading: &str,
        read: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.add(key, Some(heading), Align::Right, Kind::Plain, read)
    }

    /// Adds a number of bytes, which people see as a size and as `-` when it is absent.
    pub(crate) fn bytes<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        heading: &str,
        read: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.add(key, Some(heading), Align::Right, Kind::Bytes, read)
    }

    /// Adds a column with a name that is only known at run time, which is the heading as well.
    #[cfg(feature = "query")]
    pub(crate) fn named<V: Into<Value<'a>>>(
        self,
        name: &str,
        align: Align,
        read: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.add(name.to_owned(), Some(name), align, Kind::Plain, read)
    }

    /// Adds a value that only programs see.
    pub(crate) fn value<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        read: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.add(key, None, Align::Left, Kind::Plain, read)
    }

    /// Adds a value that only programs see, if `is_there`.
    pub(crate) fn value_if<V: Into<Value<'a>>>(
        self,
        is_there: bool,
        key: &'static str,
        read: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        if is_there { self.value(key, read) } else { self }
    }

    /// Adds a value for JSON only, such as an object or a list.
    pub(crate) fn json<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        read: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.value(key, read).last(|column| column.in_csv = false)
    }

    /// Adds a text that JSON leaves out, because JSON has its parts.
    pub(crate) fn flat<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        heading: &str,
        read: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.text(key, heading, read).last(|column| column.in_json = false)
    }

    /// Adds text for people only.
    pub(crate) fn cell(
        self,
        key: &'static str,
        heading: &str,
        align: Align,
        read: impl Fn(&'a T) -> String + 'a,
    ) -> Self {
        let column =
            self.add(key, Some(heading), align, Kind::Plain, |_| Value::Null).last(|column| {
                column.in_json = false;
                column.in_csv = false;
            });
        column.shown_as(read)
    }

    /// Adds a bar for a share of the whole, drawn on terminals that have room for it.
    pub(crate) fn bar(self, read: impl Fn(&'a T) -> f64 + 'a) -> Self {
        let session = self.layout.session;
        if session.terminal.bar(0.0).is_some() {
            self.cell("bar", "", Align::Left, move |row| {
                session.terminal.bar(read(row)).unwrap_or_default()
            })
            .last(|column| column.kind = Kind::Bar)
        } else {
            self
        }
    }

    /// Shows people another text for the last column than that of its value.
    pub(crate) fn shown_as(mut self, read: impl Fn(&'a T) -> String + 'a) -> Self {
        if let Some(cell) = self.cells.last_mut() {
            *cell = Some(Box::new(read));
        }
        self
    }

    /// Shows the last column in bold.
    pub(crate) fn bold(self) -> Self {
        self.last(|column| column.is_bold = true)
    }

    /// Never cuts the text of the last column.
    pub(crate) fn whole(self) -> Self {
        self.last(|column| column.room = Room::Whole)
    }

    /// Shows the last column of the table below a row that has no room for it.
    pub(crate) fn below(self) -> Self {
        self.last(|column| column.room = Room::Below)
    }

    /// Draws the last column like a bar, which is dropped first if there is no room.
    pub(crate) fn drawn(self) -> Self {
        self.last(|column| column.kind = Kind::Bar)
    }

    /// Selects the columns of tables for people, by key, in this order. The default is all columns
    /// with a heading.
    pub(crate) fn table(mut self, keys: &[&'static str]) -> Self {
        self.layout.table = Some(keys.to_vec());
        self
    }

    /// Chooses the columns of CSV, in this order.
    pub(crate) fn csv(mut self, keys: &[&'static str]) -> Self {
        self.layout.csv = Some(keys.to_vec());
        self
    }

    /// Names dispensable columns. A narrow terminal drops them in this order, before names are
    /// truncated.
    pub(crate) fn minor(mut self, keys: &[&'static str]) -> Self {
        self.layout.minor = keys.to_vec();
        self
    }

    fn add<V: Into<Value<'a>>>(
        mut self,
        key: impl Into<Cow<'static, str>>,
        heading: Option<&str>,
        align: Align,
        kind: Kind,
        read: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.layout.columns.push(Column::new(key.into(), heading, align, kind));
        self.values.push(Box::new(move |row| read(row).into()));
        self.cells.push(None);
        self
    }

    fn last(mut self, change: fn(&mut Column)) -> Self {
        self.layout.columns.last_mut().map(change);
        self
    }
}

impl<'a, T> Cells<'a> for (&Columns<'a, T>, &'a [T]) {
    fn count(&self) -> usize {
        self.1.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'a> {
        self.0.values[column](&self.1[row])
    }

    fn text(&self, row: usize, column: usize) -> Option<String> {
        self.0.cells[column].as_ref().map(|text| text(&self.1[row]))
    }
}
