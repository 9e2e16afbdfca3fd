//! Processes and threads by time: their names and memory mappings.

use super::features::{Features, hexadecimal};
use super::walk::{Events, Record, kind};
use crate::error::Result;
use rustc_hash::FxHashMap;

/// The process id under which the kernel's own mappings are.
pub(super) const KERNEL: i32 = -1;

pub(super) const KERNEL_FILE: &[u8] = b"[kernel.kallsyms]";

/// A program, library or other memory with code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Map {
    pub(super) start: u64,
    /// The address after the last one.
    pub(super) end: u64,
    pub(super) offset: u64,
    pub(super) file: Vec<u8>,
    /// The build id in hexadecimal digits; empty if unknown.
    pub(super) build_id: String,
    time: u64,
}

/// A process from its start, or from the time when it runs another program.
#[derive(Debug, Default)]
pub(super) struct Image {
    /// The maps, sorted by start.
    maps: Vec<Map>,
    /// The highest end of each map and all maps before it.
    reach: Vec<u64>,
    /// The process that it was forked from, whose memory it shares, and when.
    parent: Option<(usize, u64)>,
    has_overlaps: bool,
}

/// A change to a process.
#[derive(Debug)]
enum What {
    Map(i32, Map),
    Name { pid: i32, tid: i32, name: Vec<u8>, is_exec: bool },
    Fork { pid: i32, parent: i32, tid: i32, parent_tid: i32 },
}

#[derive(Debug, Default)]
pub(super) struct Processes {
    /// Changes with their times, until they are applied.
    changes: Vec<(u64, What)>,
    pub(super) images: Vec<Image>,
    /// The images of each process, with the times from which they are valid.
    of_process: FxHashMap<i32, Vec<(u64, usize)>>,
    /// The names of each thread, with the times from which they are valid.
    names: FxHashMap<i32, Vec<(u64, Vec<u8>)>>,
}

/// Flags in the header of a record.
const MAPS_DATA: u16 = 1 << 13;
const IS_EXEC: u16 = 1 << 13;
const HAS_BUILD_ID: u16 = 1 << 14;
const EXECUTABLE: u32 = 4;

/// The maximum number of processes to search, each one the parent of the one before.
const MOST_PARENTS: usize = 64;

/// The maximum number of maps to examine at an address.
const MOST_OVERLAPS: usize = 64;

impl Processes {
    /// Keeps the change to a process that a record describes.
    pub(super) fn add(&mut self, record: &Record<'_>, events: &Events) -> Result<()> {
        let time = events.time_before_end.and_then(|at| record.before_end(at)).unwrap_or(0);
        let what = match record.kind {
            kind::MMAP | kind::MMAP2 => map(record, time)?,
            kind::COMM => {
                let mut words = record.words();
                let (pid, tid) = ids(&mut words)?;
                let name = words.text().to_vec();
                Some(What::Name { pid, tid, name, is_exec: record.misc & IS_EXEC != 0 })
            }
            kind::FORK => {
                let mut words = record.words();
                let (pid, parent) = ids(&mut words)?;
                let (tid, parent_tid) = ids(&mut words)?;
                Some(What::Fork { pid, parent, tid, parent_tid })
            }
            _ => None,
        };
        self.changes.extend(what.map(|what| (time, what)));
        Ok(())
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.changes.len() as u64).saturating_mul(200)
    }

    /// Applies the changes in the order of time.
    pub(super) fn finish(&mut self, features: &Features) {
        let mut changes = std::mem::take(&mut self.changes);
        changes.sort_by_key(|(time, _)| *time);
        let build_ids: FxHashMap<&[u8], &str> =
            features.build_ids.iter().map(|(file, id)| (file.as_bytes(), id.as_str())).collect();
        for (time, what) in changes {
            match what {
                What::Map(pid, mut map) => {
                    if map.build_id.is_empty() {
                        // The name of the kernel is followed by the symbol that it begins with.
                        let kernel = map.file.starts_with(KERNEL_FILE).then_some(KERNEL_FILE);
                        let known = build_ids.get(kernel.unwrap_or(&map.file));
                        map.build_id = known.copied().unwrap_or_default().to_owned();
                    }
                    let image =
                        self.image(pid, u64::MAX).unwrap_or_else(|| self.new_image(pid, 0, None));
                    if let Some(image) = self.images.get_mut(image) {
                        image.maps.push(map);
                    }
                }
                What::Name { pid, tid, name, is_exec } => {
                    if is_exec {
                        self.new_image(pid, time, None);
                    }
                    self.names.entry(tid).or_default().push((time, name));
                }
                What::Fork { pid, parent, tid, parent_tid } => {
                    if pid != parent {
                        let from = self.image(parent, u64::MAX).map(|image| (image, time));
                        self.new_image(pid, time, from);
                    }
                    let name = self.names.get(&parent_tid).and_then(|names| names.last());
                    if let Some((_, name)) = name.cloned() {
                        self.names.entry(tid).or_default().push((time, name));
                    }
                }
            }
        }
        self.images.iter_mut().for_each(Image::sort);
    }

    fn new_image(&mut self, pid: i32, time: u64, parent: Option<(usize, u64)>) -> usize {
        self.images.push(Image { parent, ..Image::default() });
        let number = self.images.len().saturating_sub(1);
        self.of_process.entry(pid).or_default().push((time, number));
        number
    }

    /// The image of a process at a time; for a time before all images, the first one.
    #[inline]
    pub(super) fn image(&self, pid: i32, time: u64) -> Option<usize> {
        let images = self.of_process.get(&pid)?;
        let after = images.partition_point(|(from, _)| *from <= time);
        images.get(after.saturating_sub(1)).map(|(_, image)| *image)
    }

    pub(super) fn name(&self, tid: i32, time: u64) -> &[u8] {
        let names = self.names.get(&tid).map_or(&[][..], Vec::as_slice);
        let after = names.partition_point(|(from, _)| *from <= time);
        names.get(after.saturating_sub(1)).map_or(&[], |(_, name)| name)
    }

    /// Whether a thread has at most one name over time, as most threads do.
    pub(super) fn has_one_name(&self, tid: i32) -> bool {
        self.names.get(&tid).is_none_or(|names| names.len() < 2)
    }

    /// Returns the map at an address of an image, and whether it is the same at all times.
    pub(super) fn find(&self, image: usize, address: u64, time: u64) -> (Option<&Map>, bool) {
        let (mut number, mut time, mut is_lasting) = (image, time, true);
        for _ in 0..MOST_PARENTS {
            let Some(image) = self.images.get(number) else { break };
            is_lasting &= !image.has_overlaps;
            if let Some(map) = image.find(address, time) {
                return (Some(map), is_lasting);
            }
            let Some((parent, forked)) = image.parent else { break };
            (number, time) = (parent, forked.min(time));
        }
        (None, false)
    }
}

impl Image {
    fn sort(&mut self) {
        self.maps.sort_by_key(|map| map.start);
        let mut reach = 0;
        for map in &self.maps {
            self.has_overlaps |= map.start < reach;
            reach = reach.max(map.end);
            self.reach.push(reach);
        }
    }

    /// Returns the last map at an address that existed at a time, or else the first later one.
    fn find(&self, address: u64, time: u64) -> Option<&Map> {
        let after = self.maps.partition_point(|map| map.start <= address);
        let mut best: Option<&Map> = None;
        let before = self.maps.iter().zip(&self.reach).take(after).rev();
        let reaching = before.take_while(|(_, reach)| **reach > address).take(MOST_OVERLAPS);
        for (map, _) in reaching.filter(|(map, _)| address < map.end) {
            let key = |map: &Map| {
                if map.time <= time {
                    (1, map.time)
                } else {
                    (0, u64::MAX.saturating_sub(map.time))
                }
            };
            if best.is_none_or(|best| key(map) > key(best)) {
                best = Some(map);
            }
        }
        best
    }
}

fn ids(words: &mut super::words::Words<'_>) -> Result<(i32, i32)> {
    Ok((words.u32("a process")? as i32, words.u32("a thread")? as i32))
}

/// Reads a mapping of code. `None` if it is one of data.
fn map(record: &Record<'_>, time: u64) -> Result<Option<What>> {
    let mut words = record.words();
    let (pid, _) = ids(&mut words)?;
    let (start, length) = (words.u64("the start of a mapping")?, words.u64("its length")?);
    let offset = words.u64("the offset of a mapping")?;
    let mut build_id = String::new();
    let mut is_code = record.misc & MAPS_DATA == 0;
    if record.kind == kind::MMAP2 {
        let identity = words.take(24, "the file of a mapping")?;
        if record.misc & HAS_BUILD_ID != 0 {
            let length = usize::from(identity.first().copied().unwrap_or(0)).min(20);
            let end = length.saturating_add(4);
            build_id = hexadecimal(identity.get(4..end).unwrap_or_default());
        }
        is_code &= words.u32("the protection of a mapping")? & EXECUTABLE != 0;
        words.u32("the flags of a mapping")?;
    }
    let name = words.text();
    // Markers of jitdump are data.
    let is_code = is_code || name.ends_with(b".dump");
    let file = file_of(name, pid);
    // Code without a file is listed by its address.
    let offset = if file.1 { start } else { offset };
    let end = start.saturating_add(length);
    let map = Map { start, end, offset, file: file.0, build_id, time };
    Ok(is_code.then_some(What::Map(pid, map)))
}

/// Returns the file of a mapping. For memory without a file, this is the list of functions that
/// just-in-time compilers write (`true`).
fn file_of(name: &[u8], pid: i32) -> (Vec<u8>, bool) {
    const ANONYMOUS: [&[u8]; 7] =
        [b"//anon", b"/dev/zero", b"/anon_hugepage", b"[heap]", b"[stack", b"/SYSV", b"/memfd:"];
    let is_listed = name.is_empty() || ANONYMOUS.iter().any(|start| name.starts_with(start));
    if is_listed {
        (format!("/tmp/perf-{pid}.map").into_bytes(), true)
    } else {
        (name.to_vec(), false)
    }
}
