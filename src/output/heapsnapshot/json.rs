//! The frame of the document, and numbers and strings in it.

use super::labels::NODE_TYPES;
use super::plan::Plan;
use std::io::{self, BufWriter, Write};

/// The size of the buffer, in bytes.
const BUFFER: usize = 1 << 18;
/// The length of the largest number with its comma.
const MAX_NUMBER: usize = 21;
/// The largest length of a row, in bytes.
const MAX_ROW: usize = 160;

/// The output, in large pieces.
pub(super) struct Out<W: Write>(BufWriter<W>);

impl<W: Write> Out<W> {
    pub(super) fn new(out: W) -> Self {
        Self(BufWriter::with_capacity(BUFFER, out))
    }

    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())
    }

    /// Writes numbers, each after a comma. With `first`, the first number has none.
    #[inline]
    pub(super) fn row<const N: usize>(&mut self, numbers: [u64; N], first: bool) -> io::Result<()> {
        const { assert!(N * MAX_NUMBER < MAX_ROW) };
        // A number is written after the comma that is there already.
        let mut row = [b','; MAX_ROW];
        row[0] = b'\n';
        let mut end = 1;
        for (index, number) in numbers.into_iter().enumerate() {
            end += usize::from(!(first && index == 0));
            let mut digits = itoa::Buffer::new();
            let digits = digits.format(number).as_bytes();
            row[end..end + digits.len()].copy_from_slice(digits);
            end += digits.len();
        }
        self.0.write_all(&row[..end])
    }

    pub(super) fn string(&mut self, text: &str) -> io::Result<()> {
        Ok(serde_json::to_writer(&mut self.0, text)?)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Everything before the numbers of the nodes. Types are by their index in these lists;
/// [`super::edges`] relies on it.
pub(super) fn head<W: Write>(plan: &Plan<'_, '_>, out: &mut Out<W>) -> io::Result<()> {
    out.text(concat!(
        "{\"snapshot\":{\"meta\":{\n",
        "\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\",\"trace_node_id\",\"detachedness\"],\n",
    ))?;
    out.text(&format!("\"node_types\":[[\"{}\"],", NODE_TYPES.join("\",\"")))?;
    out.text(concat!(
        "\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],\n",
        "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\n",
        "\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],",
        "\"string_or_number\",\"node\"],\n",
        "\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\",\"script_id\",\"line\",\"column\"],\n",
        "\"trace_node_fields\":[\"id\",\"function_info_index\",\"count\",\"size\",\"children\"],\n",
        "\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"],\n",
        "\"location_fields\":[\"object_index\",\"script_id\",\"line\",\"column\"]},\n",
    ))?;
    out.text(&format!(
        "\"node_count\":{},\n\"edge_count\":{},\n\"trace_function_count\":0}},\n\"nodes\":[",
        plan.nodes, plan.edges
    ))
}
