//! Everything that weighted stacks are written as can be read again, and adds up to what they add
//! up to.

use dumptool::model::stacks::WeightedStacks;
use dumptool::output::{Syntax, firefox, folded, pprof, speedscope, stack_rows};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Writes stacks in every form.
pub(crate) fn all(stacks: &WeightedStacks) {
    for value in 0..stacks.values.len() {
        folded(stacks, value);
    }
    let mut out = Vec::new();
    firefox::write(stacks, &mut out).expect("memory takes everything");
    serde_json::from_slice::<IgnoredAny>(&out).expect("our own output is JSON");
    speedscope(stacks);
    pprof(stacks);
    let (mut json, mut text) = (Vec::new(), Vec::new());
    let written =
        stack_rows::write(stacks, Syntax::Jsonl, &mut json).expect("memory takes everything");
    let lines = serde_json::Deserializer::from_slice(&json).into_iter::<IgnoredAny>();
    assert_eq!(
        lines.inspect(|line| assert!(line.is_ok(), "our own output is JSON")).count() as u64,
        written.stacks
    );
    let written =
        stack_rows::write(stacks, Syntax::Csv, &mut text).expect("memory takes everything");
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

/// Every line is frames and a number, and these add up.
fn folded(stacks: &WeightedStacks, value: usize) {
    let mut out = Vec::new();
    let written = folded::write(stacks, value, &mut out).expect("memory takes everything");
    let text = std::str::from_utf8(&out).expect("names are UTF-8");
    let mut sum = 0i64;
    let mut lines = 0;
    for line in text.split_terminator('\n') {
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

fn speedscope(stacks: &WeightedStacks) {
    let mut out = Vec::new();
    speedscope::write(stacks, &mut out).expect("memory takes everything");
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
fn pprof(stacks: &WeightedStacks) {
    let mut out = Vec::new();
    let written = pprof::write(stacks, &mut out).expect("memory takes everything");
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
