//! Go heap dumps: every layout, real dumps with their ground truth, and damage.

#[path = "go/corpus.rs"]
mod corpus;
#[path = "go/damage.rs"]
mod damage;
#[path = "go/fixtures.rs"]
mod fixtures;
#[path = "go/layouts.rs"]
mod layouts;
#[path = "go/lines.rs"]
mod lines;
#[path = "go/load.rs"]
mod load;
#[path = "go/regressions.rs"]
mod regressions;
#[path = "support/go.rs"]
mod support;
