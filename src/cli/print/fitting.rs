//! The widths of the columns of a table that is too wide for the terminal.

use super::table::{Align, Excess, GAP, NAME, Table, total};
use crate::cli::fit::wrap;
use textwrap::core::display_width;

/// The least width of text in columns other than names.
const BESIDE: usize = 12;

impl Table {
    /// Fits columns into less room than they would take. The width is `None` for dropped columns.
    pub(super) fn fitted(&self, natural: &[usize], room: usize) -> Vec<Option<usize>> {
        let Some(last) = self.below else { return self.fitted_but(None, natural, room) };
        let mut widths = self.fitted_but(Some(last), natural, room);
        let taken: usize = widths[..last].iter().flatten().map(|width| width + GAP).sum();
        widths[last] = room.checked_sub(taken).filter(|left| *left >= NAME);
        widths
    }

    /// Like [`Self::fitted`], for all columns except `other`.
    fn fitted_but(
        &self,
        other: Option<usize>,
        natural: &[usize],
        room: usize,
    ) -> Vec<Option<usize>> {
        let natural = self.without_minor(other, natural, room);
        if total(&natural) <= room {
            return natural.into_iter().map(|width| (width > 0).then_some(width)).collect();
        }
        let least = self.least(&natural);
        let keeps_least = self.excess == Excess::Cut && total(&least) <= room;
        let mut fitting = Fitting { room, widths: vec![None; natural.len()], natural: &natural };
        // Numbers are never truncated, nor are cells that fit anyway.
        fitting.decide(|column, _| {
            let is_whole = self.aligns[column] == Align::Right || self.whole.contains(&column);
            let fits = keeps_least && natural[column] <= least[column];
            (is_whole || fits).then_some(natural[column])
        });
        // A column that would get less than its least width gets its least width. A column that
        // would get more than its natural width gets its natural width.
        if keeps_least {
            fitting
                .decide(|column, average| (average < least[column] + GAP).then_some(least[column]));
        }
        fitting.decide(|column, average| (natural[column] <= average).then_some(natural[column]));
        fitting.decide(|column, average| {
            let takes = match self.excess {
                Excess::Cut => natural[column],
                Excess::Wrap => self.wrapped(column, average),
            };
            (takes + 3 <= average).then_some(takes)
        });
        fitting.shared()
    }

    /// The natural widths, 0 for columns that are dropped: `other`, bars, and then minor columns
    /// until the others have room for their least widths.
    fn without_minor(&self, other: Option<usize>, natural: &[usize], room: usize) -> Vec<usize> {
        let mut shown = natural.to_vec();
        for column in other.iter().chain(&self.bar) {
            if let Some(width) = shown.get_mut(*column) {
                *width = 0;
            }
        }
        for column in self.minor.iter().filter(|column| **column < natural.len()) {
            if total(&self.least(&shown)) <= room {
                break;
            }
            shown[*column] = 0;
        }
        shown
    }

    /// The width of a column whose cells are wrapped.
    fn wrapped(&self, column: usize, width: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cell(column));
        cells.flat_map(|cell| wrap(cell, width)).map(|line| display_width(&line)).max().unwrap_or(0)
    }

    /// The least width of each column, given the widths that the columns would take.
    fn least(&self, widths: &[usize]) -> Vec<usize> {
        let is_cut = |i: &usize| self.aligns[*i] == Align::Left && !self.whole.contains(i);
        let names = (0..self.aligns.len()).find(is_cut);
        let least = |(i, width): (usize, &usize)| match self.aligns.get(i) {
            _ if self.whole.contains(&i) => *width,
            Some(Align::Left) if Some(i) == names => (*width).min(self.names),
            Some(Align::Left) => (*width).min(BESIDE),
            _ => *width,
        };
        widths.iter().enumerate().map(least).collect()
    }
}

/// Columns that share less room than they would take.
struct Fitting<'n> {
    /// The widths that the columns would take; 0 for those that are dropped.
    natural: &'n [usize],
    room: usize,
    /// The widths that have been decided.
    widths: Vec<Option<usize>>,
}

impl Fitting<'_> {
    /// Decides the width of one column after the other, as long as `width` returns one for a column
    /// and the average width of the undecided ones, which each decision changes.
    fn decide(&mut self, width: impl Fn(usize, usize) -> Option<usize>) {
        loop {
            let average = self.left().checked_div(self.undecided().count()).unwrap_or(0);
            let decided =
                self.undecided().find_map(|column| Some((column, width(column, average)?)));
            let Some((column, width)) = decided else { return };
            self.widths[column] = Some(width);
        }
    }

    /// The widths. The undecided columns share the room that is left.
    fn shared(mut self) -> Vec<Option<usize>> {
        let left = self.left();
        let undecided: Vec<usize> = self.undecided().collect();
        for (i, column) in undecided.iter().enumerate() {
            let more = usize::from(i < left % undecided.len());
            self.widths[*column] = Some((left / undecided.len() + more).max(1));
        }
        self.widths
    }

    fn undecided(&self) -> impl Iterator<Item = usize> {
        let is_open = |column: &usize| self.natural[*column] > 0 && self.widths[*column].is_none();
        (0..self.natural.len()).filter(is_open)
    }

    /// The room left after the decided columns and the gaps.
    fn left(&self) -> usize {
        let gaps = GAP * self.natural.iter().filter(|width| **width > 0).count();
        let taken: usize = self.widths.iter().flatten().sum();
        (self.room + GAP).saturating_sub(gaps).saturating_sub(taken)
    }
}
