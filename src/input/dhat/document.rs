//! The document: program points and frames.

use crate::error::{Error, Result};
use crate::input::json::{Scanner, Text, ValueKind};
use crate::input::load::{MemoryLimit, damage};
use crate::input::read::{ReadOptions, Visitor, visit};
use crate::model::fields::{FieldSink, Record};
use std::ops::Range;

pub(super) const RECORD_NAMES: &[&str] = &["point", "frame"];

/// The numbers of a program point, by their keys.
pub(super) const KEYS: [&str; 12] =
    ["tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk", "rb", "wb", "acc"];

/// A stack that allocates.
#[derive(Clone, Debug)]
pub(super) struct Point {
    offset: u64,
    /// The numbers in the order of [`KEYS`].
    pub(super) numbers: [u64; KEYS.len()],
    /// The range of its frames in [`Document::frames`].
    frames: Range<u32>,
}

#[derive(Debug, Default)]
pub(super) struct Document<'a> {
    pub(super) version: Option<u64>,
    /// Whether there are lifetimes, and accesses.
    pub(super) has_lifetimes: bool,
    pub(super) has_accesses: bool,
    pub(super) mode: Text<'a>,
    pub(super) time_unit: Text<'a>,
    /// Keys and values that are shown as they are.
    pub(super) facts: Vec<(Text<'a>, Text<'a>)>,
    pub(super) points: Vec<Point>,
    /// Rows of the table, innermost first.
    frames: Vec<u32>,
    pub(super) table: Vec<(u64, Text<'a>)>,
    memory: MemoryLimit,
}

impl<'a> Document<'a> {
    /// Reads a file up to its first damage. Fails when the points take more memory than they may.
    pub(super) fn read(bytes: &'a [u8], memory: MemoryLimit) -> Result<(Self, Option<Error>)> {
        let mut document = Self { memory, ..Self::default() };
        let damage = damage(document.read_all(&mut Scanner::new(bytes, 0)))?;
        Ok((document, damage))
    }

    pub(super) fn bytes(&self) -> u64 {
        let rows = [
            (self.points.len(), size_of::<Point>()),
            (self.frames.len(), size_of::<u32>()),
            (self.table.len(), size_of::<(u64, Text<'_>)>()),
        ];
        let bytes = rows.map(|(count, bytes)| count.saturating_mul(bytes) as u64);
        bytes.into_iter().fold(0, u64::saturating_add).saturating_mul(3) / 2
    }

    /// The frames of a point, innermost first.
    pub(super) fn frames(&self, point: &Point) -> &[u32] {
        let range = point.frames.start as usize..point.frames.end as usize;
        self.frames.get(range).unwrap_or_default()
    }

    fn read_all(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            match (key.raw(), scanner.peek()?) {
                (b"dhatFileVersion", ValueKind::Number) => {
                    let offset = scanner.offset();
                    let version = scanner.unsigned()?;
                    if version != 2 {
                        let message = format!("version {version} of DHAT's format");
                        return Err(Error::unsupported(offset, message)
                            .hint("dumptool reads version 2, of valgrind 3.15 and later"));
                    }
                    self.version = Some(version);
                }
                (b"mode", ValueKind::String) => self.mode = scanner.text()?,
                (b"tu", ValueKind::String) => self.time_unit = scanner.text()?,
                (b"bklt", ValueKind::Other) => self.has_lifetimes = flag(scanner)?,
                (b"bkacc", ValueKind::Other) => self.has_accesses = flag(scanner)?,
                (b"cmd" | b"verb", ValueKind::String) => {
                    let value = scanner.text()?;
                    self.facts.push((key, value));
                }
                (b"pid" | b"te" | b"tg", ValueKind::Number) => {
                    let value = scanner.number()?;
                    self.facts.push((key, Text::new(value.raw(), false)));
                }
                (b"pps", ValueKind::Array) => self.points(scanner)?,
                (b"ftbl", ValueKind::Array) => self.table(scanner)?,
                _ => scanner.skip()?,
            }
        }
        Ok(())
    }

    fn points(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        scanner.begin_array()?;
        while scanner.item()? {
            self.memory.check_bytes(scanner.offset(), self.bytes())?;
            let offset = scanner.offset();
            let mut numbers = [0; KEYS.len()];
            let start = self.frames.len() as u32;
            scanner.begin_object()?;
            while let Some(key) = scanner.key()? {
                let row = KEYS.iter().position(|known| known.as_bytes() == key.raw());
                match (row.and_then(|row| numbers.get_mut(row)), scanner.peek()?) {
                    (Some(number), ValueKind::Number) => *number = scanner.unsigned()?,
                    (None, ValueKind::Array) if key.raw() == b"fs" => {
                        let frames = &mut self.frames;
                        scanner.unsigned_array(|frame| {
                            frames.push(u32::try_from(frame).unwrap_or(u32::MAX));
                        })?;
                    }
                    _ => scanner.skip()?,
                }
            }
            let frames = start..self.frames.len() as u32;
            self.points.push(Point { offset, numbers, frames });
        }
        Ok(())
    }

    fn table(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        scanner.begin_array()?;
        while scanner.item()? {
            self.memory.check_bytes(scanner.offset(), self.bytes())?;
            self.table.push((scanner.offset(), scanner.text()?));
        }
        Ok(())
    }

    /// The points and then the frames, with their offsets.
    pub(super) fn records(&self) -> impl Iterator<Item = (u64, DhatRecord<'_>)> {
        let points = self.points.iter().map(|point| {
            (
                point.offset,
                DhatRecord::Point { numbers: &point.numbers, frames: self.frames(point) },
            )
        });
        points.chain(self.table.iter().map(|(offset, text)| (*offset, DhatRecord::Frame(*text))))
    }
}

fn flag(scanner: &mut Scanner<'_>) -> Result<bool> {
    Ok(scanner.token()? == Some(crate::input::json::Token::Bool(true)))
}

pub(super) enum DhatRecord<'d> {
    Point { numbers: &'d [u64; KEYS.len()], frames: &'d [u32] },
    Frame(Text<'d>),
}

impl Record for DhatRecord<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Point { .. } => "point",
            Self::Frame(_) => "frame",
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match self {
            Self::Point { numbers, frames } => {
                KEYS.iter().zip(*numbers).for_each(|(key, number)| sink.unsigned(key, *number));
                sink.list("frames", frames.iter(), |frame, sink| {
                    sink.unsigned("frame", (*frame).into());
                });
            }
            Self::Frame(text) => sink.text("text", text.decode().as_bytes()),
        }
    }
}

/// Gives every point and frame to the visitor. Fails with the first damage, or more memory than the
/// points may take.
pub(in crate::input) fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let (document, damage) = Document::read(bytes, options.memory)?;
    visit(document.records().map(Ok).chain(damage.map(Err)), options, visitor)
}

/// Whether the first key is that of the version.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    let mut scanner = Scanner::new(bytes.get(..4096).unwrap_or(bytes), 0);
    let key = scanner.begin_object().and_then(|()| scanner.key());
    matches!(key, Ok(Some(key)) if key.raw() == b"dhatFileVersion")
}
