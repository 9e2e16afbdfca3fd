//! Draws calls as a tree.

use super::super::profile::Amount;
use super::super::size::plural;
use super::super::table::{Align, Table};
use super::super::terminal::Terminal;
use crate::analysis::profile::PrunedNode;

/// A call, in depth-first order.
pub(super) struct CallLine {
    pub(super) name: String,
    /// The function's file as it is shown; may be empty.
    pub(super) file: String,
    pub(super) own: i64,
    pub(super) total: i64,
    pub(super) node: PrunedNode,
}

/// Levels whose lines are drawn; what is deeper is drawn beside them.
const DRAWN_LEVELS: usize = 40;
/// Names in a line before those in the middle are left out.
const CHAIN: usize = 6;

/// Each call with what it costs below the one that it comes from. Calls that lead on to a single other one are one line.
pub(super) fn calls(lines: &[CallLine], amount: Amount, terminal: &Terminal) -> String {
    let mut drawing = Drawing { rows: Vec::new(), open: Vec::new(), amount };
    for (i, line) in lines.iter().enumerate() {
        match i.checked_sub(1).is_some_and(|before| leads_on(&lines[before], line)) {
            true => drawing.go_on(line),
            false => drawing.draw(line),
        }
    }
    drawing.close(0);
    drawing.render(terminal)
}

/// Whether a call has nothing to say but that it leads to the next one. The first line of all says the whole and stays alone.
fn leads_on(call: &CallLine, next: &CallLine) -> bool {
    let (before, after) = (&call.node, &next.node);
    before.depth > 0
        && after.depth == before.depth + 1
        && after.last
        && before.omitted == 0
        && call.own == 0
        && call.total == next.total
}

impl CallLine {
    fn names(&self) -> (String, String) {
        (self.name.clone(), self.file.clone())
    }
}

struct Drawing {
    rows: Vec<Row>,
    /// The calls that the next one may come from, with the level at which each is drawn.
    open: Vec<Open>,
    amount: Amount,
}

struct Row {
    total: Option<i64>,
    own: i64,
    prefix: String,
    /// Names and files.
    names: Vec<(String, String)>,
}

struct Open {
    depth: u32,
    level: usize,
    /// Nothing comes beside it any more.
    last: bool,
    omitted: u64,
    omitted_value: i64,
}

impl Drawing {
    fn draw(&mut self, line: &CallLine) {
        self.close(line.node.depth);
        let level = self.open.last().map_or(usize::from(line.node.depth > 0), |above| above.level + 1);
        let prefix = self.prefix(level, line.node.last);
        self.rows.push(Row { total: Some(line.total), own: line.own, prefix, names: vec![line.names()] });
        self.push(line, level, line.node.last);
    }

    /// Adds a call to the line of the one that leads to it.
    fn go_on(&mut self, line: &CallLine) {
        let (level, last) = self.open.last().map_or((0, true), |above| (above.level, above.last));
        if let Some(row) = self.rows.last_mut() {
            row.own = line.own;
            row.names.push(line.names());
        }
        self.push(line, level, last);
    }

    fn push(&mut self, line: &CallLine, level: usize, last: bool) {
        let PrunedNode { depth, omitted, omitted_value, .. } = line.node;
        self.open.push(Open { depth, level, last, omitted, omitted_value });
    }

    /// Ends all calls of this depth and deeper ones, with what was left out below them.
    fn close(&mut self, depth: u32) {
        while let Some(call) = self.open.pop_if(|call| call.depth >= depth) {
            if call.omitted == 0 {
                continue;
            }
            let level = call.level + 1;
            let name = format!("{}, {}", plural(call.omitted, "smaller", "smaller"), self.amount.show(call.omitted_value));
            self.open.push(Open { omitted: 0, ..call });
            let prefix = self.prefix(level, true);
            self.open.pop();
            self.rows.push(Row { total: None, own: 0, prefix, names: vec![(name, String::new())] });
        }
    }

    fn prefix(&self, level: usize, last: bool) -> String {
        if level == 0 {
            return String::new();
        }
        let hidden = level.saturating_sub(DRAWN_LEVELS);
        let mut prefix = if hidden > 0 { format!("+{hidden} ") } else { String::new() };
        let mut more = vec![false; level];
        // Calls in one line have the same level and the same `last`.
        let above = self.open.iter().rev().take_while(|call| call.level > hidden);
        above.for_each(|call| more.iter_mut().skip(call.level).take(1).for_each(|more| *more = !call.last));
        more.iter().skip(hidden + 1).for_each(|more| prefix.push_str(if *more { "│ " } else { "  " }));
        prefix.push_str(if last { "└ " } else { "├ " });
        prefix
    }

    fn render(self, terminal: &Terminal) -> String {
        let mut table = Table::new(&[Align::Right, Align::Right, Align::Right, Align::Left]);
        table.row(["TOTAL", "SHARE", "SELF", "CALLS"].map(|heading| terminal.dim(heading)));
        for row in self.rows {
            let name = chain(&row.names);
            let cell = |name: &str| format!("{}{name}", terminal.dim(&row.prefix));
            match row.total {
                Some(total) => {
                    let own = if row.own == 0 { String::new() } else { self.amount.show(row.own) };
                    table.row([self.amount.show(total), self.amount.percent(total), own, cell(&name)]);
                }
                None => table.row(["…".to_owned(), String::new(), String::new(), cell(&terminal.dim(&name))]),
            }
        }
        table.render()
    }
}

/// `main → run (app.py) → … 12 more … → loop → step (loop.py)`: a file is named after the last of its functions.
fn chain(names: &[(String, String)]) -> String {
    let show = |from: usize, until: usize| {
        let shown = names[from..until].iter().enumerate().map(|(i, (name, file))| {
            let next = names[..until].get(from + i + 1);
            match file.is_empty() || next.is_some_and(|(_, next)| next == file) {
                true => name.clone(),
                false => format!("{name} ({file})"),
            }
        });
        shown.collect::<Vec<_>>().join(" → ")
    };
    match names.len() {
        0..=CHAIN => show(0, names.len()),
        all => format!("{} → … {} more … → {}", show(0, 2), all - 4, show(all - 2, all)),
    }
}
