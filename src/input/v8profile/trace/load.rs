//! Loads a trace: the samples of its CPU profiles, or else its spans.

use super::document::Trace;
use super::spans::Span;
use crate::error::Result;
use crate::input::load::{LoadedProfile, ProfileOptions};
use crate::input::v8profile::load::add_samples;
use crate::model::names::Names;
use crate::model::profile::{
    FrameKind, ProfileBuilder, ProfileFrame, ProfileSample, StackId, ThreadId,
};

pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let (trace, damage) = Trace::read(bytes, options)?;
    let mut builder = ProfileBuilder::new(options.keep_samples);
    let besides = trace.bytes();
    for profile in &trace.profiles {
        let thread = thread(&trace, profile.pid, profile.tid, &mut builder);
        add_samples(&mut builder, &profile.document, thread, besides, options)?;
    }
    if trace.profiles.is_empty() {
        add_spans(&trace, &mut builder, options)?;
        builder.notes().strays = trace.spans.strays;
    }
    Ok(LoadedProfile { profile: builder.finish(), damage })
}

fn thread(trace: &Trace<'_>, pid: i64, tid: i64, builder: &mut ProfileBuilder) -> ThreadId {
    let name = trace.thread_names.get(&(pid, tid)).map(|name| name.decode());
    let name = name.unwrap_or_else(|| tid.to_string().into());
    let name = builder.name(name.as_bytes());
    builder.thread(pid.into(), None, name)
}

/// The spans of a thread that are open, outer ones first, with their ends.
struct Open {
    stack: Vec<(i64, StackId)>,
    /// The time in nanoseconds up to which the spans' time was added.
    until: i64,
}

impl Open {
    /// Adds the time up to a moment, and closes the spans that end before it.
    fn advance(&mut self, to: i64, builder: &mut ProfileBuilder, thread: ThreadId) {
        while let Some(&(end, stack)) = self.stack.last() {
            let until = end.min(to);
            // Rounding the moments, not the differences, keeps the sum exact.
            let time = (until / 1000).saturating_sub(self.until / 1000);
            if time > 0 {
                let time = Some(time);
                let sample =
                    ProfileSample { thread, stack, time, memory: None, idle: false, gc: false };
                builder.sample(&sample);
            }
            self.until = self.until.max(until);
            if end > to {
                return;
            }
            self.stack.pop();
        }
        self.until = to;
    }
}

fn add_spans(
    trace: &Trace<'_>,
    builder: &mut ProfileBuilder,
    options: ProfileOptions<'_>,
) -> Result<()> {
    let spans = trace.spans.sorted();
    for of_thread in spans.chunk_by(|a, b| (a.pid, a.tid) == (b.pid, b.tid)) {
        let Some(first) = of_thread.first() else { continue };
        let thread = thread(trace, first.pid, first.tid, builder);
        let mut open = Open { stack: Vec::new(), until: first.start };
        for (row, span) in of_thread.iter().enumerate() {
            open.advance(span.start, builder, thread);
            let (above_end, above) =
                open.stack.last().copied().unwrap_or((i64::MAX, StackId::EMPTY));
            let stack = push(span, above, builder);
            // A span that ends after the one around it is cut there: it would belong to two.
            open.stack.push((span.end.min(above_end), stack));
            if row % 1024 == 0 {
                options.memory.check(0, builder, trace.bytes())?;
            }
        }
        open.advance(i64::MAX, builder, thread);
    }
    Ok(())
}

fn push(span: &Span<'_>, above: StackId, builder: &mut ProfileBuilder) -> StackId {
    let function = builder.name(span.name.decode().as_bytes());
    let frame = ProfileFrame { function, file: Names::EMPTY, line: 0, kind: FrameKind::Code };
    let frame = builder.frame(frame);
    let stack = builder.push(above, frame);
    builder.count_cut();
    stack
}
