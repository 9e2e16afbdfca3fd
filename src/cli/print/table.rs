//! Aligned columns without borders.

use crate::cli::terminal::{self, Keep, printable};
use textwrap::core::display_width;

/// A table of text. Columns are separated by two spaces. On a terminal that is too narrow they are
/// made to fit: bars go first, then columns that can be missed, and then text is cut, or wrapped.
pub(crate) struct Table {
    rows: Vec<Row>,
    aligns: Vec<Align>,
    excess: Excess,
    /// Columns that can be missed, the first one most.
    minor: Vec<usize>,
    /// The column of bars.
    bar: Option<usize>,
}

/// The cells of a row.
struct Row {
    cells: Vec<String>,
    /// The last cell has the room of all columns from its own on.
    spans: bool,
}

impl Row {
    /// The cell of a column, unless it spans others.
    fn cell(&self, column: usize) -> Option<&str> {
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

/// The treatment of text for which a terminal has no room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Excess {
    /// It ends in `…`.
    Cut,
    /// It goes on below.
    Wrap,
}

/// Spaces between columns.
const GAP: usize = 2;
/// The width that names need in order to be told apart.
const NAME: usize = 20;
/// The width that text beside names needs.
const BESIDE: usize = 12;

impl Table {
    /// Creates a table of names with the alignment of each column: long names are truncated.
    pub(crate) fn new(columns: &[Align]) -> Self {
        Self {
            rows: Vec::new(),
            aligns: columns.to_vec(),
            excess: Excess::Cut,
            minor: Vec::new(),
            bar: None,
        }
    }

    /// Creates a table of sentences: long sentences are wrapped.
    pub(crate) fn of_sentences(columns: &[Align]) -> Self {
        Self { excess: Excess::Wrap, ..Self::new(columns) }
    }

    /// Names the columns that go, in this order, before names are cut to less than 20 characters.
    pub(crate) fn minor(mut self, columns: &[usize]) -> Self {
        self.minor = columns.to_vec();
        self
    }

    /// Names the column of bars.
    pub(super) fn bar(mut self, column: Option<usize>) -> Self {
        self.bar = column;
        self
    }

    /// Adds a row.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.push(cells, false);
    }

    /// Adds a row whose last cell, aligned to the left, has the room of the remaining columns.
    pub(crate) fn span<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.push(cells, true);
    }

    fn push<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>, spans: bool) {
        let keep = Keep { colors: true, lines: false };
        let cells =
            cells.into_iter().map(|cell| printable(&cell.into(), keep).into_owned()).collect();
        self.rows.push(Row { cells, spans });
    }

    /// The rows, each ended by a line feed, indented by two spaces, without spaces at their ends,
    /// as wide as the terminal at most.
    pub(crate) fn render(&self) -> String {
        self.render_in(terminal::columns())
    }

    /// As [`Table::render`], with the columns that there was no room for. Bars are not told: they
    /// repeat a number.
    pub(super) fn render_and_tell(&self) -> (String, Vec<usize>) {
        let columns = terminal::columns();
        let widths = self.widths(columns);
        let hidden = (0..widths.len())
            .filter(|column| widths[*column].is_none() && self.bar != Some(*column))
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
        self.rows.iter().map(|row| self.lines(row, widths, columns)).collect()
    }

    /// A row in columns of these widths; columns without one are hidden.
    fn lines(&self, row: &Row, widths: &[Option<usize>], columns: Option<u16>) -> String {
        let before =
            |column: usize| GAP + widths[..column].iter().flatten().map(|w| w + GAP).sum::<usize>();
        let cell = |(column, width): (usize, &Option<usize>)| {
            let cell = row.cells.get(column).map_or("", String::as_str);
            let width = match row.spans && column + 1 == row.cells.len() {
                true => columns
                    .map_or(usize::MAX, |all| usize::from(all).saturating_sub(before(column))),
                false => (*width)?,
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

    /// Widths of the columns in less room than they would take.
    fn fitted(&self, natural: &[usize], room: usize) -> Vec<Option<usize>> {
        let mut shown = natural.to_vec();
        let mut hidden = Vec::new();
        for column in self.bar.iter().chain(&self.minor).filter(|column| **column < natural.len()) {
            if self.bar != Some(*column) && total(&self.least(&shown)) <= room {
                break;
            }
            shown[*column] = 0;
            hidden.push(*column);
        }
        let visible = |column: usize| !hidden.contains(&column);
        if total(&shown) <= room {
            return shown
                .iter()
                .enumerate()
                .map(|(column, width)| visible(column).then_some(*width))
                .collect();
        }
        let least = self.least(&shown);
        let keeps_least = self.excess == Excess::Cut && total(&least) <= room;
        let mut widths: Vec<Option<usize>> = vec![None; natural.len()];
        let columns = || (0..natural.len()).filter(|column| visible(*column));
        // Numbers are never truncated, nor are cells that fit anyway.
        for column in columns().filter(|column| shown[*column] > 0) {
            if self.aligns[column] == Align::Right
                || keeps_least && natural[column] <= least[column]
            {
                widths[column] = Some(natural[column]);
            }
        }
        let share = |widths: &[Option<usize>]| {
            let taken: usize = widths.iter().flatten().sum();
            let left = (room + GAP).saturating_sub(GAP * columns().count()).saturating_sub(taken);
            let open = columns().filter(|column| widths[*column].is_none()).count();
            (left, open)
        };
        let average =
            |widths: &[Option<usize>]| share(widths).0.checked_div(share(widths).1).unwrap_or(0);
        // A column that would get less than it needs gets what it needs, one that would get more
        // what it takes: each changes what the others get.
        while keeps_least
            && let Some(column) = columns()
                .find(|column| widths[*column].is_none() && average(&widths) < least[*column] + GAP)
        {
            widths[column] = Some(least[column]);
        }
        let takes = |column: usize, width: usize| match self.excess {
            Excess::Cut => natural[column],
            Excess::Wrap if natural[column] <= width => natural[column],
            Excess::Wrap => self.wrapped(column, width),
        };
        let fits = |widths: &[Option<usize>], column: usize| {
            let width = average(widths);
            widths[column].is_none() && width > 0 && natural[column] <= width
        };
        while let Some(column) = columns().find(|column| fits(&widths, *column)) {
            widths[column] = Some(natural[column]);
        }
        let saves = |widths: &[Option<usize>], column: usize| {
            let width = average(widths);
            widths[column].is_none() && takes(column, width) + 3 <= width
        };
        while let Some(column) = columns().find(|column| saves(&widths, *column)) {
            widths[column] = Some(takes(column, average(&widths)));
        }
        let (left, open) = share(&widths);
        let undecided: Vec<usize> = columns().filter(|column| widths[*column].is_none()).collect();
        for (i, column) in undecided.into_iter().enumerate() {
            widths[column] = Some((left / open + usize::from(i < left % open)).max(1));
        }
        widths
    }

    /// The width of a column whose cells are wrapped.
    fn wrapped(&self, column: usize, width: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cell(column));
        cells.flat_map(|cell| wrap(cell, width)).map(|line| display_width(&line)).max().unwrap_or(0)
    }

    /// The least width of each column, of the width that it would take.
    fn least(&self, widths: &[usize]) -> Vec<usize> {
        let names = self.aligns.iter().position(|align| *align == Align::Left);
        let least = |(i, width): (usize, &usize)| match self.aligns.get(i) {
            Some(Align::Left) if Some(i) == names => (*width).min(NAME),
            Some(Align::Left) => (*width).min(BESIDE),
            _ => *width,
        };
        widths.iter().enumerate().map(least).collect()
    }
}

/// The width of all columns together. Empty ones take nothing.
fn total(columns: &[usize]) -> usize {
    columns
        .iter()
        .filter(|width| **width > 0)
        .map(|width| width + GAP)
        .sum::<usize>()
        .saturating_sub(GAP)
}

/// The beginning of a text that fits beside `…`, without colours.
fn cut(text: &str, width: usize) -> String {
    let text = anstream::adapter::strip_str(text).to_string();
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| {
        let taken = display_width(c.encode_utf8(&mut [0; 4]));
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// A sentence in lines, broken at words.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let options =
        textwrap::Options::new(width).word_splitter(textwrap::WordSplitter::NoHyphenation);
    let options = options.word_separator(textwrap::WordSeparator::AsciiSpace);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Table {
        let mut table = Table::new(&[Align::Right, Align::Left, Align::Left]).bar(Some(2));
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

    /// The columns of a profile's `diff`: more numbers than 80 columns have room for beside names.
    #[test]
    fn numbers_that_can_be_missed_go_before_names_are_cut_to_a_letter() {
        let mut table =
            Table::new(&[Align::Right, Align::Right, Align::Right, Align::Left, Align::Left])
                .minor(&[2, 1]);
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
        assert!(text.contains("  Thread._wait_for_tst"), "{text}");
        let hidden =
            |columns| table.widths(Some(columns)).iter().filter(|width| width.is_none()).count();
        assert_eq!([100, 70, 50].map(hidden), [0, 1, 2]);
        let text = table.render_in(Some(50));
        assert_eq!(text.lines().next(), Some("       SELF  FUNCTION              FILE"), "{text}");
        assert!(text.contains("Thread._wait_for_ts…") && widest(&text) <= 50, "{text}");
        // Nothing goes that there is room for.
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
        assert!(table.render_in(Some(24)).ends_with("  2 B  a name of 24 cha…\n"));
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
