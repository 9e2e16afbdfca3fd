//! Reads heap dumps and profiles of many runtimes, analyses them and converts them.
//!
//! [`open()`] detects the format of a file and returns a [`Dump`], which loads as one of two models:
//!
//! * A heap dump of Go, the JVM, Android, V8 (Node.js, Chrome), Dart, Ruby, Perl or MoarVM loads as a
//!   [`Heap`]: objects, types, sizes, references and roots, in columns.
//! * A profile from pprof, `perf script`, V8, Austin, the JDK's `hprof` agent, speedscope or folded
//!   stacks loads as a [`Profile`]: stacks with weights.
//!
//! [`analysis`] answers questions about both models, [`Dump::convert`] writes them in the formats of
//! other tools. [`Format`] lists the input formats.
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
//!     println!("{:>12} {:>8} {}", row.retained_bytes.unwrap_or(0), row.sum.count, row.name);
//! }
//! # Ok::<(), dumptool::Error>(())
//! ```
//!
//! # Why an object is alive
//!
//! ```
//! use dumptool::DominatorTree;
//! use dumptool::analysis::shortest_path;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst");
//! let dump = dumptool::open(path)?;
//! let heap = dump.heap()?;
//! let tree = DominatorTree::new(&heap);
//! let largest = heap.objects().max_by_key(|object| tree.retained(*object)).expect("the heap has objects");
//! println!("{} retains {} bytes", heap.id(largest), tree.retained(largest));
//! if let Some(path) = shortest_path(&heap, largest) {
//!     println!("{}", path.text(&heap));
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
//!     println!("dropped: {} ({})", loss.what, loss.count);
//! }
//! # assert!(file.starts_with(b"JAVA PROFILE 1.0.2\0"));
//! # Ok::<(), dumptool::Error>(())
//! ```

pub mod analysis;
#[doc(hidden)]
pub mod bytes;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod detect;
pub mod error;
pub mod input;
#[doc(hidden)]
pub mod java;
pub mod model;
mod open;
pub mod output;
pub mod source;
mod vm_service;

pub use analysis::dominator_tree::DominatorTree;
pub use analysis::histogram::{Histogram, HistogramRow};
pub use error::{Error, ErrorKind, Result};
pub use input::load::{LoadOptions, ProfileOptions};
pub use input::{Format, Kind};
pub use model::heap::{Heap, ObjectId};
pub use model::profile::Profile;
pub use open::{Dump, open};
pub use output::OutputFormat;
pub use source::Source;
