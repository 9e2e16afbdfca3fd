//! Everything that weighted stacks are written as can be read again, and adds up to what they add
//! up to.

use super::most;
use dumptool::model::stacks::WeightedStacks;
use dumptool::output::flamegraph::{self, FlamegraphOptions};
use dumptool::output::{Syntax, firefox, folded, pprof, speedscope, stack_rows};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The bytes that an output of stacks may have. The model keeps a stack once for all that share its
/// outer frames; outputs write it whole for each entry.
pub(crate) struct Budget {
    /// For outputs that refer to frames by number.
    numbers: usize,
    /// For outputs that write out the names of frames.
    names: usize,
}

impl Budget {
    pub(crate) fn of(stacks: &WeightedStacks, input: &[u8]) -> Self {
        const NUMBER: usize = 24;
        // A byte is at most `\u0000` in JSON.
        const ESCAPED: usize = 6;
        const ROW: usize = 400;
        let earned = most(input);
        let value_names: usize = stacks.values.iter().map(|value| value.name.len() + 40).sum();
        let (mut numbers, mut names) = (earned, earned);
        for entry in stacks.iter() {
            let track = &stacks.tracks[entry.track];
            let row = ROW + ESCAPED * (value_names + format!("{track:?}").len());
            (numbers, names) = (numbers + row, names + row);
            for frame in stacks.stacks.frames(entry.stack).map(|frame| stacks.frame(frame)) {
                let text = stacks.text(frame.function).len() + stacks.text(frame.file).len();
                numbers += NUMBER;
                names += ESCAPED * text + 100;
            }
        }
        Self { numbers, names }
    }

    fn numbers(&self, out: &[u8]) {
        assert!(out.len() <= self.numbers, "{} bytes of {}", out.len(), self.numbers);
    }

    pub(crate) fn names(&self, out: &[u8]) {
        assert!(out.len() <= self.names, "{} bytes of {}", out.len(), self.names);
    }
}

/// Writes stacks in every form.
pub(crate) fn all(stacks: &WeightedStacks, input: &[u8]) {
    let budget = Budget::of(stacks, input);
    for value in 0..stacks.values.len() {
        folded(stacks, value, &budget);
        let mut out = Vec::new();
        flamegraph::picture(stacks, value, &FlamegraphOptions::default())
            .draw(&mut out)
            .expect("memory takes everything");
        budget.names(&out);
        assert!(std::str::from_utf8(&out).is_ok_and(|text| text.ends_with("</svg>\n")));
    }
    let mut out = Vec::new();
    firefox::write(stacks, &mut out).expect("memory takes everything");
    budget.numbers(&out);
    serde_json::from_slice::<IgnoredAny>(&out).expect("our own output is JSON");
    speedscope(stacks, &budget);
    pprof(stacks, &budget);
    let (mut json, mut text) = (Vec::new(), Vec::new());
    let written =
        stack_rows::write(stacks, Syntax::Jsonl, &mut json).expect("memory takes everything");
    budget.names(&json);
    let lines = serde_json::Deserializer::from_slice(&json).into_iter::<IgnoredAny>();
    assert_eq!(
        lines.inspect(|line| assert!(line.is_ok(), "our own output is JSON")).count() as u64,
        written.stacks
    );
    let written =
        stack_rows::write(stacks, Syntax::Csv, &mut text).expect("memory takes everything");
    budget.names(&text);
    assert_eq!(written.stacks, stacks.len() as u64);
    csv(&text, written.stacks);
}

/// A table in which all rows have as many fields as the first.
pub(crate) fn csv(text: &[u8], rows: u64) {
    let mut reader = csv::Reader::from_reader(text);
    let read =
        reader.byte_records().inspect(|row| assert!(row.is_ok(), "our own output is CSV")).count();
    assert_eq!(read as u64, rows);
}

/// Every line is frames and a number, and these add up. The first line may name the value.
fn folded(stacks: &WeightedStacks, value: usize, budget: &Budget) {
    let mut out = Vec::new();
    let written = folded::write(stacks, value, &mut out).expect("memory takes everything");
    budget.names(&out);
    let text = std::str::from_utf8(&out).expect("names are UTF-8");
    let mut sum = 0i64;
    let mut lines = 0;
    let is_line = |(row, line): &(usize, &str)| *row > 0 || !line.starts_with("# folded: ");
    for (_, line) in text.split_terminator('\n').enumerate().filter(is_line) {
        let (_, number) = line.rsplit_once(' ').expect("a number follows the frames");
        sum = sum.saturating_add(number.parse().expect("a number"));
        lines += 1;
    }
    assert_eq!((lines, sum), (written.stacks, written.sums[0].sum));
}

#[derive(Deserialize)]
struct Speedscope {
    shared: Shared,
    profiles: Vec<Sampled>,
}

#[derive(Deserialize)]
struct Shared {
    frames: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sampled {
    end_value: i64,
    samples: Vec<Vec<usize>>,
    weights: Vec<i64>,
}

fn speedscope(stacks: &WeightedStacks, budget: &Budget) {
    let mut out = Vec::new();
    speedscope::write(stacks, &mut out).expect("memory takes everything");
    budget.numbers(&out);
    let read: Speedscope = serde_json::from_slice(&out).expect("our own output is JSON");
    for profile in &read.profiles {
        assert_eq!(profile.samples.len(), profile.weights.len());
        assert!(
            profile.samples.iter().flatten().all(|frame| *frame < read.shared.frames.len()),
            "frames are there"
        );
        assert_eq!(
            profile.weights.iter().fold(0i64, |sum, weight| sum.saturating_add(*weight)),
            profile.end_value
        );
    }
}

/// The fields of the message and of its samples parse, and the values of these add up.
fn pprof(stacks: &WeightedStacks, budget: &Budget) {
    let mut out = Vec::new();
    let written = pprof::write(stacks, &mut out).expect("memory takes everything");
    budget.numbers(&out);
    let (mut samples, mut locations, mut strings) = (0, 0u64, 0u64);
    let mut sums = vec![0i64; stacks.values.len()];
    for (field, value) in fields(&out) {
        match (field, value) {
            (2, Field::Bytes(sample)) => {
                samples += 1;
                for (field, value) in fields(sample) {
                    let Field::Bytes(packed) = value else { panic!("field {field} of a sample") };
                    let mut rest = packed;
                    match field {
                        1 => {
                            while !rest.is_empty() {
                                assert!(
                                    (1..=stacks.frames.len() as u64 + 1)
                                        .contains(&varint(&mut rest)),
                                    "locations are there"
                                );
                            }
                        }
                        2 => sums
                            .iter_mut()
                            .for_each(|sum| *sum = sum.saturating_add(varint(&mut rest) as i64)),
                        3 => assert!(fields(packed).count() >= 1),
                        _ => panic!("field {field} of a sample"),
                    }
                    assert!(field == 3 || rest.is_empty(), "one value for each type");
                }
            }
            (4, Field::Bytes(location)) => locations += fields(location).count() as u64 / 3,
            (6, Field::Bytes(text)) => {
                assert!(std::str::from_utf8(text).is_ok() && (strings > 0 || text.is_empty()));
                strings += 1;
            }
            (1 | 3 | 5 | 11, Field::Bytes(message)) => _ = fields(message).count(),
            (10 | 12 | 13 | 14, Field::Number) => {}
            _ => panic!("field {field} of a profile"),
        }
    }
    assert_eq!((samples, locations), (written.stacks, stacks.frames.len() as u64 + 1));
    // Counts come first here, so both are sorted before they are compared.
    let mut said: Vec<i64> = written.sums.iter().map(|sum| sum.sum).collect();
    said.sort_unstable();
    sums.sort_unstable();
    assert_eq!(sums, said);
}

enum Field<'a> {
    Number,
    Bytes(&'a [u8]),
}

fn fields(message: &[u8]) -> impl Iterator<Item = (u64, Field<'_>)> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let tag = varint(&mut rest);
        let value = match tag & 7 {
            0 => {
                varint(&mut rest);
                Field::Number
            }
            2 => {
                let length = varint(&mut rest) as usize;
                let (bytes, after) = rest.split_at(length);
                rest = after;
                Field::Bytes(bytes)
            }
            kind => panic!("wire type {kind}"),
        };
        Some((tag >> 3, value))
    })
}

fn varint(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first().expect("a varint ends");
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a varint of more than ten bytes")
}
