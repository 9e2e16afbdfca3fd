//! The memory of a process as Linux lists it (`/proc/PID/maps`).

use super::lines::{Words, hex};
use crate::model::fields::FieldSink;
use crate::model::profile::Mapping;

/// A line of `/proc/PID/maps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct MapLine<'a> {
    start: u64,
    limit: u64,
    permissions: &'a [u8],
    offset: u64,
    file: &'a [u8],
}

impl<'a> MapLine<'a> {
    /// Parses `start-limit permissions offset device inode path`. `None` for other lines.
    pub(in crate::input) fn parse(line: &'a [u8]) -> Option<Self> {
        let mut words = Words(line);
        let mut range = words.next()?.splitn(2, |byte| *byte == b'-');
        let (start, limit) = (hex(range.next()?)?, hex(range.next()?)?);
        let permissions = words.next()?;
        let offset = words.hex()?;
        words.next()?;
        words.next()?;
        Some(Self { start, limit, permissions, offset, file: words.0.trim_ascii() })
    }

    fn of_code(&self) -> Option<Mapping> {
        let has_code = self.permissions.contains(&b'x') && self.start < self.limit;
        has_code.then(|| Mapping {
            start: self.start,
            limit: self.limit,
            offset: self.offset,
            file: String::from_utf8_lossy(self.file).into_owned(),
            ..Mapping::default()
        })
    }

    /// The mappings with code, in the order of their addresses.
    pub(in crate::input) fn code(lines: impl Iterator<Item = Self>) -> Vec<Mapping> {
        let mut mappings: Vec<Mapping> = lines.filter_map(|line| line.of_code()).collect();
        mappings.sort_by_key(|mapping| mapping.start);
        mappings
    }
}

impl MapLine<'_> {
    pub(in crate::input) fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.address("start", self.start);
        sink.address("limit", self.limit);
        sink.text("permissions", self.permissions);
        sink.address("offset", self.offset);
        sink.text("file", self.file);
    }
}
