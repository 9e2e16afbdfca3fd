//! Shared by the commands on profiles: loading, choosing a metric and threads, showing numbers and
//! names.

mod amount;
mod files;
mod input;
mod load;
mod pattern;
mod require;
mod rows;
mod several;
mod verdict;

pub(super) use amount::{Amount, by_of, events, headings, nouns, unit_name, whole};
pub(super) use files::ShortFiles;
pub(super) use input::{ProfileInput, UNAPPLIED, with_filters};
pub(super) use load::{Kept, load_parts, load_profile, refused, warn_of_symbols};
pub(super) use pattern::{given_pattern, no_function, pattern};
pub(super) use require::{named, refuse_tag, require_stacks, selection};
pub(super) use rows::{add_functions, cost_columns, stack_text, total_json};
pub(super) use several::{Several, load_several, not_profiles, read_several};
pub(super) use verdict::hottest_function;
