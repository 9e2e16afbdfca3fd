//! The sources of a profile: from folders, from the profile itself, or from source maps.

use crate::cli::open::Input;
use crate::cli::profile::ProfileInput;
use crate::cli::session::Session;
use crate::input::{SourceText, source_texts};
use crate::model::calendar::rfc3339;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum number of bytes that are read from a source file.
const LARGEST: u64 = 64 << 20;

pub(super) struct Text {
    /// The path of the file, or the name that a source map has for it.
    pub(super) place: String,
    /// The known parts, each with the number of its first line. An HTML page has several scripts.
    parts: Vec<(u32, Vec<String>)>,
    changed: Option<SystemTime>,
}

impl Text {
    fn of_file(place: String, text: &str, changed: Option<SystemTime>) -> Self {
        Self { place, parts: vec![(1, lines(text))], changed }
    }

    /// The number of the last line.
    pub(super) fn len(&self) -> u32 {
        let last = |(first, lines): &(u32, Vec<String>)| {
            let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
            first.saturating_sub(1).saturating_add(count)
        };
        self.parts.iter().map(last).max().unwrap_or(0)
    }

    /// The text of a line. Lines count from 1.
    pub(super) fn line(&self, line: u32) -> Option<&str> {
        self.parts.iter().find_map(|(first, lines)| {
            Some(lines.get(line.checked_sub(*first)? as usize)?.as_str())
        })
    }

    /// The times of the file and of the profile, in words. `None` unless the file is newer.
    pub(super) fn changed_after(&self, loaded: &ProfileInput<'_>) -> Option<String> {
        let seconds = |time: SystemTime| {
            let since = time.duration_since(UNIX_EPOCH).ok()?;
            i64::try_from(since.as_secs()).ok()
        };
        let changed = seconds(self.changed?)?;
        let stated = loaded.profile.metadatum("time_nanos").and_then(|text| text.parse().ok());
        let recorded = match stated.filter(|nanoseconds: &i64| *nanoseconds > 0) {
            Some(nanoseconds) => nanoseconds / 1_000_000_000,
            None => seconds(std::fs::metadata(&loaded.input.path).ok()?.modified().ok()?)?,
        };
        (changed > recorded).then(|| {
            format!("{}, the profile was recorded {}", rfc3339(changed, 0), rfc3339(recorded, 0))
        })
    }
}

pub(super) struct Finder<'a> {
    folders: &'a [PathBuf],
    input: &'a Input,
    session: &'a Session,
    /// The texts in the profile, read on first use.
    in_profile: Option<Vec<SourceText>>,
    /// Texts found so far, by name, because a file has many functions. `None` if there is no text.
    known: HashMap<String, Option<Rc<Text>>>,
}

impl<'a> Finder<'a> {
    pub(super) fn of(folders: &'a [PathBuf], input: &'a Input, session: &'a Session) -> Self {
        Self { folders, input, session, in_profile: None, known: HashMap::new() }
    }

    /// Finds the source with this name: in the folders, in the profile, or in source maps.
    pub(super) fn find(&mut self, name: &str) -> Option<Rc<Text>> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let path = name.strip_prefix("file://").unwrap_or(name);
        let in_folders = self.folders.iter().find_map(|folder| below(folder, path));
        let found = in_folders.or_else(|| self.in_profile(name)).or_else(|| {
            let text = self.session.source_maps()?.source_text(name)?;
            Some(Text::of_file(name.to_owned(), &text, None))
        });
        let found = found.map(Rc::new);
        self.known.insert(name.to_owned(), found.clone());
        found
    }

    /// The text with this name in the profile.
    fn in_profile(&mut self, name: &str) -> Option<Text> {
        let input = self.input;
        let texts =
            self.in_profile.get_or_insert_with(|| source_texts(input.format, input.bytes()));
        let named = texts.iter().filter(|named| named.name == name);
        let parts: Vec<_> = named.map(|text| (text.first_line, lines(&text.text))).collect();
        (!parts.is_empty()).then(|| Text { place: name.to_owned(), parts, changed: None })
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The file in a folder at this path, or at the longest end of the path that exists there.
fn below(folder: &Path, name: &str) -> Option<Text> {
    let name = name.replace('\\', "/");
    let path = Path::new(&name);
    let parts: Vec<_> = path.components().filter(|part| *part != Component::RootDir).collect();
    // Paths from a profile must not lead out of the folder.
    if parts.is_empty() || parts.contains(&Component::ParentDir) {
        return None;
    }
    (0..parts.len())
        .find_map(|start| read(&folder.join(parts[start..].iter().collect::<PathBuf>())))
}

fn read(path: &Path) -> Option<Text> {
    let metadata = std::fs::metadata(path).ok().filter(|metadata| metadata.is_file())?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    let place = path.to_string_lossy().into_owned();
    Some(Text::of_file(place, &String::from_utf8_lossy(&bytes), metadata.modified().ok()))
}
