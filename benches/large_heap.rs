//! Writes an hprof heap dump with any number of objects to standard output, in constant memory, to
//! try sizes that no program on this machine reaches.
//!
//! ```text
//! cargo bench --bench large_heap -- 200000000 >big.hprof
//! ```
//!
//! Records stand in arrays of 1,000 that one static field holds. Each has a name, which is a string
//! with its bytes, and refers to a record of its array that came before. 27 bytes for an object.

use std::io::{self, BufWriter, Write};

const OBJECT: u32 = 8;
const CLASS: u32 = 16;
const RECORD: u32 = 24;
const STRING: u32 = 32;
const ARRAY: u32 = 40;
const SHELVES: u32 = 48;
/// The first address of an object. Each takes 16.
const FIRST: u32 = 64;

/// Records in an array.
const SHELF: u32 = 1000;
/// Objects of a shelf: itself, its records, their names and the bytes of these.
const OBJECTS: u32 = 1 + 3 * SHELF;

fn main() -> io::Result<()> {
    let objects = std::env::args().filter_map(|word| word.parse().ok()).next();
    let shelves = objects.unwrap_or(1_000_000_u32).div_ceil(OBJECTS);
    assert!(
        shelves <= (u32::MAX - FIRST) / (OBJECTS * 16),
        "ids have 4 bytes: at most 268,000,000 objects"
    );
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    out.write_all(b"JAVA PROFILE 1.0.2\0")?;
    out.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0])?;
    let names = [
        "java/lang/Object",
        "java/lang/Class",
        "Record",
        "java/lang/String",
        "[Ljava/lang/Object;",
        "name",
        "before",
        "number",
        "value",
        "hash",
        "coder",
        "SHELVES",
    ];
    for (id, name) in (1_u32..).zip(names) {
        record(&mut out, 1, 4 + name.len() as u32)?;
        out.write_all(&id.to_be_bytes())?;
        out.write_all(name.as_bytes())?;
    }
    for (serial, id) in (1_u32..).zip([OBJECT, CLASS, RECORD, STRING, ARRAY]) {
        record(&mut out, 2, 16)?;
        numbers(&mut out, &[serial, id, 0, serial])?;
    }
    let mut head = Vec::new();
    class(&mut head, OBJECT, 0, 0, &[], &[])?;
    class(&mut head, CLASS, OBJECT, 0, &[], &[])?;
    class(&mut head, RECORD, OBJECT, 12, &[(12, SHELVES)], &[(6, 2), (7, 2), (8, 10)])?;
    class(&mut head, STRING, OBJECT, 9, &[], &[(9, 2), (10, 10), (11, 8)])?;
    class(&mut head, ARRAY, OBJECT, 0, &[], &[])?;
    // Classes are roots, like those that the JVM itself loads. An instance of a class that is not a root
    // refers to it.
    for class in [OBJECT, CLASS, RECORD, STRING, ARRAY] {
        head.push(0x05);
        numbers(&mut head, &[class])?;
    }
    let shelf = |at: u32| FIRST + at * OBJECTS * 16;
    array(&mut head, SHELVES, (0..shelves).map(shelf))?;
    record(&mut out, 0x1c, head.len() as u32)?;
    out.write_all(&head)?;
    let mut segment = Vec::new();
    for at in 0..shelves {
        segment.clear();
        let first = shelf(at);
        array(&mut segment, first, (0..SHELF).map(|row| first + 16 + row * 48))?;
        for row in 0..SHELF {
            let (of, before) = (first + 16 + row * 48, first + 16 + row / 2 * 48);
            instance(&mut segment, of, RECORD, 12)?;
            numbers(&mut segment, &[of + 16, before, row])?;
            instance(&mut segment, of + 16, STRING, 9)?;
            numbers(&mut segment, &[of + 32, 0])?;
            segment.push(0);
            segment.push(0x23);
            numbers(&mut segment, &[of + 32, 0, 8])?;
            segment.push(8);
            segment.extend_from_slice(&u64::from(of).to_be_bytes());
        }
        record(&mut out, 0x1c, segment.len() as u32)?;
        out.write_all(&segment)?;
    }
    record(&mut out, 0x2c, 0)?;
    out.flush()
}

/// The head of a record.
fn record(out: &mut impl Write, tag: u8, bytes: u32) -> io::Result<()> {
    out.write_all(&[tag])?;
    numbers(out, &[0, bytes])
}

fn numbers(out: &mut impl Write, numbers: &[u32]) -> io::Result<()> {
    numbers.iter().try_for_each(|number| out.write_all(&number.to_be_bytes()))
}

fn instance(out: &mut Vec<u8>, id: u32, class: u32, bytes: u32) -> io::Result<()> {
    out.push(0x21);
    numbers(out, &[id, 0, class, bytes])
}

fn array(
    out: &mut Vec<u8>,
    id: u32,
    elements: impl ExactSizeIterator<Item = u32>,
) -> io::Result<()> {
    out.push(0x22);
    numbers(out, &[id, 0, elements.len() as u32, ARRAY])?;
    elements.into_iter().try_for_each(|element| numbers(out, &[element]))
}

/// A class with static fields that are references, and fields by name and type.
fn class(
    out: &mut Vec<u8>,
    id: u32,
    above: u32,
    bytes: u32,
    statics: &[(u32, u32)],
    fields: &[(u32, u8)],
) -> io::Result<()> {
    out.push(0x20);
    numbers(out, &[id, 0, above, 0, 0, 0, 0, 0, bytes])?;
    out.extend_from_slice(&0_u16.to_be_bytes());
    out.extend_from_slice(&(statics.len() as u16).to_be_bytes());
    for (name, value) in statics {
        numbers(out, &[*name])?;
        out.push(2);
        numbers(out, &[*value])?;
    }
    out.extend_from_slice(&(fields.len() as u16).to_be_bytes());
    for (name, of) in fields {
        numbers(out, &[*name])?;
        out.push(*of);
    }
    Ok(())
}
