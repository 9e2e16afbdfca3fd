//! Functions of Linux and its modules: copies of `/proc/kallsyms`.
//!
//! ```text
//! ffffffff81d33d80 t read_zero
//! ffffffffc0a01000 t nft_do_chain    [nf_tables]
//! ```

use super::jit::{Row, look_up};
use super::{Functions, Unused};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// The name of the kernel's own code in recordings; its first symbol may follow.
pub(super) const KERNEL: &str = "[kernel.kallsyms]";

/// The symbols of the running kernel, and its ELF notes, which contain its build id.
const RUNNING: (&str, &str) = ("/proc/kallsyms", "/sys/kernel/notes");

/// The data that a recording contains about the kernel or a module.
pub(super) struct Recorded<'a> {
    /// The build id. Empty if unknown.
    pub(super) build_id: &'a str,
    /// The name of the module. Empty for the kernel itself.
    pub(super) module: String,
    /// The first symbol of the kernel, and its address during the recording.
    pub(super) first: Option<(&'a str, u64)>,
}

/// The folder in which perf keeps the programs that it recorded, by build id.
pub(super) fn perf_cache() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("HOME")?).join(".debug"))
}

/// The assumed size of the last function, whose end is unknown.
const LAST: u64 = 4096;

/// The functions at addresses of the kernel or of a module. If no file was used, records the
/// reasons.
pub(super) fn functions(
    recorded: &Recorded<'_>,
    addresses: &[u64],
    given: &[PathBuf],
    unused: &mut Vec<Unused>,
) -> Vec<Functions> {
    let found = candidates(recorded.build_id, given).into_iter().filter_map(|path| {
        // Only plain files: those of /proc have no size, so they cannot be mapped.
        path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let rows = rows(&std::fs::read(&path).ok()?, recorded);
        Some((path, rows))
    });
    let rows = first_used(found, unused);
    rows.map_or_else(|| vec![Vec::new(); addresses.len()], |rows| look_up(&rows, addresses))
}

/// Returns the first result. If there is none, records the reason for each file.
pub(super) fn first_used<T>(
    files: impl Iterator<Item = (PathBuf, Result<T, String>)>,
    unused: &mut Vec<Unused>,
) -> Option<T> {
    let mut refused = Vec::new();
    for (path, found) in files {
        match found {
            Ok(found) => return Some(found),
            Err(reason) => refused.push(Unused { path, reason }),
        }
    }
    unused.extend(refused);
    None
}

/// The files that may have the symbols, the best first: given copies, those that perf keeps, and
/// those of the running kernel, if it is the recorded one.
fn candidates(build_id: &str, given: &[PathBuf]) -> Vec<PathBuf> {
    let below = |folder: &Path| folder.join(KERNEL).join(build_id).join("kallsyms");
    let is_copy = |path: &Path| path.file_name().is_some_and(|name| name == "kallsyms");
    let mut all = Vec::new();
    for place in given {
        all.extend(is_copy(place).then(|| place.clone()));
        all.push(place.join("kallsyms"));
        all.extend((!build_id.is_empty()).then(|| below(place)));
    }
    if !build_id.is_empty() {
        all.extend(perf_cache().map(|folder| below(&folder)));
        all.extend(is_running(build_id).then(|| PathBuf::from(RUNNING.0)));
    }
    all
}

/// Whether the running kernel has this build id.
fn is_running(build_id: &str) -> bool {
    let digits = build_id.as_bytes().chunks_exact(2);
    let byte = |digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let id: Option<Vec<u8>> = digits.map(byte).collect();
    let notes = std::fs::read(RUNNING.1).unwrap_or_default();
    id.is_some_and(|id| memchr::memmem::find(&notes, &id).is_some())
}

/// A line: address, kind, name, and the module.
type Line<'a> = (u64, u8, &'a str, &'a str);

fn line(bytes: &[u8]) -> Option<Line<'_>> {
    let mut words = std::str::from_utf8(bytes).ok()?.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let kind = *words.next()?.as_bytes().first()?;
    let name = words.next()?;
    let module = words.next().unwrap_or_default().trim_matches(['[', ']']);
    Some((address, kind, name, module))
}

/// The functions of the kernel or of a module by address, moved to their addresses during the
/// recording: the kernel may begin at another address after each boot.
fn rows(bytes: &[u8], recorded: &Recorded<'_>) -> Result<Vec<Row>, String> {
    let module = recorded.module.as_str();
    let mut lines: Vec<Line<'_>> = bytes.split(|byte| *byte == b'\n').filter_map(line).collect();
    let moved = recorded.first.and_then(|(symbol, there)| {
        let (here, ..) = lines.iter().find(|line| line.2 == symbol)?;
        Some(there.wrapping_sub(*here))
    });
    let moved = moved.unwrap_or(0);
    lines.retain(|line| line.3 == module && matches!(line.1, b't' | b'T' | b'w' | b'W'));
    if lines.iter().all(|line| line.0 == 0) {
        let whose = if module.is_empty() { "the kernel" } else { module };
        return Err(if lines.is_empty() {
            format!("it has no functions of {whose}")
        } else {
            "it has no addresses; copy /proc/kallsyms as root".to_owned()
        });
    }
    // If several are at one address, use the one that perf prefers: not weak, global, with fewer
    // underscores, longer.
    lines.sort_by_key(|&(address, kind, name, _)| {
        let underscores = name.len() - name.trim_start_matches('_').len();
        let is_local = kind.is_ascii_lowercase();
        (address, kind == b'W', is_local, underscores, Reverse(name.len()))
    });
    lines.dedup_by_key(|line| line.0);
    let ends = lines.iter().skip(1).map(|line| line.0).chain([u64::MAX]);
    let row = |(&(start, _, name, _), end): (&Line<'_>, u64)| {
        let size = end.saturating_sub(start);
        let size = if end == u64::MAX { size.min(LAST) } else { size };
        let start = start.wrapping_add(moved);
        (start, start.saturating_add(size), name.to_owned())
    };
    Ok(lines.iter().zip(ends).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KALLSYMS: &str = "ffffffff81000000 T srso_alias\nffffffff81000000 T _text\n\
        ffffffff81000040 t __read_zero\nffffffff81000040 t read_zero\nffffffff81000100 D data\n\
        ffffffff81000200 W weak\nffffffffc0a01000 t nft_do_chain\t[nf_tables]\n";

    fn kernel(first: u64) -> Recorded<'static> {
        Recorded { build_id: "", module: String::new(), first: Some(("_text", first)) }
    }

    fn module(name: &str) -> Recorded<'static> {
        Recorded { build_id: "", module: name.to_owned(), first: None }
    }

    fn names(
        library: &Recorded<'_>,
        folder: &Path,
        addresses: &[u64],
    ) -> (Vec<String>, Vec<Unused>) {
        let mut unused = Vec::new();
        let found = functions(library, addresses, &[folder.to_owned()], &mut unused);
        let name =
            |found: Functions| found.first().map_or(String::new(), |first| first.name.clone());
        (found.into_iter().map(name).collect(), unused)
    }

    #[test]
    fn functions_of_the_kernel_are_where_it_was_when_it_was_recorded() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("kallsyms"), KALLSYMS).unwrap();
        let at = |offset: u64| 0xffff_ffff_9200_0000 + offset;
        let (found, _) =
            names(&kernel(at(0)), folder.path(), &[at(0), at(0x41), at(0x1ff), at(0x2000)]);
        assert_eq!(found, ["srso_alias", "read_zero", "read_zero", ""]);
        let (found, _) = names(&module("nf_tables"), folder.path(), &[0xffff_ffff_c0a0_1010]);
        assert_eq!(found, ["nft_do_chain"]);
        let (found, unused) = names(&module("xfs"), folder.path(), &[at(0)]);
        assert_eq!(
            (found[0].as_str(), unused[0].reason.as_str()),
            ("", "it has no functions of xfs")
        );
    }

    #[test]
    fn a_copy_that_was_made_without_rights_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("kallsyms"), "0000000000000000 T _text\n").unwrap();
        let (found, unused) = names(&kernel(0), folder.path(), &[1 << 63]);
        assert_eq!(found, [""]);
        assert_eq!(unused[0].reason, "it has no addresses; copy /proc/kallsyms as root");
    }
}
