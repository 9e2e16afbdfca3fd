//! Records as lines of text, to compare what a reader says of each field.

use dumptool::error::Result;
use dumptool::input::{Format, ReadOptions, Visitor, for_each_record};
use dumptool::model::fields::{FieldSink, Record};
use std::fmt::Write;
use std::ops::ControlFlow;

/// Every record as `name field=value …`, with all lists and contents, and how the reading ended.
pub(crate) fn lines(bytes: &[u8]) -> (Vec<String>, Result<()>) {
    let mut lines = Lines::default();
    let end = for_each_record(Format::Go, bytes, ReadOptions::default(), &mut lines);
    (lines.0, end)
}

#[derive(Default)]
struct Lines(Vec<String>);

impl Visitor for Lines {
    fn record<R: Record>(&mut self, _: u64, record: &R) -> ControlFlow<()> {
        let mut line = Line(record.name().to_owned());
        record.fields(&mut line);
        self.0.push(line.0);
        ControlFlow::Continue(())
    }
}

struct Line(String);

impl FieldSink for Line {
    fn unsigned(&mut self, name: &str, value: u64) {
        write!(self.0, " {name}={value}").unwrap();
    }
    fn signed(&mut self, name: &str, value: i128) {
        write!(self.0, " {name}={value}").unwrap();
    }
    fn address(&mut self, name: &str, value: u64) {
        write!(self.0, " {name}={value:#x}").unwrap();
    }
    fn float(&mut self, name: &str, value: f64) {
        write!(self.0, " {name}={value}").unwrap();
    }
    fn boolean(&mut self, name: &str, value: bool) {
        write!(self.0, " {name}={value}").unwrap();
    }
    fn text(&mut self, name: &str, value: &[u8]) {
        write!(self.0, " {name}={:?}", String::from_utf8_lossy(value)).unwrap();
    }
    fn contents(&mut self, name: &str, value: &[u8]) {
        write!(self.0, " {name}=").unwrap();
        value.iter().for_each(|byte| write!(self.0, "{byte:02x}").unwrap());
    }
    fn list<T>(&mut self, name: &str, items: impl Iterator<Item = T>, each: impl Fn(T, &mut Self)) {
        write!(self.0, " {name}=[").unwrap();
        items.for_each(|item| each(item, self));
        self.0.push_str(" ]");
    }
    fn wants_contents(&self) -> bool {
        true
    }
}
