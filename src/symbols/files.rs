//! Finds the files of programs and libraries.

use super::binary::Binary;
use super::kernel::{KERNEL, first_used, perf_cache};
use super::{Function, Functions, Unused, jit, kernel, open, reason};
use crate::input::load::CodeRegion;
use crate::model::profile::Mapping;
use crate::source::Source;
use object::{Object, ObjectSection};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

/// A program or library, identified as in a profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Library {
    path: String,
    /// The build id in lower-case hexadecimal. Empty if the profile has none.
    build_id: String,
    /// Whether addresses are those of the file's own symbols, and not offsets in the file.
    is_linked: bool,
    /// For the kernel and its modules, the mapping's offset; for the kernel itself, this is the
    /// address of the symbol that it begins with. `None` for programs.
    kernel: Option<u64>,
}

/// The first address of the kernel's half of the memory.
const KERNEL_HALF: u64 = 1 << 63;

impl Library {
    pub(super) fn of(mapping: &Mapping) -> Self {
        let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let build_id = Some(mapping.build_id.to_ascii_lowercase()).filter(|id| is_id(id));
        Self {
            path: mapping.file.clone(),
            build_id: build_id.unwrap_or_default(),
            is_linked: mapping.start == 0 && mapping.offset == 0,
            kernel: (mapping.start >= KERNEL_HALF || mapping.file.starts_with(KERNEL))
                .then_some(mapping.offset),
        }
    }

    /// The file of a region of code in memory. `None` if there is none.
    pub(super) fn of_region(region: &CodeRegion<'_>) -> Option<Self> {
        let path = String::from_utf8_lossy(region.file).into_owned();
        let has_file = !path.is_empty() && !path.starts_with('[');
        let build_id = region.build_id.to_ascii_lowercase();
        has_file.then_some(Self { path, build_id, is_linked: false, kernel: None })
    }

    /// The offset in the file of the code at an address. `None` if there is no file.
    pub(super) fn place(&self, mapping: &Mapping, address: u64) -> Option<u64> {
        let is_kernel = self.kernel.is_some();
        let has_file = !self.path.is_empty() && (is_kernel || !self.path.starts_with('['));
        let inside = address >= mapping.start && (mapping.limit == 0 || address < mapping.limit);
        let offset = if is_kernel {
            address
        } else {
            address.wrapping_sub(mapping.start).wrapping_add(mapping.offset)
        };
        (has_file && inside).then_some(offset)
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The name of a kernel's module. Empty for the kernel itself.
    fn module(&self) -> String {
        let name = self.name();
        if name.starts_with(KERNEL) {
            return String::new();
        }
        let name = name.trim_matches(['[', ']']);
        name.split(".ko").next().unwrap_or_default().replace('-', "_")
    }

    /// The data that the profile contains about the kernel. `None` for programs.
    fn recorded(&self) -> Option<kernel::Recorded<'_>> {
        let address = self.kernel?;
        let symbol = self.path.strip_prefix(KERNEL).filter(|symbol| !symbol.is_empty());
        let first = symbol.map(|symbol| (symbol, address));
        Some(kernel::Recorded { build_id: &self.build_id, module: self.module(), first })
    }
}

/// The files of this machine in which to search.
#[derive(Debug, Default)]
pub(super) struct Files {
    places: Vec<PathBuf>,
    /// The files in `places` by build id, read on first use.
    by_id: OnceLock<FxHashMap<String, PathBuf>>,
}

/// The maximum number of files in a folder whose build ids are read.
const MOST_FILES: usize = 4096;

/// The folder in which distributions put debug information.
const DEBUG: &str = "/usr/lib/debug";

impl Files {
    pub(super) fn new(places: Vec<PathBuf>) -> Self {
        Self { places, by_id: OnceLock::new() }
    }

    /// The functions at places of a library. If no file was used, records the reasons.
    pub(super) fn functions(
        &self,
        library: &Library,
        places: &[u64],
        recorded: Option<u64>,
        unused: &mut Vec<Unused>,
    ) -> Vec<Functions> {
        let path = Path::new(&library.path);
        if let Some(recorded) = library.recorded() {
            return kernel::functions(&recorded, places, &self.places, unused);
        }
        if jit::is_map(library.name()) {
            return jit::functions(path, places);
        }
        let found = self.found(library, recorded).map(|(path, source)| {
            let functions = source.and_then(|it| look_up(library, places, &path, it.bytes()));
            (path, functions)
        });
        first_used(found, unused).unwrap_or_else(|| vec![Vec::new(); places.len()])
    }

    /// The files that belong to a library, the best first.
    pub(super) fn sources(&self, library: &Library) -> impl Iterator<Item = Source> {
        self.found(library, None).filter_map(|(_, source)| source.ok())
    }

    /// The files that belong to a library, the best first, or the reason why a file does not.
    fn found(
        &self,
        library: &Library,
        recorded: Option<u64>,
    ) -> impl Iterator<Item = (PathBuf, Result<Source, String>)> {
        self.candidates(library).into_iter().filter_map(move |candidate| {
            let source = open(&candidate)?;
            let is_given = self.places.iter().any(|place| candidate.starts_with(place));
            // Without a build id and a time, this machine's file may be a different one.
            if !is_given && library.build_id.is_empty() && recorded.is_none() {
                return None;
            }
            let recorded = recorded.filter(|_| !is_given);
            let is_same = is_same(library, &candidate, source.bytes(), recorded);
            Some((candidate, is_same.map(|()| source)))
        })
    }

    /// The files that may belong to a library, the best first.
    fn candidates(&self, library: &Library) -> Vec<PathBuf> {
        let (path, name, id) = (Path::new(&library.path), library.name(), &library.build_id);
        let mut all = Vec::new();
        let below = by_build_id(id);
        if !id.is_empty() {
            all.extend(self.by_id().get(id).cloned());
        }
        for place in &self.places {
            let root = below.iter().flat_map(|below| {
                [place.join(".build-id"), place.clone()].map(|root| root.join(below))
            });
            all.extend(root);
            all.push(place.join(name));
            all.push(place.join(format!("{name}.debug")));
            all.extend(path.strip_prefix("/").map(|path| place.join(path)));
            let given = place.file_name().and_then(|given| given.to_str());
            all.extend(given.filter(|given| stem(given) == stem(name)).map(|_| place.clone()));
        }
        // The path may come from another machine. Here it must not lead to the network.
        all.extend(
            path.is_absolute()
                .then(|| path.to_owned())
                .filter(|_| !library.path.starts_with(r"\\") && !library.path.starts_with("//")),
        );
        all.extend(below.map(|below| Path::new(DEBUG).join(".build-id").join(below)));
        let cached = perf_cache().zip(id.split_at_checked(2).filter(|(_, rest)| !rest.is_empty()));
        all.extend(cached.map(|(folder, (first, rest))| {
            folder.join(".build-id").join(first).join(rest).join("elf")
        }));
        let mut seen = std::collections::HashSet::new();
        all.retain(|path| seen.insert(path.clone()));
        all
    }

    fn by_id(&self) -> &FxHashMap<String, PathBuf> {
        self.by_id.get_or_init(|| {
            let files = self.places.iter().flat_map(|place| match std::fs::read_dir(place) {
                Ok(entries) => {
                    entries.flatten().map(|entry| entry.path()).take(MOST_FILES).collect()
                }
                Err(_) => vec![place.clone()],
            });
            let mut files: Vec<PathBuf> = files.collect();
            files.sort();
            let with_id = |path: PathBuf| {
                let id = build_id(open(&path)?.bytes())?;
                Some((id, path))
            };
            files.into_iter().rev().filter_map(with_id).collect()
        })
    }
}

/// The name of a file without the extensions that a copy may add.
fn stem(name: &str) -> &str {
    let suffixes = [".gz", ".zst", ".debug", ".exe"];
    suffixes.iter().fold(name, |name, suffix| name.strip_suffix(suffix).unwrap_or(name))
}

/// `ab/cdef….debug`, below a folder of build ids.
fn by_build_id(id: &str) -> Option<PathBuf> {
    let (first, rest) = id.split_at_checked(2)?;
    (!rest.is_empty()).then(|| Path::new(first).join(format!("{rest}.debug")))
}

/// Checks that a file is the one that ran.
fn is_same(
    library: &Library,
    path: &Path,
    bytes: &[u8],
    recorded: Option<u64>,
) -> Result<(), String> {
    let id = build_id(bytes);
    match (library.build_id.as_str(), id) {
        ("", _) => {
            let modified = std::fs::metadata(path).and_then(|file| file.modified()).ok();
            let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            match (modified, recorded) {
                (Some(modified), Some(recorded)) if modified.as_secs() > recorded => {
                    Err("it is newer than the recording, which has no build id".to_owned())
                }
                _ => Ok(()),
            }
        }
        (wanted, Some(id)) if id == wanted => Ok(()),
        (wanted, Some(id)) => {
            Err(format!("its build id is {id}, that of the recording is {wanted}"))
        }
        (wanted, None) => Err(format!("it has no build id, and the recording has {wanted}")),
    }
}

/// Looks up places in a file and in the file with its debug information.
fn look_up(
    library: &Library,
    places: &[u64],
    path: &Path,
    bytes: &[u8],
) -> Result<Vec<Functions>, String> {
    let debug = debug_file(path, bytes).and_then(|path| open(&path));
    let binary =
        Binary::parse(bytes, debug.as_ref().map(Source::bytes)).map_err(|error| reason(&error))?;
    let addresses: Vec<Option<u64>> = places
        .iter()
        .map(|&place| if library.is_linked { Some(place) } else { binary.address(place) })
        .collect();
    if !addresses.is_empty() && addresses.iter().all(Option::is_none) {
        return Err("it is shorter than what ran".to_owned());
    }
    let known: Vec<u64> = addresses.iter().flatten().copied().collect();
    let mut functions = binary.functions(&known).into_iter();
    Ok(addresses
        .iter()
        .map(|address| address.and_then(|_| functions.next()).unwrap_or_default())
        .collect::<Vec<Vec<Function>>>())
}

/// The file with the debug information of another one.
fn debug_file(path: &Path, bytes: &[u8]) -> Option<PathBuf> {
    let link = debug_link(bytes);
    if link.is_none() && has_debug(bytes) {
        return None;
    }
    let id = build_id(bytes);
    let folder = path.parent()?;
    let by_id = id
        .as_deref()
        .and_then(by_build_id)
        .map(|below| Path::new(DEBUG).join(".build-id").join(below));
    let by_link = link.into_iter().flat_map(|(name, _)| {
        let below = Path::new(DEBUG).join(folder.strip_prefix("/").unwrap_or(folder));
        [folder.join(&name), folder.join(".debug").join(&name), below.join(&name)]
    });
    by_id.into_iter().chain(by_link).find(|found| {
        found != path
            && open(found).is_some_and(|file| id.is_none() || build_id(file.bytes()) == id)
    })
}

/// The build id of an executable (ELF), or its UUID (Mach-O), in hexadecimal digits.
fn build_id(bytes: &[u8]) -> Option<String> {
    let file = object::File::parse(bytes).ok()?;
    let id = match file.build_id().ok()? {
        Some(id) => id.to_vec(),
        None => file.mach_uuid().ok()??.to_vec(),
    };
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The name and the checksum of the file with the debug information.
fn debug_link(bytes: &[u8]) -> Option<(String, u32)> {
    let file = object::File::parse(bytes).ok()?;
    let (name, checksum) = file.gnu_debuglink().ok()??;
    let name = std::str::from_utf8(name).ok()?;
    // Only a name is accepted, not a path that leads elsewhere.
    (!name.contains('/') && !name.is_empty()).then(|| (name.to_owned(), checksum))
}

fn has_debug(bytes: &[u8]) -> bool {
    object::File::parse(bytes).is_ok_and(|file| {
        file.section_by_name(".debug_info").is_some_and(|section| section.size() > 0)
    })
}
