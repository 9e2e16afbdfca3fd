//! The entries of Map and Set, whose tables are arrays of unnamed elements.
//!
//! A table has three numbers, a bucket for every two entries, and the entries in the order of their
//! insertion. An entry is a key, a value (not in a Set) and the next entry of the bucket (V8's
//! `OrderedHashTable`, `src/objects/ordered-hash-table.h`). The number of buckets is a power of two
//! and follows from the size of the table. Numbers that are not objects are not in the file.

use super::edges::{Edges, INTERNAL};
use super::nodes::Nodes;
use crate::model::heap::{Heap, Label, LabelKind, ObjectId, Offsets};
use crate::model::names::Names;

/// The tables of all Maps, sorted.
pub(super) struct Tables(Vec<ObjectId>);

/// Elements before the buckets.
const HEADER: u64 = 3;
/// Entries for each bucket.
const LOAD: u64 = 2;
/// The number of elements per entry, in a Map and in a Set.
const OF_MAP: u64 = 3;
const OF_SET: u64 = 2;

impl Tables {
    /// Finds the tables, which are the targets of references named `table`, and numbers their
    /// references: the keys and values of a Map alternately, or the elements of a Set.
    pub(super) fn number(
        nodes: &Nodes,
        edges: &mut Edges,
        first: &Offsets,
        names: &mut Names,
    ) -> Self {
        let label = Label::field(names.intern("table"));
        let all = edges.kind.iter().zip(&edges.label).zip(&edges.target);
        let tables = all
            .filter(|((kind, name), table)| {
                **kind == INTERNAL && **name == label && table.index() < nodes.len()
            })
            .map(|(_, table)| *table);
        let mut tables: Vec<ObjectId> = tables.collect();
        tables.sort_unstable();
        tables.dedup();
        tables.retain(|table| {
            let Some((start, each)) = shape(nodes.size.get(table.index())) else { return false };
            let row = |object: usize| first.get(object) as usize;
            let rows = row(table.index())..row(table.index().saturating_add(1));
            for label in edges.label.get_mut(rows).into_iter().flatten() {
                let LabelKind::Index(element) = label.kind() else { continue };
                let Some(place) = u64::from(element).checked_sub(start) else { continue };
                let (entry, part) = (place.div_euclid(each), place.rem_euclid(each));
                // The last part is the link to the next entry of the bucket.
                if part < each.saturating_sub(1) {
                    let entry = entry.saturating_mul(each.saturating_sub(1));
                    *label = Label::index(entry.saturating_add(part));
                }
            }
            each == OF_MAP
        });
        Self(tables)
    }

    /// The key of the Map entry whose value the reference in a row holds.
    pub(super) fn key_of(&self, heap: &Heap<'_>, row: usize) -> Option<ObjectId> {
        let LabelKind::Index(index) = heap.label(row).kind() else { return None };
        if index.is_multiple_of(2) {
            return None;
        }
        let table = heap.references.owner(row);
        self.0.binary_search(&table).ok()?;
        // References are in the order of elements: the key comes just before the value.
        let before = row.checked_sub(1).filter(|row| heap.references.range(table).contains(row))?;
        let key = Label::index(index.saturating_sub(1).into());
        (heap.label(before) == key).then(|| heap.references.target(before))
    }
}

/// The first element of the entries of a table of this size, and the number of elements per entry.
/// `None` if no table has the size. An element takes 8 bytes, or 4 with compressed pointers, and so
/// do the two words of the header.
fn shape(size: u64) -> Option<(u64, u64)> {
    let shape = |word: u64, each: u64| {
        let elements = size.checked_sub(word.saturating_mul(2))?;
        let elements = Some(elements).filter(|rest| rest.is_multiple_of(word))?.div_euclid(word);
        let of_bucket = each.saturating_mul(LOAD).saturating_add(1);
        let rest = elements.checked_sub(HEADER).filter(|rest| rest.is_multiple_of(of_bucket))?;
        let buckets = rest.div_euclid(of_bucket);
        buckets.is_power_of_two().then(|| (HEADER.saturating_add(buckets), each))
    };
    let shapes = [(8, OF_MAP), (8, OF_SET), (4, OF_MAP), (4, OF_SET)];
    shapes.into_iter().find_map(|(word, each)| shape(word, each))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_table_tells_where_its_entries_begin() {
        // Sizes that Node.js 20 wrote, with 2, 32, 128 and 256 buckets.
        for (size, entries) in [(152, 5), (1832, 35), (7208, 131), (14376, 259)] {
            assert_eq!(shape(size), Some((entries, OF_MAP)), "{size}");
        }
        assert_eq!((shape(1320), shape(2600)), (Some((35, OF_SET)), Some((67, OF_SET))));
        assert_eq!(shape(8 + 4 * (3 + 7 * 32)), Some((35, OF_MAP)), "compressed pointers");
        for size in [16, 0, 1836, 4097] {
            assert_eq!(shape(size), None, "{size}");
        }
    }
}
