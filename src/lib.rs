//! Reads the heap dumps and profiles of several runtimes, analyses and converts them.
//!
//! MoarVM, Dart, Go and Java heaps become one model, a [`Heap`](model::heap::Heap): objects, types, sizes, labelled references
//! and roots in columns. Recordings of Python become a [`Profile`](model::profile::Profile): stacks with weights. Everything
//! else works on these models.
//!
//! # In a few lines
//!
//! [`open()`] a path, and ask the [`Dump`]:
//!
//! ```
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst");
//! let dump = dumptool::open(path)?;
//! let info = dump.info()?;
//! assert_eq!(info.format_version, "1.7");
//! assert_eq!(info.records.count("goroutine"), 16);
//!
//! // Counts by type need no graph.
//! let histogram = dump.histogram()?;
//! assert_eq!((histogram.total.count, histogram.total.shallow_bytes), (2019, 161_880));
//! # Ok::<(), dumptool::error::Error>(())
//! ```
//!
//! # What holds the memory
//!
//! ```
//! use dumptool::analysis::{dominators::Dominators, graph::Graph, retained::Retained};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst");
//! let dump = dumptool::open(path)?;
//! let heap = dump.heap()?;
//! let dominators = Dominators::of(&Graph::of(&heap));
//! let retained = Retained::of(&heap, &dominators);
//!
//! let largest = heap.objects().max_by_key(|&object| retained.get(&dominators, object)).unwrap();
//! println!("{} retains {} bytes", heap.id(largest), retained.get(&dominators, largest));
//! assert!(retained.total() >= retained.get(&dominators, largest));
//! # Ok::<(), dumptool::error::Error>(())
//! ```
//!
//! # Where the time goes
//!
//! ```
//! use dumptool::analysis::profile::{TopBy, FrameBy, Selected, top};
//!
//! let dump = dumptool::open(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mojo/tiny-3.5.0-full-thr.mojo"))?;
//! let profile = dump.profile()?;
//! let mut functions = top(&Selected::of(&profile, &Default::default()), TopBy::Frames(FrameBy::Function));
//! let metric = profile.default_metric();
//! functions.sort(metric, false);
//! assert_eq!(functions.rows[0].label.name, "spin.<locals>.<genexpr>");
//! assert_eq!(functions.rows[0].sums.own.get(metric), 743_483); // microseconds
//! # Ok::<(), dumptool::error::Error>(())
//! ```
//!
//! # Convert
//!
//! ```
//! use dumptool::output::hprof;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/go/tiny_go127.heapdump.zst");
//! let dump = dumptool::open(path)?;
//! let mut file = Vec::new();
//! let report = hprof::write(&dump.heap()?, &hprof::HprofOptions::default(), &mut file)?;
//! assert!(file.starts_with(b"JAVA PROFILE 1.0.2\0"));
//! for loss in &report.lost {
//!     println!("not in the output: {} ({})", loss.what, loss.count);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Damage
//!
//! Readers do not panic on any input. They stop at the first damage and say where it is; what came before is kept:
//!
//! ```
//! use dumptool::{Dump, error::ErrorKind, source::{Limits, Source}};
//!
//! let cut = &b"MOJ\x03\x01mode\0wall\0\x02\x14\0main"[..];
//! let dump = Dump::from_source(Source::from_stream(cut, Limits::default())?)?;
//! let info = dump.info()?;
//! assert_eq!(info.metadata[0].value, "wall");
//! let damage = &info.damage.unwrap().error;
//! assert_eq!((damage.kind(), damage.offset()), (ErrorKind::Truncated, Some(22)));
//! # Ok::<(), dumptool::error::Error>(())
//! ```
//!
//! # Modules
//!
//! Data flows in one direction: a [`source`] gives bytes, [`detect`] tells the format, a reader in [`input`] decodes
//! records with their offsets into what [`model`] describes, [`analysis`] asks the model, and [`output`] writes it. The command
//! line, which is the feature `cli`, wires these together; programs that use the library want `default-features = false`.
//!
//! Enums and structs that may grow are `#[non_exhaustive]`. Errors are [`error::Error`] everywhere, writers return
//! [`std::io::Error`] of their output.

pub mod analysis;
pub mod bytes;
#[cfg(feature = "cli")]
pub mod cli;
pub mod detect;
pub mod error;
pub mod input;
pub mod java;
pub mod model;
mod open;
pub mod output;
pub mod source;
mod vm_service;

pub use open::{Dump, open};
