//! The heaps of each runtime as a person sees them.

use super::view::View;
use crate::cli::print::{Align, Table};
use crate::cli::session::Session;
use crate::cli::size::{count, duration, percent, plural};
use crate::cli::terminal::shown;
use crate::input::info::{
    BiggestType, CountsByName, DartDetails, FormatDetails, GoDetails, HeapInfo,
    HeapsnapshotDetails, HprofDetails, Info, PmatDetails, RubyDetails, Segments, SnapshotInfo,
    TypeSourceCounts,
};

pub(super) fn show(info: &Info, heap: &HeapInfo, view: &mut View, session: &Session) {
    match heap.snapshots.first().map(|snapshot| (snapshot, &snapshot.details)) {
        Some((snapshot, FormatDetails::Go(details))) => show_go(snapshot, details, view, session),
        Some((snapshot, FormatDetails::Dart(details))) => {
            show_dart(snapshot, details, view, session)
        }
        Some((snapshot, FormatDetails::Hprof(details))) => {
            show_hprof(info, snapshot, details, view)
        }
        Some((snapshot, FormatDetails::Heapsnapshot(details))) => {
            show_heapsnapshot(snapshot, details, view, session)
        }
        Some((snapshot, FormatDetails::Pmat(details))) => {
            show_pmat(snapshot, details, view, session)
        }
        Some((snapshot, FormatDetails::Ruby(details))) => {
            show_ruby(snapshot, details, view, session)
        }
        Some((_, FormatDetails::Mvmheap(_))) => show_mvmheap(info, &heap.snapshots, view, session),
        None => view.notes.push("  no readable snapshot".to_owned()),
    }
}

fn show_go(snapshot: &SnapshotInfo, details: &GoDetails, view: &mut View, session: &Session) {
    let size = |bytes| session.size(bytes);
    let runtime = [details.go_version.as_deref(), details.arch.as_deref()];
    view.headline.push(runtime.into_iter().flatten().collect::<Vec<_>>().join(" "));
    view.headline.retain(|part| !part.is_empty());
    if let (Some(pointer_size), Some(big_endian)) = (details.pointer_size, details.big_endian) {
        let order = if big_endian { "big-endian" } else { "little-endian" };
        view.headline.push(format!("{}-bit {order}", 8 * pointer_size));
    }
    let identity = match (details.heap_objects_matches, details.heap_alloc_matches) {
        (Some(true), Some(true)) => "  = the runtime's HeapObjects and HeapAlloc",
        (Some(_), Some(_)) => "  differs from the runtime's HeapObjects and HeapAlloc",
        _ => "",
    };
    let objects = snapshot.objects.unwrap_or(0);
    view.fact(
        "objects",
        count(objects),
        format!("{}{identity}", size(snapshot.shallow_bytes.unwrap_or(0))),
    );
    if details.phantom_objects > 0 {
        let why = format!(
            "phantom records, {} (bug in the heap dump writer of Go 1.22 and later)",
            size(details.phantom_bytes)
        );
        view.fact("dropped", count(details.phantom_objects), why);
    }
    let mut reasons = details
        .goroutines
        .wait_reasons
        .iter()
        .take(3)
        .map(|reason| format!("{} {}", count(reason.count), reason.name));
    let mut doing = vec![plural(details.stack_frames, "frame", "frames")];
    doing.extend(reasons.by_ref());
    view.fact("goroutines", count(details.goroutines.count), doing.join(", "));
    let Segments { data, bss } = &details.segments;
    if data.bytes + bss.bytes > 0 {
        let fields =
            plural(data.pointer_fields + bss.pointer_fields, "pointer field", "pointer fields");
        view.fact(
            "globals",
            size(data.bytes + bss.bytes),
            format!("data {}, bss {}, {fields}", size(data.bytes), size(bss.bytes)),
        );
    }
    if details.finalizers + details.queued_finalizers > 0 {
        view.fact(
            "finalizers",
            count(details.finalizers),
            format!("{} queued", count(details.queued_finalizers)),
        );
    }
    let types = snapshot.types.unwrap_or(0);
    let headers = match details.malloc_headers {
        0 => String::new(),
        headers => format!("{} with a type address", plural(headers, "object", "objects")),
    };
    view.fact("types", count(types), headers);
    if let Some(program) = &details.types_from_exe {
        let named = |counts: &TypeSourceCounts| {
            percent(counts.named as f64 / (counts.named + counts.unnamed).max(1) as f64)
        };
        let kinds = [
            (program.objects.exact, "exact"),
            (program.objects.array, "arrays"),
            (program.objects.partial, "in part"),
            (program.objects.guess, "guessed"),
        ];
        let kinds: Vec<String> = kinds
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(number, what)| format!("{} {what}", count(*number)))
            .collect();
        let of_which =
            if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        let what = format!("of live objects, {} of bytes named{of_which}", named(&program.bytes));
        view.fact("named", named(&program.objects), what);
        let parts = [
            plural(program.functions, "function", "functions"),
            plural(program.descriptors, "type descriptor", "type descriptors"),
            format!("module data by {}", program.module_data),
            if program.dwarf { "DWARF" } else { "no DWARF" }.to_owned(),
        ];
        view.fact("executable", "", parts.join(", "));
        view.fact("", "", format!("agrees in {}", program.checks.join(", ")));
        if program.conflicts + program.rejected > 0 {
            view.fact(
                "",
                "",
                format!(
                    "{}, {} rejected",
                    plural(program.conflicts, "contradictory type", "contradictory types"),
                    count(program.rejected)
                ),
            );
        }
    }
    let Some(memstats) = &details.memstats else { return };
    let of = |name: &str| {
        memstats.0.iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| *value)
    };
    // GOGC=off sets the goal so high that it is never reached.
    let next = match of("NextGC") {
        goal if goal >= 1 << 60 => "GC off".to_owned(),
        goal => format!("next GC at {}", size(goal)),
    };
    let collections = plural(of("NumGC"), "collection", "collections");
    let system =
        format!("in use of {} from the system, {next}, {collections}", size(of("HeapSys")));
    view.fact("heap", size(of("HeapInuse")), system);
}

fn show_dart(snapshot: &SnapshotInfo, details: &DartDetails, view: &mut View, session: &Session) {
    let size = |bytes| session.size(bytes);
    view.headline.push(format!("isolate {}", details.name));
    view.headline.extend(details.vm_generation.map(|generation| format!("Dart {generation}")));
    view.headline.extend(details.word_size.map(|bytes| format!("{}-bit", 8 * u64::from(bytes))));
    if details.devtools_export {
        view.headline.push("exported by DevTools".to_owned());
    }
    let immediates = format!("{} of size 0", count(details.zero_size_objects));
    view.fact(
        "objects",
        count(snapshot.objects.unwrap_or(0)),
        format!("{}, {immediates}", size(snapshot.shallow_bytes.unwrap_or(0))),
    );
    let zero = format!("{} to no object", count(details.zero_references));
    view.fact("references", count(snapshot.references.unwrap_or(0)), zero);
    let isolates = details
        .isolates
        .map(|isolates| plural(isolates, "isolate", "isolates"))
        .unwrap_or_default();
    view.fact("roots", count(snapshot.roots.unwrap_or(0)), isolates);
    view.fact(
        "classes",
        count(details.classes),
        plural(details.class_holes, "unused id", "unused ids"),
    );
    let external = plural(details.external_properties, "object property", "object properties");
    view.fact("external", size(snapshot.external_bytes.unwrap_or(0)), format!("in {external}"));
    let truncated =
        format!("{} truncated to 128 characters by the VM", count(details.truncated_strings));
    let [.., latin1, utf16, _, _] = details.by_tag.0;
    view.fact("strings", count(latin1 + utf16), truncated);
    let capacity = format!("of {} capacity, as counted by the VM", size(details.header.capacity));
    view.fact("heap", size(details.header.shallow_size), capacity);
    let mut biggest = details
        .top_classes
        .iter()
        .take(3)
        .map(|class| format!("{} {}", class.name, size(class.bytes)));
    if let Some(first) = biggest.next() {
        view.fact("biggest", "", [first].into_iter().chain(biggest).collect::<Vec<_>>().join(", "));
    }
}

fn show_hprof(info: &Info, snapshot: &SnapshotInfo, details: &HprofDetails, view: &mut View) {
    view.headline.push(format!("{}-byte ids", details.id_size));
    let kinds = [
        (details.instances, "instances"),
        (details.object_arrays, "object arrays"),
        (details.primitive_arrays, "primitive arrays"),
    ];
    let list = |counts: &[(u64, &str)]| {
        counts
            .iter()
            .map(|(number, name)| format!("{} {name}", count(*number)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    view.fact("objects", count(snapshot.objects.unwrap_or(0)), list(&kinds));
    let mut roots: Vec<_> = details
        .roots
        .iter()
        .map(|root| (root.count, root.kind.trim_start_matches("root_")))
        .collect();
    roots.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    roots.truncate(4);
    view.fact("roots", count(snapshot.roots.unwrap_or(0)), list(&roots));
    view.fact("classes", count(details.classes), format!("{} strings", count(details.strings)));
    view.fact(
        "threads",
        count(details.threads),
        plural(info.records.count("frame"), "frame", "frames"),
    );
    if let Some(layout) = &details.layout {
        let crate::input::HprofLayout { references, header, array_header, alignment, .. } = layout;
        let basis = match layout.pairs {
            Some(pairs) => {
                format!(
                    "inferred from {}",
                    plural(pairs, "pair of neighbors", "pairs of neighbors")
                )
            }
            None => "default".to_owned(),
        };
        let measured = match layout.measured_classes {
            0 => String::new(),
            classes => format!("; {} measured", plural(classes, "class", "classes")),
        };
        let sizes = format!(
            "references {references}, header {header}, arrays {array_header}, alignment {alignment}"
        );
        view.fact("layout", "", format!("{sizes} ({basis}{measured})"));
    }
    let most: Vec<_> = details
        .top_classes
        .iter()
        .take(3)
        .map(|class| (class.count, class.name.as_str()))
        .collect();
    if !most.is_empty() {
        view.fact("frequent", "", list(&most));
    }
}

/// The names with the largest counts.
fn most(counts: &CountsByName) -> String {
    let mut counts = counts.0.clone();
    counts.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    counts
        .iter()
        .take(4)
        .map(|(name, number)| format!("{} {name}", count(*number)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn show_pmat(snapshot: &SnapshotInfo, details: &PmatDetails, view: &mut View, session: &Session) {
    view.fact("objects", count(snapshot.objects.unwrap_or(0)), most(&details.by_type));
    view.fact("size", session.size(snapshot.shallow_bytes.unwrap_or(0)), "");
    view.fact("roots", count(snapshot.roots.unwrap_or(0)), "");
    view.fact("packages", count(snapshot.types.unwrap_or(0)), "");
    view.fact("blessed", count(details.blessed), "");
}

fn show_ruby(snapshot: &SnapshotInfo, details: &RubyDetails, view: &mut View, session: &Session) {
    view.fact("objects", count(snapshot.objects.unwrap_or(0)), most(&details.by_type));
    view.fact("size", session.size(snapshot.shallow_bytes.unwrap_or(0)), "");
    view.fact("roots", count(snapshot.roots.unwrap_or(0)), most(&details.roots));
    view.fact("classes", count(snapshot.types.unwrap_or(0)), "");
    if details.allocations_traced > 0 {
        view.fact("traced", count(details.allocations_traced), "objects with an allocation site");
    }
}

fn show_heapsnapshot(
    snapshot: &SnapshotInfo,
    details: &HeapsnapshotDetails,
    view: &mut View,
    session: &Session,
) {
    view.fact("objects", count(snapshot.objects.unwrap_or(0)), most(&details.by_node_type));
    view.fact("size", session.size(snapshot.shallow_bytes.unwrap_or(0)), "");
    if let Some(bytes) = details.extra_native_bytes.filter(|bytes| *bytes > 0) {
        view.fact("native", session.size(bytes), "outside of all objects");
    }
    view.fact("references", count(details.edges), most(&details.by_edge_type));
    view.fact("strings", count(details.strings), "");
    if details.detached > 0 {
        view.fact(
            "detached",
            count(details.detached),
            "marked as detached, like DOM nodes outside of their document (top --detached)",
        );
    }
}

/// Snapshots shown at the start and at the end of a long file.
const FIRST: usize = 8;
const LAST: usize = 12;

fn show_mvmheap(info: &Info, snapshots: &[SnapshotInfo], view: &mut View, session: &Session) {
    let value = |key: &str| {
        info.metadata.iter().find(|datum| datum.key == key).map(|datum| datum.value.as_str())
    };
    view.headline.extend(value("pid").map(|pid| format!("pid {pid}")));
    view.headline.push(plural(snapshots.len() as u64, "snapshot", "snapshots"));
    let mut table = Table::new(&[
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Left,
    ]);
    table.row(["#", "GC", "AT", "OBJECTS", "REFERENCES", "SIZE", "BIGGEST TYPE"]);
    let skipped = snapshots.len().saturating_sub(FIRST + LAST);
    for (i, snapshot) in snapshots.iter().enumerate() {
        if skipped > 1 && i == FIRST {
            table.row(["…".to_owned(), String::new(), String::new(), format!("{skipped} more")]);
        }
        if skipped <= 1 || i < FIRST || i >= FIRST + skipped {
            table.row(snapshot_row(snapshot, session));
        }
    }
    view.table = Some(table);
    if skipped > 1 {
        view.notes.push("  --format csv shows all snapshots".to_owned());
    }
}

fn snapshot_row(snapshot: &SnapshotInfo, session: &Session) -> Vec<String> {
    let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), count);
    let FormatDetails::Mvmheap(details) = &snapshot.details else { return Vec::new() };
    let bytes = match (snapshot.shallow_bytes, snapshot.external_bytes) {
        (Some(shallow), Some(external)) => Some(shallow.saturating_add(external)),
        _ => details.total_heap_size,
    };
    let biggest = match &details.biggest_type {
        Some(BiggestType { name: Some(name), bytes, .. }) => {
            format!("{} {}", shown(name), session.size(*bytes))
        }
        _ => String::new(),
    };
    let incomplete = if snapshot.complete { "" } else { "incomplete " };
    vec![
        snapshot.index.to_string(),
        number(details.gc_seq_num),
        snapshot.time_us.map_or_else(|| "-".to_owned(), duration),
        number(snapshot.objects),
        number(snapshot.references.or(details.total_refs)),
        bytes.map_or_else(|| "-".to_owned(), |bytes| session.size(bytes)),
        format!("{incomplete}{biggest}"),
    ]
}
