//! A Go heap dump as a heap.
//!
//! There are three passes, because a record has no length, and the row of an address is unknown
//! until all addresses are known:
//!
//! 1. `survey`: all records in order. Collects addresses of objects (without phantoms), types,
//!    itabs, and positions from which later passes continue.
//! 2. `place`: objects in parallel. Address → row; the size and the place in the file of each.
//! 3. `edges`: rows in parallel. Pointers → references, and the shape by which an object is typed.
//!
//! After that, `roots` reads the records that are not objects, and `typing` numbers the types.
//!
//! An object takes 4 bytes each for its type, size, place and first reference, 2 bytes for a hint
//! at its type until the type is decided, and about 2 bytes of the table of addresses; a reference
//! takes 8. All memory is reserved by the counts of an earlier pass.

mod edges;
mod exe;
mod histogram;
mod interfaces;
mod old;
mod package;
mod place;
mod pointers;
mod roots;
mod shape;
mod sites;
mod stacks;
mod survey;
mod typing;
mod values;
mod words;

use crate::error::Result;
use crate::input::load::{ExecutableReport, LoadOptions, Loaded, only_snapshot};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Heap, Ids, LoadWarning, References, WarningKind};
use crate::model::names::Names;
use edges::Edges;
pub use histogram::histogram;
use interfaces::Hints;
use place::Placed;
use pointers::Reader;
use roots::Roots;
use survey::Survey;
use values::Contents;

/// The number of rows in a chunk, the unit of work of a thread. Results depend neither on this
/// number nor on the number of threads.
const CHUNK: usize = 1 << 16;

/// The number of chunks after which all threads wait for each other. Bounds the temporary memory,
/// because results are held for only so many chunks at a time.
fn chunks_at_a_time() -> usize {
    rayon::current_num_threads().saturating_mul(4)
}

/// Loads the heap.
///
/// A damaged dump gives the heap of what could be read, with [`Loaded::damage`] set. Fails when the
/// magic is not one of a Go heap dump, another snapshot than the only one is requested, or there
/// are more objects than rows.
pub fn load<'a>(bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    only_snapshot(options.snapshot)?;
    let quarter = |number: u64| (options.progress)((bytes.len() as u64 / 4).saturating_mul(number));
    let mut survey = Survey::new(bytes, |offset| (options.progress)(offset / 4))?;
    survey.by_layout = options.by_layout;
    let matched = options.executable.map(|executable| exe::Matched::new(executable, &survey));
    let matched = matched.transpose()?;
    let placed = Placed::new(bytes, &survey);
    quarter(2);
    let hints = Hints::new(placed.sizes.len());
    let reader = Reader::new(bytes, &survey, &placed, &hints);
    let mut edges = Edges::new(&reader, &placed, !options.bare);
    quarter(3);
    let mut names = Names::default();
    let symbols = matched.as_ref().map(exe::Matched::symbols);
    let mut roots =
        Roots::new(&reader, &survey, &edges.references, options.roots, symbols, &mut names);
    let warnings = warnings(&survey, &placed, &edges, &roots);
    let (mut types, mut type_of) =
        typing::number(edges.shape_of, edges.shapes, &hints, &survey, &mut names);
    let mut type_sources = Vec::new();
    let mut columns = exe::Columns {
        names: &mut names,
        types: &mut types,
        sources: &mut type_sources,
        type_of: &mut type_of,
        references: &mut edges.references,
        roots: &mut roots.roots,
        threads: &roots.threads,
        frames: &roots.frames,
        rows: &roots.rows,
        words: &roots.words,
    };
    let name = |matched| exe::name(matched, options.bare, &reader, &placed, &mut columns);
    let (executable, typed) = matched.map(name).transpose()?.unzip();
    (options.progress)(bytes.len() as u64);
    let (words, damage) = (survey.words, survey.damage.take());
    let incomplete = damage.is_some() && !survey.roots_read;
    let heap = Heap {
        names,
        types,
        type_sources,
        type_of: type_of.into(),
        sites: roots.sites.finish(&placed.sizes),
        shallow: placed.sizes,
        ids: Ids::Addresses(survey.addresses),
        references: References { weak: Vec::new(), ..edges.references },
        roots: roots.roots,
        threads: roots.threads,
        frames: roots.frames,
        pointer_size: words.size as u8,
        big_endian: words.big_endian,
        values: (!options.bare)
            .then(|| Box::new(Contents::new(bytes, placed.positions, typed)) as Box<_>),
        warnings,
        ..HeapBuilder::with_capacity(0, 0).into_heap()
    };
    debug_assert_eq!(heap.check(), Ok(()));
    let remarks = executable.iter().map(ExecutableReport::remark).collect();
    Ok(Loaded { heap, damage, incomplete, snapshot: 0, remarks, executable })
}

/// The warnings about the parts of a dump that could not be loaded as they are.
fn warnings(
    survey: &Survey<'_>,
    placed: &Placed,
    edges: &Edges,
    roots: &Roots,
) -> Vec<LoadWarning> {
    [
        (WarningKind::RepeatedAddresses, survey.duplicates),
        (WarningKind::OverlappingObjects, placed.overlapping.0),
        (WarningKind::FieldsBeyondObjects, edges.faults.beyond.0),
        (
            WarningKind::UnknownInterfaceTypes,
            (edges.faults.unknown_interfaces + roots.faults.unknown_interfaces).0,
        ),
        (WarningKind::UnknownTypes, edges.faults.unknown_types.0),
        (WarningKind::FieldsBeyondTypes, survey.old.dropped_fields()),
        (WarningKind::StrayFrames, roots.faults.lost_frames.0),
        (WarningKind::MissingParams, u64::from(survey.params.is_none())),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(kind, count)| LoadWarning { kind, count })
    .collect()
}
