//! Shared by the commands on profiles: loading, choosing a metric and threads, showing numbers and
//! names.

mod amount;
mod files;
mod load;
mod pattern;
mod rows;

pub(super) use amount::{Amount, by_of, headings, nouns, unit_name, whole};
pub(super) use files::ShortFiles;
#[cfg(feature = "query")]
pub(super) use load::load_samples;
pub(super) use load::{
    ProfileInput, load_profile, load_profile_in_parts, named, refuse_tag, refused, require_thread,
    selection,
};
pub(super) use pattern::{Pattern, no_function};
pub(super) use rows::{cost_columns, stack_text, total_json};
