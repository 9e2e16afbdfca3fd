//! A source map: maps the code of a script to its sources.
//!
//! ```text
//! map      = {"version": 3, "file"?, "sourceRoot"?, "sources": [path|null*], "sourcesContent"?: [text|null*], "names": [name*], "mappings": text}
//!          | {"version": 3, "file"?, "sections": [{"offset": {"line", "column"}, "map": map}*]}
//! ```
//!
//! Some writers put a line `)]}'` before it. Source: ECMA-426.

use super::vlq::{NONE, Part, Place, Segment, decode};
use crate::error::{Error, Result};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::sync::OnceLock;

/// A map in memory: 24 bytes for each segment, and its sources.
#[derive(Debug, Default)]
pub(super) struct SourceMap {
    /// The segments in the order of the generated code.
    segments: Vec<Segment>,
    sources: Vec<Source>,
    names: Vec<Box<str>>,
}

#[derive(Debug)]
pub(super) struct Source {
    /// The path, below the root of the map.
    path: Box<str>,
    text: Option<Box<str>>,
    lines: OnceLock<Lines>,
}

/// The starts of the lines of a source.
#[derive(Debug)]
struct Lines {
    starts: Vec<u32>,
    is_ascii: bool,
}

/// The number of bytes of a non-ASCII line in which columns are counted.
const COUNTED: usize = 64 << 10;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    version: Option<u32>,
    source_root: Option<String>,
    sources: Option<Vec<Option<Box<str>>>>,
    sources_content: Option<Vec<Option<Box<str>>>>,
    names: Option<Vec<Box<str>>>,
    #[serde(borrow)]
    mappings: Option<Text<'a>>,
    #[serde(borrow)]
    sections: Option<Vec<Section<'a>>>,
}

/// A text that is borrowed from the file if it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Section<'a> {
    offset: Offset,
    #[serde(borrow)]
    map: Document<'a>,
}

#[derive(Deserialize)]
struct Offset {
    line: u32,
    column: u32,
}

/// The members of a map that identify its script.
#[derive(Deserialize)]
struct Head {
    file: Option<String>,
    mappings: Option<IgnoredAny>,
    sections: Option<IgnoredAny>,
}

impl SourceMap {
    /// Reads a map. Fails if the bytes are not a source map of version 3, with the offset of the
    /// error.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        let (json, start) = without_prefix(bytes);
        let document: Document<'_> =
            serde_json::from_slice(json).map_err(|error| json_error(&error, json, start))?;
        let mut map = Self::default();
        match document.sections {
            None => map.add(document, Place::default(), bytes)?,
            Some(sections) => {
                for section in sections {
                    let Offset { line, column } = section.offset;
                    map.add(section.map, Place { line, column }, bytes)?;
                }
            }
        }
        // Writers need not sort the segments of a line. The last of several at one place counts.
        if !map.segments.is_sorted_by_key(|segment| segment.at) {
            map.segments.sort_by_key(|segment| segment.at);
        }
        map.segments.shrink_to_fit();
        Ok(map)
    }

    /// Adds a map, or a section that begins at a place.
    fn add(&mut self, document: Document<'_>, start: Place, bytes: &[u8]) -> Result<()> {
        let not_read = |what: &'static str| Err(Error::unsupported(0, what));
        if document.version.is_some_and(|version| version != 3) {
            return not_read("not a source map of version 3");
        }
        let Some(Text(mappings)) = document.mappings else {
            return not_read("not a source map: it has no mappings");
        };
        let part = Part {
            start,
            first_source: self.sources.len() as u32,
            first_name: self.names.len() as u32,
        };
        // Without escapes the text is a part of the file, and errors can have its offset.
        let offset = (mappings.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize);
        let offset = offset.filter(|offset| *offset < bytes.len()).unwrap_or(0);
        decode(mappings.as_bytes(), offset as u64, part, &mut self.segments)?;
        let mut texts = document.sources_content.unwrap_or_default().into_iter();
        let root = document.source_root.unwrap_or_default();
        for path in document.sources.unwrap_or_default() {
            let path = path.unwrap_or_default();
            let path = match root.trim_end_matches('/') {
                "" => path,
                root => format!("{root}/{path}").into(),
            };
            let text = texts.next().flatten();
            self.sources.push(Source { path, text, lines: OnceLock::new() });
        }
        self.names.extend(document.names.unwrap_or_default());
        Ok(())
    }

    /// Adds the texts of sources that the map does not contain.
    pub(super) fn complete(&mut self, read: impl Fn(&str) -> Option<String>) {
        for source in self.sources.iter_mut().filter(|source| source.text.is_none()) {
            source.text = read(&source.path).map(String::into_boxed_str);
        }
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| &*source.path)
    }

    /// The segment at a place, or the last one before it on its line, if it comes from a source.
    pub(super) fn at(&self, place: Place) -> Option<&Segment> {
        let after = self.segments.partition_point(|segment| segment.at <= place);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        (segment.at.line == place.line && self.source(segment).is_some()).then_some(segment)
    }

    /// The segment that begins at a place, if it comes from a source.
    pub(super) fn exactly(&self, place: Place) -> Option<&Segment> {
        self.at(place).filter(|segment| segment.at == place)
    }

    pub(super) fn line(&self, line: u32) -> &[Segment] {
        let start = self.segments.partition_point(|segment| segment.at.line < line);
        let rest = self.segments.get(start..).unwrap_or_default();
        let end = rest.partition_point(|segment| segment.at.line == line);
        rest.get(..end).unwrap_or_default()
    }

    pub(super) fn source(&self, segment: &Segment) -> Option<&Source> {
        self.sources.get(segment.source as usize)
    }

    pub(super) fn name(&self, segment: &Segment) -> Option<&str> {
        let name = (segment.name != NONE).then(|| self.names.get(segment.name as usize))??;
        (!name.is_empty()).then_some(name)
    }

    pub(super) fn source_text(&self, number: usize) -> Option<&str> {
        self.sources.get(number)?.text.as_deref()
    }

    /// The text of the segment's source, and the byte offset of the segment in it.
    pub(super) fn text(&self, segment: &Segment) -> Option<(&str, usize)> {
        let source = self.source(segment)?;
        let text = source.text.as_deref()?;
        Some((text, source.offset(text, segment.original)?))
    }
}

impl Source {
    fn offset(&self, text: &str, place: Place) -> Option<usize> {
        let lines = self.lines.get_or_init(|| Lines::of(text));
        let start = *lines.starts.get(place.line as usize)? as usize;
        let column = place.column as usize;
        if lines.is_ascii {
            return Some(start.saturating_add(column)).filter(|at| *at <= text.len());
        }
        let mut units = 0_usize;
        for (at, character) in text.get(start..)?.char_indices() {
            if units >= column || character == '\n' || at > COUNTED {
                return (units >= column).then_some(start.saturating_add(at));
            }
            units = units.saturating_add(character.len_utf16());
        }
        (units >= column).then_some(text.len())
    }
}

impl Lines {
    fn of(text: &str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes());
        let starts = std::iter::once(0).chain(breaks.map(|at| (at as u32).saturating_add(1)));
        Self { starts: starts.collect(), is_ascii: text.is_ascii() }
    }
}

/// The script name that a map states. `None` if the bytes are not a source map.
pub(super) fn script_of(bytes: &[u8]) -> Option<String> {
    let head: Head = serde_json::from_slice(without_prefix(bytes).0).ok()?;
    head.file.filter(|_| head.mappings.is_some() || head.sections.is_some())
}

/// The JSON of a map, after a byte order mark and a line that keeps browsers from running it, and its
/// offset.
fn without_prefix(bytes: &[u8]) -> (&[u8], usize) {
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let rest = bytes.get(mark..).unwrap_or_default();
    let line = if rest.starts_with(b")]}") {
        memchr::memchr(b'\n', rest).unwrap_or(rest.len())
    } else {
        0
    };
    (rest.get(line..).unwrap_or_default(), mark.saturating_add(line))
}

/// The error of the JSON parser, with its line and column converted to an offset.
fn json_error(error: &serde_json::Error, json: &[u8], start: usize) -> Error {
    let lines_before = error.line().saturating_sub(2);
    let line = match error.line() {
        0 | 1 => 0,
        _ => {
            memchr::memchr_iter(b'\n', json).nth(lines_before).map_or(0, |at| at.saturating_add(1))
        }
    };
    let offset = start.saturating_add(line).saturating_add(error.column().saturating_sub(1));
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    let what = format!("not a source map: {what}");
    if error.is_eof() {
        Error::truncated(offset as u64, what)
    } else {
        Error::corrupt(offset as u64, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(json: &str) -> SourceMap {
        SourceMap::parse(json.as_bytes()).unwrap()
    }

    proptest! {
        #[test]
        fn a_place_comes_from_the_last_segment_at_or_before_it(
            segments in prop::collection::vec(((0..4_u32, 0..40_u32), 0..3_u32), 0..30),
            line in 0..5_u32,
            column in 0..50_u32,
        ) {
            let segment = |(number, &((line, column), source)): (usize, &((u32, u32), u32))| Segment {
                at: Place { line, column },
                source: if source == 2 { NONE } else { source },
                original: Place { line: number as u32, column: 0 },
                name: NONE,
            };
            let mut segments: Vec<Segment> = segments.iter().enumerate().map(segment).collect();
            segments.sort_by_key(|segment| segment.at);
            let sources = ["a", "b"].map(|path| Source {
                path: path.into(), text: None, lines: OnceLock::new(),
            });
            let naive = segments.iter().rfind(|segment| {
                segment.at.line == line && segment.at.column <= column
            }).filter(|segment| segment.source != NONE).copied();
            let of_line = segments.iter().filter(|segment| segment.at.line == line).count();
            let map = SourceMap { segments, sources: sources.into(), names: Vec::new() };
            let place = Place { line, column };
            prop_assert_eq!(map.at(place).copied(), naive);
            prop_assert_eq!(map.exactly(place).copied(), naive.filter(|segment| segment.at == place));
            prop_assert_eq!(map.line(line).len(), of_line);
        }

        #[test]
        fn any_bytes_are_a_map_or_an_error(
            cut in 0..400_usize, at in 0..400_usize, byte: u8,
        ) {
            let mut bytes = br#"{"version":3,"sources":["a.ts",null],"sourcesContent":["let \u00e4;\nb"],"names":["b"],"mappings":"AAAA,IAAEA;;ACAA","sections":[{"offset":{"line":1,"column":2},"map":{"mappings":"AAAA"}}]}"#.to_vec();
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            bytes.truncate(cut);
            match SourceMap::parse(&bytes) {
                Ok(map) => prop_assert!(map.segments.len() <= bytes.len()),
                Err(error) => prop_assert!(error.offset().unwrap() <= bytes.len() as u64),
            }
        }
    }

    #[test]
    fn sections_prefixes_and_roots_are_read() {
        let inner = r#"{"version":3,"sourceRoot":"src/","sources":["a.ts"],"names":["one"],"mappings":"AAAAA;IACA"}"#;
        let text = format!(
            r#")]}}'
{{"version":3,"sections":[{{"offset":{{"line":0,"column":0}},"map":{inner}}},{{"offset":{{"line":4,"column":10}},"map":{inner}}}]}}"#
        );
        let map = map(&text);
        assert_eq!(map.sources().collect::<Vec<_>>(), ["src/a.ts", "src/a.ts"]);
        let at = |line, column| {
            map.at(Place { line, column }).map(|segment| (segment.source, segment.original.line))
        };
        assert_eq!(at(0, 7), Some((0, 0)));
        assert_eq!(at(4, 9), None, "before the section");
        assert_eq!(at(4, 10), Some((1, 0)));
        assert_eq!(at(5, 4), Some((1, 1)), "columns begin anew on the next line");
        assert_eq!(
            map.exactly(Place { line: 4, column: 10 }).and_then(|it| map.name(it)),
            Some("one")
        );
    }

    #[test]
    fn columns_of_sources_count_utf_16() {
        let map = map(
            r#"{"version":3,"sources":["a.ts"],"sourcesContent":["let x;\nä🦀b"],"names":[],"mappings":"AACG"}"#,
        );
        let segment = map.at(Place::default()).unwrap();
        let (text, at) = map.text(segment).unwrap();
        assert_eq!(text.get(at..), Some("b"));
    }

    #[test]
    fn errors_say_where() {
        let error = |text: &str| SourceMap::parse(text.as_bytes()).unwrap_err();
        assert_eq!(error("{\"version\": 3,\n \"mappings\": }").offset(), Some(28));
        assert_eq!(error(r#"{"version":3,"mappings":"AAAA,A!"}"#).offset(), Some(30));
        assert_eq!(error("{\"version\": 3").kind(), crate::error::ErrorKind::Truncated);
        assert!(error(r#"{"version":2,"mappings":""}"#).to_string().contains("version 3"));
        assert!(error(r#"{"a":1}"#).to_string().contains("no mappings"));
        assert!(error("[1]").to_string().contains("not a source map"));
        let deep = "[".repeat(1 << 20);
        assert!(error(&format!("{{\"x\":{deep}")).to_string().contains("not a source map"));
    }
}
