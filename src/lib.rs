//! Reads heap dumps and profiles of many runtimes, analyses them and converts them.
//!
//! [`open()`] detects the format of a file and returns a [`Dump`], which loads as one of two models:
//!
//! * A heap dump of Go, the JVM, Android, V8 (Node.js, Chrome), Dart, Ruby, Perl, Python or MoarVM loads as a
//!   [`Heap`]: objects, types, sizes, references and roots, in columns.
//! * A profile loads as a [`Profile`]: stacks with weights. Such files come from pprof, `perf`, V8,
//!   Austin, Flight Recorder, the JDK's `hprof` agent, gperftools, heaptrack, jemalloc, Valgrind, Chrome,
//!   Firefox, cProfile, speedscope and tools that write folded stacks.
//!
//! [`Analyses`] answers questions about a heap, each computed once; [`analysis`] has the types of
//! the answers. [`Dump::convert`] writes both models in the formats of other tools; [`convert`] has
//! options. [`Format`] and [`OutputFormat`] list the formats.
//!
//! The library reads files of any size without recursion or allocation per object, never panics on
//! damaged input, and gives the same results for any number of threads. Errors contain the absolute
//! offset of the byte at fault. Programs that do not need the command line should depend on this
//! crate with `default-features = false`.
//!
//! # Which types hold the memory
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst");
//! let dump = dumptool::open(path)?;
//! for row in dump.top(10)? {
//!     println!("{row}");
//! }
//! # Ok::<(), dumptool::Error>(())
//! ```
//!
//! `dumptool::open(path)?.executable("app")` names the types of a Go dump.
//!
//! # Why an object is alive, and what it contains
//!
//! ```
//! use dumptool::analysis::shortest_path;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst");
//! let loaded = dumptool::open(path)?.load()?;
//! let (heap, analyses) = (loaded.heap(), loaded.analyses());
//! let tree = analyses.tree();
//! let largest = heap.objects().max_by_key(|object| tree.retained(*object)).expect("the heap has objects");
//! println!("{} retains {} bytes", heap.id(largest), tree.retained(largest));
//! if let Some(path) = shortest_path(heap, largest) {
//!     println!("{}", path.text(heap));
//! }
//! for field in heap.fields(largest) {
//!     println!("  {field}");
//! }
//! # Ok::<(), dumptool::Error>(())
//! ```
//!
//! # Convert
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst");
//! # let mut file = Vec::new();
//! let dump = dumptool::open(path)?;
//! for loss in dump.convert("hprof", &mut file)? {
//!     println!("dropped: {loss}");
//! }
//! # assert!(file.starts_with(b"JAVA PROFILE 1.0.2\0"));
//! # Ok::<(), dumptool::Error>(())
//! ```

#[doc(hidden)]
pub mod analyses;
pub mod analysis;
#[doc(hidden)]
pub mod bytes;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod convert;
#[doc(hidden)]
pub mod detect;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod input;
#[doc(hidden)]
pub mod java;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod names;
mod open;
#[doc(hidden)]
pub mod output;
mod parallel;
#[doc(hidden)]
pub mod phases;
mod plain;
#[doc(hidden)]
pub mod source;
#[cfg(feature = "symbols")]
#[doc(hidden)]
pub mod symbols;
#[doc(hidden)]
pub mod tables;
mod vm_service;

pub use analyses::Analyses;
pub use error::{Error, ErrorKind, Result};
pub use input::check::{CheckWarning, Finding, Findings};
pub use input::histogram::{TypeCounts, TypeRow};
pub use input::info::{
    Damage, HeapInfo, Hottest, Info, InfoWarning, MetricInfo, ProfileInfo, RecordCounts,
    SnapshotInfo,
};
pub use input::load::{
    Executable, ExecutableReport, LayoutChoice, LoadOptions, Loaded, LoadedProfile, MemoryLimit,
    NodeSizes, PlainObjectTypes, ProfileOptions, RootScan, SnapshotChoice,
};
pub use input::{Format, Kind, Progress};
pub use model::heap::{
    Array, FieldValue, Heap, Label, LabelKind, ObjectId, Reference, References, Root, RootKind,
    SourceLocation, StackFrame, Thread, Type, TypeId, TypeKind, Value,
};
pub use model::names::{NameId, Names};
pub use model::profile::{FrameId, Metric, Profile, ProfileFrame, ProfileThread, StackId, Unit};
pub use model::sum::Sum;
pub use model::{LoadWarning, ObjectField, WarningKind};
pub use names::JavaMapping;
pub use open::{Dump, FunctionRow, LoadedHeap, open};
pub use output::OutputFormat;
pub use output::loss::{Loss, LossKind};
pub use source::{Compression, Limits, Source};
