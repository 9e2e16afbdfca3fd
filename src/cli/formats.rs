//! `formats`: the input and output formats.

use super::args::{NoArgs, OutputFormat, Target};
use super::print::{Align, Columns, Document, Shown, Table, Value, print};
use super::session::Session;
use super::status::Status;
use super::terminal::Terminal;
use crate::convert::output_formats;
use crate::input::{FORMATS, Kind};

/// A format that dumptool can read or write.
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

impl Row {
    fn dotted(&self) -> String {
        format!(".{}", self.extensions.join(" ."))
    }
}

pub(super) fn run(_: &NoArgs, session: &Session) -> anyhow::Result<Status> {
    use OutputFormat::{Json, Jsonl, Markdown, Table};
    session.only(
        &[Table, Json, Jsonl, Markdown],
        "formats supports only --format table, json, jsonl and markdown",
    )?;
    let rows = rows();
    let list =
        |texts: &[&'static str]| texts.iter().map(|text| Value::from(*text)).collect::<Vec<_>>();
    let columns = Columns::new(session)
        .text("name", "NAME", |row: &Row| row.name)
        .text("title", "TITLE", |row| &row.title)
        .text("kind", "KIND", |row| row.kind)
        .text("read", "READ", |row| row.read)
        .shown_as(|row| yes(row.read))
        .text("write", "WRITTEN", |row| row.write)
        .shown_as(|row| yes(row.write))
        .text("versions", "VERSIONS", |row| &row.versions)
        .text("extensions", "EXTENSIONS", move |row| list(&row.extensions))
        .shown_as(Row::dotted)
        .value("magics", |row| row.magics.iter().map(Value::from).collect::<Vec<_>>())
        .text("targets", "CAN BECOME", move |row| list(&row.targets))
        .shown_as(|row| row.targets.join(", "));
    let document = || {
        Document::default().with("schema", "dumptool/formats/1").with("file", ()).rows("formats")
    };
    print(session, document, &rows, &columns, &Shown::Text(&|| text(&rows, &session.terminal)))?;
    Ok(Status::Done)
}

fn yes(value: bool) -> String {
    if value { "yes".to_owned() } else { String::new() }
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
        targets: output_formats(format, format.kind()).map(Target::name).collect(),
    });
    let written = Target::ALL.into_iter().map(|target| Row {
        name: target.name(),
        title: target.title().to_owned(),
        kind: match (target.takes_heaps(), target.takes_profiles()) {
            (true, true) => "both",
            (true, false) => "heap",
            (false, _) => "profile",
        },
        read: false,
        write: true,
        versions: String::new(),
        extensions: target.extensions().to_vec(),
        magics: Vec::new(),
        targets: Vec::new(),
    });
    read.chain(written).collect()
}

fn text(rows: &[Row], terminal: &Terminal) -> String {
    let mut text = terminal.bold("Input formats") + "\n";
    let mut table = Table::of_sentences(&[Align::Left; 5]);
    for row in rows.iter().filter(|row| row.read) {
        let targets = if row.targets.is_empty() {
            String::new()
        } else {
            format!("-> {}", row.targets.join(", "))
        };
        table.row([
            row.name.to_owned(),
            row.title.clone(),
            row.dotted(),
            shared_prefix(&row.magics),
            targets,
        ]);
    }
    text.push_str(&table.render());
    text.push_str(&format!("\n{}\n", terminal.bold("Input versions")));
    let mut table = Table::of_sentences(&[Align::Left; 2]);
    rows.iter().filter(|row| row.read).for_each(|row| table.row([row.name, &row.versions]));
    text.push_str(&table.render());
    text.push_str(&format!("\n{}\n", terminal.bold("Output formats")));
    let mut table = Table::of_sentences(&[Align::Left; 3]);
    for row in rows.iter().filter(|row| row.write) {
        table.row([row.name, &row.title, &row.dotted()]);
    }
    text.push_str(&table.render());
    text.push_str("\ndumptool decompresses gzip and zstd input and detects its format by content. An output name that ends in .gz or .zst is compressed.\n");
    text
}

/// Returns the common prefix of all magics of a format, quoted.
fn shared_prefix(magics: &[String]) -> String {
    let first = magics.first().map(String::as_str).unwrap_or_default();
    let shared: String = first
        .char_indices()
        .take_while(|&(i, c)| {
            magics.iter().all(|magic| magic.get(i..).is_some_and(|rest| rest.starts_with(c)))
        })
        .map(|(_, c)| c)
        .collect();
    format!("\"{shared}\"{}", if shared.len() < first.len() { " …" } else { "" })
}
