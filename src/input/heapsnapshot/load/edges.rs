//! The edges in columns, and the names of their labels.

use super::nodes::{narrow, put, split};
use crate::error::Error;
use crate::input::heapsnapshot::document::Document;
use crate::input::heapsnapshot::meta::{EdgeFields, EdgeType};
use crate::input::heapsnapshot::rows::{Part, Rows, first_error};
use crate::input::heapsnapshot::strings::Strings;
use crate::input::read::Progress;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{KeyName, Label, LabelKind, ObjectId};
use crate::model::names::NameId;
use crate::parallel;
use crate::plain::Plain;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
pub(super) struct Edges {
    pub(super) kind: Vec<u8>,
    /// The row of each edge's target; `u32::MAX` if its position is not that of a node.
    pub(super) target: Vec<ObjectId>,
    /// The label of each edge. Until [`Edges::name`], fields have the number of their string.
    pub(super) label: Vec<Label>,
    /// The strings that name edges, one bit each.
    used: Vec<AtomicU64>,
    /// The strings that name properties or variables, one bit each.
    properties: Vec<AtomicU64>,
    /// The strings by which V8 itself calls parts of its objects, such as `map`, one bit each.
    internals: Vec<AtomicU64>,
    /// The numbers of strings that name edges but lie beyond the end of both bit sets.
    beyond: Vec<u32>,
    /// The count of numbers after the last whole edge.
    pub(super) left_over: usize,
    /// Internal edges that are entries of WeakMaps, judging by their names, each with the id of the
    /// table in its name. Ascending.
    pub(super) weak_map_entries: Vec<(usize, u64)>,
}

/// Type, target and label of the edges of a part.
type Columns<'c> = (&'c mut [u8], &'c mut [u32], &'c mut [Label]);

/// The results of reading a part, besides its columns.
#[derive(Default)]
struct Rest {
    beyond: Vec<u32>,
    weak_map_entries: Vec<(usize, u64)>,
}

/// The facts that reading an edge needs.
struct Reader {
    fields: EdgeFields,
    /// The type of edges in the column, by its number in the file.
    kinds: Vec<u8>,
    node_fields: u32,
    /// The ids of WeakMaps' tables by the names of edges to their entries.
    tables: FxHashMap<u64, u64>,
    named: bool,
    strings: u64,
    /// See [`Edges`].
    used: Vec<AtomicU64>,
    properties: Vec<AtomicU64>,
    internals: Vec<AtomicU64>,
}

impl Reader {
    /// Reads the edges of a part. Returns the number of the first edge that was not read, and the
    /// error that ended the part.
    fn read(
        &self,
        part: &Part<'_>,
        (kind, target, label): Columns<'_>,
    ) -> (usize, Option<Error>, Rest) {
        let fields = self.fields;
        let mut rest = Rest::default();
        let mut done = part.first;
        let outcome = part.read(fields.count, |index, row| {
            let field = |at: usize| row.get(at).copied().unwrap_or(0);
            let number = part.first.wrapping_add(index);
            let known = usize::try_from(field(fields.kind)).ok();
            let edge_type =
                known.and_then(|number| self.kinds.get(number)).copied().unwrap_or(OTHER);
            put(kind, index, edge_type);
            let position = narrow(field(fields.to_node));
            let node = position.checked_div(self.node_fields).unwrap_or(0);
            let exact = node.wrapping_mul(self.node_fields) == position;
            put(target, index, if exact { node } else { u32::MAX });
            let name = field(fields.name_or_index);
            if edge_type == INTERNAL
                && !self.tables.is_empty()
                && let Some(&table) = self.tables.get(&name)
            {
                rest.weak_map_entries.push((number, table));
            }
            done = number.wrapping_add(1);
            if self.named {
                put(label, index, self.label(edge_type, name, &mut rest.beyond));
            }
        });
        (done, outcome.err().map(|error| error.context("in edges")), rest)
    }

    /// Returns the label of an edge. Marks the string that names it, or adds its number to `beyond`.
    #[inline(always)]
    fn label(&self, edge_type: u8, name: u64, beyond: &mut Vec<u32>) -> Label {
        if matches!(edge_type, ELEMENT | HIDDEN) {
            return Label::index(name);
        }
        if name < self.strings {
            mark(&self.used, name);
            if matches!(edge_type, OTHER | PROPERTY) {
                mark(&self.properties, name);
            } else if edge_type == INTERNAL {
                mark(&self.internals, name);
            }
        } else if name <= Label::MAX {
            beyond.push(name as u32);
        }
        Label::field(NameId(narrow(name)))
    }
}

/// The property by which V8 calls the prototype of an object.
pub(super) const PROTOTYPE: &str = "__proto__";

/// Edge types in a column of bytes.
pub(super) const WEAK: u8 = 1;
pub(super) const SHORTCUT: u8 = 2;
pub(super) const INTERNAL: u8 = 3;
pub(super) const ELEMENT: u8 = 4;
pub(super) const HIDDEN: u8 = 5;
pub(super) const PROPERTY: u8 = 6;
const OTHER: u8 = 0;

impl Edges {
    /// Reads all edges up to the first error, with their labels if `named` is set.
    pub(super) fn read(
        document: &Document<'_>,
        named: bool,
        progress: Progress<'_>,
    ) -> (Self, Option<Error>) {
        let (meta, fields) = (&document.meta, document.meta.edge);
        let rows = Rows::of(document.edges.as_ref(), fields.count);
        let bits = || -> Vec<AtomicU64> {
            (0..document.strings.dense().div_ceil(64)).map(|_| AtomicU64::new(0)).collect()
        };
        let mut kind = vec![OTHER; rows.count];
        let mut target = vec![0; rows.count];
        let mut label = Label::zeros(if named { rows.count } else { 0 });
        let columns = split(&mut kind, &rows.parts)
            .into_iter()
            .zip(split(&mut target, &rows.parts))
            .zip(split(&mut label, &rows.parts))
            .map(|((kind, target), label)| (kind, target, label));
        let reader = Reader {
            fields,
            kinds: meta.edge_types.iter().map(|(known, _)| code(*known)).collect(),
            node_fields: narrow(meta.node.count as u64).max(1),
            tables: weak_map_tables(&document.strings),
            named,
            strings: document.strings.dense() as u64,
            used: bits(),
            properties: bits(),
            internals: bits(),
        };
        let read = |(part, columns): (&Part<'_>, Columns<'_>)| {
            progress(part.offset());
            reader.read(part, columns)
        };
        let outcomes = parallel::map(rows.parts.iter().zip(columns), read);
        let Rest { mut beyond, mut weak_map_entries } = Rest::default();
        let mut ends = Vec::with_capacity(outcomes.len());
        for (done, error, rest) in outcomes {
            beyond.extend(rest.beyond);
            weak_map_entries.extend(rest.weak_map_entries);
            ends.push((done, error));
        }
        beyond.sort_unstable();
        beyond.dedup();
        let (count, error) = first_error(ends, rows.count);
        kind.truncate(count);
        target.truncate(count);
        label.truncate(count);
        let edges = Self {
            kind,
            target: ObjectId::of_plain(target),
            label,
            used: reader.used,
            properties: reader.properties,
            internals: reader.internals,
            beyond,
            left_over: rows.left_over,
            weak_map_entries,
        };
        (edges, error)
    }

    pub(super) fn len(&self) -> usize {
        self.kind.len()
    }

    /// The strings that name properties or variables.
    pub(super) fn properties(&self) -> impl Iterator<Item = u64> + '_ {
        let of_word = |(word, bits): (u64, &AtomicU64)| {
            let bits = bits.load(Ordering::Relaxed);
            let set = (0..64_u32).filter(move |bit| bits.wrapping_shr(*bit) & 1 == 1);
            set.map(move |bit| word.wrapping_mul(64).wrapping_add(bit.into()))
        };
        (0u64..).zip(&self.properties).flat_map(of_word)
    }

    /// Replaces the numbers of strings in labels by names, which are numbered in the order of the
    /// strings. Names that may be data become keys of the heap: those of properties, unless V8 itself
    /// uses them, and those of entries of WeakMaps, which quote texts.
    pub(super) fn name(&mut self, strings: &Strings<'_>, builder: &mut HeapBuilder<'_>) {
        if self.label.is_empty() {
            return;
        }
        let mut keys = std::mem::take(&mut builder.heap().keys);
        let names = builder.names();
        let mut label_of = |number: u64, is_property: bool| {
            let text = strings.text(number);
            // Elements of internal arrays are named by their number.
            if let Some(index) = index(&text) {
                return Label::index(index);
            }
            let name = names.intern(&text);
            if is_property && text != PROTOTYPE || text.contains(" / part of key (") {
                keys.push(KeyName { name, is_like_code: is_property && is_code(&text) });
            }
            Label::field(name)
        };
        let mut of_string = vec![Label::NONE; strings.dense()];
        let data = self.properties.iter().zip(&self.internals);
        for ((word, bits), (properties, internals)) in (0u64..).zip(&self.used).zip(data) {
            let mut bits = bits.load(Ordering::Relaxed);
            let properties =
                properties.load(Ordering::Relaxed) & !internals.load(Ordering::Relaxed);
            while bits != 0 {
                let number = word.wrapping_mul(64).wrapping_add(bits.trailing_zeros().into());
                let is_property = properties & bits & bits.wrapping_neg() != 0;
                bits &= bits.wrapping_sub(1);
                put(&mut of_string, number as usize, label_of(number, is_property));
            }
        }
        // Numbers of strings that the file contains, but that exceed the column, may be properties.
        let is_there = |number: u32| (number as usize) < strings.len();
        let of_beyond: Vec<Label> =
            self.beyond.iter().map(|&number| label_of(number.into(), is_there(number))).collect();
        // A file may have a string twice.
        keys.sort_unstable();
        let beyond = &self.beyond;
        let named = |label: &mut Label| {
            let LabelKind::Field(number) = label.kind() else { return };
            *label = of_string.get(number.0 as usize).copied().unwrap_or_else(|| {
                let row = beyond.binary_search(&number.0).unwrap_or(usize::MAX);
                of_beyond.get(row).copied().unwrap_or(Label::NONE)
            });
        };
        let chunks = self.label.chunks_mut(1 << 16);
        parallel::for_each(chunks, |labels| labels.iter_mut().for_each(named));
        builder.heap().keys = keys;
    }
}

fn code(edge_type: EdgeType) -> u8 {
    match edge_type {
        EdgeType::Weak => WEAK,
        EdgeType::Shortcut => SHORTCUT,
        EdgeType::Internal => INTERNAL,
        EdgeType::Element => ELEMENT,
        EdgeType::Property => PROPERTY,
        EdgeType::Hidden => HIDDEN,
        EdgeType::Other => OTHER,
    }
}

/// Sets a bit. Most bits are set already, and reading the word first is cheaper than writing to
/// memory that other threads read.
#[inline(always)]
fn mark(bits: &[AtomicU64], number: u64) {
    let Some(word) = bits.get((number / 64) as usize) else { return };
    let bit = 1u64.wrapping_shl(number as u32 % 64);
    if word.load(Ordering::Relaxed) & bit == 0 {
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

/// The ids of WeakMap tables, by the numbers of the strings that name their entries.
fn weak_map_tables(strings: &Strings<'_>) -> FxHashMap<u64, u64> {
    let entries = strings.containing(b"part of key (");
    entries
        .into_iter()
        .filter_map(|number| Some((number, weak_map_table(&strings.text(number))?)))
        .collect()
}

/// The id in the name of an edge of a WeakMap's entry: `3 / part of key (Object @17) -> value
/// (Array @19) pair in WeakMap (table @23)`. V8 writes such an edge twice: from the key, and from
/// the table.
fn weak_map_table(name: &str) -> Option<u64> {
    let digits_then = |text: &str| text.strip_prefix(|c: char| c.is_ascii_digit()).map(|_| ());
    digits_then(name)?;
    let rest =
        name.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(" / part of key (")?;
    let (pair, table) = rest.strip_suffix(')')?.rsplit_once(" pair in WeakMap (table @")?;
    let ends_with_id = |text: &str| text.rsplit_once(" @").is_some_and(|(_, id)| is_number(id));
    let is_pair = pair.strip_suffix(')').is_some_and(ends_with_id)
        && pair
            .match_indices(") -> value (")
            .any(|(at, _)| pair.get(..at).is_some_and(ends_with_id));
    if is_pair && is_number(table) { table.parse().ok() } else { None }
}

/// Whether the name of a property may come from source code, judging by its text: an identifier, or
/// the name of an accessor, a private field, or a symbol.
pub(super) fn is_code(name: &str) -> bool {
    let is_identifier = |name: &str| {
        let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_letter)
    };
    if let Some(symbol) = name.strip_prefix("<symbol ").and_then(|name| name.strip_suffix('>')) {
        return symbol.split('.').all(is_identifier);
    }
    let starts = ["get ", "set ", "#"];
    is_identifier(starts.iter().find_map(|start| name.strip_prefix(start)).unwrap_or(name))
}

/// The number of an element, as JavaScript writes it.
fn index(text: &str) -> Option<u64> {
    let is_index = is_number(text) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|index| is_index && *index <= Label::MAX)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_properties_that_are_identifiers_come_from_code() {
        for code in
            ["name", "_id", "$el", "get size", "#secret", "größe", "<symbol Symbol.iterator>"]
        {
            assert!(is_code(code), "{code}");
        }
        for data in
            ["a@b.example", "4111 1111", "2026-11-21", "10.0.0.7", "<symbol a b>", "x y", "7up"]
        {
            assert!(!is_code(data), "{data}");
        }
    }

    #[test]
    fn entries_of_weak_maps_name_their_table() {
        let name = |table: &str| {
            format!(
                "2 / part of key (Object @17) -> value (A) -> value (b @9) pair in WeakMap (table @{table})"
            )
        };
        assert_eq!(weak_map_table(&name("23")), Some(23), "an arrow in the name of the value");
        let name = "12 / part of key (<div id=\"a\"> @17) -> value ((object elements) @9) pair in WeakMap (table @23)";
        assert_eq!(weak_map_table(name), Some(23));
        for other in [
            "part of key (A @1) -> value (B @2) pair in WeakMap (table @3)",
            "1 / part of key (A @1) -> value (B @2) pair in WeakMap (table @3) ",
            "1 / part of key (A @1) -> value (B @x) pair in WeakMap (table @3)",
            "1 / part of key (A) -> value (B @2) pair in WeakMap (table @3)",
            "1 / part of key (A @1) -> value (B @2) pair in WeakMap (table @)",
        ] {
            assert_eq!(weak_map_table(other), None, "{other}");
        }
    }
}
