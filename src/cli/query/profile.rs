//! The tables of a profile.

mod frames;
mod functions;
mod samples;
mod stacks;

use super::relation::SqlTable;
use crate::model::profile::Profile;
use crate::output::tables::Table;
use std::sync::Arc;

/// The tables of a profile, in the order in which they are listed.
pub(super) fn tables(profile: &Arc<Profile>) -> Vec<SqlTable> {
    vec![
        samples::table(profile),
        SqlTable::of(Table::Stacks, stacks::Stacks::of(profile)),
        SqlTable::of(Table::Frames, frames::Frames::of(profile)),
        SqlTable::of(Table::Functions, functions::Functions::of(profile)),
    ]
}
