//! The roles of Dart's classes.
//!
//! Source: the libraries of Dart 2.17 to 3.7. Objects of the virtual machine itself are in no
//! library.

use crate::model::roles::{Role, Roles};
use Role::{Closure, Inside, Runtime, Timer};

pub(super) const ROLES: Roles = &[
    ("_Closure", Closure),
    ("Context", Closure),
    ("_Timer", Timer),
    ("_List", Inside),
    ("_WeakProperty", Inside),
    ("dart:*", Runtime),
    (":*", Runtime),
];
