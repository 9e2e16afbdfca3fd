//! Aligned columns without borders.

use super::terminal::{self, Keep, printable};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, presets};

/// A table of text. Columns are separated by two spaces. Only on a terminal that is too narrow are they made to fit: bars go
/// first, and then text is cut, or wrapped.
pub(super) struct Table {
    table: comfy_table::Table,
    aligns: Vec<Align>,
    excess: Excess,
}

/// How a column is aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// What becomes of text that a terminal has no room for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Excess {
    /// It ends in `…`.
    Cut,
    /// It goes on below.
    Wrap,
}

/// What separates columns.
const GAP: u16 = 2;

impl Table {
    /// A table with the alignment of each column, for names: what is too long is cut.
    pub(super) fn new(columns: &[Align]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let row: Vec<&str> = columns.iter().map(|_| "").collect();
        // Columns exist once there is a row; this one is dropped when the table is rendered.
        table.add_row(row);
        for (column, align) in table.column_iter_mut().zip(columns) {
            column.set_padding((0, GAP));
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        Self { table, aligns: columns.to_vec(), excess: Excess::Cut }
    }

    /// A table for sentences: what is too long is wrapped.
    pub(super) fn of_sentences(columns: &[Align]) -> Self {
        Self { excess: Excess::Wrap, ..Self::new(columns) }
    }

    /// Adds a row.
    pub(super) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let keep = Keep { colors: true, lines: false };
        self.table.add_row(cells.into_iter().map(|cell| comfy_table::Cell::new(printable(&cell.into(), keep))));
    }

    /// The rows, each ended by a line feed, indented by two spaces, without spaces at their ends, as wide as the terminal at most.
    pub(super) fn render(&self) -> String {
        self.render_in(terminal::columns())
    }

    fn render_in(&self, columns: Option<u16>) -> String {
        let fitted = columns.and_then(|columns| self.fitted(columns.saturating_sub(GAP)));
        let lines = fitted.as_ref().unwrap_or(&self.table).lines();
        lines.skip(1).map(|line| format!("  {}\n", line.trim_end())).collect()
    }

    /// The table in this many columns; None if it fits as it is.
    fn fitted(&self, columns: u16) -> Option<comfy_table::Table> {
        let widths = self.table.column_max_content_widths();
        let wide = |hidden: Option<usize>| {
            let shown = widths.iter().enumerate().filter(|(i, width)| Some(*i) != hidden && **width > 0);
            shown.map(|(_, width)| width.saturating_add(GAP)).fold(0, u16::saturating_add).saturating_sub(GAP) > columns
        };
        if !wide(None) {
            return None;
        }
        let mut table = self.table.clone();
        let bars = self.bars();
        if let Some(bars) = bars {
            table.column_mut(bars)?.set_constraint(ColumnConstraint::Hidden);
        }
        if !wide(bars) {
            return Some(table);
        }
        // The gap behind the last column needs no room.
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns.saturating_add(GAP));
        for (i, (column, align)) in table.column_iter_mut().zip(&self.aligns).enumerate() {
            // Numbers stay whole.
            if *align == Align::Right && Some(i) != bars {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        if self.excess == Excess::Cut {
            // Without a character to break lines at, all room is used before the cut.
            table.set_delimiter('\0').set_truncation_indicator("…");
            table.row_iter_mut().for_each(|row| {
                row.max_height(1);
            });
        }
        Some(table)
    }

    /// The column of bars.
    fn bars(&self) -> Option<usize> {
        let is_bar = |cell: &comfy_table::Cell| {
            let text = cell.content();
            !text.is_empty() && text.chars().all(|c| c == '█')
        };
        self.table.row_iter().find_map(|row| row.cell_iter().position(is_bar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Table {
        let mut table = Table::new(&[Align::Right, Align::Left, Align::Left]);
        table.row(["SIZE", "TYPE", ""]);
        table.row(["20.7 MiB", "\u{1b}[1ma very long name of a type\u{1b}[0m", "████"]);
        table.row(["1 B", "short", "█"]);
        table
    }

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    #[test]
    fn nothing_is_cut_without_a_terminal_or_on_a_wide_one() {
        let table = names();
        assert_eq!(table.render_in(None), table.render_in(Some(80)));
        assert!(table.render_in(None).contains("████"));
    }

    #[test]
    fn bars_go_before_names_are_cut() {
        let text = names().render_in(Some(42));
        assert!(text.contains("a very long name of a type") && !text.contains('█'), "{text}");
    }

    #[test]
    fn names_are_cut_and_numbers_are_not() {
        let text = names().render_in(Some(24));
        assert_eq!(text, "      SIZE  TYPE\n  20.7 MiB  a very long…\n       1 B  short\n");
        assert_eq!(widest(&text), 24);
    }

    #[test]
    fn sentences_are_wrapped_at_words() {
        let mut table = Table::of_sentences(&[Align::Left, Align::Left]);
        table.row(["dropped", "phantom records: a writer bug of Go"]);
        let text = table.render_in(Some(30));
        assert_eq!(text, "  dropped  phantom records: a\n           writer bug of Go\n");
    }

    #[test]
    fn a_terminal_without_room_for_the_numbers_gets_them_all_the_same() {
        for columns in 0..24 {
            assert!(names().render_in(Some(columns)).contains("20.7 MiB"), "{columns}");
        }
    }
}
