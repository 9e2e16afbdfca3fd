//! Shared by the commands on profiles: loading, choosing a metric and threads, showing numbers and
//! names.

mod amount;
mod files;
mod input;
mod load;
mod require;
mod rows;
mod runs;
mod several;

pub(super) use amount::{Amount, by_of, headings, nouns, unit_name, whole};
pub(super) use files::ShortFiles;
pub(super) use input::{ProfileInput, UNAPPLIED, with_filters};
pub(super) use load::{Kept, load_parts, load_profile, refused, warn_of_symbols};
pub(super) use require::{
    given_pattern, named, no_function, pattern, refuse_tag, require_stacks, selection,
};
pub(super) use rows::{add_functions, cost_columns, hottest_function, stack_text, total_json};
pub(super) use several::{Several, load_several, not_profiles, read_several};
