//! The roles of MoarVM's types.
//!
//! Source: `src/6model/reprs` and `src/profiler/heapsnapshot.c` of MoarVM, and the types of NQP and
//! Rakudo that exist before any program does.

use crate::model::roles::{Role, Roles};
use Role::{Closure, Collection, Hidden, Inside, Runtime, Thread};

pub(super) const ROLES: Roles = &[
    ("BOOTHash", Collection("hash")),
    ("Hash", Collection("hash")),
    ("Map", Collection("map")),
    ("BOOTArray", Inside),
    ("IterationBuffer", Inside),
    ("Scalar", Inside),
    ("Array", Collection("array")),
    ("List", Collection("list")),
    ("BOOTThread", Thread),
    ("BOOTCode", Closure),
    ("Block", Closure),
    ("Sub", Closure),
    ("Method", Closure),
    ("BOOT*", Runtime),
    ("VMString", Runtime),
    ("Str", Runtime),
    ("Int", Runtime),
    ("Num", Runtime),
    ("SpeshLog", Runtime),
    ("StaticFrameSpesh", Hidden),
    ("STable<*", Hidden),
    ("*HOW", Runtime),
    ("NQP*", Runtime),
    ("QAST::*", Runtime),
    // The automata of the compiler's own grammar are 16 MiB in every program of Rakudo.
    ("QRegex::NFA", Hidden),
    ("QRegex::*", Runtime),
    ("HLL::*", Runtime),
    ("Perl6::*", Runtime),
    ("Rakudo::*", Runtime),
    ("CompUnit*", Runtime),
    ("Method+{*", Closure),
    ("Sub+{*", Closure),
    ("KnowHOW*", Runtime),
    ("* (type object)", Runtime),
];
