//! speedscope's own JSON (`https://www.speedscope.app/file-format-schema.json`): one profile for
//! each thread and value.

use super::json;
use super::written::{Written, empty_entries, rows_by_track};
use crate::model::profile::{FrameId, FrameKind, Unit};
use crate::model::stacks::WeightedStacks;
use crate::output::loss::LossKind;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Frame<'a> {
    name: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    line: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(line: &u32) -> bool {
    *line == 0
}

/// Writes all values. Adjacent samples with equal stacks become one. Fails when the output cannot
/// be written.
pub fn write(stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
    let mut written = Written::new(stacks);
    let empty = empty_entries(stacks);
    head(stacks, (empty > 0).then_some(stacks.frames.len() as u32), out)?;
    let rows = rows_by_track(stacks);
    let mut profiles = Vec::new();
    let mut negative = 0;
    for (track, rows) in rows.iter().enumerate() {
        for value in 0..stacks.values.len() {
            let numbers = || rows.iter().map(|&row| stacks.entry(row as usize).values[value]);
            negative += numbers().filter(|number| *number < 0).count() as u64;
            // Every thread has its main value, and other values if they are not all zero.
            if value == 0 || numbers().any(|number| number > 0) {
                profiles.push((track, value));
            }
        }
    }
    json::array(out, "", profiles, |out, (track, value)| {
        profile(stacks, track, value, &rows[track], out, &mut written)
    })?;
    out.write_all(b"}\n")?;
    written.lose(LossKind::NegativeNumbers, negative);
    written.lose(LossKind::EmptyStacks, empty);
    Ok(written)
}

fn profile(
    stacks: &WeightedStacks,
    track: usize,
    value: usize,
    rows: &[u32],
    out: &mut impl Write,
    written: &mut Written,
) -> io::Result<()> {
    // Adjacent samples with the same stack become one, from the first row.
    let mut samples: Vec<(u32, i64)> = Vec::new();
    for &row in rows {
        let entry = stacks.entry(row as usize);
        let number = entry.values[value];
        if number <= 0 {
            continue;
        }
        match samples.last_mut() {
            Some((last, sum)) if stacks.entry(*last as usize).stack == entry.stack => {
                *sum = sum.saturating_add(number)
            }
            _ => samples.push((row, number)),
        }
    }
    let total = samples.iter().fold(0i64, |total, (_, number)| total.saturating_add(*number));
    profile_head(stacks, track, value, total, out)?;
    let mut frames = Vec::new();
    json::array(out, ",\"samples\":", &samples, |out, (row, _)| {
        stacks.stacks.outermost_first(stacks.entry(*row as usize).stack, &mut frames);
        if frames.is_empty() {
            frames.push(FrameId(stacks.frames.len() as u32));
        }
        json::array(out, "", &frames, |out, frame| json::integer(out, frame.0.into()))
    })?;
    let unit = &stacks.values[value].unit;
    json::array(out, ",\"weights\":", &samples, |out, (_, number)| {
        json::amount(out, *number, unit)
    })?;
    written.stacks += samples.len() as u64;
    written.add_one(value, total);
    out.write_all(b"}")
}

/// Writes everything before the array of profiles. `no_frames` is the number of the frame that
/// represents empty stacks, if there is one.
fn head(stacks: &WeightedStacks, no_frames: Option<u32>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"")?;
    json::value(out, ",\"exporter\":", &concat!("dumptool@", env!("CARGO_PKG_VERSION")))?;
    json::value(out, ",\"name\":", &stacks.title)?;
    out.write_all(b",\"activeProfileIndex\":0")?;
    let count = stacks.frames.len() as u32 + u32::from(no_frames.is_some());
    json::array(out, ",\"shared\":{\"frames\":", 0..count, |out, number| {
        // speedscope counts samples without frames as idle and omits them from its sums, so an
        // empty stack gets a frame.
        if Some(number) == no_frames {
            return json::value(out, "", &Frame { name: "<no frames>".into(), file: "", line: 0 });
        }
        let id = FrameId(number - u32::from(no_frames.is_some_and(|no_frames| no_frames < number)));
        let frame = stacks.frame(id);
        let name = stacks.function_name(id);
        let name = if frame.kind == FrameKind::Kernel {
            format!("{name} [kernel]").into()
        } else {
            name.into()
        };
        json::value(out, "", &Frame { name, file: stacks.text(frame.file), line: frame.line })
    })?;
    out.write_all(b"},\"profiles\":")
}

/// Writes a profile up to its samples.
fn profile_head(
    stacks: &WeightedStacks,
    track: usize,
    value: usize,
    total: i64,
    out: &mut impl Write,
) -> io::Result<()> {
    let kind = &stacks.values[value];
    let unit = match &kind.unit {
        Unit::Count | Unit::Other(_) => "none",
        known => known.name(),
    };
    json::value(
        out,
        "{\"type\":\"sampled\",\"name\":",
        &format!("{} ({})", stacks.tracks[track].name, kind.name),
    )?;
    json::value(out, ",\"unit\":", &unit)?;
    out.write_all(b",\"startValue\":0,\"endValue\":")?;
    json::amount(out, total, &kind.unit)
}
