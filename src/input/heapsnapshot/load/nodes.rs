//! The nodes in columns.

use super::bits::Bits;
use crate::error::{Error, Result};
use crate::input::heapsnapshot::document::Document;
use crate::input::heapsnapshot::meta::Meta;
use crate::input::heapsnapshot::rows::{Part, Rows, first_error};
use crate::input::read::Progress;
use crate::model::heap::{MAX_OBJECTS, Sizes};
use crate::parallel;

#[derive(Default)]
pub(super) struct Nodes {
    /// The kind of each node; 255 for numbers of types that `meta` does not have.
    pub(super) kind: Vec<u8>,
    /// The number of the string that names each node.
    pub(super) name: Vec<u32>,
    pub(super) id: Sizes,
    pub(super) size: Sizes,
    pub(super) edges: Vec<u32>,
    /// Nodes whose detachedness V8 recorded: 1 is attached, 2 detached.
    pub(super) detachedness: Vec<(u32, u8)>,
    /// Nodes whose allocation was recorded, with its `trace_node_id`.
    pub(super) traces: Vec<(u32, u64)>,
    /// The count of numbers after the last whole node.
    pub(super) left_over: usize,
}

/// Type, name, id, size and number of edges of the nodes of a part.
type Columns<'c> = (&'c mut [u8], &'c mut [u32], &'c mut [u32], &'c mut [u32], &'c mut [u32]);

/// The values that do not fit into the columns of a part.
#[derive(Default)]
struct Rest {
    ids: Vec<(usize, u64)>,
    sizes: Vec<(usize, u64)>,
    detachedness: Vec<(u32, u8)>,
    traces: Vec<(u32, u64)>,
}

/// Reads the nodes of a part up to the first error. Returns the number of the first node that was
/// not read.
fn read_part(
    meta: &Meta,
    part: &Part<'_>,
    (kind, name, id, size, edges): Columns<'_>,
) -> (usize, Option<Error>, Rest) {
    let fields = meta.node;
    let mut rest = Rest::default();
    let mut done = part.first;
    let outcome = part.read(fields.count, |index, row| {
        let field = |at: usize| row.get(at).copied().unwrap_or(0);
        let number = part.first.wrapping_add(index);
        put(kind, index, meta.kinds.kind(field(fields.kind)));
        put(name, index, narrow(field(fields.name)));
        for (column, value, wide) in [
            (&mut *id, field(fields.id), &mut rest.ids),
            (&mut *size, field(fields.self_size), &mut rest.sizes),
        ] {
            put(column, index, narrow(value));
            if value >= u32::MAX.into() {
                wide.push((number, value));
            }
        }
        put(edges, index, narrow(field(fields.edge_count)));
        if let Some(at) = fields.detachedness
            && let state @ 1..=2 = field(at)
        {
            rest.detachedness.push((number as u32, state as u8));
        }
        if let Some(at) = fields.trace_node_id
            && let trace @ 1.. = field(at)
        {
            rest.traces.push((number as u32, trace));
        }
        done = number.wrapping_add(1);
    });
    (done, outcome.err().map(|error| error.context("in nodes")), rest)
}

impl Nodes {
    /// Reads all nodes up to the first error. Fails if there are more nodes than a heap can have.
    pub(super) fn read(
        document: &Document<'_>,
        progress: Progress<'_>,
    ) -> Result<(Self, Option<Error>)> {
        let fields = document.meta.node;
        let rows = Rows::of(document.nodes.as_ref(), fields.count);
        if rows.count as u64 > MAX_OBJECTS {
            let offset = document.nodes.as_ref().map_or(0, |numbers| numbers.offset());
            return Err(Error::limit(offset, "the snapshot has too many nodes")
                .expected(format!("at most {MAX_OBJECTS}")));
        }
        let (mut kind, mut name) = (vec![0; rows.count], vec![0; rows.count]);
        let (mut id, mut size, mut edges) =
            (vec![0; rows.count], vec![0; rows.count], vec![0; rows.count]);
        let columns = split(&mut kind, &rows.parts)
            .into_iter()
            .zip(split(&mut name, &rows.parts))
            .zip(split(&mut id, &rows.parts))
            .zip(split(&mut size, &rows.parts))
            .zip(split(&mut edges, &rows.parts))
            .map(|((((kind, name), id), size), edges)| (kind, name, id, size, edges));
        let read = |(part, columns): (&Part<'_>, Columns<'_>)| {
            progress(part.offset());
            read_part(&document.meta, part, columns)
        };
        let outcomes = parallel::map(rows.parts.iter().zip(columns), read);
        let mut nodes = Self {
            kind,
            name,
            id: id.into(),
            size: size.into(),
            edges,
            left_over: rows.left_over,
            ..Self::default()
        };
        let mut ends = Vec::with_capacity(outcomes.len());
        for (done, error, rest) in outcomes {
            rest.ids.into_iter().for_each(|(row, id)| nodes.id.set(row, id));
            rest.sizes.into_iter().for_each(|(row, size)| nodes.size.set(row, size));
            nodes.detachedness.extend(rest.detachedness);
            nodes.traces.extend(rest.traces);
            ends.push((done, error));
        }
        let (count, error) = first_error(ends, rows.count);
        nodes.truncate(count);
        Ok((nodes, error))
    }

    pub(super) fn len(&self) -> usize {
        self.kind.len()
    }

    /// Returns the number of nodes with the id of another node. Nearly all ids are small, so one
    /// bit per id is enough.
    pub(super) fn repeated_ids(&self) -> u64 {
        let largest = self.id.iter().max().unwrap_or(0);
        let limit = (self.len() as u64).saturating_mul(64).min(largest.saturating_add(1));
        let mut seen = Bits::none(usize::try_from(limit).unwrap_or(0));
        let mut large: Vec<u64> = Vec::new();
        let mut repeated = 0u64;
        for id in self.id.iter() {
            match usize::try_from(id) {
                Ok(small) if id < limit => {
                    repeated = repeated.wrapping_add(u64::from(!seen.set(small)))
                }
                _ => large.push(id),
            }
        }
        large.sort_unstable();
        repeated.wrapping_add(
            large.windows(2).filter(|pair| matches!(pair, [a, b] if a == b)).count() as u64,
        )
    }

    fn truncate(&mut self, count: usize) {
        if count == self.len() {
            return;
        }
        self.kind.truncate(count);
        self.name.truncate(count);
        self.edges.truncate(count);
        self.detachedness.retain(|(row, _)| (*row as usize) < count);
        self.traces.retain(|(row, _)| (*row as usize) < count);
        for column in [&mut self.id, &mut self.size] {
            let mut kept = Sizes::with_capacity(count);
            column.iter().take(count).for_each(|value| kept.push(value));
            *column = kept;
        }
    }
}

/// The rows of each part.
pub(super) fn split<'c, T>(mut column: &'c mut [T], parts: &[Part<'_>]) -> Vec<&'c mut [T]> {
    let cut = |part: &Part<'_>| {
        let (rows, rest) =
            std::mem::take(&mut column).split_at_mut_checked(part.rows).unwrap_or_default();
        column = rest;
        rows
    };
    parts.iter().map(cut).collect()
}

#[inline(always)]
pub(super) fn put<T>(column: &mut [T], index: usize, value: T) {
    if let Some(place) = column.get_mut(index) {
        *place = value;
    }
}

#[inline(always)]
pub(super) fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
