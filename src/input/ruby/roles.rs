//! The roles of Ruby's classes.
//!
//! Source: `ext/objspace/objspace_dump.c` and the core classes of Ruby 2.7 to 3.4.

use crate::model::roles::{Role, Roles};
use Role::{Closure, Collection, Hidden, Runtime, Thread};

pub(super) const ROLES: Roles = &[
    ("imemo env", Closure),
    ("imemo ment", Hidden),
    ("imemo callcache", Hidden),
    ("imemo callinfo", Hidden),
    ("imemo constcache", Hidden),
    ("imemo iseq", Hidden),
    ("imemo *", Hidden),
    ("included module", Hidden),
    ("RubyVM*", Hidden),
    ("Proc", Closure),
    ("Method", Closure),
    ("Thread", Thread),
    ("Fiber", Thread),
    ("Hash", Collection("hash")),
    ("Array", Collection("array")),
    ("Set", Collection("set")),
    ("Thread::Queue", Collection("queue")),
    ("Queue", Collection("queue")),
    ("String", Runtime),
    ("Symbol", Runtime),
    ("Object", Runtime),
    ("Regexp", Runtime),
    ("Float", Runtime),
    ("Integer", Runtime),
    ("Rational", Runtime),
    ("MatchData", Runtime),
    ("Encoding*", Runtime),
    ("Gem::*", Runtime),
    ("Monitor", Runtime),
    ("Ractor*", Runtime),
    // The table of `ObjectSpace.trace_object_allocations_start`: the observer, not the program.
    ("ObjectTracing/*", Hidden),
];
