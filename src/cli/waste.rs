//! `waste`: memory that could be saved.

use super::args::WasteArgs;
use super::heap::{Analysed, open_heap, report_loaded, type_name, value, without_roots};
use super::print::{Align, Columns, Document, Shown, Table, Value as Json, print};
use super::progress::Progress;
use super::session::Session;
use super::size::{beginning, count, percent, plural};
use super::status::Status;
use super::terminal::shown;
use crate::analysis::waste::{Fill, Waste, WasteKind, WastePart, WasteRow};
use crate::model::heap::{Heap, TypeId};

/// The default number of rows of each kind.
const ROWS: usize = 5;
/// Maximum number of characters of a text, which leaves room for the other columns.
const WIDTH: usize = 60;

pub(super) fn run(args: &WasteArgs, session: &Session) -> anyhow::Result<Status> {
    let (input, held) = open_heap(session, "waste", &args.file, &args.heap, None)?;
    let loaded = held.get();
    if loaded.heap.roots.is_empty() {
        return without_roots(session, &input, loaded, "waste cannot be found", None);
    }
    let analysed = loaded.reached();
    let (tree, read) = analysed.tree_and_contents();
    let phase = Progress::new("comparing contents", None);
    let waste = Waste::of_measured(analysed.heap, tree, &analysed.measured(read));
    drop(phase);
    let report = Report {
        analysed: &analysed,
        waste: &waste,
        most: session.rows(args.limit, ROWS),
        session,
    };
    let rows: Vec<Row> = waste.parts.iter().flat_map(|part| report.rows(part)).collect();
    let document = || {
        Document::new("dumptool/waste/1", &args.file)
            .with("snapshot", loaded.snapshot)
            .with("total_bytes", waste.bytes())
            .with("live_bytes", analysed.tree().live_bytes())
            .with("kinds", waste.parts.iter().map(|part| report.json(part)).collect::<Vec<_>>())
    };
    print(session, document, &rows, &columns(session), &Shown::Text(&|| report.text()))?;
    Ok(report_loaded(session, &input, loaded))
}

struct Report<'r, 'h, 'a> {
    analysed: &'r Analysed<'h, 'a>,
    waste: &'r Waste,
    /// Maximum number of rows of each kind.
    most: usize,
    session: &'r Session,
}

struct Row {
    kind: &'static str,
    /// `value`, `type` or `field`.
    by: &'static str,
    name: String,
    namespace: Option<String>,
    generated_name: Option<String>,
    count: u64,
    bytes: u64,
    example: String,
    text: Option<String>,
    fill: Option<Fill>,
}

fn columns(session: &Session) -> Columns<'_, Row> {
    Columns::new(session)
        .text("kind", "KIND", |row: &Row| row.kind)
        .text("by", "BY", |row| row.by)
        .text("name", "NAME", |row| &row.name)
        .value("namespace", |row| row.namespace.as_deref())
        .number("count", "COUNT", |row| row.count)
        .bytes("bytes", "BYTES", |row| row.bytes)
        .text("example", "EXAMPLE", |row| &row.example)
        .text("text", "TEXT", |row| row.text.as_deref())
}

impl<'h, 'a> Report<'_, 'h, 'a> {
    fn heap(&self) -> &'h Heap<'a> {
        self.analysed.heap
    }

    /// The rows of a kind, then the fields.
    fn rows(&self, part: &WastePart) -> Vec<Row> {
        let kind = part.kind.name();
        let rows = part.rows.iter().take(self.most).map(|row| self.row(part.kind, row));
        let owners = part.owners.iter().take(self.most).map(|owner| Row {
            kind,
            by: "field",
            name: owner.owner.text(self.heap()),
            namespace: self.namespace(owner.owner.of).filter(|_| owner.owner.class.is_none()),
            generated_name: None,
            count: owner.count,
            bytes: owner.bytes,
            example: self.heap().id(owner.example),
            text: None,
            fill: None,
        });
        rows.chain(owners).collect()
    }

    fn row(&self, kind: WasteKind, row: &WasteRow) -> Row {
        let is_value = matches!(kind, WasteKind::DuplicateText | WasteKind::DuplicateArray);
        Row {
            kind: kind.name(),
            by: if is_value { "value" } else { "type" },
            name: type_name(self.heap(), row.of).to_owned(),
            namespace: self.namespace(row.of),
            generated_name: self.heap().generated_types.get(&row.of).cloned(),
            count: row.count,
            bytes: row.bytes,
            example: self.heap().id(row.example),
            text: is_value.then(|| value::whole_text(self.heap(), row.example)).flatten(),
            fill: row.fill.filter(|fill| fill.capacity > 0),
        }
    }

    fn namespace(&self, type_id: TypeId) -> Option<String> {
        let namespace = self.heap().names().text(self.heap().types()[type_id.0 as usize].namespace);
        Some(namespace).filter(|namespace| !namespace.is_empty()).map(str::to_owned)
    }

    fn json(&self, part: &WastePart) -> Json<'static> {
        let (rows, fields): (Vec<Row>, Vec<Row>) =
            self.rows(part).into_iter().partition(|row| row.by != "field");
        let omitted = [
            ("rows", (part.rows.len() - rows.len()).into()),
            ("fields", (part.owners.len() - fields.len()).into()),
        ];
        let list = |rows: Vec<Row>| rows.into_iter().map(Row::json).collect::<Vec<_>>().into();
        Json::from([
            ("kind", part.kind.name().into()),
            ("known", part.known.into()),
            ("method", part.kind.method().into()),
            ("count", part.count.into()),
            ("bytes", part.bytes.into()),
            ("rows", list(rows)),
            ("fields", list(fields)),
            ("omitted", omitted.into()),
        ])
    }

    fn text(&self) -> String {
        let live = self.analysed.tree().live_bytes();
        let total = self.waste.bytes();
        let size = |bytes| self.session.size(bytes);
        let mut text = format!(
            "{} of {} live could be saved ({})\n",
            size(total),
            size(live),
            percent(self.share(total))
        );
        let mut parts: Vec<&WastePart> =
            self.waste.parts.iter().filter(|part| part.bytes > 0).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        for part in parts {
            let share = percent(self.share(part.bytes));
            let title = format!(
                "{:>10}  {share:>6}  {}: {}",
                size(part.bytes),
                part.kind.title(),
                objects(part)
            );
            let method = self.session.terminal.dim(part.kind.method());
            text.push_str(&format!(
                "\n{}\n{:20}{method}\n",
                self.session.terminal.bold(&title),
                ""
            ));
            text.push_str(&self.table(part));
        }
        let titles = |kinds: &dyn Fn(&&WastePart) -> bool| {
            let named: Vec<&str> =
                self.waste.parts.iter().filter(kinds).map(|part| part.kind.title()).collect();
            named.join(", ")
        };
        let (none, unknown) = (
            titles(&|part| part.known && part.bytes == 0),
            titles(&|part| !part.known && part.bytes == 0),
        );
        if !none.is_empty() || !unknown.is_empty() {
            text.push('\n');
        }
        if !none.is_empty() {
            text.push_str(&format!("none found: {none}\n"));
        }
        if !unknown.is_empty() {
            text.push_str(&format!(
                "not known, because the dump does not contain the necessary data: {unknown}\n"
            ));
        }
        text
    }

    fn table(&self, part: &WastePart) -> String {
        let mut table =
            Table::new(&[Align::Right, Align::Right, Align::Left, Align::Right, Align::Left]);
        let rows = self.rows(part);
        let mut is_first_field = true;
        for row in &rows {
            let is_field = row.by == "field";
            if is_field && std::mem::take(&mut is_first_field) {
                table.span(["", "", "held by"]);
            }
            let (bytes, times) = (self.session.size(row.bytes), format!("{}×", count(row.count)));
            if is_field {
                table.span([bytes, times, format!("  {}", shown(&row.name))]);
                continue;
            }
            let fill = row.fill.map(|fill| {
                // A collection with any free room is shown as less than full, even if it rounds to
                // 100 %.
                let taken = fill.used as f64 / fill.capacity.max(1) as f64;
                let taken =
                    percent(if fill.used < fill.capacity { taken.min(0.999) } else { taken });
                match fill.all {
                    1 => format!("{taken} full"),
                    all => format!("{taken} full in all {}", count(all)),
                }
            });
            let text = row.text.as_ref().map(|text| format!("{:?}", beginning(text, WIDTH)));
            table.row([
                bytes,
                times,
                shown(&row.name),
                row.example.clone(),
                text.or(fill).unwrap_or_default(),
            ]);
        }
        let mut text = table.render();
        let left = [
            (
                part.rows.len(),
                if rows.iter().any(|row| row.by == "value") { "value" } else { "type" },
            ),
            (part.owners.len(), "field"),
        ];
        let left: Vec<String> = left
            .into_iter()
            .filter(|(all, _)| *all > self.most)
            .map(|(all, one)| {
                format!("{} of {}", self.most, plural(all as u64, one, &format!("{one}s")))
            })
            .collect();
        if !left.is_empty() {
            text.push_str(&format!("  showing {} (-n for more)\n", left.join(" and ")));
        }
        text
    }

    fn share(&self, bytes: u64) -> f64 {
        bytes as f64 / self.analysed.tree().live_bytes().max(1) as f64
    }
}

/// `120 objects, 3 values`
fn objects(part: &WastePart) -> String {
    let objects = plural(part.count, "object", "objects");
    match part.kind {
        WasteKind::DuplicateText | WasteKind::DuplicateArray => {
            format!("{objects} with {}", plural(part.rows.len() as u64, "value", "values"))
        }
        _ => objects,
    }
}

impl Row {
    fn json(self) -> Json<'static> {
        let mut json: Vec<(&'static str, Json<'static>)> = vec![
            ("name", self.name.into()),
            ("namespace", self.namespace.into()),
            ("count", self.count.into()),
            ("bytes", self.bytes.into()),
            ("example", self.example.into()),
            ("text", self.text.into()),
        ];
        json.extend(self.generated_name.map(|name| ("generated_name", name.into())));
        if self.by != "field" {
            let fill = self.fill.map(|fill| {
                Json::from([
                    ("all", fill.all.into()),
                    ("capacity", fill.capacity.into()),
                    ("used", fill.used.into()),
                ])
            });
            json.push(("fill", fill.into()));
        }
        Json::Map(json)
    }
}
