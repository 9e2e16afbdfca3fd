//! A line: the header, a type, names, an object, a thread, a root, or the end.

use crate::error::{Error, Result};
use crate::input::json::{Scanner, Text, Token, ValueKind, closing_quote, whole_number};
use crate::input::json_lines::JsonLine;
use std::borrow::Cow;

/// The kind of a line, which its first member states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Unknown,
    Header,
    Type,
    Names,
    Object,
    Thread,
    Root,
    End,
}

/// The members of a line that dumptool knows. Absent members are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Line<'a> {
    pub(super) kind: Kind,
    /// The number of a type, of names or of a thread; the version in the header.
    pub(super) number: u64,
    /// The address of an object, or that of a type's class or a thread's object.
    pub(super) address: u64,
    pub(super) of_type: u64,
    /// Bytes of an object, and those outside Python's memory.
    pub(super) size: u64,
    pub(super) external: u64,
    /// References that the interpreter has counted; 0 for objects that never die.
    pub(super) count: u64,
    /// The number of the list of names for an object's first references.
    pub(super) names: Option<u64>,
    /// References with names and without; `items` are elements, `entries` keys and values by turns.
    pub(super) named: Addresses<'a>,
    pub(super) items: Addresses<'a>,
    pub(super) entries: Addresses<'a>,
    /// A text, a number, or the name of an object.
    pub(super) value: Scalar<'a>,
    /// The length of a text, or the bits of an integer that is not in the line.
    pub(super) length: Option<u64>,
    /// The members of a line that is not an object. Boxed, because nearly all lines are objects.
    other: Option<Box<Other<'a>>>,
}

/// The members of lines that are not objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Other<'a> {
    /// The name of a type, thread or root; the kind of a root.
    pub(super) name: Option<Text<'a>>,
    pub(super) root: Option<Text<'a>>,
    pub(super) module: Option<Text<'a>>,
    /// The kind of a type's objects: `dict`, `str`, `object`.
    pub(super) type_kind: &'a [u8],
    /// Whether objects of a type refer to it.
    pub(super) is_heap_type: bool,
    /// Whether objects of a type can have a `__dict__`.
    pub(super) has_dictionary: bool,
    pub(super) list: Vec<Text<'a>>,
    /// Frames of a thread, the innermost first.
    pub(super) frames: Vec<Frame<'a>>,
    pub(super) held: Addresses<'a>,
    pub(super) header: Header<'a>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Header<'a> {
    pub(super) python: Option<Text<'a>>,
    pub(super) implementation: Option<Text<'a>>,
    pub(super) platform: Option<Text<'a>>,
    pub(super) pid: u64,
    pub(super) pointer: u64,
    pub(super) collections: u64,
    /// Whether the dump was written without texts and numbers.
    pub(super) lacks_contents: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame<'a> {
    pub(super) address: u64,
    pub(super) function: Option<Text<'a>>,
    pub(super) file: Option<Text<'a>>,
    pub(super) line: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Scalar<'a> {
    #[default]
    None,
    Text(Text<'a>),
    Number(&'a [u8]),
    Boolean(bool),
}

/// A list of addresses: the bytes from the first address on, to beyond the last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Addresses<'a>(&'a [u8]);

impl Addresses<'_> {
    /// The addresses in order, up to the first item that is not an address.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (number, after) = whole_number(rest)?;
            rest = match after.trim_ascii_start() {
                [b',', next @ ..] => next.trim_ascii_start(),
                [] | [b']', ..] => &[],
                _ => return None,
            };
            Some(number)
        })
    }
}

impl<'a> JsonLine<'a> for Line<'a> {
    /// Reads an object as the dumper writes it: without white space, and with keys of one letter.
    /// Takes a third of the time of [`Line::read`].
    #[inline]
    fn read_plain(line: &'a [u8]) -> Option<Self> {
        let (address, mut rest) = whole_number(line.strip_prefix(b"{\"o\":")?)?;
        let mut line = Self { kind: Kind::Object, address, ..Self::default() };
        while let [b',', b'"', key, b'"', b':', value @ ..] = rest {
            let place = match key {
                b't' => &mut line.of_type,
                b's' => &mut line.size,
                b'c' => &mut line.count,
                b'x' => &mut line.external,
                b'n' => line.names.insert(0),
                b'l' => line.length.insert(0),
                b'r' => {
                    (line.named, rest) = plain_list(value)?;
                    continue;
                }
                b'i' => {
                    (line.items, rest) = plain_list(value)?;
                    continue;
                }
                b'k' => {
                    (line.entries, rest) = plain_list(value)?;
                    continue;
                }
                b'v' => {
                    (line.value, rest) = plain_text(value)?;
                    continue;
                }
                _ => return None,
            };
            (*place, rest) = whole_number(value)?;
        }
        matches!(rest, b"}" | b"}\n").then_some(line)
    }

    fn read(json: &mut Scanner<'a>) -> Result<Self> {
        let mut line = Self::default();
        json.begin_object()?;
        while let Some(key) = json.key()? {
            let is_first = line.kind == Kind::Unknown;
            match key.raw() {
                b"o" if is_first => line.begin(Kind::Object, json)?,
                b"type" if is_first => line.begin(Kind::Type, json)?,
                b"names" if is_first => line.begin(Kind::Names, json)?,
                b"thread" if is_first => line.begin(Kind::Thread, json)?,
                b"pyheap" if is_first => line.begin(Kind::Header, json)?,
                b"root" if is_first => {
                    line.kind = Kind::Root;
                    line.other_mut().root = json.optional_text()?;
                }
                b"end" if is_first => {
                    line.kind = Kind::End;
                    json.skip()?;
                }
                _ => line.member(key.raw(), json)?,
            }
        }
        Ok(line)
    }

    fn is_known(&self) -> bool {
        self.kind != Kind::Unknown
    }
}

impl<'a> Line<'a> {
    fn begin(&mut self, kind: Kind, json: &mut Scanner<'a>) -> Result<()> {
        let number = json.unsigned()?;
        self.kind = kind;
        match kind {
            Kind::Object => self.address = number,
            _ => self.number = number,
        }
        Ok(())
    }

    fn member(&mut self, key: &[u8], json: &mut Scanner<'a>) -> Result<()> {
        match (self.kind, key) {
            (Kind::Object, b"t") => self.of_type = json.unsigned()?,
            (Kind::Object, b"s") => self.size = json.unsigned()?,
            (Kind::Object, b"c") => self.count = json.unsigned()?,
            (Kind::Object, b"n") => self.names = Some(json.unsigned()?),
            (Kind::Object, b"x") => self.external = json.unsigned()?,
            (Kind::Object, b"l") => self.length = Some(json.unsigned()?),
            (Kind::Object, b"r") => self.named = addresses(json)?,
            (Kind::Object, b"i") => self.items = addresses(json)?,
            (Kind::Object, b"k") => self.entries = addresses(json)?,
            (Kind::Object, b"v") => self.value = scalar(json)?,
            (Kind::Type, b"address") => self.address = json.unsigned()?,
            (Kind::Thread, b"o") => self.address = json.unsigned()?,
            (Kind::Object | Kind::Unknown | Kind::End, _) => json.skip()?,
            (kind, _) => self.other_mut().member(kind, key, json)?,
        }
        Ok(())
    }

    /// The members of a line that is not an object.
    pub(super) fn other(&self) -> Cow<'_, Other<'a>> {
        self.other.as_deref().map_or_else(|| Cow::Owned(Other::default()), Cow::Borrowed)
    }

    fn other_mut(&mut self) -> &mut Other<'a> {
        self.other.get_or_insert_default()
    }
}

impl<'a> Other<'a> {
    fn member(&mut self, kind: Kind, key: &[u8], json: &mut Scanner<'a>) -> Result<()> {
        match (kind, key) {
            (Kind::Type, b"module") => self.module = json.optional_text()?,
            (Kind::Type | Kind::Thread | Kind::Root, b"name") => {
                self.name = json.optional_text()?
            }
            (Kind::Type, b"kind") => self.type_kind = json.text()?.raw(),
            (Kind::Type, b"heap") => self.is_heap_type = boolean(json)?,
            (Kind::Type, b"dict") => self.has_dictionary = boolean(json)?,
            (Kind::Names, b"of") => {
                json.begin_array()?;
                while json.item()? {
                    self.list.push(json.text()?);
                }
            }
            (Kind::Thread, b"frames") => {
                json.begin_array()?;
                while json.item()? {
                    self.frames.push(frame(json)?);
                }
            }
            (Kind::Root, b"o") => self.held = addresses(json)?,
            (Kind::Header, _) => self.header.member(key, json)?,
            _ => json.skip()?,
        }
        Ok(())
    }
}

impl<'a> Header<'a> {
    fn member(&mut self, key: &[u8], json: &mut Scanner<'a>) -> Result<()> {
        match key {
            b"python" => self.python = json.optional_text()?,
            b"implementation" => self.implementation = json.optional_text()?,
            b"platform" => self.platform = json.optional_text()?,
            b"pid" => self.pid = json.unsigned()?,
            b"pointer" => self.pointer = json.unsigned()?,
            b"collections" => self.collections = json.unsigned()?,
            b"contents" => self.lacks_contents = !boolean(json)?,
            _ => json.skip()?,
        }
        Ok(())
    }
}

fn frame<'a>(json: &mut Scanner<'a>) -> Result<Frame<'a>> {
    let mut frame = Frame::default();
    json.begin_object()?;
    while let Some(key) = json.key()? {
        match key.raw() {
            b"o" => frame.address = json.unsigned()?,
            b"function" => frame.function = json.optional_text()?,
            b"file" => frame.file = json.optional_text()?,
            b"line" => frame.line = json.unsigned()?,
            _ => json.skip()?,
        }
    }
    Ok(frame)
}

fn addresses<'a>(json: &mut Scanner<'a>) -> Result<Addresses<'a>> {
    let offset = json.offset();
    let numbers = json.numbers()?;
    if numbers.is_cut() {
        Err(Error::truncated(offset, "a list of addresses"))
    } else {
        Ok(Addresses(numbers.bytes().trim_ascii_start()))
    }
}

/// The list of addresses that a value is, and what follows it.
#[inline]
fn plain_list(value: &[u8]) -> Option<(Addresses<'_>, &[u8])> {
    let list = value.strip_prefix(b"[")?;
    let end = memchr::memchr(b']', list)?;
    Some((Addresses(list.trim_ascii_start()), list.get(end.wrapping_add(1)..)?))
}

/// The text or number that a value is, and what follows it.
#[inline]
fn plain_text(value: &[u8]) -> Option<(Scalar<'_>, &[u8])> {
    if let Some((_, rest)) = whole_number(value) {
        let number = value.get(..value.len().checked_sub(rest.len())?)?;
        return Some((Scalar::Number(number), rest));
    }
    let (end, is_escaped) = closing_quote(value.strip_prefix(b"\"")?, 0)?;
    let text = value.get(1..end.wrapping_add(1))?;
    Some((Scalar::Text(Text::new(text, is_escaped)), value.get(end.wrapping_add(2)..)?))
}

fn scalar<'a>(json: &mut Scanner<'a>) -> Result<Scalar<'a>> {
    Ok(match json.peek()? {
        ValueKind::String => Scalar::Text(json.text()?),
        ValueKind::Number => Scalar::Number(json.number()?.raw()),
        ValueKind::Other => Scalar::Boolean(boolean(json)?),
        _ => {
            json.skip()?;
            Scalar::None
        }
    })
}

fn boolean(json: &mut Scanner<'_>) -> Result<bool> {
    Ok(json.token()? == Some(Token::Bool(true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn members(line: &Line<'_>) -> impl PartialEq + std::fmt::Debug + use<> {
        let lists = [line.named, line.items, line.entries].map(|list| Vec::from_iter(list.iter()));
        let value = match line.value {
            Scalar::Text(text) => text.decode().into_owned(),
            ref value => format!("{value:?}"),
        };
        let numbers = [line.address, line.of_type, line.size, line.count, line.external];
        (line.kind, numbers, line.names, line.length, lists, value)
    }

    fn read(line: &str) -> Result<Line<'_>> {
        Line::read(&mut Scanner::new(line.as_bytes(), 0))
    }

    #[test]
    fn objects_without_white_space_are_read_as_any_other() {
        for line in [
            r#"{"o":139729880683392,"t":1,"s":184,"c":1,"k":[139729926723248,1,139729927000816,2]}"#,
            r#"{"o":140,"t":5,"s":48,"c":1,"n":3,"r":[150,160],"x":4096}"#,
            r#"{"o":160,"t":3,"s":88,"c":0,"i":[]}"#,
            r#"{"o":170,"t":1,"s":54,"c":4,"l":200,"v":"a \"]} \\ \u00e9"}"#,
            r#"{"o":180,"t":2,"s":28,"c":1,"v":18446744073709551615}"#,
        ] {
            let plain = Line::read_plain(line.as_bytes()).unwrap();
            let spaced = line.replace(",", " , ").replace("\":", "\" : ").replace('[', "[ ");
            assert!(Line::read_plain(spaced.as_bytes()).is_none(), "{spaced}");
            assert_eq!(members(&plain), members(&read(line).unwrap()));
            assert_eq!(members(&plain), members(&read(&spaced).unwrap()));
        }
    }

    #[test]
    fn a_space_before_the_first_address_of_a_plain_list_loses_no_references() {
        let line = r#"{"o":140,"r":[ 150,160],"i":[  ]}"#;
        let plain = Line::read_plain(line.as_bytes()).unwrap();
        assert_eq!(Vec::from_iter(plain.named.iter()), [150, 160]);
        assert_eq!(members(&plain), members(&read(line).unwrap()));
    }

    #[test]
    fn what_is_cut_or_unknown_is_not_plain() {
        let line = r#"{"o":140,"t":5,"s":48,"c":1,"r":[150],"v":"text"}"#;
        for end in 0..line.len() {
            assert!(Line::read_plain(&line.as_bytes()[..end]).is_none(), "{end}");
        }
        for line in [
            r#"{"o":140,"t":5,"future":1}"#,
            r#"{"o":-1}"#,
            r#"{"o":18446744073709551616}"#,
            r#"{"o":140,"v":-7}"#,
            r#"{"o":140,"v":1.5}"#,
            r#"{"o":140,"v":true}"#,
            r#"{"o":140}}"#,
        ] {
            assert!(Line::read_plain(line.as_bytes()).is_none(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn what_is_plain_is_read_alike(
            at in 0usize..80,
            bytes in "[0-9a-z\"\\\\:,{}\\[\\] .-]{0,4}",
        ) {
            let line = r#"{"o":140,"t":5,"s":48,"n":3,"r":[150,160],"v":"a\"b","k":[1,22]}"#;
            let at = at.min(line.len());
            for end in at..line.len().min(at + 3) {
                let line = format!("{}{bytes}{}", &line[..at], &line[end..]);
                if let Some(plain) = Line::read_plain(line.as_bytes()) {
                    prop_assert_eq!(members(&plain), members(&read(&line).unwrap()), "{}", line);
                }
            }
        }
    }
}
