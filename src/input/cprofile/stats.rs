//! The functions of statistics and their callers, in the order of the file.

use super::marshal::{Marshal, Value};
use crate::error::{Error, Result};
use crate::model::fields::{FieldSink, Record};
use rustc_hash::FxHashMap;

pub(super) const RECORD_NAMES: &[&str] = &["function", "caller"];

/// A function, by the values that identify it in Python.
#[derive(Clone, Copy, Debug)]
pub(in crate::input) struct Function<'a> {
    pub(super) file: &'a [u8],
    /// The line of its definition.
    pub(super) line: i64,
    pub(super) name: &'a [u8],
}

/// The counts of a function, or of its calls by another one. Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub(in crate::input) struct Counted {
    pub(super) calls: i64,
    pub(super) primitive: i64,
    pub(super) own: f64,
    pub(super) total: f64,
}

/// A function with its sums, or one that calls the function before it.
#[derive(Clone, Copy, Debug)]
pub(in crate::input) enum StatsRecord<'a> {
    Function(Function<'a>, Counted),
    /// A caller. The module `profile` writes only the number of calls.
    Caller(Function<'a>, Counted),
}

pub(in crate::input) struct Stats<'a> {
    marshal: Marshal<'a>,
    /// Functions that later values refer to, by the numbers of their values.
    known: FxHashMap<u32, Function<'a>>,
    at: Place,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Start,
    Functions,
    Callers,
    End,
}

impl<'a> Stats<'a> {
    pub(in crate::input) fn new(bytes: &'a [u8]) -> Self {
        Self { marshal: Marshal::new(bytes), known: FxHashMap::default(), at: Place::Start }
    }

    /// Bytes of memory for the values that others refer to.
    pub(super) fn bytes(&self) -> u64 {
        let functions = self.known.len().saturating_mul(size_of::<[(u32, Function<'_>); 2]>());
        (functions as u64).saturating_add(self.marshal.bytes_known())
    }

    fn read(&mut self) -> Result<Option<(u64, StatsRecord<'a>)>> {
        if self.at == Place::Start {
            self.dict()?;
            self.at = Place::Functions;
        }
        loop {
            let offset = self.marshal.offset();
            match (self.function()?, self.at) {
                (None, Place::Callers) => self.at = Place::Functions,
                (None, _) if self.marshal.is_at_end() => return Ok(None),
                (None, _) => {
                    return Err(Error::corrupt(
                        self.marshal.offset(),
                        "bytes after the statistics",
                    ));
                }
                (Some(function), Place::Callers) => {
                    return Ok(Some((offset, StatsRecord::Caller(function, self.caller()?))));
                }
                (Some(function), _) => {
                    let counted = self.counted()?;
                    self.dict()?;
                    self.at = Place::Callers;
                    return Ok(Some((offset, StatsRecord::Function(function, counted))));
                }
            }
        }
    }

    fn dict(&mut self) -> Result<()> {
        self.value("a dictionary", |value| (value == Value::Dict).then_some(()))
    }

    /// The next key; none at the end of the dictionary.
    fn function(&mut self) -> Result<Option<Function<'a>>> {
        const EXPECTED: &str = "a function: a tuple of file, line and name";
        let offset = self.marshal.offset();
        match self.marshal.next()? {
            (Value::End, _) => Ok(None),
            (Value::Tuple(3), number) => {
                let (file, line, name) = (self.text()?, self.integer()?, self.text()?);
                let function = Function { file, line, name };
                if let Some(number) = number {
                    self.known.insert(number, function);
                }
                Ok(Some(function))
            }
            (Value::Known(number), _) => match self.known.get(&number) {
                Some(function) => Ok(Some(*function)),
                None => Err(Error::corrupt(offset, "another tuple").expected(EXPECTED)),
            },
            (found, _) => Err(unexpected(offset, EXPECTED, found)),
        }
    }

    /// The numbers of a function. The callers, which are the last value of the tuple, are left to read.
    fn counted(&mut self) -> Result<Counted> {
        let is_row = |value| (value == Value::Tuple(5)).then_some(());
        self.value("the counts and times of a function", is_row)?;
        let (primitive, calls) = (self.integer()?, self.integer()?);
        Ok(Counted { primitive, calls, own: self.float()?, total: self.float()? })
    }

    fn caller(&mut self) -> Result<Counted> {
        let offset = self.marshal.offset();
        match self.marshal.next()?.0 {
            Value::Integer(calls) => Ok(Counted { calls, primitive: calls, own: 0.0, total: 0.0 }),
            Value::Tuple(4) => {
                let (calls, primitive) = (self.integer()?, self.integer()?);
                Ok(Counted { calls, primitive, own: self.float()?, total: self.float()? })
            }
            found => Err(unexpected(offset, "the counts and times of a caller", found)),
        }
    }

    fn text(&mut self) -> Result<&'a [u8]> {
        self.value("a text", |value| match value {
            Value::Text(text) => Some(text),
            _ => None,
        })
    }

    fn integer(&mut self) -> Result<i64> {
        self.value("an integer", |value| match value {
            Value::Integer(integer) => Some(integer),
            _ => None,
        })
    }

    fn float(&mut self) -> Result<f64> {
        self.value("a number of seconds", |value| match value {
            Value::Float(float) => Some(float),
            Value::Integer(integer) => Some(integer as f64),
            _ => None,
        })
    }

    /// The next value, if it is what is expected.
    fn value<T>(
        &mut self,
        expected: &'static str,
        take: impl FnOnce(Value<'a>) -> Option<T>,
    ) -> Result<T> {
        let offset = self.marshal.offset();
        let (found, _) = self.marshal.next()?;
        take(found).ok_or_else(|| unexpected(offset, expected, found))
    }
}

impl<'a> Iterator for Stats<'a> {
    type Item = Result<(u64, StatsRecord<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at == Place::End {
            return None;
        }
        let record = self.read().transpose();
        if !matches!(record, Some(Ok(_))) {
            self.at = Place::End;
        }
        record
    }
}

#[cold]
fn unexpected(offset: u64, expected: &'static str, found: Value<'_>) -> Error {
    let found = match found {
        Value::End => "the end of a dictionary".to_owned(),
        Value::Dict => "a dictionary".to_owned(),
        Value::Tuple(length) => format!("a tuple of {length}"),
        Value::Known(_) => "a tuple".to_owned(),
        Value::Integer(integer) => format!("the number {integer}"),
        Value::Float(float) => format!("the number {float}"),
        Value::Text(text) => format!("a text of {} bytes", text.len()),
    };
    Error::corrupt(offset, "not the statistics of a profile").expected(expected).found(found)
}

impl Record for StatsRecord<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Function(..) => "function",
            Self::Caller(..) => "caller",
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        let (Self::Function(function, counted) | Self::Caller(function, counted)) = self;
        sink.text("file", function.file);
        sink.signed("line", function.line.into());
        sink.text("name", function.name);
        sink.signed("calls", counted.calls.into());
        sink.signed("primitive_calls", counted.primitive.into());
        sink.float("own_seconds", counted.own);
        sink.float("total_seconds", counted.total);
    }
}

/// Whether a file begins with a dictionary whose first key is a function.
pub(super) fn looks_right(bytes: &[u8]) -> bool {
    let mut stats = Stats::new(bytes.get(..64 << 10).unwrap_or(bytes));
    stats.dict().is_ok() && matches!(stats.function(), Ok(Some(_)))
}
