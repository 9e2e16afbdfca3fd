//! The writers: one for each output format. They see the model and nothing of the inputs.

pub mod austin;
pub mod dot;
pub mod heapsnapshot;
pub mod hprof;
pub mod loss;
pub mod records;
pub mod tables;
