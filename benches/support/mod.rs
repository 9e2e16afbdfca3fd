//! What the benchmarks are made of.

pub(crate) mod benches;
pub(crate) mod floors;
pub(crate) mod inputs;
pub(crate) mod loading;
pub(crate) mod measure;
pub(crate) mod table;
