//! Files of the JDK's profiler (`-agentlib:hprof=cpu=samples` or `heap=sites`, up to Java 8), and
//! those that dumptool writes of other profiles: sums of samples or of allocated bytes by trace,
//! and no heap.
//!
//! There are no times: CPU samples are only counted. dumptool writes the process and the
//! interpreter as the groups of a thread.

use super::header::Header;
use super::naming::Strings;
use super::records::{Body, Rec, Records};
use super::statistics::{AllocSites, CpuSamples};
use super::symbols::{Frame, StartThread, Trace};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::Kind;
use crate::input::frames::kind_of_file;
use crate::input::load::{LoadedProfile, MemoryLimit, ProfileOptions};
use crate::input::read::count_one;
use crate::java::class_name;
use crate::model::names::Names;
use crate::model::profile::{
    FrameId, FrameKind, Mode, ProfileBuilder, ProfileFrame, StackId, ThreadId, Values,
};
use byteorder::BE;
use rustc_hash::FxHashMap;

/// Detects the kinds of data in a file. Reads only the headers of records, up to the heap.
pub fn kind(bytes: &[u8]) -> Kind {
    let mut cursor = Cursor::new(bytes, 0);
    let mut kind = Kind::Heap;
    if Header::read(&mut cursor).is_err() {
        return kind;
    }
    while let (Ok(tag), Ok(_time), Ok(length)) =
        (cursor.u8("a tag"), cursor.u32::<BE>("a time"), cursor.u32::<BE>("a length"))
    {
        match tag {
            0x0c | 0x1c => return Kind::Heap,
            0x06 | 0x0d => kind = Kind::Profile,
            _ => {}
        }
        if cursor.take(length.into(), "a body").is_err() {
            break;
        }
    }
    kind
}

/// Loads a profile. The profile has no samples, even if they are requested: the file only contains
/// sums. Fails when the header cannot be read, or the file is a heap dump.
pub fn load_profile(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let mut records = Records::new(bytes)?;
    if kind(bytes) == Kind::Heap {
        return Err(Error::other_kind("a heap has no samples"));
    }
    let mut parts = Parts::default();
    let damage = parts.read(&mut records, options).err();
    let mut loader =
        Loader { parts: &parts, builder: ProfileBuilder::new(false), frames: FxHashMap::default() };
    loader.add_all(options.memory)?;
    Ok(LoadedProfile { profile: loader.builder.finish(), damage })
}

/// The records needed for a profile, by the ids or serials that other records refer to.
#[derive(Default)]
struct Parts<'a> {
    strings: Strings<'a>,
    /// Names of classes by serial.
    classes: FxHashMap<u32, u64>,
    frames: FxHashMap<u64, Frame>,
    traces: FxHashMap<u32, Trace<'a>>,
    threads: FxHashMap<u32, StartThread>,
    samples: Vec<CpuSamples<'a>>,
    sites: Vec<AllocSites<'a>>,
}

impl<'a> Parts<'a> {
    fn read(&mut self, records: &mut Records<'a>, options: ProfileOptions<'_>) -> Result<()> {
        for (number, record) in records.enumerate() {
            let (offset, record) = record?;
            if number % 65536 == 0 {
                (options.progress)(offset);
            }
            let Rec::Top { body, .. } = record else { continue };
            match body {
                Body::Utf8(string) => _ = self.strings.add(string.id, string.text),
                Body::LoadClass(class) => _ = self.classes.insert(class.serial, class.name),
                Body::Frame(frame) => _ = self.frames.insert(frame.id, frame),
                Body::Trace(trace) => _ = self.traces.insert(trace.serial, trace),
                Body::StartThread(thread) => _ = self.threads.insert(thread.serial, thread),
                Body::CpuSamples(samples) => self.samples.push(samples),
                Body::AllocSites(sites) => self.sites.push(sites),
                _ => {}
            }
        }
        Ok(())
    }
}

struct Loader<'p, 'a> {
    parts: &'p Parts<'a>,
    builder: ProfileBuilder,
    frames: FxHashMap<u64, FrameId>,
}

impl Loader<'_, '_> {
    fn add_all(&mut self, memory: MemoryLimit) -> Result<()> {
        let parts = self.parts;
        self.builder.set_mode(if parts.sites.is_empty() { Mode::Samples } else { Mode::Memory });
        let mut places = FxHashMap::<u32, (ThreadId, StackId)>::default();
        let mut add = |loader: &mut Self, trace: u32, values: Values| {
            let (thread, stack) = *places.entry(trace).or_insert_with(|| loader.place(trace));
            loader.builder.add(thread, stack, &values);
        };
        for sample in parts.samples.iter().flat_map(|samples| samples.traces.iter()) {
            add(self, sample.trace, Values::of_counts(sample.samples.into(), 0, 0));
            memory.check(0, &self.builder, 0)?;
        }
        for site in parts.sites.iter().flat_map(|sites| sites.sites.iter()) {
            // If the file has both kinds of records, only the CPU samples count as samples.
            let samples = if parts.samples.is_empty() { site.instances.into() } else { 0 };
            let freed = site.bytes.saturating_sub(site.live_bytes);
            add(self, site.trace, Values::of_counts(samples, site.bytes.into(), freed.into()));
            memory.check(0, &self.builder, 0)?;
        }
        Ok(())
    }

    /// The thread and the stack of a trace.
    fn place(&mut self, serial: u32) -> (ThreadId, StackId) {
        let Some(trace) = self.parts.traces.get(&serial) else {
            count_one(&mut self.builder.notes().unresolved);
            return (self.thread(0), StackId::EMPTY);
        };
        let thread = self.thread(trace.thread);
        let stack = trace.frames.iter().rev().fold(StackId::EMPTY, |stack, id| {
            let frame = match self.frames.get(&id) {
                Some(&frame) => frame,
                None => {
                    let frame = self.frame(id);
                    self.frames.insert(id, frame);
                    frame
                }
            };
            self.builder.push(stack, frame)
        });
        self.builder.count_cut();
        (thread, stack)
    }

    fn thread(&mut self, serial: u32) -> ThreadId {
        let Some(thread) = self.parts.threads.get(&serial) else {
            // The JDK records threads only if it is asked to separate them.
            let name = if serial == 0 { "all".to_owned() } else { format!("thread {serial}") };
            let name = self.builder.name(name.as_bytes());
            return self.builder.thread(0, None, name);
        };
        let strings = &self.parts.strings;
        let name = self.builder.name(strings.text(thread.name));
        let number = |string: u64, prefix: &str| -> Option<i128> {
            std::str::from_utf8(strings.text(string)).ok()?.strip_prefix(prefix)?.parse().ok()
        };
        let pid = number(thread.group, "process ").unwrap_or(0);
        self.builder.thread(pid, number(thread.parent_group, "interpreter "), name)
    }

    fn frame(&mut self, id: u64) -> FrameId {
        let Some(frame) = self.parts.frames.get(&id) else {
            count_one(&mut self.builder.notes().unresolved);
            let name = self.builder.name(b"<unresolved>");
            let kind = FrameKind::Code;
            return self.builder.frame(ProfileFrame { function: name, file: name, line: 0, kind });
        };
        let strings = &self.parts.strings;
        let (method, source) = (strings.text(frame.method), strings.text(frame.source));
        if method.is_empty() && frame.line == -1 {
            let (function, file, kind) = (Names::EMPTY, Names::EMPTY, FrameKind::Invalid);
            return self.builder.frame(ProfileFrame { function, file, line: 0, kind });
        }
        let function = match self.parts.classes.get(&frame.class_serial) {
            Some(&class) => {
                let mut name = class_name(strings.text(class), false).into_owned().into_bytes();
                name.push(b'.');
                name.extend_from_slice(method);
                self.builder.name(&name)
            }
            None => self.builder.name(method),
        };
        let line = u32::try_from(frame.line).unwrap_or(0);
        let (file, kind) = match (source, frame.line) {
            (b"kernel", -3) => (Names::EMPTY, FrameKind::Kernel),
            (_, -3) => (self.builder.name(source), FrameKind::Native),
            _ => {
                let file = self.builder.name(source);
                (file, kind_of_file(self.builder.text(file)))
            }
        };
        self.builder.frame(ProfileFrame { function, file, line, kind })
    }
}
