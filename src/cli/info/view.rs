//! The summary of a dump as a person sees it: one screen, the answer first, warnings last.

use crate::cli::print::{Align, Table};
use crate::cli::session::Session;
use crate::cli::size::count;
use crate::cli::terminal::{Terminal, shown};

/// The text that `info` shows for one file.
#[derive(Default)]
pub(super) struct View {
    /// Parts of the first line, after the file's name.
    pub(super) headline: Vec<String>,
    /// Rows of label, number and remark.
    pub(super) facts: Vec<[String; 3]>,
    /// A table below the facts.
    pub(super) table: Option<Table>,
    /// Lines below the table.
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) records: Vec<(&'static str, u64)>,
    pub(super) file: String,
    pub(super) damage: Option<String>,
}

impl View {
    pub(super) fn fact(
        &mut self,
        label: &str,
        number: impl Into<String>,
        remark: impl Into<String>,
    ) {
        self.facts.push([label.to_owned(), number.into(), shown(&remark.into())]);
    }

    /// The text, ended by a line feed.
    pub(super) fn render(self, all_records: bool, session: &Session) -> String {
        let terminal = &session.terminal;
        let mut text = terminal.bold(&shown(&self.file));
        for part in &self.headline {
            text.push_str(" · ");
            text.push_str(&shown(part));
        }
        if let Some(damage) = &self.damage {
            text.push_str(" · ");
            text.push_str(&terminal.bad(damage));
        }
        text.push_str("\n\n");
        if !self.facts.is_empty() {
            let mut table = Table::of_sentences(&[Align::Left, Align::Right, Align::Left]);
            self.facts.into_iter().for_each(|fact| table.row(fact));
            text.push_str(&table.render());
        }
        if let Some(table) = &self.table {
            text.push_str(&table.render());
        }
        for note in &self.notes {
            text.push_str(note);
            text.push('\n');
        }
        text.push('\n');
        if all_records {
            text.push_str(&record_table(&self.records))
        } else {
            text.push_str(&record_line(&self.records, terminal))
        }
        for warning in self.warnings.iter().filter(|_| terminal.warnings) {
            text.push_str(&format!("{} {}\n", terminal.caution("warning:"), shown(warning)));
        }
        text
    }
}

fn record_table(records: &[(&'static str, u64)]) -> String {
    let mut table = Table::new(&[Align::Left, Align::Right]);
    table.row(["RECORD", "COUNT"]);
    records.iter().for_each(|(name, number)| table.row([(*name).to_owned(), count(*number)]));
    table.render()
}

/// The most frequent records on one line.
fn record_line(records: &[(&'static str, u64)], terminal: &Terminal) -> String {
    const SHOWN: usize = 6;
    let mut sorted = records.to_vec();
    sorted.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let shown: Vec<_> = sorted
        .iter()
        .take(SHOWN)
        .map(|(name, number)| format!("{name} {}", count(*number)))
        .collect();
    let more = if sorted.len() > SHOWN { " … (--records for all)" } else { "" };
    format!("{}\n", terminal.dim(&format!("records: {}{more}", shown.join(", "))))
}
