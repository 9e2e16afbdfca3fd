//! The lines of a dump in order.

use super::line::{Kind, Line, Scalar};
use crate::error::Result;
use crate::input::json_lines::for_each_line;
use crate::input::read::{ReadOptions, Visitor};
use crate::model::fields::{FieldSink, Record};

pub(super) const NAMES: &[&str] = &["header", "type", "names", "object", "thread", "root", "end"];

struct Rec<'a>(Line<'a>);

impl Record for Rec<'_> {
    fn name(&self) -> &'static str {
        match self.0.kind {
            Kind::Header | Kind::Unknown => "header",
            Kind::Type => "type",
            Kind::Names => "names",
            Kind::Object => "object",
            Kind::Thread => "thread",
            Kind::Root => "root",
            Kind::End => "end",
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        let (line, other) = (&self.0, self.0.other());
        match line.kind {
            Kind::Header => sink.unsigned("version", line.number),
            Kind::Type | Kind::Names | Kind::Thread => sink.unsigned("number", line.number),
            Kind::Object => {
                sink.address("address", line.address);
                sink.unsigned("type", line.of_type);
                sink.unsigned("size", line.size);
                sink.unsigned("references_counted", line.count);
            }
            Kind::Root | Kind::End | Kind::Unknown => {}
        }
        for (name, text) in [
            ("root", other.root),
            ("module", other.module),
            ("name", other.name),
            ("python", other.header.python),
            ("implementation", other.header.implementation),
            ("platform", other.header.platform),
        ] {
            text.into_iter().for_each(|text| sink.text(name, text.decode().as_bytes()));
        }
        match line.value {
            Scalar::None => {}
            Scalar::Text(text) => sink.text("value", text.decode().as_bytes()),
            Scalar::Number(raw) => sink.text("value", raw),
            Scalar::Boolean(value) => sink.boolean("value", value),
        }
        line.length.into_iter().for_each(|length| sink.unsigned("length", length));
        let external = Some(line.external).filter(|bytes| *bytes > 0);
        external.into_iter().for_each(|bytes| sink.unsigned("external", bytes));
        if !other.list.is_empty() {
            let names = other.list.iter().map(|name| name.decode());
            sink.list("of", names, |name, sink| sink.text("name", name.as_bytes()));
        }
        if !other.frames.is_empty() {
            sink.list("frames", other.frames.iter(), |frame, sink| {
                sink.address("address", frame.address);
                for (name, text) in [("function", frame.function), ("file", frame.file)] {
                    text.into_iter().for_each(|text| sink.text(name, text.decode().as_bytes()));
                }
                sink.unsigned("line", frame.line);
            });
        }
        let lists = [
            ("references", &line.named),
            ("items", &line.items),
            ("entries", &line.entries),
            ("objects", &other.held),
        ];
        for (name, addresses) in lists.into_iter().filter(|(_, list)| list.iter().next().is_some())
        {
            if sink.wants_contents() {
                sink.list(name, addresses.iter(), |address, sink| sink.address("address", address));
            } else {
                sink.unsigned(name, addresses.iter().count() as u64);
            }
        }
    }
}

/// Gives every line to the visitor. Lines that are not JSON are left out. Fails with the first line
/// that was left out, or the end of the input inside a line.
pub(in crate::input) fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    super::SPEC.check_magic(bytes)?;
    for_each_line(bytes, options, visitor, Rec)
}
