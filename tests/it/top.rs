//! `top`, `tree`, `diff` and rules of `check`: what they count, against naive counts and against
//! truth from elsewhere.

mod command;
mod dart;
mod diff;
mod histogram;
mod sketches;
mod tree;
