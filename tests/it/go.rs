//! Go heap dumps: every layout, real dumps with their ground truth, and damage.

mod corpus;
mod damage;
mod fixtures;
mod layouts;
mod lines;
mod load;
mod regressions;
