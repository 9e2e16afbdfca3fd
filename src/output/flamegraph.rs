//! A flame graph as one SVG file, drawn by inferno.

use super::folded::Lines;
use super::written::Written;
use crate::model::profile::Unit;
use crate::model::stacks::WeightedStacks;
use inferno::flamegraph::{Options, TextTruncateDirection, from_lines};
use std::io::{self, Write};

/// Draws the sums of one value.
///
/// # Errors
/// When the output cannot be written, or there is nothing to draw.
pub fn write(stacks: &WeightedStacks, value: usize, out: &mut impl Write) -> io::Result<Written> {
    let mut lines = Vec::new();
    let mut all = Lines::new(stacks, value);
    all.part(stacks, |track, frames, number| {
        let mut line = track.to_owned();
        for frame in frames.iter().rev() {
            line.push_str(frame);
        }
        line.push(' ');
        line.push_str(itoa::Buffer::new().format(number));
        lines.push(line);
        Ok(())
    })?;
    let written = all.finish(stacks);
    if lines.is_empty() {
        // inferno takes no input for an error; a viewer wants a picture.
        out.write_all(EMPTY.as_bytes())?;
        return Ok(written);
    }
    let kind = &stacks.values[value];
    let mut options = Options::default();
    options.deterministic = true;
    // Where there is no room for all of a name, its beginning says most.
    options.text_truncate_direction = TextTruncateDirection::Right;
    options.title = stacks.title.clone();
    options.subtitle = Some(kind.name.clone());
    options.count_name = match kind.unit {
        Unit::Microseconds => "µs".to_owned(),
        Unit::Bytes => "bytes".to_owned(),
        Unit::Count => kind.name.clone(),
    };
    from_lines(&mut options, lines.iter().map(String::as_str), out).map_err(io::Error::other)?;
    Ok(written)
}

const EMPTY: &str = "<?xml version=\"1.0\"?>\n<svg version=\"1.1\" width=\"600\" height=\"40\" xmlns=\"http://www.w3.org/2000/svg\">\
<text x=\"10\" y=\"25\">There is nothing to draw.</text></svg>\n";
