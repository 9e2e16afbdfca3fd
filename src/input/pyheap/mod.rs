//! Heap dumps of Python programs, which the package `dumptool_heap` writes: a JSON value a line.
//!
//! `docs/formats/pyheap.md` specifies the format.

mod line;
mod load;
mod records;
mod roots;
mod summary;
mod types;
mod values;

use super::spec::{Detection, Format, FormatSpec, HeapReader, Identity, Origin, Readers};
use crate::model::roles::{Role, Roles};
use Role::{Closure, Collection, Frame, Inside, Passage, Runtime, Task, Thread, Timer};

pub(super) use records::for_each_record;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Pyheap,
    name: "pyheap",
    title: "Python heap dump",
    versions: "dumptool_heap 1 (CPython 3.8 to 3.14)",
    extensions: &["pyheap"],
    detection: Detection::Magics(&[b"{\"pyheap\":"]),
    origin: Origin::Runtime("Python"),
    record_names: &[records::NAMES],
    info: summary::info,
    check: summary::check,
    readers: Readers::Heap(HeapReader {
        load: load::load,
        histogram: load::histogram,
        least_bytes: (20, 2),
        roles: ROLES,
        identity: Identity::Ids,
    }),
};

/// The roles of Python's types, by those of CPython 3.8 to 3.13 and of its standard library.
const ROLES: Roles = &[
    ("library *", Runtime),
    ("dict", Collection("dict")),
    ("collections.OrderedDict", Collection("dict")),
    ("collections.defaultdict", Collection("dict")),
    ("__dict__", Inside),
    ("list", Collection("list")),
    ("tuple", Collection("tuple")),
    ("set", Collection("set")),
    ("frozenset", Collection("set")),
    ("collections.deque", Collection("deque")),
    ("functools._lru_cache_wrapper", Collection("lru_cache")),
    ("functools._lru_list_elem", Inside),
    ("module", Passage),
    ("function", Closure),
    ("cell", Closure),
    ("method", Closure),
    ("functools.partial", Closure),
    ("frame", Frame),
    ("generator", Frame),
    ("coroutine", Frame),
    ("async_generator", Frame),
    ("traceback", Inside),
    ("threading.Thread", Thread),
    ("threading.Timer", Timer),
    ("asyncio.events.TimerHandle", Timer),
    ("_asyncio.Task", Task),
    ("asyncio.tasks.Task", Task),
    ("code", Runtime),
    ("type", Runtime),
    ("abc.ABCMeta", Runtime),
    ("str", Runtime),
    ("bytes", Runtime),
    ("int", Runtime),
    ("float", Runtime),
    ("bool", Runtime),
    ("NoneType", Runtime),
    ("builtin_function_or_method", Runtime),
    ("*_descriptor", Runtime),
    ("property", Runtime),
    ("weakref.*", Runtime),
    ("weakref", Runtime),
    ("weakcallableproxy", Runtime),
    ("weakproxy", Runtime),
    ("staticmethod", Runtime),
    ("classmethod", Runtime),
    ("_frozen_importlib*", Runtime),
    ("importlib*", Runtime),
    ("typing.*", Runtime),
    ("types.*", Runtime),
];
