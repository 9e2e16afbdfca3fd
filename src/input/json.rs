//! A pull scanner for JSON, which serves every format that is written in it.
//!
//! A [`Scanner`] reads one document from a slice of the input, token by token. It builds no tree:
//! strings stay slices of the input ([`Text`]) and are decoded on demand, nesting costs a bit for
//! each level, and arrays of numbers are read at the speed of memory ([`Numbers`]). Every error has
//! the absolute offset of the byte at fault; everything before it has been returned.
//!
//! ```text
//! let mut json = Scanner::new(bytes, 0);
//! json.begin_object()?;
//! while let Some(key) = json.key()? {
//!     match key.raw() {
//!         b"name" => name = json.text()?,
//!         b"samples" => json.unsigned_array(|sample| samples.push(sample))?,
//!         b"frames" => {
//!             json.begin_array()?;
//!             while json.item()? { … }
//!         }
//!         _ => json.skip()?,
//!     }
//! }
//! ```
//!
//! Data that nests to any depth, such as call trees, is read with [`Scanner::token`] and a stack of
//! the caller's own.
//!
//! The structure (commas, colons, brackets) is read strictly, but contents leniently, because
//! writers get them wrong: bytes that are not UTF-8, control characters, unknown escapes and lone
//! surrogates in strings; a byte order mark; `NaN` and `Infinity`; integers that are written as
//! `1e3` or `1.0`; a comma after the last number of an array.

mod numbers;
mod optional;
mod text;

pub(crate) use numbers::whole_number;
pub use numbers::{Number, Numbers};
pub use text::Text;

use crate::error::{Error, Result};
pub(crate) use text::closing_quote;

/// Maximum depth of nested arrays and objects. A call tree takes up to two levels per frame.
pub const MAX_DEPTH: usize = 1 << 20;

/// A piece of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    BeginObject,
    EndObject,
    BeginArray,
    EndArray,
    /// The name of a member of an object. Its value follows.
    Key(Text<'a>),
    /// A string that is a value.
    String(Text<'a>),
    Number(Number<'a>),
    Bool(bool),
    Null,
}

/// What a value is, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    Number,
    /// `true`, `false` or `null`.
    Other,
}

/// The syntax that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A value: the document, or after a key.
    Value,
    /// The first item or member of a container, or its end.
    First,
    /// A comma and another item or member, or the end of the container.
    Next,
    /// An item, whose comma has been read.
    Item,
    /// Nothing: the document is complete.
    End,
}

/// Reads a document token by token. Methods for values of one kind fail when something else comes
/// next.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Absolute offset of the first of `bytes`.
    base: u64,
    state: State,
    /// A bit for each open container: set for objects.
    nesting: Vec<u64>,
    depth: usize,
}

impl<'a> Scanner<'a> {
    /// A scanner of the document in `bytes`, whose first byte has the absolute offset `base`.
    pub fn new(bytes: &'a [u8], base: u64) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { bytes, at, base, state: State::Value, nesting: Vec::new(), depth: 0 }
    }

    /// Absolute offset of the next byte.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.base.saturating_add(self.at as u64)
    }

    /// Returns the number of open arrays and objects.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Starts again with another document of the same input (for JSON lines), at position `at` of
    /// the bytes.
    #[inline]
    pub fn restart(&mut self, at: usize) {
        (self.at, self.state, self.depth) = (at.min(self.bytes.len()), State::Value, 0);
        self.nesting.clear();
    }

    /// The next token. `None` after the end of the document. Fails with `Truncated` at the end of
    /// the input, with `Corrupt` where the bytes are not JSON, with `Limit` beyond [`MAX_DEPTH`].
    #[inline]
    pub fn token(&mut self) -> Result<Option<Token<'a>>> {
        if self.state == State::End {
            return Ok(None);
        }
        let byte = self.peek_byte()?;
        match self.state {
            State::First if byte == self.closing() => return self.close(byte),
            State::Next if byte == self.closing() => return self.close(byte),
            State::Next if byte == b',' => self.at = self.at.wrapping_add(1),
            State::Next => return Err(self.unexpected("a comma or the end of the array or object")),
            State::Value | State::Item => return self.value().map(Some),
            State::First | State::End => {}
        }
        if self.in_object() {
            self.read_key().map(|key| Some(Token::Key(key)))
        } else {
            self.value().map(Some)
        }
    }

    /// The kind of the value that comes next. Does not move past it. Fails when no value comes
    /// next.
    #[inline]
    pub fn peek(&mut self) -> Result<ValueKind> {
        match self.peek_byte()? {
            b'{' => Ok(ValueKind::Object),
            b'[' => Ok(ValueKind::Array),
            b'"' => Ok(ValueKind::String),
            b't' | b'f' | b'n' => Ok(ValueKind::Other),
            b'-' | b'0'..=b'9' | b'N' | b'I' => Ok(ValueKind::Number),
            _ => Err(self.unexpected("a value")),
        }
    }

    /// Reads the brace with which an object begins.
    pub fn begin_object(&mut self) -> Result<()> {
        self.expect(b'{', "an object")
    }

    /// Reads the bracket with which an array begins.
    pub fn begin_array(&mut self) -> Result<()> {
        self.expect(b'[', "an array")
    }

    /// The next key of the open object. `None` at its end, which is consumed.
    #[inline]
    pub fn key(&mut self) -> Result<Option<Text<'a>>> {
        match self.token()? {
            Some(Token::Key(key)) => Ok(Some(key)),
            Some(Token::EndObject) => Ok(None),
            _ => Err(self.unexpected("a key")),
        }
    }

    /// Whether another item of the open array follows, which can then be read. The end of the array
    /// is consumed.
    #[inline]
    pub fn item(&mut self) -> Result<bool> {
        let byte = self.peek_byte()?;
        match (self.state, byte) {
            (State::First | State::Next, b']') if !self.in_object() => {
                self.close(byte).map(|_| false)
            }
            (State::Next, b',') => {
                (self.at, self.state) = (self.at.wrapping_add(1), State::Item);
                Ok(true)
            }
            (State::First, _) => {
                self.state = State::Item;
                Ok(true)
            }
            _ => Err(self.unexpected("a comma or the end of the array")),
        }
    }

    /// Reads a string.
    #[inline]
    pub fn text(&mut self) -> Result<Text<'a>> {
        match self.peek_byte()? {
            b'"' => self.read_string().inspect(|_| self.state = self.after()),
            _ => Err(self.unexpected("a string")),
        }
    }

    /// Reads a number.
    #[inline]
    pub fn number(&mut self) -> Result<Number<'a>> {
        let offset = self.at;
        match self.value()? {
            Token::Number(number) => Ok(number),
            _ => {
                self.at = offset;
                Err(self.unexpected("a number"))
            }
        }
    }

    /// A whole number that is not negative. Fails when something else comes next, or the number is
    /// 2⁶⁴ or more.
    #[inline]
    pub fn unsigned(&mut self) -> Result<u64> {
        self.number()?.unsigned()
    }

    /// Reads an array of whole numbers that are not negative. Fails like [`Scanner::unsigned`], for
    /// the first number at fault. `each` has received those before it.
    #[inline]
    pub fn unsigned_array(&mut self, mut each: impl FnMut(u64)) -> Result<()> {
        let mut numbers = self.numbers()?;
        while let Some(number) = numbers.unsigned()? {
            each(number);
        }
        self.leave(&numbers)
    }

    /// Reads an array of any numbers. Fails when an item is not a number. `each` has received those
    /// before it.
    #[inline]
    pub fn float_array(&mut self, mut each: impl FnMut(f64)) -> Result<()> {
        let mut numbers = self.numbers()?;
        while let Some(number) = numbers.float()? {
            each(number);
        }
        self.leave(&numbers)
    }

    /// The numbers of the array that comes next, in place. The scanner moves past the array. Fails
    /// when something else comes next. The contents between the brackets are not checked yet; if
    /// the end of the array is missing, [`Numbers::is_cut`] is set and the scanner is at the end of
    /// the input.
    pub fn numbers(&mut self) -> Result<Numbers<'a>> {
        if self.peek_byte()? != b'[' {
            return Err(self.unexpected("an array of numbers"));
        }
        let start = self.at.wrapping_add(1);
        let rest = self.bytes.get(start..).unwrap_or_default();
        let end = numbers::closing_bracket(rest);
        let numbers = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let offset = self.base.saturating_add(start as u64);
        self.at = start.wrapping_add(numbers.len()).wrapping_add(end.is_some().into());
        self.state = self.after();
        Ok(Numbers::new(numbers, offset, end.is_none()))
    }

    /// Reports the end of the input, if an array that was read had no end.
    fn leave(&self, numbers: &Numbers<'_>) -> Result<()> {
        if numbers.is_cut() { Err(self.truncated("an array of numbers")) } else { Ok(()) }
    }

    /// Skips the value that comes next.
    pub fn skip(&mut self) -> Result<()> {
        let depth = self.depth;
        self.value()?;
        while self.depth > depth {
            self.token()?;
        }
        Ok(())
    }

    /// The next byte that is not white space.
    #[inline]
    fn peek_byte(&mut self) -> Result<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at = self.at.wrapping_add(1),
                Some(&byte) => return Ok(byte),
                None => {
                    return Err(self.truncated(if self.depth == 0 {
                        "a value"
                    } else {
                        "an array or object"
                    }));
                }
            }
        }
    }

    #[inline]
    fn in_object(&self) -> bool {
        let level = self.depth.wrapping_sub(1);
        self.nesting
            .get(level / 64)
            .is_some_and(|bits| bits.wrapping_shr(level as u32 % 64) & 1 == 1)
    }

    #[inline]
    fn closing(&self) -> u8 {
        if self.in_object() { b'}' } else { b']' }
    }

    #[inline]
    fn after(&self) -> State {
        if self.depth == 0 { State::End } else { State::Next }
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<()> {
        if self.peek_byte()? == byte && matches!(self.state, State::Value | State::Item) {
            self.open(byte == b'{').map(drop)
        } else {
            Err(self.unexpected(what))
        }
    }

    #[inline]
    fn open(&mut self, object: bool) -> Result<Token<'a>> {
        if self.depth == MAX_DEPTH {
            return Err(Error::limit(self.offset(), "the JSON is nested too deeply")
                .expected(format!("at most {MAX_DEPTH} open arrays and objects")));
        }
        let (word, bit) = (self.depth / 64, 1u64.wrapping_shl(self.depth as u32 % 64));
        if word >= self.nesting.len() {
            self.nesting.push(0);
        }
        if let Some(bits) = self.nesting.get_mut(word) {
            *bits = if object { *bits | bit } else { *bits & !bit };
        }
        self.depth = self.depth.wrapping_add(1);
        (self.at, self.state) = (self.at.wrapping_add(1), State::First);
        Ok(if object { Token::BeginObject } else { Token::BeginArray })
    }

    #[inline]
    fn close(&mut self, byte: u8) -> Result<Option<Token<'a>>> {
        (self.at, self.depth) = (self.at.wrapping_add(1), self.depth.saturating_sub(1));
        self.state = self.after();
        Ok(Some(if byte == b'}' { Token::EndObject } else { Token::EndArray }))
    }

    #[inline]
    fn read_key(&mut self) -> Result<Text<'a>> {
        if self.peek_byte()? != b'"' {
            return Err(self.unexpected("a key"));
        }
        let key = self.read_string()?;
        if self.peek_byte()? != b':' {
            return Err(self.unexpected("a colon"));
        }
        (self.at, self.state) = (self.at.wrapping_add(1), State::Value);
        Ok(key)
    }

    #[inline]
    fn value(&mut self) -> Result<Token<'a>> {
        let token = match self.peek_byte()? {
            b'"' => Token::String(self.read_string()?),
            b'{' => return self.open(true),
            b'[' => return self.open(false),
            b'-' | b'0'..=b'9' => Token::Number(self.whole_number()?),
            _ => self.read_word()?,
        };
        self.state = self.after();
        Ok(token)
    }

    /// A string, of which the next byte is the opening quote.
    #[inline]
    fn read_string(&mut self) -> Result<Text<'a>> {
        let start = self.at.wrapping_add(1);
        match closing_quote(self.bytes, start) {
            Some((end, escaped)) => {
                self.at = end.wrapping_add(1);
                Ok(Text::new(self.bytes.get(start..end).unwrap_or_default(), escaped))
            }
            None => Err(self.truncated("a string")),
        }
    }

    #[inline]
    fn read_number(&mut self) -> Number<'a> {
        let (offset, rest) = (self.offset(), self.bytes.get(self.at..).unwrap_or_default());
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'a'..=b'z' | b'A'..=b'Z');
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        self.at = self.at.wrapping_add(length);
        Number::new(rest.get(..length).unwrap_or_default(), offset)
    }

    /// A number that does not reach to the end of the input, where it may be cut off. A document
    /// can be one number.
    #[inline]
    fn whole_number(&mut self) -> Result<Number<'a>> {
        let number = self.read_number();
        if self.at == self.bytes.len() && self.depth > 0 {
            Err(self.truncated("a number"))
        } else {
            Ok(number)
        }
    }

    /// `true`, `false`, `null`, or one of the numbers that JSON does not have.
    fn read_word(&mut self) -> Result<Token<'a>> {
        let start = self.at;
        let word = self.read_number();
        match word.raw() {
            b"true" => Ok(Token::Bool(true)),
            b"false" => Ok(Token::Bool(false)),
            b"null" => Ok(Token::Null),
            b"NaN" | b"Infinity" => Ok(Token::Number(word)),
            raw if self.at == self.bytes.len() && !raw.is_empty() => Err(self.truncated("a value")),
            _ => {
                self.at = start;
                Err(self.unexpected("a value"))
            }
        }
    }

    #[cold]
    fn truncated(&self, what: &'static str) -> Error {
        Error::truncated(
            self.base.saturating_add(self.bytes.len() as u64),
            format!("the input ends inside {what}"),
        )
    }

    /// The error for a byte that may not come next.
    #[cold]
    fn unexpected(&self, expected: &'static str) -> Error {
        match self.bytes.get(self.at) {
            Some(&byte) => Error::corrupt(self.offset(), "malformed JSON")
                .expected(expected)
                .found(text::shown(byte)),
            None => self.truncated(expected),
        }
    }
}

#[cfg(test)]
mod tests;
