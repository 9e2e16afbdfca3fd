//! The content of a view: a few lines, and a table.

use super::doc::Doc;
use super::place::Place;
use crate::cli::size::{count, percent, size};
use crate::cli::terminal::shown;
use serde_json::Value;

/// The meaning of a text, which decides its color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Plain,
    Dim,
    Strong,
    Good,
    Bad,
    Warn,
    Link,
}

/// The content of a view.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheet {
    /// Lines above the table.
    pub(super) head: Vec<(Tone, String)>,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    /// The line below the table: what it contains and what it leaves out.
    pub(super) foot: String,
    /// The boxes of a flame graph, in place of a table.
    pub(super) boxes: Vec<super::tree::Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
    /// Like `Left`, for texts that are cut at their ends.
    Sentence,
    /// A bar for a share.
    Bar,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) title: String,
    pub(super) align: Align,
    /// Minimum width of the screen for this column to appear, in columns of text.
    pub(super) from: u16,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) cells: Vec<Cell>,
    pub(super) enter: Option<Place>,
    /// Whether entering the row shows more rows of the same place.
    pub(super) is_more: bool,
    pub(super) object: Option<String>,
    /// Lines about the row that are shown below the table while it is selected.
    pub(super) detail: Vec<(Tone, String)>,
    /// Whether the row is a heading of the rows below and cannot be selected.
    pub(super) is_heading: bool,
    /// The snapshot that entering the row selects.
    pub(super) snapshot: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) tone: Tone,
    pub(super) bar: f64,
}

pub(super) fn column(title: &str, align: Align, from: u16) -> Column {
    Column { title: title.to_owned(), align, from }
}

/// A text of a dump, safe to show.
pub(super) fn name(text: &str) -> Cell {
    toned(Tone::Plain, shown(text))
}

pub(super) fn toned(tone: Tone, text: impl Into<String>) -> Cell {
    Cell { text: text.into(), tone, bar: 0.0 }
}

pub(super) fn bytes(value: Option<u64>) -> Cell {
    value.map_or_else(|| toned(Tone::Dim, "…"), |value| toned(Tone::Plain, size(value, false)))
}

pub(super) fn number(value: u64) -> Cell {
    toned(Tone::Plain, count(value))
}

pub(super) fn share(value: f64) -> Cell {
    toned(Tone::Plain, percent(value))
}

pub(super) fn bar(share: f64) -> Cell {
    Cell { bar: share, ..Cell::default() }
}

/// The fraction of `whole` that `value` is. 0 if `whole` is 0.
pub(super) fn part(value: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { value as f64 / whole as f64 }
}

impl Row {
    pub(super) fn heading(text: impl Into<String>) -> Self {
        Self { cells: vec![toned(Tone::Strong, text)], is_heading: true, ..Self::default() }
    }

    /// The rows of a document, and a row that leads to omitted ones if there are any.
    pub(super) fn of_document(
        doc: &Value,
        place: &Place,
        row: impl Fn(&Value) -> Self,
    ) -> Vec<Self> {
        let more = Self::more(doc["omitted"].number("rows"), place);
        doc.rows("rows").iter().map(row).chain(more).collect()
    }

    /// A row that leads to the next page.
    pub(super) fn next(text: String, place: &Place) -> Self {
        Self {
            cells: vec![toned(Tone::Link, text)],
            enter: Some(place.longer()),
            is_more: true,
            ..Self::default()
        }
    }

    /// The last row, which leads to the omitted ones. `None` if none were omitted.
    pub(super) fn more(omitted: u64, place: &Place) -> Option<Self> {
        (omitted > 0).then(|| Self::next(format!("… {} more (Enter)", count(omitted)), place))
    }
}

impl Row {
    /// Whether a cell contains `text`, which must be in lower case. Ignores case in cells.
    pub(super) fn contains(&self, text: &str) -> bool {
        !self.is_heading && self.cells.iter().any(|cell| cell.text.to_lowercase().contains(text))
    }
}
