//! The records of a file in order.

use super::layout::{Fields, Layout, Pointers};
use super::sv::{Body, Struct, Structs, Sv, unknown};
use crate::bytes::Cursor;
use crate::error::Result;
use crate::input::record::lines;
use crate::model::fields::FieldSink;

lines! {
    /// A record of the file.
    pub enum Rec<'a> {
        "root" Root {
            name: &'a [u8] => text,
            /// 0 if the root holds nothing.
            address: u64 => address,
        },
        "stack" Stack(addresses: Pointers<'a> => with(pass_addresses)),
        /// An object, and the name of its type.
        "sv" Sv {
            type_name: &'static str => with(pass_type),
            sv: Sv<'a> => with(Sv::pass_to),
        },
        /// Something that belongs to the SV at an address.
        "extension" Extension {
            kind: u8 => unsigned as "type",
            owner: u64 => address as "sv",
            own: Fields<'a> => with(part),
        },
        /// A structure of an extension in C.
        "struct" Struct {
            id: u64 => unsigned,
            name: &'a [u8] => text,
        },
        /// A call or an `eval` under way.
        "context" Context {
            kind: u8 => unsigned as "type",
            file: &'a [u8] => text,
            line: u64 => unsigned,
            own: Fields<'a> => with(part),
        },
        /// Temporary values.
        "mortals" Mortals(addresses: Pointers<'a> => with(pass_addresses)),
    }
}

impl Sv<'_> {
    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.address("address", self.address);
        sink.unsigned("refcount", self.refcount.into());
        sink.unsigned("size", self.size);
        sink.address("blessed", self.blessed);
        part(self.own, sink);
        match self.body {
            Body::Elements(elements) => list(sink, "elements", elements),
            Body::Entries(count, _) => sink.unsigned("entries", count),
            Body::None | Body::Items(_) | Body::Fields(_) => {}
        }
    }
}

fn pass_type<S: FieldSink>(name: &str, sink: &mut S) {
    sink.text("type", name.as_bytes());
}

fn pass_addresses<S: FieldSink>(addresses: Pointers<'_>, sink: &mut S) {
    list(sink, "addresses", addresses);
}

fn part<S: FieldSink>(part: Fields<'_>, sink: &mut S) {
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
                Ok(Some(Rec::Root { name, address }))
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
                        let own = part.read(&mut self.cursor, words, "an extension")?;
                        Ok(Some(Rec::Extension { kind, owner, own }))
                    }
                    kind => {
                        let sv = Sv::read(&mut self.cursor, kind, &self.layout, &self.structs)?;
                        Ok(Some(Rec::Sv { type_name: sv.type_name(words), sv }))
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
        Ok(Some(Rec::Struct { id, name }))
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
        let own = own.read(cursor, words, WHAT)?;
        Ok(Some(Rec::Context { kind, line, file, own }))
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
