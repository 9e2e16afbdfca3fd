//! Binary hprof, in the form that VisualVM, Eclipse MAT and hprof-slurp accept, of heaps of any
//! runtime. [`write_profile`] writes a profile as the JDK's own profiler did.
//!
//! ```text
//! header            "JAVA PROFILE 1.0.2\0", width of an id (4 or 8), time
//! UTF8 …            every name
//! LOAD_CLASS …      every class
//! TRACE 1           without frames; what everything refers to that has no stack of its own
//! FRAME … TRACE … START_THREAD …
//! HEAP_DUMP_SEGMENT of about 1 MiB each: class dumps, threads, objects in the order of their ids, roots
//! HEAP_DUMP_END
//! ```
//!
//! Two passes over the heap: `plan` finds how each object is written, then everything is written in
//! order, without seeking. The forms of objects:
//!
//! | object | written as |
//! |---|---|
//! | text | `java.lang.String` with a byte or char array (`strings`) |
//! | with fields | an instance of a class made for its (type, size): a reference field per label, named by it, then the contents or the value of the object where they are known, then `~pad` fields up to its size |
//! | elements, more than 256 references, more than 2 KiB | an array of class `[Lname;` whose length gives the size; references in order, at their index where all have one |
//! | contents of more than 2 KiB without references | a byte array with the contents; the name of the type is lost |
//! | `byte[]` and the like of a Java heap | the array that it is, with more elements where headers are smaller here |
//! | external bytes | a byte array of that size in a field `~external`; where the references are too many for the object itself, an array of that size that holds them |
//! | class that an object keeps alive | a static field `<class>` of the object's class: readers let an instance hold that |
//! | weak reference | the `referent` of the object itself, which becomes a subclass of `java.lang.ref.WeakReference`; further ones of an object through a `WeakReference` of their own |
//! | root | a static field, named by its label, of a class `GC roots: <group>`; in a call frame: a local variable of a thread |
//! | thread | an instance of `dumptool.Thread`, a subclass of `java.lang.Thread` |
//!
//! Readers compute sizes: MAT and hprof-slurp from the fields, VisualVM from the size stored in the
//! class record. So the class states the true size, and fields are padded up to it. If the
//! references alone are larger, MAT and hprof-slurp show more than VisualVM. The [`HprofReport`]
//! counts these objects and everything else that hprof cannot express.

mod class_table;
mod classes;
mod ephemerons;
mod fields;
mod filling;
mod ids;
mod instances;
mod labels;
mod layout;
mod objects;
mod plan;
mod profile;
mod records;
mod report;
mod roots;
mod share;
mod spill;
mod strings;

pub use profile::write_profile;
pub use report::{HprofReport, Loss};

use crate::model::heap::Heap;
use class_table::Classes;
use filling::Filling;
use ids::IdSpace;
use instances::Scratch;
use layout::Layout;
use plan::Plans;
use records::Out;
use report::Losses;
use roots::Roots;
use std::io::{self, Write};

/// Options for writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HprofOptions {
    /// The ids of objects.
    pub ids: IdKind,
    /// Make as few unreachable objects as possible roots, so that roots reach every object. MAT
    /// shows only reachable objects.
    pub root_unreachable: bool,
}

impl HprofOptions {
    /// Sets the ids of objects.
    #[must_use]
    pub fn ids(self, ids: IdKind) -> Self {
        Self { ids, ..self }
    }

    /// Sets whether unreachable objects become roots.
    #[must_use]
    pub fn root_unreachable(self, root_unreachable: bool) -> Self {
        Self { root_unreachable, ..self }
    }
}

/// The ids of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdKind {
    /// Running numbers in 4 bytes: the sizes that readers compute are exact. Object k is `8 * (k +
    /// 1)`.
    #[default]
    Compact,
    /// The addresses of objects, if the heap has addresses; otherwise as `Compact`. If addresses
    /// need 8 bytes, so do references, and more objects appear larger than they are.
    Address,
}

/// Writes a heap, in one pass over the output. Takes 4 bytes of memory per object, 12 with
/// addresses as ids. Fails when the output cannot be written.
pub fn write<W: Write>(heap: &Heap<'_>, options: &HprofOptions, out: W) -> io::Result<HprofReport> {
    let layout = Layout::of(heap, options.ids);
    let mut filling = Filling::of(heap);
    let plans = Plans::of(heap, &layout, &mut filling);
    let roots = Roots::of(heap);
    let classes = Classes::of(heap, &layout, &plans, &roots);
    let mut writer = Writer {
        heap,
        layout,
        filling,
        plans: &plans,
        classes: &classes,
        ids: IdSpace::new(heap, &layout, &classes),
        out: Out::new(out, layout.wide),
        report: HprofReport::default(),
        losses: Losses::default(),
        scratch: Scratch::default(),
        last_array: None,
    };
    records::header(&mut writer.out)?;
    writer.names()?;
    writer.threads()?;
    writer.class_dumps()?;
    writer.thread_objects()?;
    writer.objects()?;
    writer.roots(&roots)?;
    if options.root_unreachable {
        writer.unreachable_roots()?;
    }
    writer.out.finish()?;
    writer.report.lost = writer.losses.into_list();
    Ok(writer.report)
}

/// The state of a heap that is being written. Methods that write a part of the file are next to the
/// data of that part.
struct Writer<'w, 'a, W> {
    heap: &'w Heap<'a>,
    layout: Layout,
    plans: &'w Plans,
    classes: &'w Classes,
    filling: Filling,
    ids: IdSpace,
    out: Out<W>,
    report: HprofReport,
    losses: Losses,
    scratch: Scratch,
    /// Id and end of the last array of references, for [`Writer::keep_apart`].
    last_array: Option<(u64, u64)>,
}
