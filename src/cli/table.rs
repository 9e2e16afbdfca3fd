//! Aligned columns without borders.

use comfy_table::{CellAlignment, ContentArrangement, presets};

/// A table of text. Columns are separated by two spaces, never wrapped and never cut.
pub(super) struct Table(comfy_table::Table);

/// How a column is aligned.
#[derive(Clone, Copy)]
pub(super) enum Align {
    Left,
    Right,
}

impl Table {
    /// A table with the alignment of each column.
    pub(super) fn new(columns: &[Align]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let row: Vec<&str> = columns.iter().map(|_| "").collect();
        // Columns exist once there is a row; this one is dropped when the table is rendered.
        table.add_row(row);
        for (column, align) in table.column_iter_mut().zip(columns) {
            column.set_padding((0, 2));
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        Self(table)
    }

    /// Adds a row.
    pub(super) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.0.add_row(cells.into_iter().map(|cell| comfy_table::Cell::new(cell.into())));
    }

    /// The rows, each ended by a line feed, indented by two spaces, without spaces at their ends.
    pub(super) fn render(&self) -> String {
        self.0.lines().skip(1).map(|line| format!("  {}\n", line.trim_end())).collect()
    }
}
