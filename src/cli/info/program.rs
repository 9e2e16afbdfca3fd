//! The part of `info --exe` about the objects that the executable of a Go dump names.

use crate::analysis::live;
use crate::cli::args::LoadArgs;
use crate::cli::heap::load;
use crate::cli::open::Input;
use crate::cli::session::Session;
use crate::input::info::{FormatDetails, Info, TypesFromExecutable};
use std::path::Path;

/// Loads the heap with its executable and adds what is found to the details of a Go dump.
///
/// # Errors
/// When the dump is not one of Go, or the executable is not the one that wrote it.
pub(super) fn add(
    info: &mut Info,
    input: &Input,
    exe: &Path,
    no_guess: bool,
    session: &Session,
) -> anyhow::Result<()> {
    let options = LoadArgs::default().with_program(exe, no_guess);
    let held = load(session, "info --exe", input, None, &options)?;
    let loaded = held.get();
    let (heap, Some(report)) = (&loaded.heap, loaded.executable.clone()) else { return Ok(()) };
    let live = live::live(loaded.graph());
    let mut types = TypesFromExecutable {
        go_version: report.go_version,
        checks: report.checks,
        functions: report.functions,
        module_data: report.module_data,
        descriptors: report.descriptors,
        dwarf: report.has_debug,
        conflicts: report.conflicts,
        rejected: report.rejected,
        tiny_values: report.tiny_values.into_iter().collect(),
        ..TypesFromExecutable::default()
    };
    for object in heap.objects().filter(|object| live.contains(*object)) {
        let source = heap.type_source(heap.type_id(object));
        types.objects.add(source, 1);
        types.bytes.add(source, heap.shallow_bytes(object));
    }
    let snapshot = info.heap.as_mut().and_then(|heap| heap.snapshots.first_mut());
    if let Some(FormatDetails::Go(details)) = snapshot.map(|snapshot| &mut snapshot.details) {
        details.types_from_exe = Some(types);
    }
    Ok(())
}
