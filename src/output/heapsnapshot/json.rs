//! The frame of the document, and numbers and strings in it.

use super::plan::Plan;
use std::io::{self, Write};

/// The number of bytes that are buffered before they are written.
const BUFFER: usize = 1 << 18;
/// An upper bound for the length of a number or short text.
const SLACK: usize = 1 << 12;

/// The output, in large pieces.
pub(super) struct Out<W> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> Out<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, buffer: Vec::with_capacity(BUFFER + SLACK) }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    /// Writes numbers, each after a comma. With `first`, the first number has none.
    #[inline]
    pub(super) fn row<const N: usize>(&mut self, numbers: [u64; N], first: bool) -> io::Result<()> {
        self.buffer.push(b'\n');
        for (index, number) in numbers.into_iter().enumerate() {
            if !(first && index == 0) {
                self.buffer.push(b',');
            }
            let mut digits = itoa::Buffer::new();
            self.buffer.extend_from_slice(digits.format(number).as_bytes());
        }
        self.relieve()
    }

    pub(super) fn string(&mut self, text: &str) -> io::Result<()> {
        serde_json::to_writer(&mut self.buffer, text)?;
        self.relieve()
    }

    #[inline]
    fn relieve(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER {
            return Ok(());
        }
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.out.flush()
    }
}

/// Everything before the numbers of the nodes. Types are by their index in these lists;
/// [`super::nodes`] and [`super::edges`] rely on it.
pub(super) fn head<W: Write>(plan: &Plan<'_, '_>, out: &mut Out<W>) -> io::Result<()> {
    out.text(concat!(
        "{\"snapshot\":{\"meta\":{\n",
        "\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\",\"trace_node_id\",\"detachedness\"],\n",
        "\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\",\"regexp\",\"number\",\"native\",",
        "\"synthetic\",\"concatenated string\",\"sliced string\",\"symbol\",\"bigint\",\"object shape\",\"wasm object\"],",
        "\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],\n",
        "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\n",
        "\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],",
        "\"string_or_number\",\"node\"],\n",
        "\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\",\"script_id\",\"line\",\"column\"],\n",
        "\"trace_node_fields\":[\"id\",\"function_info_index\",\"count\",\"size\",\"children\"],\n",
        "\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"],\n",
        "\"location_fields\":[\"object_index\",\"script_id\",\"line\",\"column\"]},\n",
    ));
    out.text(&format!(
        "\"node_count\":{},\n\"edge_count\":{},\n\"trace_function_count\":0}},\n\"nodes\":[",
        plan.nodes, plan.edges
    ));
    out.relieve()
}
