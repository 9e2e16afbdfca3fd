//! Refuses to load a heap that would not fit into memory, before the work starts.

use super::args::{Common, Snapshot};
use super::budget::justified_memory;
use super::open::Input;
use super::session::Session;
use super::size::{count, size};
use super::status::UsageError;
use super::terminal::show_path;
use crate::analysis::{counting_estimate, memory_estimate};
use crate::input::load::MemoryLimit;
use crate::input::{self, Format, ReadOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Bytes per object in the columns of a loaded heap: type, size, first reference and address.
const BYTES_PER_OBJECT: u64 = 16;

/// Bytes per target of a reference, and per label that is stored.
const BYTES_PER_TARGET: u64 = 4;
const BYTES_PER_LABEL: u64 = 4;

/// Bytes per object with an executable: types of objects and marks of visited objects. Tables of
/// the program add memory in proportion to its file.
const TYPED_BYTES_PER_OBJECT: u64 = 20;
const BYTES_PER_PROGRAM_BYTE: u64 = 4;

/// References per object in formats that do not state their number before the graph is built.
const USUAL_REFERENCES: u64 = 3;

/// Bytes of the results for a stack of a profile: its sums, and its place in a tree of calls.
const BYTES_PER_STACK: u64 = 100;

/// The use that a command makes of a loaded heap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Looking at objects, without analysis of the graph.
    Search,
    /// Writing objects and references, without analysis of the graph.
    Copy,
    /// Analysis of the graph.
    Analysis,
    /// Analysis, and writing all references.
    Rows,
    /// Counting objects with retained sizes, without showing single objects.
    Counting,
}

/// Refuses a heap whose objects do not fit into memory, with the types that `program` gives them.
/// Without a `snapshot`, the largest one counts, because it is not known yet which snapshot is the
/// last complete one. Fails with a [`UsageError`] that has the estimate, and a hint about work that
/// needs no graph.
pub(super) fn refuse_too_large(
    command: &str,
    work: Work,
    input: &Input,
    snapshot: Option<Snapshot>,
    program: Option<&[u8]>,
    session: &Session,
) -> anyhow::Result<()> {
    let common = &session.common;
    let most = most_memory(input, common);
    let bytes = input.bytes().len() as u64;
    let needs = |objects, references| {
        needs(work, input.format, objects, references)
            .saturating_add(needs_of_types(program, objects))
    };
    // Most files are so small that their heap fits in any case, and counting takes a pass.
    let (objects, references) = input.format.most_objects_and_references(bytes);
    let bound = needs(objects, references);
    if input.format != Format::Mvmheap && bound <= most {
        return Ok(());
    }
    // In formats with summary blocks, the blocks contain the counts.
    let counts =
        [true, false].into_iter().find_map(|quick| objects_and_references(input, snapshot, quick));
    let Some((objects, references)) = counts else { return Ok(()) };
    let needed = needs(objects, references);
    if needed <= most || needed <= justified(input) && spills(needed, session) {
        return Ok(());
    }
    let message = format!(
        "{}: {command} needs about {} of memory for {} objects, the limit is {}",
        show_path(&input.path),
        size(needed, common.bytes),
        count(objects),
        size(most, common.bytes),
    );
    let hint = match (&common.spill, common.max_memory) {
        (Some(_), Some(_)) => {
            "`dumptool top --quick` needs little memory; --max-memory counts the files of --spill as well: without it, the limit is the free space in the folder"
        }
        (Some(_), None) => {
            "`dumptool top --quick` needs little memory; free space in the folder of --spill raises the limit"
        }
        (None, _) => {
            "`dumptool top --quick` needs little memory; --max-memory raises the limit, --spill DIR uses files"
        }
    };
    Err(UsageError::new(message).hint(hint).into())
}

/// Bytes that a command may use: `--max-memory`, or most of the memory available to the process.
/// `None` if neither is known.
pub(super) fn limit(common: &Common) -> Option<u64> {
    common.max_memory.or_else(usable_memory)
}

/// Peak memory in bytes of the loaded heap and its analysis.
pub(super) fn needs(work: Work, format: Format, objects: u64, references: u64) -> u64 {
    let label = match (work, format) {
        (Work::Search | Work::Analysis, Format::Hprof) => 0,
        (Work::Counting, Format::Go | Format::Heapsnapshot) => 0,
        _ => BYTES_PER_LABEL,
    };
    let loaded = objects
        .saturating_mul(BYTES_PER_OBJECT)
        .saturating_add(references.saturating_mul(BYTES_PER_TARGET + label));
    match (work, format) {
        (Work::Search | Work::Copy, _) => loaded,
        (Work::Counting, Format::Hprof) => counting_estimate(objects, references),
        (Work::Analysis | Work::Rows | Work::Counting, _) => {
            loaded.saturating_add(memory_estimate(objects, references))
        }
    }
}

/// Peak memory in bytes for naming objects by an executable (`--exe`).
fn needs_of_types(program: Option<&[u8]>, objects: u64) -> u64 {
    let Some(program) = program else { return 0 };
    let tables = (program.len() as u64).saturating_mul(BYTES_PER_PROGRAM_BYTE);
    objects.saturating_mul(TYPED_BYTES_PER_OBJECT).saturating_add(tables)
}

fn objects_and_references(
    input: &Input,
    snapshot: Option<Snapshot>,
    quick: bool,
) -> Option<(u64, u64)> {
    let info =
        input::info(input.format, input.bytes(), ReadOptions { quick, ..ReadOptions::default() })
            .ok()?;
    let snapshots = info.heap?.snapshots;
    let wanted = snapshots.iter().filter(|info| match snapshot {
        Some(Snapshot::Number(number)) => info.index == number,
        Some(Snapshot::Last) | None => true,
    });
    let counts = wanted.filter_map(|info| {
        let objects = info.objects?;
        let references = info.most_references();
        Some((objects, references.unwrap_or(objects.saturating_mul(USUAL_REFERENCES))))
    });
    counts.max()
}

/// The memory that a command may take for an input: `--max-memory`, otherwise the usable memory or
/// what the input [justifies](justified_memory), whichever is less. The input's decompressed bytes
/// count toward the latter.
pub(super) fn most_memory(input: &Input, common: &Common) -> u64 {
    if let Some(most) = common.max_memory {
        return most;
    }
    let usable = match &common.spill {
        Some(folder) => free_space(folder),
        None => usable_memory(),
    };
    let justified = justified(input);
    usable.map_or(justified, |usable| usable.min(justified))
}

/// The memory that an input justifies, minus its decompressed bytes.
fn justified(input: &Input) -> u64 {
    let source = &input.source;
    let mapped = source.compression().map_or(0, |_| source.bytes().len() as u64);
    justified_memory(source.stored_bytes()).saturating_sub(mapped)
}

/// Makes the allocator of the program put large allocations into files in a folder.
pub(super) type Spill = fn(&Path) -> io::Result<()>;

/// The function that enables spill files, and the data limit (`ulimit -d`) at the start.
static GIVEN: OnceLock<(Spill, Option<u64>)> = OnceLock::new();

/// Notes the limits of the process, and allows large columns to be kept in files if memory is too
/// small for them.
pub(super) fn start(spill: Spill) {
    _ = GIVEN.set((spill, data_limit()));
}

/// Keeps large columns in files from now on and prints a note. Returns `false` if no disk has room
/// or a limit is set. A limit on the address space counts, because it includes mapped files.
fn spills(needed: u64, session: &Session) -> bool {
    let Session { common, terminal, .. } = session;
    let bounded = common.max_memory.is_some() || common.spill.is_some();
    let (Some((spill, _)), false) = (GIVEN.get(), bounded || address_space().is_some()) else {
        return false;
    };
    let has_room = |folder: &&PathBuf| {
        is_disk(folder) && free_space(folder).is_some_and(|free| needed <= free / 5 * 4)
    };
    let folders = [std::env::temp_dir(), PathBuf::from("/var/tmp")];
    let Some(folder) = folders.iter().find(has_room).filter(|folder| spill(folder).is_ok()) else {
        return false;
    };
    if terminal.warnings {
        let needed = size(needed, common.bytes);
        let folder = show_path(folder);
        let message = format!(
            "this needs about {needed}, more than 80 % of the memory; large columns are kept in files in {folder}, as with --spill"
        );
        terminal.tell("note:", &message);
    }
    true
}

/// Whether files in a folder are on a disk and not in memory.
#[cfg(target_os = "linux")]
fn is_disk(folder: &Path) -> bool {
    /// `TMPFS_MAGIC` and `RAMFS_MAGIC` of linux/magic.h.
    const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];
    #[allow(clippy::unnecessary_cast, reason = "the type depends on the platform")]
    rustix::fs::statfs(folder).is_ok_and(|system| !IN_MEMORY.contains(&(system.f_type as i64)))
}

/// Returns `false`, because only Linux has files without names.
#[cfg(not(target_os = "linux"))]
fn is_disk(_folder: &Path) -> bool {
    false
}

/// The memory that a profile may take when it is loaded completely.
pub(super) fn profile_limit(input: &Input, common: &Common) -> MemoryLimit {
    MemoryLimit { per_stack: BYTES_PER_STACK, ..reading_limit(input, common) }
}

/// The memory that a profile may take when nothing is kept for its stacks.
pub(super) fn reading_limit(input: &Input, common: &Common) -> MemoryLimit {
    MemoryLimit { most: most_memory(input, common), per_stack: 0 }
}

/// The error for a profile that needs more memory than the limit.
pub(super) fn profile_too_large(input: &Input, common: &Common) -> UsageError {
    let most = size(most_memory(input, common), common.bytes);
    UsageError::new(format!(
        "{}: the profile needs more memory than the limit of {most}",
        show_path(&input.path)
    ))
    .hint("--max-memory raises the limit")
}

/// 80 % of the memory available to the process: that of the machine or the container, or its
/// address space (`ulimit -v`) or data (`ulimit -d`). `None` if the system does not report it, as on Windows.
fn usable_memory() -> Option<u64> {
    let data = GIVEN.get().and_then(|(_, data)| *data);
    [machine_memory(), address_space(), data, container_memory()]
        .into_iter()
        .flatten()
        .min()
        .map(|memory| memory / 5 * 4)
}

/// The smallest limit of the control groups of the process (Linux: cgroups(7)): of version 2, or of the
/// memory controller of version 1. A container may see its own group as the outermost one.
fn container_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        };
        let is_limited = controllers.is_empty() || controllers.split(',').any(|of| of == "memory");
        let groups = Path::new(group.trim_start_matches('/')).ancestors().filter(|_| is_limited);
        let limits: Vec<u64> = groups
            .filter_map(|group| {
                std::fs::read_to_string(Path::new(root).join(group).join(file)).ok()
            })
            .filter_map(|text| text.trim().parse().ok())
            .collect();
        limits
    });
    limits.min()
}

/// Free bytes for files in a folder. `None` if the system does not report it.
#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(folder).ok()?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

/// The memory of the machine. Unlike `/proc/meminfo`, `sysconf` also answers where nothing is
/// mounted at `/proc`.
#[cfg(unix)]
#[allow(unsafe_code)]
fn machine_memory() -> Option<u64> {
    // SAFETY: sysconf reads and writes no memory of the caller.
    let (pages, size) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).ok()?.checked_mul(u64::try_from(size).ok()?)
}

/// The limit of the address space. `None` if there is none.
#[cfg(unix)]
fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

/// The limit on private data of the process (`ulimit -d`). `None` if there is none.
#[cfg(unix)]
fn data_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Data).current
}

#[cfg(not(unix))]
fn data_limit() -> Option<u64> {
    None
}

#[cfg(not(unix))]
fn free_space(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(windows)]
#[allow(unsafe_code)]
fn machine_memory() -> Option<u64> {
    use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
    // SAFETY: zeros are valid for the structure, whose first field must be its length. The call
    // writes to it and to nothing else.
    unsafe {
        let mut status: MEMORYSTATUSEX = std::mem::zeroed();
        status.dwLength = size_of::<MEMORYSTATUSEX>() as u32;
        (GlobalMemoryStatusEx(&mut status) != 0).then_some(status.ullTotalPhys)
    }
}

#[cfg(not(any(unix, windows)))]
fn machine_memory() -> Option<u64> {
    None
}

#[cfg(not(unix))]
fn address_space() -> Option<u64> {
    None
}

#[cfg(all(test, any(unix, windows)))]
mod tests {
    #[test]
    fn the_memory_of_the_machine_is_known() {
        assert!(super::machine_memory().is_some_and(|bytes| bytes > 64 << 20));
    }
}
