//! The records of a snapshot in the order of the file: the rows of its arrays.

use super::document::Document;
use super::meta::{EdgeType, MAX_FIELDS, Meta};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::json::{Numbers, Scanner, Token};
use crate::input::read::{ReadOptions, Visitor};
use crate::model::fields::{FieldSink, Record};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// One record. Names of strings are decoded.
#[derive(Clone, Debug)]
pub enum Rec<'a> {
    /// The head: counts.
    Snapshot(Box<Meta>),
    Node {
        node_type: &'a str,
        /// The name of the node. For a string, its text.
        name: Cow<'a, str>,
        /// The numbers of the row, by name.
        numbers: Numbered,
    },
    Edge {
        /// Position of the node that the edge belongs to. `None` after the edges of the last node.
        from_node: Option<u64>,
        edge_type: &'a str,
        /// The name of the edge. `None` if the edge has an index.
        name: Option<Cow<'a, str>>,
        /// The numbers of the row, by name.
        numbers: Numbered,
    },
    /// A function that allocates.
    TraceFunctionInfo {
        name: Cow<'a, str>,
        script_name: Cow<'a, str>,
        /// The numbers of the row, by name.
        numbers: Numbered,
    },
    /// A stack of the allocation tree.
    TraceNode {
        /// The numbers of the row, by name.
        numbers: Numbered,
        /// The number of functions that called it.
        depth: u64,
    },
    /// A time and the last object id assigned by then.
    Sample(Numbered),
    /// The source location of an object's function or class.
    Location(Numbered),
    String {
        index: u64,
        text: Cow<'a, str>,
    },
}

/// The fields of a row that are shown as numbers.
#[derive(Clone, Copy, Debug)]
pub struct Numbered {
    names: &'static [&'static str],
    /// Positions of `names` in `row`; [`MAX_FIELDS`] for fields that the file does not have.
    at: [usize; MAX_FIELDS],
    row: [u64; MAX_FIELDS],
}

impl Numbered {
    fn new(names: &'static [&'static str], fields: &[String]) -> Self {
        let mut at = [MAX_FIELDS; MAX_FIELDS];
        for (at, name) in at.iter_mut().zip(names) {
            *at = fields.iter().position(|field| field == name).unwrap_or(MAX_FIELDS);
        }
        Self { names, at, row: [0; MAX_FIELDS] }
    }

    fn with(&self, row: [u64; MAX_FIELDS]) -> Self {
        Self { row, ..*self }
    }

    fn pass_to<S: FieldSink>(&self, sink: &mut S) {
        for (name, at) in self.names.iter().zip(self.at) {
            self.row.get(at).into_iter().for_each(|value| sink.unsigned(name, *value));
        }
    }
}

impl Rec<'_> {
    pub(super) const NAMES: &'static [&'static str] = &[
        "snapshot",
        "node",
        "edge",
        "trace_function_info",
        "trace_node",
        "sample",
        "location",
        "string",
    ];
}

impl Record for Rec<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Snapshot(_) => "snapshot",
            Self::Node { .. } => "node",
            Self::Edge { .. } => "edge",
            Self::TraceFunctionInfo { .. } => "trace_function_info",
            Self::TraceNode { .. } => "trace_node",
            Self::Sample(_) => "sample",
            Self::Location(_) => "location",
            Self::String { .. } => "string",
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match self {
            Self::Snapshot(meta) => {
                for (name, count) in [
                    ("node_count", meta.node_count),
                    ("edge_count", meta.edge_count),
                    ("trace_function_count", meta.trace_function_count),
                    ("extra_native_bytes", meta.extra_native_bytes),
                ] {
                    count.into_iter().for_each(|count| sink.unsigned(name, count));
                }
            }
            Self::Node { node_type, name, numbers } => {
                sink.text("type", node_type.as_bytes());
                sink.text("name", name.as_bytes());
                numbers.pass_to(sink);
            }
            Self::Edge { from_node, edge_type, name, numbers } => {
                from_node.iter().for_each(|from| sink.unsigned("from_node", *from));
                sink.text("type", edge_type.as_bytes());
                name.iter().for_each(|name| sink.text("name", name.as_bytes()));
                numbers.pass_to(sink);
            }
            Self::TraceFunctionInfo { name, script_name, numbers } => {
                sink.text("name", name.as_bytes());
                sink.text("script_name", script_name.as_bytes());
                numbers.pass_to(sink);
            }
            Self::TraceNode { numbers, depth } => {
                numbers.pass_to(sink);
                sink.unsigned("depth", *depth);
            }
            Self::Sample(numbers) | Self::Location(numbers) => numbers.pass_to(sink),
            Self::String { index, text } => {
                sink.unsigned("index", *index);
                sink.text("text", text.as_bytes());
            }
        }
    }
}

/// Visits all records with their offsets, up to the first error.
pub fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let mut document = Document::read(bytes)?;
    let damage = document.damage.take();
    let reader = Reader { document: &document, bytes, options };
    if visitor.record(0, &Rec::Snapshot(Box::new(document.meta.clone()))).is_break() {
        return Ok(());
    }
    let start = |numbers: &Option<Numbers<'_>>| numbers.as_ref().map(Numbers::offset);
    let mut parts: [(Option<u64>, PartReader<'_, '_, _>); 7] = [
        (start(&document.nodes), Reader::nodes),
        (start(&document.edges), Reader::edges),
        (start(&document.trace_function_infos), Reader::functions),
        (document.trace_tree, Reader::tree),
        (start(&document.samples), Reader::samples),
        (start(&document.locations), Reader::locations),
        (document.strings.offset(0), Reader::strings),
    ];
    parts.sort_by_key(|(offset, _)| *offset);
    for (_, part) in parts.into_iter().filter(|(offset, _)| offset.is_some()) {
        if part(&reader, visitor)?.is_break() {
            return Ok(());
        }
    }
    damage.map_or(Ok(()), Err)
}

/// Passes the records of a part to the visitor.
type PartReader<'r, 'a, V> = fn(&Reader<'r, 'a>, &mut V) -> Result<ControlFlow<()>>;

struct Reader<'r, 'a> {
    document: &'r Document<'a>,
    bytes: &'a [u8],
    options: ReadOptions<'r>,
}

/// The names of the fields that are shown as numbers.
const NODE: &[&str] = &["id", "self_size", "edge_count", "trace_node_id", "detachedness"];
const EDGE: &[&str] = &["to_node"];
const FUNCTION: &[&str] = &["function_id", "script_id", "line", "column"];
const TREE: &[&str] = &["id", "function_info_index", "count", "size"];
const SAMPLE: &[&str] = &["timestamp_us", "last_assigned_id"];
const LOCATION: &[&str] = &["object_index", "script_id", "script_object_index", "line", "column"];

/// A field of a row; 0 if rows lack it.
fn field(row: &[u64; MAX_FIELDS], at: Option<usize>) -> u64 {
    at.and_then(|at| row.get(at)).copied().unwrap_or(0)
}

impl<'a> Reader<'_, 'a> {
    fn samples(&self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>> {
        let fields = &self.document.meta.names.sample_fields;
        let numbered = Numbered::new(SAMPLE, fields);
        self.rows(&self.document.samples, fields.len(), |offset, row| {
            visitor.record(offset, &Rec::Sample(numbered.with(row)))
        })
    }

    fn locations(&self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>> {
        let fields = &self.document.meta.names.location_fields;
        let numbered = Numbered::new(LOCATION, fields);
        self.rows(&self.document.locations, fields.len(), |offset, row| {
            visitor.record(offset, &Rec::Location(numbered.with(row)))
        })
    }

    fn nodes(&self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>> {
        let (meta, strings) = (&self.document.meta, &self.document.strings);
        let numbered = Numbered::new(NODE, &meta.names.node_fields);
        self.rows(&self.document.nodes, meta.node.count, |offset, row| {
            let kind = meta.node_types.get(field(&row, Some(meta.node.kind)) as usize);
            let node_type = kind.map_or("unknown", |(_, name)| name);
            let name = strings.text(field(&row, Some(meta.node.name)));
            visitor.record(offset, &Rec::Node { node_type, name, numbers: numbered.with(row) })
        })
    }

    fn edges(&self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>> {
        let (meta, strings) = (&self.document.meta, &self.document.strings);
        let numbered = Numbered::new(EDGE, &meta.names.edge_fields);
        let indexed = Numbered::new(&["to_node", "name_or_index"], &meta.names.edge_fields);
        let mut owners = Owners::new(self.document);
        self.rows(&self.document.edges, meta.edge.count, |offset, row| {
            let number = field(&row, Some(meta.edge.kind));
            let edge_type =
                meta.edge_types.get(number as usize).map_or("unknown", |(_, name)| name);
            let is_indexed = matches!(meta.edge_type(number), EdgeType::Element | EdgeType::Hidden);
            let name =
                (!is_indexed).then(|| strings.text(field(&row, Some(meta.edge.name_or_index))));
            let numbers = if is_indexed { indexed.with(row) } else { numbered.with(row) };
            let from_node = owners.next();
            visitor.record(offset, &Rec::Edge { from_node, edge_type, name, numbers })
        })
    }

    fn functions(&self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>> {
        let strings = &self.document.strings;
        let fields = &self.document.meta.names.trace_function_info_fields;
        let place = |name: &str| fields.iter().position(|field| field == name);
        let (name, script) = (place("name"), place("script_name"));
        let numbered = Numbered::new(FUNCTION, fields);
        self.rows(&self.document.trace_function_infos, fields.len(), |offset, row| {
            let (name, script_name) =
                (strings.text(field(&row, name)), strings.text(field(&row, script)));
            let numbers = numbered.with(row);
            visitor.record(offset, &Rec::TraceFunctionInfo { name, script_name, numbers })
        })
    }

    fn strings(&self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>> {
        let strings = &self.document.strings;
        for index in 0..strings.len() as u64 {
            let offset = strings.offset(index).unwrap_or(0);
            if index.is_multiple_of(65536) {
                (self.options.progress)(offset);
            }
            let text = strings.text(index);
            if visitor.record(offset, &Rec::String { index, text }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads the rows of an array. Ignores numbers after the last whole row.
    fn rows(
        &self,
        numbers: &Option<Numbers<'a>>,
        fields: usize,
        mut each: impl FnMut(u64, [u64; MAX_FIELDS]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let Some(mut numbers) = numbers.clone().filter(|_| (1..=MAX_FIELDS).contains(&fields))
        else {
            return Ok(ControlFlow::Continue(()));
        };
        let mut count = 0u64;
        loop {
            let offset = numbers.offset();
            if count.is_multiple_of(65536) {
                (self.options.progress)(offset);
            }
            count = count.wrapping_add(1);
            let mut row = [0; MAX_FIELDS];
            for field in row.iter_mut().take(fields) {
                match numbers.unsigned()? {
                    Some(number) => *field = number,
                    None => return Ok(ControlFlow::Continue(())),
                }
            }
            if each(offset, row).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    /// Reads the allocation tree: `[id, function, count, size, [children], id, …]`.
    fn tree(&self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>> {
        let fields = &self.document.meta.names.trace_node_fields;
        let numbered = Numbered::new(TREE, fields);
        let children = fields.iter().position(|field| field == "children").unwrap_or(fields.len());
        let start = self.document.trace_tree.unwrap_or(0);
        let mut json = Scanner::new(Cursor::at(self.bytes, start).rest(), start);
        let (mut row, mut at, mut offset) = ([0; MAX_FIELDS], 0usize, start);
        // For each open list, the next field of the row that contains the list.
        while let Some(token) = json.token()? {
            match token {
                Token::Number(number) => {
                    if at == 0 {
                        offset = json.offset().saturating_sub(number.raw().len() as u64);
                    }
                    row.get_mut(at)
                        .into_iter()
                        .for_each(|field| *field = number.unsigned().unwrap_or(0));
                    at = at.wrapping_add(1);
                    if at == children {
                        let depth = (json.depth() as u64).saturating_sub(1);
                        if visitor
                            .record(offset, &Rec::TraceNode { numbers: numbered.with(row), depth })
                            .is_break()
                        {
                            return Ok(ControlFlow::Break(()));
                        }
                    }
                }
                Token::BeginArray | Token::EndArray => at = 0,
                _ => {
                    return Err(Error::corrupt(json.offset(), "malformed trace_tree")
                        .expected("numbers and arrays"));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The nodes that edges belong to, in the order of edges.
struct Owners<'a> {
    nodes: Option<Numbers<'a>>,
    fields: usize,
    edge_count: usize,
    /// The position of the next node; `left` is the number of remaining edges of the node before.
    position: u64,
    left: u64,
}

impl<'a> Owners<'a> {
    fn new(document: &Document<'a>) -> Self {
        let fields = document.meta.node;
        Self {
            nodes: document.nodes.clone(),
            fields: fields.count,
            edge_count: fields.edge_count,
            position: 0,
            left: 0,
        }
    }

    /// Position of the node that the next edge belongs to.
    fn next(&mut self) -> Option<u64> {
        while self.left == 0 {
            let nodes = self.nodes.as_mut()?;
            for field in 0..self.fields {
                let number = nodes.unsigned().ok()??;
                if field == self.edge_count {
                    self.left = number;
                }
            }
            self.position = self.position.wrapping_add(self.fields as u64);
        }
        self.left = self.left.wrapping_sub(1);
        Some(self.position.wrapping_sub(self.fields as u64))
    }
}
