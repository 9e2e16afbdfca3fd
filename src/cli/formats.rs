//! `formats`: what is read and written.

use super::args::{Common, OutputFormat, Target};
use super::status::{Status, UsageError};
use super::table::{Align, Table};
use super::terminal::Terminal;
use crate::input::{FORMATS, Format, Kind};
use clap::ValueEnum;
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    formats: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    title: String,
    kind: &'static str,
    read: bool,
    write: bool,
    versions: String,
    extensions: Vec<&'static str>,
    magics: Vec<String>,
    /// Formats that this one can be converted to.
    targets: Vec<&'static str>,
}

pub(super) fn run(common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let rows = rows();
    let text = match common.format {
        OutputFormat::Table => text(&rows, terminal),
        OutputFormat::Json => serde_json::to_string_pretty(&Document { schema: "dumptool/formats/1", formats: rows })? + "\n",
        OutputFormat::Jsonl => {
            let lines: Result<Vec<_>, serde_json::Error> = rows.iter().map(|row| Ok(serde_json::to_string(row)? + "\n")).collect();
            lines?.concat()
        }
        OutputFormat::Csv => return Err(UsageError::new("formats writes a table, json or jsonl").into()),
    };
    super::print(text.as_bytes())
}

impl Target {
    /// The extension that picks the format.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Austin => "austin",
            Self::Hprof => "hprof",
            Self::Heapsnapshot => "heapsnapshot",
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Austin => "Austin's text (collapsed stacks), dialects full and peer",
            Self::Hprof => "hprof 1.0.2, for VisualVM, Eclipse MAT, hprof-slurp",
            Self::Heapsnapshot => "heap snapshot of V8, for Chrome DevTools, memlab",
            Self::Jsonl => "tables of a heap (--table), a JSON object a line",
            Self::Csv => "tables of a heap (--table), comma-separated",
        }
    }

    /// The formats that can be written from an input.
    pub(super) fn of(format: Format) -> &'static [Self] {
        match format.kind() {
            Kind::Profile => &[Self::Austin],
            Kind::Heap => &[Self::Hprof, Self::Heapsnapshot, Self::Jsonl, Self::Csv],
        }
    }
}

fn rows() -> Vec<Row> {
    let read = FORMATS.into_iter().map(|format| Row {
        name: format.name(),
        title: format.title().to_owned(),
        kind: if format.kind() == Kind::Heap { "heap" } else { "profile" },
        read: true,
        write: false,
        versions: format.versions().to_owned(),
        extensions: format.extensions().to_vec(),
        magics: format.magics().iter().map(|magic| magic.escape_ascii().to_string()).collect(),
        targets: Target::of(format).iter().map(|target| target.extension()).collect(),
    });
    let written = Target::value_variants().iter().map(|target| Row {
        name: target.extension(),
        title: target.title().to_owned(),
        kind: if *target == Target::Austin { "profile" } else { "heap" },
        read: false,
        write: true,
        versions: String::new(),
        extensions: vec![target.extension()],
        magics: Vec::new(),
        targets: Vec::new(),
    });
    read.chain(written).collect()
}

fn text(rows: &[Row], terminal: &Terminal) -> String {
    let mut text = terminal.bold("Read") + "\n";
    let mut table = Table::new(&[Align::Left; 5]);
    for row in rows.iter().filter(|row| row.read) {
        let targets = if row.targets.is_empty() { String::new() } else { format!("-> {}", row.targets.join(", ")) };
        let extensions = format!(".{}", row.extensions.join(" ."));
        table.row([row.name.to_owned(), row.title.clone(), extensions, shared_prefix(&row.magics), targets]);
    }
    text.push_str(&table.render());
    text.push_str(&format!("\n{}\n", terminal.bold("Versions")));
    let mut table = Table::new(&[Align::Left; 2]);
    rows.iter().filter(|row| row.read).for_each(|row| table.row([row.name, &row.versions]));
    text.push_str(&table.render());
    text.push_str(&format!("\n{}\n", terminal.bold("Written")));
    let mut table = Table::new(&[Align::Left; 3]);
    for row in rows.iter().filter(|row| row.write) {
        table.row([row.name.to_owned(), row.title.clone(), format!(".{0} .{0}.gz .{0}.zst", row.extensions.join(""))]);
    }
    text.push_str(&table.render());
    text.push_str("\ngzip and zstd are undone for every input. Formats are told by the first bytes, never by the name.\n");
    text
}

/// What all magics of a format begin with, quoted.
fn shared_prefix(magics: &[String]) -> String {
    let first = magics.first().map(String::as_str).unwrap_or_default();
    let shared: String = first
        .char_indices()
        .take_while(|&(i, c)| magics.iter().all(|magic| magic.get(i..).is_some_and(|rest| rest.starts_with(c))))
        .map(|(_, c)| c)
        .collect();
    format!("\"{shared}\"{}", if shared.len() < first.len() { " …" } else { "" })
}
