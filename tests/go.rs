//! Go heap dumps: every layout, real dumps with their ground truth, and damage.

#[path = "go/corpus.rs"]
mod corpus;
