//! Refuses to load a heap that would not fit into memory, before the work starts.

use super::args::Common;
use super::open::Input;
use super::size::{count, size};
use super::status::UsageError;
use super::terminal::show_path;
use crate::analysis::memory_estimate;
use crate::input::{self, Format, Options};

/// What the columns of a loaded heap take: type, size, first reference and address of an object, target and label of a reference.
const BYTES_PER_OBJECT: u64 = 16;
const BYTES_PER_REFERENCE: u64 = 8;

/// References of an object where the format does not tell how many there are before the graph is built.
const USUAL_REFERENCES: u64 = 3;

/// Bytes that an object takes in a file at least; compressed columns (mvmheap) may take less.
const SMALLEST_OBJECT: u64 = 4;

/// Looks at how many objects there are, and whether they fit.
///
/// # Errors
/// A [`UsageError`] with the estimate, and what can be done without a graph.
pub(super) fn refuse_too_large(command: &str, input: &Input, common: &Common) -> anyhow::Result<()> {
    let Some(most) = common.max_memory.or_else(usable_memory) else { return Ok(()) };
    let bytes = input.bytes().len() as u64;
    // Most files are so small that nothing in them can be too much; counting takes a pass.
    let bound = needs(bytes / SMALLEST_OBJECT, bytes);
    if input.format != Format::Mvmheap && bound <= most {
        return Ok(());
    }
    let options = Options { quick: true, ..Options::default() };
    let Ok(info) = input::info(input.format, input.bytes(), options) else { return Ok(()) };
    let snapshots = info.heap.iter().flat_map(|heap| &heap.snapshots);
    let counted = snapshots.map(|snapshot| {
        let objects = snapshot.objects.or_else(|| whole_counts(input)).unwrap_or(0);
        (objects, snapshot.references.unwrap_or(objects.saturating_mul(USUAL_REFERENCES)))
    });
    let Some((objects, references)) = counted.max() else { return Ok(()) };
    let needed = needs(objects, references);
    if needed <= most {
        return Ok(());
    }
    let message = format!(
        "{}: {command} needs about {} for {} objects, more than {}",
        show_path(&input.path),
        size(needed, common.bytes),
        count(objects),
        size(most, common.bytes),
    );
    let hint = "`dumptool top --quick` counts with constant memory; --max-memory allows more";
    Err(UsageError::new(message).hint(hint).into())
}

/// Bytes at the peak, of the loaded heap and of what is found out about it.
fn needs(objects: u64, references: u64) -> u64 {
    let loaded = objects.saturating_mul(BYTES_PER_OBJECT).saturating_add(references.saturating_mul(BYTES_PER_REFERENCE));
    loaded.saturating_add(memory_estimate(objects, references))
}

/// Objects of the largest snapshot, where the summary blocks do not tell.
fn whole_counts(input: &Input) -> Option<u64> {
    let info = input::info(input.format, input.bytes(), Options::default()).ok()?;
    info.heap?.snapshots.iter().filter_map(|snapshot| snapshot.objects).max()
}

/// 80 % of the memory of the machine, or of the container.
fn usable_memory() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let container = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse::<u64>().ok());
    machine.into_iter().chain(container).min().map(|memory| memory / 5 * 4)
}
