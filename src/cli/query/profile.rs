//! The tables of a profile.

mod frames;
mod functions;
mod samples;
mod stacks;

use super::relation::Relation;
use crate::model::profile::Profile;
use std::sync::Arc;

/// The tables of a profile, in the order in which they are listed.
pub(super) fn relations(profile: &Arc<Profile>) -> Vec<Box<dyn Relation>> {
    vec![
        Box::new(samples::SampleRows::of(profile)),
        Box::new(stacks::Stacks::of(profile)),
        Box::new(frames::Frames::of(profile)),
        Box::new(functions::Functions::of(profile)),
    ]
}
