//! A Dart heap snapshot as a 64-bit VM of Dart 3 writes it: about 20 bytes and 3.3 references for
//! each object.

use super::{Out, Random};
use std::io::{self, Write};

/// Classes 1 to 9, whose names mean something.
const KNOWN: [&str; 9] = [
    "Root",
    "Read-Only Pages",
    "Isolate",
    "_OneByteString",
    "_TwoByteString",
    "_Double",
    "_Smi",
    "_List",
    "_Closure",
];
const CLASSES: u64 = 1500;

/// Writes a snapshot of that many objects.
pub(crate) fn write(objects: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut out = Out::new(file);
    let mut random = Random(1);
    out.bytes.extend_from_slice(b"dartheap");
    out.uleb(0);
    out.string("main");
    out.ulebs([objects * 64, objects * 72, 0, CLASSES]);
    for id in 1..=CLASSES {
        write_class(&mut out, id);
    }
    // The count of references is an upper bound.
    out.ulebs([objects * 4 + 4096, objects]);
    for id in 1..=objects {
        write_object(&mut out, &mut random, id, objects);
        out.spill()?;
    }
    out.uleb(0);
    // Few objects were ever asked for their identity hash code.
    for _ in 0..objects {
        let hash = if random.chance(2) { random.below(1 << 30) } else { 0 };
        out.uleb(hash);
        out.spill()?;
    }
    out.flush()
}

fn write_class(out: &mut Out<'_>, id: u64) {
    let fields = id % 6;
    out.uleb(0);
    match KNOWN.get(id as usize - 1) {
        Some(name) => out.string(name),
        None => out.string(format!("Class{id}")),
    }
    out.string("app.dart");
    out.string("package:app/app.dart");
    out.string("");
    out.uleb(fields);
    for index in 0..fields {
        out.ulebs([1, index]);
        out.string(format!("field{index}"));
        out.string("");
    }
}

fn write_object(out: &mut Out<'_>, random: &mut Random, id: u64, objects: u64) {
    match random.below(100) {
        _ if id == 1 => out.ulebs([1, 0, 0]),
        0..60 => {
            let class = KNOWN.len() as u64 + 1 + random.skewed(CLASSES - KNOWN.len() as u64);
            out.ulebs([class, 16 * (1 + class % 8), 0]);
        }
        60..70 => {
            let value = random.below(1 << 20);
            out.ulebs([7, 0, 3, value]);
        }
        70..85 => {
            let length = 1 + random.below(24);
            out.ulebs([4, (16 + length).next_multiple_of(16), 5, length]);
            out.string(&b"the quick brown fox jumps"[..length as usize]);
        }
        85..87 => {
            out.ulebs([6, 16, 4]);
            out.bytes.extend_from_slice(&(random.next() as f64).to_le_bytes());
        }
        87..89 => {
            out.ulebs([5, 32, 6, 4, 4]);
            out.bytes.extend(
                "\u{4f60}\u{597d}\u{4e16}\u{754c}".encode_utf16().flat_map(u16::to_le_bytes),
            );
        }
        _ => {
            let length = random.below(300);
            out.ulebs([8, 16 + 8 * length.next_multiple_of(2), 7, length]);
        }
    }
    let references = match random.below(2000) {
        _ if id == 1 => 200,
        0 => random.below(3000),
        _ => random.below(6),
    };
    out.uleb(references);
    for _ in 0..references {
        // Most references go to what was allocated at about the same time, or to what everybody
        // uses.
        let target = match random.below(100) {
            0..10 => 0,
            10..50 => (id + random.below(2000)).clamp(1001, objects + 1000) - 1000,
            50..80 => 1 + random.skewed(objects),
            _ => 1 + random.below(objects),
        };
        out.uleb(target);
    }
}
