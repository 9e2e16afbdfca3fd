//! The threads and the CPU profiles of a trace.

use super::event::{Event, Events};
use super::spans::Spans;
use crate::error::{Error, Result};
use crate::input::json::{Scanner, Text, ValueKind};
use crate::input::load::{MemoryLimit, ProfileOptions, damage};
use crate::input::v8profile::document::Document;
use rustc_hash::FxHashMap;

/// A trace up to its first damage.
#[derive(Default)]
pub(super) struct Trace<'a> {
    pub(super) profiles: Vec<TracedProfile<'a>>,
    /// The profiles by process and id of the profile.
    by_id: FxHashMap<(i64, &'a [u8]), usize>,
    /// The names of threads, by process and thread.
    pub(super) thread_names: FxHashMap<(i64, i64), Text<'a>>,
    pub(super) spans: Spans<'a>,
    memory: MemoryLimit,
    /// Bytes of memory of the profiles.
    bytes: u64,
}

/// The CPU profile of a thread.
pub(super) struct TracedProfile<'a> {
    pub(super) pid: i64,
    pub(super) tid: i64,
    pub(super) document: Document<'a>,
}

/// Bytes of memory for the name of a thread.
const BYTES_PER_NAME: u64 = 80;

impl<'a> Trace<'a> {
    /// Reads a file up to its first damage. Fails when the events take more memory than they may.
    pub(super) fn read(
        bytes: &'a [u8],
        options: ProfileOptions<'_>,
    ) -> Result<(Self, Option<Error>)> {
        let mut trace = Self { memory: options.memory, ..Self::default() };
        let damage = damage(trace.read_all(bytes, options))?;
        Ok((trace, damage))
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> u64 {
        let names = (self.thread_names.len() as u64).saturating_mul(BYTES_PER_NAME);
        self.bytes.saturating_add(self.spans.bytes()).saturating_add(names)
    }

    fn read_all(&mut self, bytes: &'a [u8], options: ProfileOptions<'_>) -> Result<()> {
        for event in Events::new(bytes) {
            let (offset, event) = event?;
            match (event.phase.raw(), event.name.raw()) {
                (b"P", b"Profile") => self.begin_profile(&event),
                (b"P", b"ProfileChunk") => self.chunk(&event)?,
                (b"M", b"thread_name") => {
                    if let Some(name) = event.args().map(name).transpose()? {
                        self.thread_names.insert((event.pid, event.tid), name);
                    }
                }
                // Spans add nothing if there are samples.
                _ if self.profiles.is_empty() => self.spans.add(&event),
                _ => {}
            }
            (options.progress)(offset / 2);
            self.memory.check_bytes(offset, self.bytes())?;
        }
        Ok(())
    }

    fn profile(&mut self, event: &Event<'a>) -> usize {
        let (profiles, key) = (&mut self.profiles, (event.pid, event.id.raw()));
        *self.by_id.entry(key).or_insert_with(|| {
            profiles.push(TracedProfile {
                pid: event.pid,
                tid: event.tid,
                document: Document::default(),
            });
            profiles.len().saturating_sub(1)
        })
    }

    fn begin_profile(&mut self, event: &Event<'a>) {
        let at = self.profile(event);
        if let Some(profile) = self.profiles.get_mut(at) {
            // A chunk may have come before, from the thread that writes them.
            profile.tid = event.tid;
        }
    }

    fn chunk(&mut self, event: &Event<'a>) -> Result<()> {
        let at = self.profile(event);
        let others = self.bytes();
        let Some(profile) = self.profiles.get_mut(at) else { return Ok(()) };
        let Some(mut scanner) = event.args() else { return Ok(()) };
        let before = profile.document.bytes();
        let most = self.memory.most.saturating_sub(others.saturating_sub(before));
        profile.document.limit(MemoryLimit { most, ..self.memory });
        data(&mut scanner, &mut profile.document)?;
        // Not every part has lines.
        profile.document.align_lines();
        let more = profile.document.bytes().saturating_sub(before);
        self.bytes = self.bytes.saturating_add(more);
        Ok(())
    }
}

/// The member `name` of an object.
fn name<'a>(mut scanner: Scanner<'a>) -> Result<Text<'a>> {
    scanner.begin_object()?;
    while let Some(key) = scanner.key()? {
        match (key.raw(), scanner.peek()?) {
            (b"name", ValueKind::String) => return scanner.text(),
            _ => scanner.skip()?,
        }
    }
    Ok(Text::default())
}

/// The part of a profile in `args.data`.
fn data<'a>(scanner: &mut Scanner<'a>, document: &mut Document<'a>) -> Result<()> {
    scanner.begin_object()?;
    while let Some(key) = scanner.key()? {
        match (key.raw(), scanner.peek()?) {
            (b"data", ValueKind::Object) => {
                scanner.begin_object()?;
                while let Some(key) = scanner.key()? {
                    match (key.raw(), scanner.peek()?) {
                        (b"cpuProfile", ValueKind::Object) => document.read_part(scanner)?,
                        (b"timeDeltas", ValueKind::Array) => document.read_deltas(scanner)?,
                        (b"lines", ValueKind::Array) => document.read_lines(scanner)?,
                        _ => scanner.skip()?,
                    }
                }
                return Ok(());
            }
            _ => scanner.skip()?,
        }
    }
    Ok(())
}
