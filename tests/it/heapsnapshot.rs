//! V8 heap snapshots.

mod corpus;
mod damage;
mod fixtures;
mod rules;
mod sites;
