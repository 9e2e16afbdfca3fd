//! Shared by the commands on heaps: loading, counting, and showing objects, paths, values and
//! groups.

pub(crate) mod grown;
mod held;
pub(crate) mod histogram;
mod load;
mod objects;
pub(crate) mod path;
pub(crate) mod value;
pub(crate) mod verdict;
pub(crate) mod waste_words;

pub(crate) use held::{Answers, HeldHeap};
pub(crate) use load::{
    damage, load, load_as, load_for, load_heap, open_heap, report_loaded, report_warnings,
    without_roots,
};
pub(crate) use objects::{
    Analysed, class_called, describe, find_object, known_types, matching_types, no_such_type,
    own_name, type_name,
};
