//! Types, fields and variables of a Go dump from the executable that wrote it.
//!
//! A dump says where the pointers of an object are, and hardly ever its type. The executable has a
//! descriptor of every type that reaches an interface, `new`, `make`, a map or a channel, and,
//! unless it was stripped, DWARF with the types of globals and variables. Types spread from there
//! along the pointers.
//!
//! * `image`, `program`: segments, and the tables that the runtime has of its own program;
//! * `descriptors`, `debug`, `types`: types from descriptors and DWARF, in one list;
//! * `facts`, `proof`: what the dump says besides its objects, and whether the executable is the
//!   one that wrote it;
//! * `layout`, `hidden`: where pointers are in a value, in maps, channels and closures, too;
//! * `objects`, `propagate`, `guess`: which type each object has;
//! * `naming`: types, labels and roots of the heap;
//! * `values`: fields, elements and entries of objects, decoded when they are requested.
//!
//! An executable is an untrusted input as a dump is: addresses are looked up and sizes compared
//! before anything is read.

mod debug;
mod descriptors;
mod extents;
mod facts;
mod guess;
mod hidden;
mod image;
mod layout;
mod naming;
mod objects;
mod program;
mod proof;
mod propagate;
mod size_classes;
mod types;
mod values;

use super::place::Placed;
use super::pointers::Reader;
use crate::error::Result;
use crate::input::load::{Executable, ExecutableReport};
use debug::{Debug, Sections};
use facts::Facts;
pub(super) use naming::Columns;
use program::Program;
use propagate::{Parts, Propagation};
use types::Types;
pub(super) use values::{Memory, TypedValues};

/// Names the objects, references and roots of a heap by the executable that wrote its dump.
/// References keep their offsets if the heap is to be [bare](crate::input::load::LoadOptions::bare).
///
/// # Errors
/// `Unsupported` if the executable is not the one that wrote the dump, or of a kind or version that
/// is not read; `Corrupt` if it is damaged.
pub(super) fn name<'a>(
    executable: Executable<'_>,
    bare: bool,
    reader: &Reader<'_, 'a>,
    placed: &Placed,
    columns: &mut Columns<'_>,
) -> Result<(ExecutableReport, TypedValues<'a>)> {
    let program = Program::parse(executable.bytes)?;
    let mut types = Types::of_program(&program);
    let facts = Facts::read(reader.survey);
    let proof = proof::prove(&program, &types, &facts)?;
    let sections = Sections::load(&program.image)?;
    let mut debug = match &sections {
        Some(sections) => Some(Debug::new(sections, &program.image, program.module.types.0)?),
        None => None,
    };
    let has_debug = debug.is_some();
    let globals = debug.as_mut().map(|debug| debug.globals(&mut types)).unwrap_or_default();
    let mut propagation = Propagation::new(Parts {
        program: &program,
        types,
        debug,
        reader,
        placed,
        facts: &facts,
        slide: proof.slide,
        is_bare: bare,
    });
    propagation.add_library();
    propagation.add_records();
    propagation.add_globals(&globals);
    propagation.add_frames();
    propagation.add_interfaces();
    propagation.add_closures();
    propagation.add_channels();
    if executable.guesses {
        propagation.add_frame_guesses();
        propagation.add_guesses();
    }
    let of_type = propagation.name(&globals, columns);
    if !bare {
        propagation.name_references(columns);
    }
    let report = ExecutableReport {
        go_version: program.version.clone(),
        checks: proof.checks,
        functions: program.functions.count,
        module_data: program.module_by,
        descriptors: propagation.types.described(),
        has_debug,
        conflicts: propagation.objects.conflicts,
        rejected: propagation.objects.rejected,
        tiny_values: propagation.tiny_values(),
    };
    Ok((report, propagation.into_values(of_type)))
}
