//! The heap of a file.
//!
//! Objects are all instances, arrays and classes; rows are in the order of ids, which are
//! addresses. `scan` collects ids and classes in a first pass, and `rows` decodes the objects. Both
//! read parts of the file in parallel.
//!
//! * Types are the classes of the file, in its order. Classes with the same name, such as those of
//!   several loaders, stay separate types. The type of a class object is java.lang.Class. The
//!   namespace of a class is its package.
//! * The references of an object are its fields, those of its class first, then those of the
//!   superclass, and so on; those of an array are its elements; those of a class are its static
//!   fields and `<super>`, `<loader>`, `<signers>`, `<protection domain>`.
//! * An object keeps its class alive, and so the loader and the static fields of that class. The
//!   file has no such reference, so instances and arrays of references get one, `<class>`, before
//!   all others, unless a root holds the class anyway. Roots hold all classes of the boot loader
//!   except hidden classes.
//! * The `referent` of a java.lang.ref.Reference is weak, except that of a soft reference, which
//!   the JVM keeps until memory is short, and that of a java.lang.ref.Finalizer, which the JVM
//!   keeps until `finalize` has run. Eclipse MAT takes both for strong as well.

use super::members::Members;
use super::positions::{Packed, Positions};
use super::rows::Rows;
use super::scan::Scan;
use super::types::Types;
use super::values::Contents;
use super::{sites, threads};
use crate::error::{Error, Result};
use crate::input::load::{LoadOptions, Loaded, only_snapshot};
use crate::model::builder::HeapBuilder;
use crate::model::heap::WarningKind;
use crate::model::heap::{Ids, MAX_OBJECTS};
use crate::phases;
use std::num::Saturating;

/// Loads the heap of a file. If the file has several heap dumps, they are taken for a single one.
/// Fails when the header cannot be read, or another snapshot than the first is requested, or there
/// are too many objects.
pub fn load<'a>(bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    only_snapshot(options.snapshot)?;
    let phase = phases::begin("finding objects");
    let mut scan = Scan::new(bytes, options.layout, true, options.progress)?;
    let renamed = options.mapping.map(|mapping| (scan.rename(mapping), mapping.len()));
    if scan.objects.0 > MAX_OBJECTS {
        return Err(Error::limit(0, format!("there are {} objects", scan.objects))
            .expected(format!("at most {MAX_OBJECTS}")));
    }
    let addresses = std::mem::take(&mut scan.addresses).finish();
    drop(phase);
    let phase = phases::begin("decoding objects");
    let repeated = (scan.objects - Saturating(addresses.len() as u64) + scan.repeated_classes).0;
    let references = usize::try_from(scan.most_references()).unwrap_or(0).min(bytes.len() / 4);
    let mut builder = HeapBuilder::with_capacity(addresses.len(), references);
    if options.bare || !options.stored_labels {
        builder = builder.without_labels();
    }
    let types = Types::new(&scan, &mut builder);
    let (positions, labels) =
        Rows::add(bytes, &mut scan, (&addresses, &types), &mut builder, options);
    drop(phase);
    let _phase = phases::begin("decoding threads");
    if scan.virtual_threads.lack_stacks(&scan.roots) {
        builder.warn(WarningKind::OmittedStacks, 1);
    }
    builder.warn(WarningKind::RepeatedIds, repeated);
    let positions = if options.bare {
        Positions::Plain(positions)
    } else {
        Positions::Packed(Packed::of(&positions))
    };
    let contents = Contents::new(bytes, &scan, positions, &types.of_class);
    threads::add(&scan, &addresses, &contents, &mut builder);
    builder.heap().sites = sites::of(&scan, builder.names());
    builder.heap().pointer_size = scan.ids.bytes() as u8;
    builder.heap().big_endian = true;
    if let Some((0, classes)) = renamed {
        builder.warn(WarningKind::UnusedMapping, classes as u64);
    }
    let remarks = scan.remarks();
    let ids = Ids::Addresses(addresses);
    let heap = if options.bare {
        drop(contents);
        builder.finish(ids, None)
    } else {
        let members = Members::new((contents, labels), scan.classes, scan.strings, types.of_class);
        builder.finish(ids, Some(Box::new(members)))
    };
    // Roots and objects come in any order, so either may be missing after damage.
    Ok(Loaded {
        incomplete: scan.damage.is_some(),
        remarks,
        damage: scan.damage,
        ..Loaded::of(heap)
    })
}
