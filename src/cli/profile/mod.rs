//! What the commands on profiles have in common: loading, choosing a metric and threads, showing numbers and names.

mod amount;
mod files;
mod load;
mod pattern;
mod rows;
mod stack;

pub(super) use amount::{Amount, unit_name, whole};
pub(super) use files::ShortFiles;
pub(super) use load::{ProfileInput, load_profile, load_profile_in_parts, refused, require_thread, selection};
pub(super) use pattern::{Pattern, no_function};
pub(super) use rows::{CostRow, Total};
pub(super) use stack::stack_text;

use super::args::{Common, OutputFormat};
use super::export;
use serde::Serialize;

/// A result in the format that was asked for: a table is made only if one is wanted.
pub(super) fn print<R: Serialize, C: Serialize + Default>(
    common: &Common,
    document: &impl Serialize,
    rows: &[R],
    csv: impl FnOnce() -> Vec<C>,
    table: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    let text = match common.format {
        OutputFormat::Table => table(),
        OutputFormat::Json => serde_json::to_string_pretty(document)? + "\n",
        OutputFormat::Jsonl => export::lines(rows)?,
        OutputFormat::Csv => export::csv(csv())?,
    };
    super::print_text(&text, common)?;
    Ok(())
}
