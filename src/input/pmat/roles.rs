//! The roles of Perl's values.
//!
//! Source: `sv.h` of Perl 5 and the type names of Devel::MAT.

use crate::model::roles::{Role, Roles};
use Role::{Closure, Collection, Hidden, Inside, Passage, Program, Runtime, Sigil};

pub(super) const ROLES: Roles = &[
    ("STASH*", Passage),
    ("GLOB*", Passage),
    ("HASH", Collection("hash")),
    ("ARRAY", Collection("array")),
    ("CODE", Closure),
    ("PAD*", Passage),
    ("REF", Inside),
    ("SCALAR*", Runtime),
    ("IO*", Runtime),
    ("REGEXP", Runtime),
    ("INVLIST", Runtime),
    ("the scalar", Sigil("$")),
    ("the array", Sigil("@")),
    ("the hash", Sigil("%")),
    ("the code", Sigil("&")),
    ("the scope", Hidden),
    ("main_cv", Program),
];
