//! Frame kinds and thread ids of Python profiles, and threads and value types of perf. MOJO and
//! Austin's text do not state the kind of a frame, so it follows from the name of the file.

use crate::model::profile::{
    FrameKind, LabelValue, LabelsId, ProfileBuilder, ProfileThread, SampleLabel, ThreadId, Unit,
    ValueType,
};

/// Whether a file is a Python source, or a name like `<string>`.
pub(crate) fn is_python_file(file: &str) -> bool {
    file.ends_with(".py") || file.starts_with('<') && file.ends_with('>')
}

/// Returns the kind of a file's frames: native if the profiler calls the file native or the file is
/// a library of machine code, otherwise code. Scripts need not end in `.py`.
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

/// Parses a thread as dumptool writes it, `P12;T34` or `P12;T0:34`. Returns the thread and the text
/// after the next `;`.
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
    let name = builder.name(thread.as_bytes());
    Some((builder.thread(pid.into(), interpreter, name), rest))
}

/// The thread with a name, which may have the form that dumptool writes.
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

/// Sets the value types of samples of perf: their number, and the period of each event, in
/// nanoseconds for clocks. As in perf's own reports, the main one is a period: that of the event
/// with the most samples.
pub(crate) fn set_perf_types(
    builder: &mut ProfileBuilder,
    events: impl Iterator<Item = (String, u64)>,
) {
    let mut types = vec![ValueType { name: "samples".into(), unit: Unit::Count }];
    let (mut main, mut most) = (0, 0);
    for (name, samples) in events {
        if main == 0 || samples > most {
            (main, most) = (types.len(), samples);
        }
        let unit = match name.split(':').next() {
            Some("cpu-clock" | "task-clock") => Unit::Nanoseconds,
            _ => Unit::Count,
        };
        types.push(ValueType { name: name.into(), unit });
    }
    builder.set_value_types(types, main);
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
    let thread = builder.name(tid.to_string().as_bytes());
    let thread = match pid {
        Some(pid) => ProfileThread { pid: pid.into(), interpreter: None, name: thread, labels },
        None => ProfileThread { labels, ..ProfileThread::named(thread) },
    };
    builder.labelled_thread(thread)
}
