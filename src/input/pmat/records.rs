//! The records of a file in order.

use super::layout::{Fields, Layout, Pointers};
use super::sv::{Body, Struct, Structs, Sv, unknown};
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::{FieldSink, Record};

#[derive(Clone, Copy, Debug)]
pub enum Rec<'a> {
    /// A named root and its address, or 0.
    Root(&'a [u8], u64),
    Stack(Pointers<'a>),
    /// An object, and the name of its type.
    Sv(Sv<'a>, &'static str),
    /// Something that belongs to the SV at an address: its type and its part.
    Extension(u8, u64, Fields<'a>),
    /// The number and the name of a structure of an extension in C.
    Struct(u64, &'a [u8]),
    /// A call or an `eval` under way: its type, the line and the file, and its part.
    Context(u8, u64, &'a [u8], Fields<'a>),
    /// The addresses of temporary values.
    Mortals(Pointers<'a>),
}

impl Rec<'_> {
    pub(super) const NAMES: &'static [&'static str] =
        &["root", "stack", "sv", "extension", "struct", "context", "mortals"];
}

impl Record for Rec<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Root(..) => "root",
            Self::Stack(_) => "stack",
            Self::Sv(..) => "sv",
            Self::Extension(..) => "extension",
            Self::Struct(..) => "struct",
            Self::Context(..) => "context",
            Self::Mortals(_) => "mortals",
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match *self {
            Self::Root(name, address) => {
                sink.text("name", name);
                sink.address("address", address);
            }
            Self::Stack(pointers) | Self::Mortals(pointers) => list(sink, "addresses", pointers),
            Self::Sv(sv, name) => {
                sink.text("type", name.as_bytes());
                sink.address("address", sv.address);
                sink.unsigned("refcount", sv.refcount.into());
                sink.unsigned("size", sv.size);
                sink.address("blessed", sv.blessed);
                part(sink, &sv.own);
                match sv.body {
                    Body::Elements(elements) => list(sink, "elements", elements),
                    Body::Entries(count, _) => sink.unsigned("entries", count),
                    Body::None | Body::Items(_) | Body::Fields(_) => {}
                }
            }
            Self::Extension(kind, owner, own) => {
                sink.unsigned("type", kind.into());
                sink.address("sv", owner);
                part(sink, &own);
            }
            Self::Struct(id, name) => {
                sink.unsigned("id", id);
                sink.text("name", name);
            }
            Self::Context(kind, line, file, own) => {
                sink.unsigned("type", kind.into());
                sink.text("file", file);
                sink.unsigned("line", line);
                part(sink, &own);
            }
        }
    }
}

fn part<S: FieldSink>(sink: &mut S, part: &Fields<'_>) {
    list(sink, "pointers", part.pointers);
    for (name, string) in ["string", "string2"].into_iter().zip(part.strings) {
        string.into_iter().for_each(|string| sink.text(name, string));
    }
}

fn list<S: FieldSink>(sink: &mut S, name: &'static str, pointers: Pointers<'_>) {
    if sink.wants_contents() {
        sink.list(name, pointers.iter(), |address, sink| sink.address("address", address))
    } else {
        sink.unsigned(name, pointers.iter().len() as u64)
    }
}

/// The section that the next record is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// This many roots are left.
    Roots(u64),
    Stack,
    Heap,
    Contexts,
    Mortals,
    End,
}

/// The records of a file with their offsets. After an error the iterator has ended.
#[derive(Debug)]
pub struct Records<'a> {
    pub layout: Layout,
    /// The structures that have been described so far.
    pub structs: Structs<'a>,
    cursor: Cursor<'a>,
    section: Section,
}

impl<'a> Records<'a> {
    /// Reads the header. Fails when that cannot be read.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        let layout = Layout::read(&mut cursor)?;
        let roots = layout.words.number(cursor.take(4, "the number of roots")?);
        Ok(Self { layout, structs: Structs::default(), cursor, section: Section::Roots(roots) })
    }

    /// Bytes after the last record.
    pub fn rest(&self) -> u64 {
        self.cursor.remaining() as u64
    }

    fn read(&mut self) -> Result<Option<Rec<'a>>> {
        let words = self.layout.words;
        if self.section == Section::Roots(0) {
            self.section = Section::Stack;
        }
        match self.section {
            Section::Roots(left) => {
                let name = words.string(&mut self.cursor, "a root")?.unwrap_or_default();
                let address = words.pointer(&mut self.cursor, "a root")?;
                self.section = Section::Roots(left.saturating_sub(1));
                Ok(Some(Rec::Root(name, address)))
            }
            Section::Stack => {
                let count = words.uint(&mut self.cursor, "the stack")?;
                let pointers = words.pointers(&mut self.cursor, count, "the stack")?;
                self.section = Section::Heap;
                Ok(Some(Rec::Stack(pointers)))
            }
            Section::Heap => {
                let at = self.cursor.offset();
                match self.cursor.u8("the SVs")? {
                    0 => {
                        self.section = Section::Contexts;
                        self.read_context()
                    }
                    0xf0 => self.read_struct(),
                    kind @ 0x80..=0xef => {
                        let part = self
                            .layout
                            .extension(kind)
                            .ok_or_else(|| unknown(at, "an extension", kind))?;
                        let owner = words.pointer(&mut self.cursor, "an extension")?;
                        let fields = part.read(&mut self.cursor, words, "an extension")?;
                        Ok(Some(Rec::Extension(kind, owner, fields)))
                    }
                    kind => {
                        let sv = Sv::read(&mut self.cursor, kind, &self.layout, &self.structs)?;
                        Ok(Some(Rec::Sv(sv, sv.type_name(words))))
                    }
                }
            }
            Section::Contexts => self.read_context(),
            Section::Mortals => {
                self.section = Section::End;
                if self.cursor.is_empty() {
                    return Ok(None);
                }
                let count = words.uint(&mut self.cursor, "the temporary values")?;
                if count == 0 {
                    return Ok(None);
                }
                let pointers = words.pointers(&mut self.cursor, count, "the temporary values")?;
                words.uint(&mut self.cursor, "the temporary values")?;
                Ok(Some(Rec::Mortals(pointers)))
            }
            Section::End => Ok(None),
        }
    }

    fn read_struct(&mut self) -> Result<Option<Rec<'a>>> {
        const WHAT: &str = "the description of a structure";
        let (words, cursor) = (self.layout.words, &mut self.cursor);
        let id = words.uint(cursor, WHAT)?;
        let count = words.uint(cursor, WHAT)?;
        let name = words.string(cursor, WHAT)?.unwrap_or_default();
        let mut structure = Struct { name, fields: Vec::new() };
        for _ in 0..count {
            let name = words.string(cursor, WHAT)?.unwrap_or_default();
            let at = cursor.offset();
            let kind = cursor.u8(WHAT)?;
            if kind > 4 {
                return Err(unknown(at, "a field of a structure", kind));
            }
            structure.fields.push((name, kind));
        }
        // Objects that were read before must read the same again.
        self.structs.entry(id).or_insert(structure);
        Ok(Some(Rec::Struct(id, name)))
    }

    fn read_context(&mut self) -> Result<Option<Rec<'a>>> {
        const WHAT: &str = "a context";
        let (words, cursor) = (self.layout.words, &mut self.cursor);
        let at = cursor.offset();
        let kind = cursor.u8("the contexts")?;
        if kind == 0 {
            self.section = Section::Mortals;
            return self.read();
        }
        let (common, own) = self.layout.context(kind).ok_or_else(|| unknown(at, WHAT, kind))?;
        let common = common.read(cursor, words, WHAT)?;
        let line = words.number(common.header.get(1..).unwrap_or_default());
        let file = common.strings[0].unwrap_or_default();
        Ok(Some(Rec::Context(kind, line, file, own.read(cursor, words, WHAT)?)))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u64, Rec<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.cursor.offset();
        let record = self.read();
        if record.is_err() {
            self.section = Section::End;
        }
        record.transpose().map(|record| record.map(|record| (start, record)))
    }
}
