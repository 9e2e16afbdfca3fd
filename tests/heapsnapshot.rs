//! V8 heap snapshots.

#[path = "heapsnapshot/corpus.rs"]
mod corpus;
#[path = "heapsnapshot/damage.rs"]
mod damage;
#[path = "heapsnapshot/fixtures.rs"]
mod fixtures;
#[path = "heapsnapshot/rules.rs"]
mod rules;
#[path = "heapsnapshot/sites.rs"]
mod sites;
mod support;
