//! The roles of Go's types.
//!
//! Sources: `runtime/chan.go`, `internal/runtime/maps` and `runtime/map.go` of Go 1.3 to 1.27.

use crate::model::roles::{Role, Roles};
use Role::{Closure, Collection, Inside, Runtime, Timer};

pub(super) const ROLES: Roles = &[
    ("chan *", Collection("channel")),
    ("map.group*", Inside),
    ("map.bucket*", Inside),
    ("bucket[*", Inside),
    ("map[* table", Inside),
    ("map[*", Collection("map")),
    ("hash<*", Collection("map")),
    ("sync.Map", Collection("map")),
    ("container/list.List", Collection("list")),
    ("container/list.Element", Inside),
    ("internal/sync.*", Inside),
    ("[]*", Inside),
    ("func*", Closure),
    ("string", Runtime),
    ("(tiny block)", Runtime),
    ("(weak handle)", Runtime),
    ("time.Ticker", Timer),
    ("time.Timer", Timer),
    ("time.Time", Runtime),
    ("runtime.*", Runtime),
    ("internal/*", Runtime),
    ("sync.*", Runtime),
    ("os.*", Runtime),
    ("syscall.*", Runtime),
    ("unicode.*", Runtime),
    ("reflect.*", Runtime),
    ("* pointers)", Runtime),
    ("* without pointers*", Runtime),
    ("* B,*", Runtime),
];
