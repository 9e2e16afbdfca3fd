//! What the analysis says of heaps, against what can be found out without cleverness, by others, or
//! was known beforehand.

#[path = "analysis/dart.rs"]
mod dart;
#[path = "analysis/deep.rs"]
mod deep;
#[path = "analysis/examples.rs"]
mod examples;
#[path = "analysis/go.rs"]
mod go;
#[path = "analysis/holders.rs"]
mod holders;
#[path = "analysis/properties.rs"]
mod properties;
mod support;
