//! Types, fields and variables of a Go dump from the executable that wrote it.
//!
//! A dump contains the positions of an object's pointers, but hardly ever its type. The executable
//! has a descriptor of every type that reaches an interface, `new`, `make`, a map or a channel,
//! and, unless it was stripped, DWARF with the types of globals and variables. From there, types
//! are propagated along the pointers.
//!
//! An executable is untrusted input, like a dump: addresses and sizes are checked before anything
//! is read.

mod debug;
mod descriptors;
mod extents;
mod facts;
mod functions;
mod guess;
mod hidden;
mod image;
mod layout;
mod live;
mod made;
mod naming;
mod objects;
mod program;
mod proof;
mod propagate;
mod shifts;
mod size_classes;
mod symbols;
mod types;
mod values;

use super::place::Placed;
use super::pointers::Reader;
use super::survey::Survey;
use crate::error::Result;
use crate::input::load::{Executable, ExecutableReport};
use debug::{Debug, Sections};
use facts::Facts;
pub(super) use live::StackObject;
pub(super) use naming::Columns;
use program::Program;
use proof::Proof;
use propagate::{Ground, Parts, Propagation};
pub(super) use symbols::{Call, Symbols};
use types::Types;
pub(super) use values::{Memory, TypedValues};

/// An executable that was verified to be the one that wrote the dump.
pub(super) struct Matched<'e, 's, 'a> {
    program: Program<'e>,
    types: Types,
    facts: Facts<'s, 'a>,
    proof: Proof,
    guesses: bool,
}

impl<'e, 's, 'a> Matched<'e, 's, 'a> {
    /// Reads the tables of an executable and compares them with a dump. Fails with `Unsupported` if
    /// the executable is not the one that wrote the dump, or of a kind or version that is not read;
    /// with `Corrupt` if it is damaged.
    pub(super) fn new(executable: Executable<'e>, survey: &'s Survey<'a>) -> Result<Self> {
        let program = Program::parse(executable.bytes)?;
        let types = Types::of_program(&program);
        let facts = Facts::read(survey);
        let proof = proof::prove(&program, &types, &facts)?;
        Ok(Self { program, types, facts, proof, guesses: executable.guesses })
    }

    pub(super) fn symbols(&self) -> Symbols<'_> {
        Symbols::new(&self.program, self.proof.shifts.text)
    }
}

/// Names the objects, references and roots of a heap by the executable that wrote its dump.
/// References keep their offsets if the heap is to be
/// [bare](crate::input::load::LoadOptions::bare). Fails with `Corrupt` if the executable's
/// debugging information is damaged.
pub(super) fn name<'a>(
    matched: Matched<'_, '_, 'a>,
    bare: bool,
    reader: &Reader<'_, 'a>,
    placed: &Placed,
    columns: &mut Columns<'_>,
) -> Result<(ExecutableReport, TypedValues<'a>)> {
    let Matched { program, mut types, facts, proof, guesses } = matched;
    made::add(&program, &mut types, Ground { reader, placed }, proof.shifts.types);
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
        shifts: proof.shifts,
        is_bare: bare,
    });
    propagation.add_library();
    propagation.add_records();
    propagation.add_globals(&globals);
    propagation.add_frames();
    propagation.add_interfaces();
    propagation.add_closures();
    propagation.add_channels();
    if guesses {
        propagation.add_frame_guesses();
        propagation.add_guesses();
    }
    let of_type = propagation.name_objects(columns);
    propagation.name_roots(&globals, columns);
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
