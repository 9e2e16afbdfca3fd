//! Shared by the commands on heaps: loading, counting, and showing objects, paths, values and
//! groups.

mod held;
pub(crate) mod histogram;
mod load;
mod objects;
pub(crate) mod path;
pub(crate) mod suspects;
pub(crate) mod value;

pub(crate) use held::{Analyses, HeldHeap};
pub(crate) use load::{damage, load, load_as, load_for, open_heap, report_loaded, without_roots};
pub(crate) use objects::{
    Analysed, class_called, find_object, known_types, matching_types, type_name,
};
