//! What the analysis says of heaps, against what can be found out without cleverness, by others, or
//! was known beforehand.

mod dart;
mod deep;
mod examples;
mod go;
mod holders;
mod hubs;
mod properties;
