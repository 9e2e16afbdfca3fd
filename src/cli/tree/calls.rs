//! Draws calls as a tree.

use super::branches;
use crate::analysis::profile::PrunedNode;
use crate::cli::print::{Align, Table};
use crate::cli::profile::Amount;
use crate::cli::size::count;
use crate::cli::terminal::Terminal;

/// A call, in depth-first order.
pub(super) struct CallLine {
    pub(super) name: String,
    /// The function's file as people see it. May be empty.
    pub(super) file: String,
    pub(super) own: i64,
    pub(super) total: i64,
    pub(super) node: PrunedNode,
}

/// Number of names in a line beyond which the middle ones are left out.
const CHAIN: usize = 6;

/// Draws each call with its cost below its caller. A chain of calls that each lead to a single
/// other one is drawn as one line. For `above`, only the calls left out below it are drawn.
pub(super) fn calls(
    lines: &[CallLine],
    above: Option<&PrunedNode>,
    amount: &Amount,
    terminal: &Terminal,
) -> String {
    let mut drawing = Drawing::default();
    above.into_iter().for_each(|above| drawing.push(above, 0));
    for (i, line) in lines.iter().enumerate() {
        if i.checked_sub(1).is_some_and(|before| leads_on(&lines[before], line)) {
            drawing.go_on(line)
        } else {
            drawing.draw(line)
        }
    }
    drawing.close(0);
    drawing.render(amount, terminal)
}

/// Whether a call only leads to the next one. The first line is never merged, because it shows the
/// whole.
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
    fn cost(&self) -> Cost {
        Cost::Call { total: self.total, own: self.own }
    }

    fn names(&self) -> (String, String) {
        (self.name.clone(), self.file.clone())
    }
}

#[derive(Default)]
struct Drawing {
    rows: Vec<Row>,
    /// The calls that the next one may come from.
    open: Vec<Open>,
}

struct Row {
    level: u32,
    cost: Cost,
    names: Vec<(String, String)>,
}

enum Cost {
    Call { total: i64, own: i64 },
    Omitted { calls: u64, value: i64 },
}

struct Open {
    depth: u32,
    level: u32,
    omitted: u64,
    omitted_value: i64,
}

impl Drawing {
    fn draw(&mut self, line: &CallLine) {
        self.close(line.node.depth);
        let level =
            self.open.last().map_or(u32::from(line.node.depth > 0), |above| above.level + 1);
        self.rows.push(Row { level, cost: line.cost(), names: vec![line.names()] });
        self.push(&line.node, level);
    }

    /// Adds a call to the line of the one that leads to it.
    fn go_on(&mut self, line: &CallLine) {
        let level = self.open.last().map_or(0, |above| above.level);
        if let Some(row) = self.rows.last_mut() {
            row.cost = line.cost();
            row.names.push(line.names());
        }
        self.push(&line.node, level);
    }

    fn push(&mut self, node: &PrunedNode, level: u32) {
        let PrunedNode { depth, omitted, omitted_value, .. } = *node;
        self.open.push(Open { depth, level, omitted, omitted_value });
    }

    /// Ends all calls of this depth and deeper ones. Adds rows for calls left out below them.
    fn close(&mut self, depth: u32) {
        while let Some(call) = self.open.pop_if(|call| call.depth >= depth) {
            if call.omitted > 0 {
                let cost = Cost::Omitted { calls: call.omitted, value: call.omitted_value };
                self.rows.push(Row { level: call.level + 1, cost, names: Vec::new() });
            }
        }
    }

    fn render(self, amount: &Amount, terminal: &Terminal) -> String {
        let mut table = Table::new(&[Align::Right, Align::Right, Align::Right, Align::Left]);
        table.row(["TOTAL", "SHARE", "SELF", "CALLS"].map(|heading| terminal.dim(heading)));
        let branches = branches(&self.rows.iter().map(|row| row.level).collect::<Vec<_>>());
        for (row, branch) in self.rows.iter().zip(branches) {
            let branch = terminal.dim(&branch);
            match row.cost {
                Cost::Call { total, own } => {
                    let own = if own == 0 { String::new() } else { amount.show(own) };
                    table.row([
                        amount.show(total),
                        amount.percent(total),
                        own,
                        format!("{branch}{}", chain(&row.names)),
                    ]);
                }
                Cost::Omitted { calls, value } => {
                    let smaller =
                        terminal.dim(&format!("{} smaller, {}", count(calls), amount.show(value)));
                    table.row([
                        "…".to_owned(),
                        String::new(),
                        String::new(),
                        format!("{branch}{smaller}"),
                    ]);
                }
            }
        }
        table.render()
    }
}

/// `main → run (app.py) → … 12 more … → loop → step (loop.py)`: a file is named after the last of
/// its functions.
fn chain(names: &[(String, String)]) -> String {
    let show = |from: usize, until: usize| {
        let shown = names[from..until].iter().enumerate().map(|(i, (name, file))| {
            let next = names[..until].get(from + i + 1);
            if file.is_empty() || next.is_some_and(|(_, next)| next == file) {
                name.clone()
            } else {
                format!("{name} ({file})")
            }
        });
        shown.collect::<Vec<_>>().join(" → ")
    };
    match names.len() {
        0..=CHAIN => show(0, names.len()),
        all => format!("{} → … {} more … → {}", show(0, 2), all - 4, show(all - 2, all)),
    }
}
