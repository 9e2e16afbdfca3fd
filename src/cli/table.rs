//! Aligned columns without borders.

use super::terminal::{self, Keep, printable};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};

/// A table of text. Columns are separated by two spaces. Only on a terminal that is too narrow are they made to fit: bars go
/// first, then numbers that can be missed, and then text is cut, or wrapped.
pub(super) struct Table {
    table: comfy_table::Table,
    aligns: Vec<Align>,
    excess: Excess,
    /// Columns that can be missed, the first one most.
    minor: Vec<usize>,
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

/// What names need in order to be told apart.
const NAME: u16 = 20;
/// What text beside names needs.
const BESIDE: u16 = 12;

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
        Self { table, aligns: columns.to_vec(), excess: Excess::Cut, minor: Vec::new() }
    }

    /// A table for sentences: what is too long is wrapped.
    pub(super) fn of_sentences(columns: &[Align]) -> Self {
        Self { excess: Excess::Wrap, ..Self::new(columns) }
    }

    /// Names the columns that go, in this order, before names are cut to less than 20 characters.
    pub(super) fn minor(mut self, columns: &[usize]) -> Self {
        self.minor = columns.to_vec();
        self
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
        if width(&widths) <= columns {
            return None;
        }
        let mut table = self.table.clone();
        let mut shown = widths.clone();
        if let Some(bars) = self.bars() {
            hide(&mut table, &mut shown, bars);
        }
        for &minor in &self.minor {
            if width(&self.least(&shown)) <= columns {
                break;
            }
            hide(&mut table, &mut shown, minor);
        }
        if width(&shown) <= columns {
            return Some(table);
        }
        let least = self.least(&shown);
        let has_room = width(&least) <= columns;
        // The gap behind the last column needs no room.
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns.saturating_add(GAP));
        for (i, (column, align)) in table.column_iter_mut().zip(&self.aligns).enumerate().filter(|(i, _)| shown[*i] > 0) {
            match align {
                // Numbers stay whole.
                Align::Right => column.set_constraint(ColumnConstraint::ContentWidth),
                Align::Left if has_room && self.excess == Excess::Cut => {
                    column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least[i].saturating_add(GAP))))
                }
                Align::Left => continue,
            };
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

    /// What each column needs at least, of what it would take.
    fn least(&self, widths: &[u16]) -> Vec<u16> {
        let names = self.aligns.iter().position(|align| *align == Align::Left);
        let least = |(i, width): (usize, &u16)| match self.aligns.get(i) {
            Some(Align::Left) if Some(i) == names => (*width).min(NAME),
            Some(Align::Left) => (*width).min(BESIDE),
            _ => *width,
        };
        widths.iter().enumerate().map(least).collect()
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

/// What columns take together. Empty ones take nothing.
fn width(columns: &[u16]) -> u16 {
    let shown = columns.iter().filter(|width| **width > 0);
    shown.map(|width| width.saturating_add(GAP)).fold(0, u16::saturating_add).saturating_sub(GAP)
}

fn hide(table: &mut comfy_table::Table, shown: &mut [u16], column: usize) {
    if let (Some(hidden), Some(width)) = (table.column_mut(column), shown.get_mut(column)) {
        hidden.set_constraint(ColumnConstraint::Hidden);
        *width = 0;
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

    /// What a profile's `diff` has: more numbers than 80 columns have room for beside names.
    #[test]
    fn numbers_that_can_be_missed_go_before_names_are_cut_to_a_letter() {
        let mut table = Table::new(&[Align::Right, Align::Right, Align::Right, Align::Left, Align::Left]).minor(&[2, 1]);
        table.row(["SELF", "NOW", "SHARE", "FUNCTION", "FILE"]);
        let function = "Thread._wait_for_tstate_lock";
        table.row(["+122.8 ms", "490.5 ms", "17.2 → 23.1 %", function, "/usr/lib/python3/threading.py"]);
        let text = table.render_in(Some(70));
        assert_eq!(text.lines().next(), Some("       SELF       NOW  FUNCTION                 FILE"), "{text}");
        assert!(text.contains("  Thread._wait_for_tst"), "{text}");
        let text = table.render_in(Some(50));
        assert_eq!(text.lines().next(), Some("       SELF  FUNCTION              FILE"), "{text}");
        assert!(text.contains("Thread._wait_for_ts…") && widest(&text) <= 50, "{text}");
        // Nothing goes that there is room for.
        assert!(table.render_in(Some(100)).contains(function));
        assert!(table.render_in(Some(100)).contains("SHARE"));
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
