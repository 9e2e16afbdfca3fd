//! The kinds of frames of Python profiles, by the names of their files, since MOJO and Austin's
//! text do not state them; and the ids of their threads. The threads and units of perf.

use crate::model::names::NameId;
use crate::model::profile::{
    FrameKind, LabelValue, LabelsId, ProfileBuilder, ProfileThread, SampleLabel, ThreadId, Unit,
};

/// Whether a file is a Python source, or a name like `<string>`.
pub(crate) fn is_python_file(file: &str) -> bool {
    file.ends_with(".py") || file.starts_with('<') && file.ends_with('>')
}

/// Code, unless the profiler calls the file native, or it is a library of machine code. Scripts
/// need not end in `.py`.
pub(crate) fn kind_of_file(file: &str) -> FrameKind {
    let library =
        [".so", ".dll", ".dylib", ".pyd"].iter().any(|extension| file.ends_with(extension))
            || file.contains(".so.");
    if file.starts_with("native@") || library && !is_python_file(file) {
        FrameKind::Native
    } else {
        FrameKind::Code
    }
}

/// A thread id as MOJO has it, from the decimal number that people see. `None` for names.
pub(crate) fn raw_thread_id(thread: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(thread).ok()?;
    let id: i128 = text.parse().ok()?;
    // Only what a number is printed as represents one.
    if id.to_string() != text {
        return None;
    }
    Some(match id {
        0.. => format!("{id:x}"),
        _ => format!("-{:x}", id.unsigned_abs()),
    })
}

/// The name of a thread of which a file has the id as people see it, or a name.
pub(crate) fn thread_name(thread: &[u8], builder: &mut ProfileBuilder) -> NameId {
    match raw_thread_id(thread) {
        Some(id) => builder.name(id.as_bytes()),
        None => builder.name(thread),
    }
}

/// The thread that dumptool calls `P12;T34` or `P12;T0:34` in its outputs, and what follows after
/// another `;`.
pub(crate) fn own_thread<'a>(
    label: &'a str,
    builder: &mut ProfileBuilder,
) -> Option<(ThreadId, &'a str)> {
    let (pid, rest) = label.strip_prefix('P')?.split_once(';')?;
    let (thread, rest) = rest.split_once(';').unwrap_or((rest, ""));
    let thread = thread.strip_prefix('T')?;
    let (interpreter, thread) = match thread.split_once(':') {
        Some((interpreter, name)) if interpreter.parse::<i64>().is_ok() => {
            (interpreter.parse().ok(), name)
        }
        _ => (None, thread),
    };
    let pid = pid.parse::<i64>().ok()?;
    let name = thread_name(thread.as_bytes(), builder);
    Some((builder.thread(pid.into(), interpreter, name), rest))
}

/// The thread with a name, which may be one of dumptool's.
pub(crate) fn labelled_thread(label: &str, builder: &mut ProfileBuilder) -> ThreadId {
    // A name of another writer may have semicolons, too.
    if label.matches(';').count() == 1
        && let Some((thread, _)) = own_thread(label, builder)
    {
        return thread;
    }
    let name = builder.name(label.as_bytes());
    builder.labelled_thread(ProfileThread::named(name))
}

/// The unit of an event of perf: periods of clocks are nanoseconds.
pub(crate) fn perf_unit(event: &[u8]) -> Unit {
    let name = event.split(|byte| *byte == b':').next().unwrap_or_default();
    match name {
        b"cpu-clock" | b"task-clock" => Unit::Nanoseconds,
        _ => Unit::Count,
    }
}

/// A thread of a recording of perf, with its name as a label.
pub(crate) fn perf_thread(
    builder: &mut ProfileBuilder,
    pid: Option<i64>,
    tid: i64,
    comm: &[u8],
) -> ThreadId {
    let label =
        SampleLabel { key: builder.name(b"comm"), value: LabelValue::Text(builder.name(comm)) };
    let labels = if comm.is_empty() { LabelsId::default() } else { builder.labels(&[label]) };
    // Ids of threads of processes are hexadecimal in the model.
    let name = match (pid, tid) {
        (Some(_), 0..) => format!("{tid:x}"),
        (Some(_), _) => format!("-{:x}", tid.unsigned_abs()),
        (None, _) => tid.to_string(),
    };
    let thread = builder.name(name.as_bytes());
    let thread = match pid {
        Some(pid) => ProfileThread { pid: pid.into(), interpreter: None, name: thread, labels },
        None => ProfileThread { labels, ..ProfileThread::named(thread) },
    };
    builder.labelled_thread(thread)
}
