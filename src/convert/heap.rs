//! Heaps: as objects, as a table, or as the stacks of their dominator tree.

use super::{Conversion, Converted, ConvertedCounts, TableSource};
use crate::analysis::dominator_stacks::{self, Counted};
use crate::analysis::dominators::Dominators;
use crate::analysis::graph::Graph;
use crate::analysis::live::live;
use crate::input::Kind;
use crate::input::load::Loaded;
use crate::model::heap::Heap;
use crate::output::OutputFormat;
use crate::output::loss::{Loss, LossKind};
use crate::output::{heapsnapshot, hprof};
use crate::tables::Table;
use std::io::{self, Write};

impl Conversion<'_> {
    /// Writes a heap.
    ///
    /// # Errors
    /// If the output cannot be written, or the format cannot hold the heap.
    pub fn heap(&self, loaded: &Loaded<'_>, out: &mut impl Write) -> io::Result<Converted> {
        let heap = &loaded.heap;
        match self.target {
            OutputFormat::Hprof => {
                let mut report = hprof::write(heap, &self.options.hprof, out)?;
                let lost = std::mem::take(&mut report.lost);
                Ok(Converted { written: ConvertedCounts::Hprof(report), lost })
            }
            OutputFormat::Heapsnapshot => {
                let graph = Graph::of(heap);
                let (live, options) = (live(&graph), &self.options.heapsnapshot);
                let mut report = heapsnapshot::write(heap, &graph, &live, options, out)?;
                let lost = std::mem::take(&mut report.lost);
                Ok(Converted { written: ConvertedCounts::Heapsnapshot(report), lost })
            }
            _ if self.writes_table(Kind::Heap) => {
                let table = self.options.table.unwrap_or(Table::Objects);
                TableSource::of_heap(self, loaded, &[table])?.convert(table, out)
            }
            _ => self.dominators(heap, out),
        }
    }

    fn dominators(&self, heap: &Heap<'_>, out: &mut impl Write) -> io::Result<Converted> {
        let dominators = Dominators::of(&Graph::of(heap));
        let counted = match self.target {
            // Formats that have room for one number show bytes.
            OutputFormat::Folded | OutputFormat::Firefox | OutputFormat::Svg => Counted::Bytes,
            _ => Counted::ObjectsAndBytes,
        };
        let (title, share) = (self.file.title(), self.options.min_share);
        let tree = dominator_stacks::of(heap, &dominators, title, share, counted);
        let unreachable = heap.len() - dominators.len();
        drop(dominators);
        let mut written = self.stacks(&tree.stacks, out)?;
        let left_out = [
            Loss::of(LossKind::Unreachable, unreachable as u64, None),
            Loss::of(LossKind::PrunedSubtrees, tree.pruned_objects, Some(tree.pruned_bytes)),
        ];
        let lost = left_out.into_iter().flatten().chain(std::mem::take(&mut written.lost));
        Ok(Converted { lost: lost.collect(), written: ConvertedCounts::Stacks(written) })
    }
}
