//! A heap as tables: objects, references, roots or types, one row a line, as JSON or CSV.
//!
//! Objects are numbered from 0 in the order of the heap; `src`, `dst`, `object` and `dominator` are
//! such numbers, so that tables can be joined. `id` is what the file calls an object and what other
//! commands take and print. Absent values are null, which is an empty field in CSV.

mod rows;

use super::{Syntax, csv_error, json};
use crate::analysis::dominator_tree::DominatorTree;
use crate::model::heap::{Heap, Ids, Type};
use rows::{ObjectRow, ReferenceRow, RootRow, TypeRow};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Which rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Table {
    /// One row for each object, with what it retains and who dominates it.
    Objects,
    /// One row for each reference, sorted by `src`.
    References,
    /// One row for each root.
    Roots,
    /// One row for each type.
    Types,
}

/// Writes a table and returns its number of rows. Memory: nothing that grows with the rows.
///
/// # Errors
/// When the output cannot be written.
pub fn write<W: Write>(
    heap: &Heap<'_>,
    tree: &DominatorTree,
    table: Table,
    syntax: Syntax,
    out: W,
) -> io::Result<u64> {
    let mut rows = match syntax {
        Syntax::Jsonl => Rows::Jsonl(out),
        Syntax::Csv => {
            let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(out);
            csv.write_record(columns(table)).map_err(csv_error)?;
            Rows::Csv(Box::new(csv))
        }
    };
    let count = match table {
        Table::Objects => objects(heap, tree, &mut rows)?,
        Table::References => references(heap, &mut rows)?,
        Table::Roots => roots(heap, &mut rows)?,
        Table::Types => types(heap, tree, &mut rows)?,
    };
    rows.finish()?;
    Ok(count)
}

/// The names of a table's columns.
pub fn columns(table: Table) -> &'static [&'static str] {
    match table {
        Table::Objects => rows::OBJECT_COLUMNS,
        Table::References => rows::REFERENCE_COLUMNS,
        Table::Roots => rows::ROOT_COLUMNS,
        Table::Types => rows::TYPE_COLUMNS,
    }
}

enum Rows<W: Write> {
    Jsonl(W),
    Csv(Box<csv::Writer<W>>),
}

impl<W: Write> Rows<W> {
    fn add(&mut self, row: &impl Serialize) -> io::Result<()> {
        match self {
            Self::Jsonl(out) => {
                json::line(&mut *out, row)?;
                out.write_all(b"\n")
            }
            Self::Csv(csv) => csv.serialize(row).map_err(csv_error),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Jsonl(mut out) => out.flush(),
            Self::Csv(mut csv) => csv.flush(),
        }
    }
}

fn objects<W: Write>(heap: &Heap<'_>, tree: &DominatorTree, rows: &mut Rows<W>) -> io::Result<u64> {
    let mut external = heap.external.iter().peekable();
    let mut ids = ids(heap);
    let mut id = String::new();
    for object in heap.objects() {
        let of = heap.type_of(object);
        id.clear();
        ids(&mut id);
        rows.add(&ObjectRow {
            object: object.0,
            id: &id,
            type_name: heap.names.text(of.name),
            namespace: Some(heap.names.text(of.namespace))
                .filter(|namespace| !namespace.is_empty()),
            kind: of.kind.name(),
            shallow_bytes: heap.shallow.get(object.index()),
            external_bytes: external
                .next_if(|(other, _)| *other == object)
                .map_or(0, |(_, bytes)| *bytes),
            retained_bytes: tree.retained(object),
            dominator: tree.dominator(object).map(|dominator| dominator.0),
            reachable: tree.is_live(object),
        })?;
    }
    Ok(heap.len() as u64)
}

/// Appends the ids of all objects, one after the other: cheaper than to look up each address.
fn ids<'h>(heap: &'h Heap<'_>) -> impl FnMut(&mut String) + 'h {
    let (mut numbers, prefix): (Box<dyn Iterator<Item = u64> + 'h>, _) = match &heap.ids {
        Ids::Addresses(addresses) => (Box::new(addresses.iter()), None),
        Ids::Rows(first) => (Box::new(*first..), Some('#')),
        Ids::Numbers(numbers) => (Box::new(numbers.iter()), Some('#')),
    };
    move |id| {
        let number = numbers.next().unwrap_or(0);
        let written = match prefix {
            None => write!(id, "{number:#x}"),
            Some(prefix) => write!(id, "{prefix}{number}"),
        };
        written.unwrap_or_default();
    }
}

fn references<W: Write>(heap: &Heap<'_>, rows: &mut Rows<W>) -> io::Result<u64> {
    for object in heap.objects() {
        for reference in heap.references.of(object) {
            let label = reference.label.text(&heap.names);
            rows.add(&ReferenceRow {
                src: object.0,
                dst: reference.target.0,
                label: &label,
                weak: reference.weak,
            })?;
        }
    }
    Ok(heap.references.len() as u64)
}

fn roots<W: Write>(heap: &Heap<'_>, rows: &mut Rows<W>) -> io::Result<u64> {
    for root in &heap.roots {
        let frame = root.frame.and_then(|frame| heap.frames.get(frame as usize));
        rows.add(&RootRow {
            object: root.object.0,
            id: &heap.id(root.object),
            kind: root.kind.name(),
            name: &root.text(&heap.names),
            function: frame.map(|frame| heap.names.text(frame.function)),
        })?;
    }
    Ok(heap.roots.len() as u64)
}

fn types<W: Write>(heap: &Heap<'_>, tree: &DominatorTree, rows: &mut Rows<W>) -> io::Result<u64> {
    let row = |(number, of): (u32, &Type)| TypeRow {
        number,
        type_name: heap.names.text(of.name),
        namespace: Some(heap.names.text(of.namespace)).filter(|namespace| !namespace.is_empty()),
        kind: of.kind.name(),
        count: 0,
        shallow_bytes: 0,
        external_bytes: 0,
        live_count: 0,
        live_shallow_bytes: 0,
        live_external_bytes: 0,
    };
    let mut table: Vec<TypeRow<'_>> = (0..).zip(&heap.types).map(row).collect();
    for object in heap.objects() {
        table[heap.type_id(object).0 as usize]
            .add(heap.shallow.get(object.index()), tree.is_live(object));
    }
    for (object, bytes) in &heap.external {
        table[heap.type_id(*object).0 as usize].add_external(*bytes, tree.is_live(*object));
    }
    table.iter().try_for_each(|row| rows.add(row))?;
    Ok(table.len() as u64)
}
