//! The writer's own lists of the largest types and frames: `topIDs` and `topscore`.

use super::column::TableBudget;
use super::dump::{Dump, Snapshot};
use crate::error::{Error, Result};

/// One list: pairs of type or frame index and score, the largest score first. Padding, which has
/// score 0, is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Board {
    /// `types_by_count`, `frames_by_count`, `types_by_size` or `frames_by_size`.
    pub(super) name: String,
    pub(super) entries: Vec<(u64, u64)>,
}

/// Reads the lists of a snapshot, under the names in `filemeta`. `None` if the file has none.
pub(super) fn read(dump: &Dump<'_>, snapshot: &Snapshot<'_>) -> Option<Result<Vec<Board>>> {
    let names = dump.filemeta.as_ref()?.texts("highscore_structure.data_order")?;
    let (ids, scores) = (snapshot.block("topIDs")?, snapshot.block("topscore")?);
    let mut budget = TableBudget::of_list();
    let numbers = budget.numbers(ids).and_then(|ids| Ok((ids, budget.numbers(scores)?)));
    Some(numbers.and_then(|(ids, scores)| {
        // The lists are equally long, so the number of entries in filemeta is not needed.
        let length = ids.len().checked_div(names.len()).unwrap_or(ids.len());
        if ids.len() != scores.len() || length == 0 {
            return Err(Error::corrupt(
                snapshot.start,
                "the highscores differ in length or are empty",
            )
            .expected(format!("{} identifiers", scores.len()))
            .found(ids.len().to_string()));
        }
        let lists = ids.chunks(length).zip(scores.chunks(length));
        let entries = |(ids, scores): (&[u64], &[u64])| {
            ids.iter()
                .copied()
                .zip(scores.iter().copied())
                .filter(|(_, score)| *score > 0)
                .collect()
        };
        Ok(names
            .into_iter()
            .zip(lists)
            .map(|(name, list)| Board { name, entries: entries(list) })
            .collect())
    }))
}
