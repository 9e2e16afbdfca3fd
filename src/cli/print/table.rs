//! Aligned columns without borders.

use crate::cli::fit::{cut, wrap};
use crate::cli::terminal::{self, Keep, printable};
use textwrap::core::display_width;

/// A table of text. Columns are separated by two spaces. To fit a narrow terminal, the table drops
/// bars first, then minor columns, and then cuts or wraps text.
pub(crate) struct Table {
    pub(super) rows: Vec<Row>,
    pub(super) aligns: Vec<Align>,
    pub(super) excess: Excess,
    /// Dispensable columns. They are dropped in this order before names are cut to less than
    /// `names` columns of text.
    pub(crate) minor: Vec<usize>,
    /// The column of bars.
    pub(super) bar: Option<usize>,
    /// Columns that are never cut. Right-aligned columns are not cut either.
    pub(crate) whole: Vec<usize>,
    /// The last column, if its cells may go on lines of their own.
    pub(super) below: Option<usize>,
    /// The width that names keep as long as a minor column can be dropped instead.
    pub(crate) names: usize,
}

pub(super) struct Row {
    cells: Vec<String>,
    /// Whether the last cell spans all remaining columns.
    spans: bool,
    /// Text after the last cell, or on lines of its own.
    note: String,
}

impl Row {
    /// The cell of a column, unless it spans others.
    pub(super) fn cell(&self, column: usize) -> Option<&str> {
        let is_alone = !self.spans || column + 1 < self.cells.len();
        self.cells.get(column).filter(|_| is_alone).map(String::as_str)
    }
}

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// The treatment of text that is too wide for the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    /// The text ends in `…`.
    Cut,
    /// The text continues on the next line.
    Wrap,
}

/// Spaces between columns.
pub(super) const GAP: usize = 2;
/// The width that names need to be distinguishable.
pub(super) const NAME: usize = 20;
/// The indentation of lines below a row.
const INDENT: usize = 6;
/// Maximum number of lines that a cell takes below its row.
const LINES: usize = 3;

impl Table {
    /// Creates a table of names with the alignment of each column: long names are truncated.
    pub(crate) fn new(columns: &[Align]) -> Self {
        Self {
            rows: Vec::new(),
            aligns: columns.to_vec(),
            excess: Excess::Cut,
            minor: Vec::new(),
            bar: None,
            whole: Vec::new(),
            below: None,
            names: NAME,
        }
    }

    /// Creates a table of sentences: long sentences are wrapped.
    pub(crate) fn of_sentences(columns: &[Align]) -> Self {
        Self { excess: Excess::Wrap, ..Self::new(columns) }
    }

    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.push(cells, false, "");
    }

    /// Adds a row with a text after it, which goes on lines of its own if there is no room.
    pub(crate) fn noted<S: Into<String>>(
        &mut self,
        cells: impl IntoIterator<Item = S>,
        note: &str,
    ) {
        self.push(cells, false, note);
    }

    /// Adds a row whose last cell, aligned to the left, has the room of the remaining columns.
    pub(crate) fn span<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.push(cells, true, "");
    }

    fn push<S: Into<String>>(
        &mut self,
        cells: impl IntoIterator<Item = S>,
        spans: bool,
        note: &str,
    ) {
        let printable =
            |text: &str| printable(text, Keep { colors: true, lines: false }).into_owned();
        let cells = cells.into_iter().map(|cell| printable(&cell.into())).collect();
        self.rows.push(Row { cells, spans, note: printable(note) });
    }

    /// The rows, each ended by a line feed, indented by two spaces, without spaces at their ends,
    /// as wide as the terminal at most.
    pub(crate) fn render(&self) -> String {
        self.render_in(terminal::columns())
    }

    /// Like [`Table::render`], but also returns the columns that had no room. Bars do not count,
    /// because they repeat a number.
    pub(super) fn render_and_tell(&self) -> (String, Vec<usize>) {
        let columns = terminal::columns();
        let widths = self.widths(columns);
        let hidden = (0..widths.len())
            .filter(|column| {
                widths[*column].is_none() && ![self.bar, self.below].contains(&Some(*column))
            })
            .collect();
        (self.rows_in(&widths, columns), hidden)
    }

    fn render_in(&self, columns: Option<u16>) -> String {
        self.rows_in(&self.widths(columns), columns)
    }

    /// Returns the width of each column; `None` for columns that do not fit.
    fn widths(&self, columns: Option<u16>) -> Vec<Option<usize>> {
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.cell(column)).map(display_width).max()
        };
        let natural: Vec<usize> =
            (0..self.aligns.len()).map(|column| width(column).unwrap_or(0).max(1)).collect();
        match columns.map(|columns| usize::from(columns).saturating_sub(GAP)) {
            Some(room) if total(&natural) > room => self.fitted(&natural, room),
            _ => natural.into_iter().map(Some).collect(),
        }
    }

    fn rows_in(&self, widths: &[Option<usize>], columns: Option<u16>) -> String {
        let row = |row: &Row| {
            let (mut text, mut note) = (self.lines(row, widths, columns), row.note.as_str());
            let moved = self.below.filter(|at| !self.is_beside(row, *at, widths));
            if let Some(cell) = moved.and_then(|at| row.cells.get(at)) {
                note = cell;
            }
            let room = columns.map_or(usize::MAX, |columns| {
                usize::from(columns).saturating_sub(display_width(text.trim_end()) + GAP)
            });
            if moved.is_none() && !note.is_empty() && display_width(note) <= room {
                text.truncate(text.trim_end().len());
                text.extend(["  ", note, "\n"]);
            } else if !note.is_empty() {
                text.push_str(&below(note, usize::from(columns.unwrap_or(u16::MAX))));
            }
            text
        };
        self.rows.iter().map(row).collect()
    }

    /// Whether there is room for a cell beside the others.
    fn is_beside(&self, row: &Row, column: usize, widths: &[Option<usize>]) -> bool {
        let cell = row.cells.get(column).map_or(0, |cell| display_width(cell));
        widths[column].is_some_and(|width| cell <= width)
    }

    /// A row in columns of these widths; columns without one are hidden.
    fn lines(&self, row: &Row, widths: &[Option<usize>], columns: Option<u16>) -> String {
        let before =
            |column: usize| GAP + widths[..column].iter().flatten().map(|w| w + GAP).sum::<usize>();
        let cell = |(column, width): (usize, &Option<usize>)| {
            let mut cell = row.cells.get(column).map_or("", String::as_str);
            if self.below == Some(column) && !self.is_beside(row, column, widths) {
                cell = "";
            }
            let width = if row.spans && column + 1 == row.cells.len() {
                columns.map_or(usize::MAX, |all| usize::from(all).saturating_sub(before(column)))
            } else {
                (*width)?
            };
            let lines = match self.excess {
                _ if display_width(cell) <= width => vec![cell.to_owned()],
                Excess::Cut => vec![cut(cell, width)],
                Excess::Wrap => wrap(cell, width),
            };
            Some((lines, width, self.aligns[column]))
        };
        let cells: Vec<_> = widths.iter().enumerate().filter_map(cell).collect();
        let height = cells.iter().map(|(lines, ..)| lines.len()).max().unwrap_or(0);
        let mut text = String::new();
        for at in 0..height {
            let mut line = String::new();
            for (lines, width, align) in &cells {
                let cell = lines.get(at).map_or("", String::as_str);
                let padding = match *width {
                    usize::MAX => String::new(),
                    width => " ".repeat(width.saturating_sub(display_width(cell))),
                };
                let (before, after) =
                    if *align == Align::Right { (&*padding, "") } else { ("", &*padding) };
                line.extend([before, cell, after, "  "]);
            }
            text.extend(["  ", line.trim_end(), "\n"]);
        }
        text
    }
}

/// The lines of a text below its row.
fn below(text: &str, columns: usize) -> String {
    let indent = " ".repeat(INDENT);
    let mut lines = wrap(text, columns.saturating_sub(INDENT).max(NAME));
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.last_mut().into_iter().for_each(|line| line.push_str(" …"));
    }
    lines.into_iter().flat_map(|line| [indent.as_str().into(), line, "\n".into()]).collect()
}

/// The width of all columns together. Empty ones take nothing.
pub(super) fn total(columns: &[usize]) -> usize {
    columns
        .iter()
        .filter(|width| **width > 0)
        .map(|width| width + GAP)
        .sum::<usize>()
        .saturating_sub(GAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Table {
        let aligns = [Align::Right, Align::Left, Align::Left];
        let mut table = Table { bar: Some(2), ..Table::new(&aligns) };
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
        assert_eq!(text, "      SIZE  TYPE\n  20.7 MiB  a v…f a type\n       1 B  short\n");
        assert_eq!(widest(&text), 24);
    }

    /// The columns of a profile's `diff`: more numbers than 80 columns have room for beside names.
    #[test]
    fn numbers_that_can_be_missed_go_before_names_are_cut_to_a_letter() {
        let aligns = [Align::Right, Align::Right, Align::Right, Align::Left, Align::Left];
        let mut table = Table { minor: vec![2, 1], ..Table::new(&aligns) };
        table.row(["SELF", "NOW", "SHARE", "FUNCTION", "FILE"]);
        let function = "Thread._wait_for_tstate_lock";
        table.row([
            "+122.8 ms",
            "490.5 ms",
            "17.2 → 23.1 %",
            function,
            "/usr/lib/python3/threading.py",
        ]);
        let text = table.render_in(Some(70));
        assert_eq!(
            text.lines().next(),
            Some("       SELF       NOW  FUNCTION                 FILE"),
            "{text}"
        );
        assert!(text.contains("  Thread.…for_tstate_lock"), "{text}");
        let hidden =
            |columns| table.widths(Some(columns)).iter().filter(|width| width.is_none()).count();
        assert_eq!([100, 70, 50].map(hidden), [0, 1, 2]);
        let text = table.render_in(Some(50));
        assert_eq!(text.lines().next(), Some("       SELF  FUNCTION              FILE"), "{text}");
        assert!(text.contains("Thread…r_tstate_lock") && widest(&text) <= 50, "{text}");
        // No column is dropped while there is room for it.
        assert!(table.render_in(Some(100)).contains(function));
        assert!(table.render_in(Some(100)).contains("SHARE"));
    }

    #[test]
    fn a_spanning_cell_has_the_room_of_the_columns_after_it() {
        let mut table = Table::new(&[Align::Right, Align::Left, Align::Left]);
        table.row(["1 B", "short", "beside"]);
        table.span(["2 B", "a name of 24 characters."]);
        let text = "  1 B  short  beside\n  2 B  a name of 24 characters.\n";
        assert_eq!((table.render_in(None), table.render_in(Some(31))), (text.into(), text.into()));
        assert!(table.render_in(Some(24)).ends_with("  2 B  a nam…characters.\n"));
    }

    #[test]
    fn stacks_and_commands_go_below_their_rows() {
        let aligns = [Align::Right, Align::Left, Align::Left];
        let mut table = Table { below: Some(2), ..Table::new(&aligns) };
        table.row(["SIZE", "NAME", "STACK"]);
        table.row(["1 B", "main", "main.main"]);
        table.row(["2 B", "worker", "main.receive ← main.worker ← main.main"]);
        assert!(table.render_in(Some(60)).contains("worker  main.receive ←"));
        assert_eq!(
            table.render_in(Some(36)),
            "  SIZE  NAME    STACK\n   1 B  main    main.main\n   2 B  worker\n      \
             main.receive ← main.worker ←\n      main.main\n"
        );
        assert!(table.render_in(Some(30)).starts_with("  SIZE  NAME\n      STACK\n   1 B  main\n"));
        let mut table = Table::new(&[Align::Right, Align::Left]);
        table.noted(["1 B", "… 1 more"], "open it");
        assert_eq!(table.render_in(None), "  1 B  … 1 more  open it\n");
        assert_eq!(table.render_in(Some(20)), "  1 B  … 1 more\n      open it\n");
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
