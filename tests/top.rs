//! `top`, `tree`, `diff` and rules of `check`: what they count, against naive counts and against
//! truth from elsewhere.

mod support;

#[path = "top/command.rs"]
mod command;
#[path = "top/dart.rs"]
mod dart;
#[path = "top/diff.rs"]
mod diff;
#[path = "top/histogram.rs"]
mod histogram;
#[path = "top/sketches.rs"]
mod sketches;
#[path = "top/tree.rs"]
mod tree;
