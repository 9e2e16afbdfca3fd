//! The lines of a dump in order.

use super::line::Line;
use crate::error::Result;
use crate::input::json_lines::for_each_line;
use crate::input::read::{ReadOptions, Visitor};
use crate::model::fields::{FieldSink, Record};

/// A line of the file.
#[derive(Clone, Copy, Debug)]
pub struct Rec<'a>(pub Line<'a>);

impl Rec<'_> {
    pub(super) const NAMES: &'static [&'static str] = &["root", "shape", "object"];
}

impl Record for Rec<'_> {
    fn name(&self) -> &'static str {
        match self.0.kind {
            b"ROOT" => "root",
            b"SHAPE" => "shape",
            _ => "object",
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        let line = &self.0;
        let address = |sink: &mut S, name, value: Option<u64>| {
            value.into_iter().for_each(|value| sink.address(name, value))
        };
        address(sink, "address", line.address);
        if self.name() == "object" {
            sink.text("type", line.kind);
        }
        for (name, text) in [
            ("root", line.root),
            ("shape_type", line.shape_type),
            ("edge_name", line.edge_name),
            ("imemo_type", line.imemo_type),
            ("struct", line.structure),
            ("name", line.name),
            ("value", line.value),
            ("file", line.file),
            ("method", line.method),
        ] {
            text.into_iter().for_each(|text| sink.text(name, text.decode().as_bytes()));
        }
        address(sink, "class", line.class);
        address(sink, "superclass", line.superclass);
        address(sink, "default", line.default);
        if line.singleton {
            sink.boolean("singleton", true);
        }
        for (name, number) in [
            ("id", line.id),
            ("parent_id", line.parent_id),
            ("shape_id", line.shape_id),
            ("slot_size", line.slot_size),
            ("length", line.length),
            ("size", line.size),
            ("ivars", line.ivars),
            ("bytesize", line.bytesize),
            ("line", line.line),
            ("generation", line.generation),
        ] {
            number.into_iter().for_each(|number| sink.unsigned(name, number));
        }
        if line.kind != b"ROOT" {
            sink.unsigned("memsize", line.memsize);
        }
        if sink.wants_contents() {
            sink.list("references", line.references.iter(), |address, sink| {
                sink.address("address", address)
            })
        } else {
            sink.unsigned("references", line.references.len() as u64)
        }
    }
}

/// Passes every line to the visitor. Lines that are not JSON are left out. Fails with the first
/// line that was left out, or the end of the input inside a line.
pub fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    super::SPEC.check_magic(bytes)?;
    for_each_line(bytes, options, visitor, Rec)
}
