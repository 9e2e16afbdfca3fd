//! Functions of just-in-time compilers: `/tmp/perf-PID.map` and jitdump.

use super::{Function, Functions};
use crate::bytes::Cursor;
use crate::error::Result;
use crate::source::Source;
use byteorder::{BE, ByteOrder, LE};
use std::path::Path;

/// A function: its first address, the one after its last, and its name.
pub(super) type Row = (u64, u64, String);

/// Whether a file lists functions of a just-in-time compiler.
pub(super) fn is_map(name: &str) -> bool {
    numbered(name, "perf-", ".map") || numbered(name, "jit-", ".dump")
}

fn numbered(name: &str, before: &str, after: &str) -> bool {
    let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The functions at these addresses of a process.
pub(super) fn functions(path: &Path, addresses: &[u64]) -> Vec<Functions> {
    let source = super::open(path);
    let bytes = source.as_ref().map_or(&[][..], Source::bytes);
    let mut rows = match bytes.get(..4) {
        Some(b"DTiJ") => jitdump::<LE>(bytes),
        Some(b"JiTD") => jitdump::<BE>(bytes),
        _ => perf_map(bytes),
    };
    // If several functions were at one address, the last one counts.
    rows.reverse();
    rows.sort_by_key(|row| row.0);
    rows.dedup_by_key(|row| row.0);
    look_up(&rows, addresses)
}

/// The functions at addresses. `rows` has all functions, sorted by address.
pub(super) fn look_up(rows: &[Row], addresses: &[u64]) -> Vec<Functions> {
    let look_up = |&address: &u64| {
        let after = rows.partition_point(|row| row.0 <= address);
        let row = after.checked_sub(1).and_then(|row| rows.get(row));
        let row = row.filter(|row| address < row.1);
        row.map(|(.., name)| Function { name: name.clone(), ..Function::default() })
            .into_iter()
            .collect()
    };
    addresses.iter().map(look_up).collect()
}

/// Each line has a start and a size in hexadecimal digits, and a name.
fn perf_map(bytes: &[u8]) -> Vec<Row> {
    let row = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let mut words = line.trim_end().splitn(3, ' ');
        let mut number = || {
            let word = words.next()?;
            u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
        };
        let (start, size) = (number()?, number()?);
        Some((start, start.checked_add(size)?, words.next()?.to_owned()))
    };
    bytes.split(|byte| *byte == b'\n').filter_map(row).collect()
}

/// The functions of a jitdump up to its first damage.
fn jitdump<T: ByteOrder>(bytes: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    _ = read_jitdump::<T>(bytes, &mut rows);
    rows
}

/// A header of magic, version and its own size; then records of id, size, time and contents. Record
/// 0 (`JIT_CODE_LOAD`) has process, thread, address of the code twice, size, number and name; record 1
/// (`JIT_CODE_MOVE`) has process, thread, a new address, an old one and again a new one.
fn read_jitdump<T: ByteOrder>(bytes: &[u8], rows: &mut Vec<Row>) -> Result<()> {
    let mut cursor = Cursor::new(bytes, 0);
    cursor.u64::<T>("magic and version")?;
    let header = u64::from(cursor.u32::<T>("the size of the header")?);
    cursor.take(header.saturating_sub(12), "the header")?;
    while !cursor.is_empty() {
        let id = cursor.u32::<T>("the kind of a record")?;
        let size = u64::from(cursor.u32::<T>("the size of a record")?);
        let start = cursor.offset();
        let mut record = Cursor::new(cursor.take(size.saturating_sub(8), "a record")?, start);
        record.u64::<T>("a time")?;
        if id > 1 {
            continue;
        }
        record.u64::<T>("process and thread")?;
        record.u64::<T>("an address")?;
        let at = record.u64::<T>("an address")?;
        if id == 0 {
            let length = record.u64::<T>("the size of a function")?;
            record.u64::<T>("the number of a function")?;
            let rest = record.rest();
            let end = memchr::memchr(0, rest).unwrap_or(rest.len());
            let name = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned();
            rows.push((at, at.saturating_add(length), name));
        } else {
            let to = record.u64::<T>("an address")?;
            let length = record.u64::<T>("the size of a function")?;
            let known = rows.iter().rev().find(|row| row.0 == at).map(|row| row.2.clone());
            rows.extend(known.map(|name| (to, to.saturating_add(length), name)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_function_at_an_address_counts_up_to_its_end() {
        let map = b"1000 10 first\n0x2000 20 two words\n1000 8 second\nnonsense\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("perf-7.map");
        std::fs::write(&path, map).unwrap();
        let names = functions(&path, &[0x1000, 0x1007, 0x1008, 0x201f, 0x2020, 0xfff]);
        let names: Vec<_> =
            names.iter().map(|found| found.first().map_or("", |function| &function.name)).collect();
        assert_eq!(names, ["second", "second", "", "two words", "", ""]);
        assert!(is_map("perf-7.map") && is_map("jit-12.dump") && !is_map("perf-.map"));
    }

    #[test]
    fn functions_of_a_jitdump_move() {
        let mut dump = Vec::new();
        let put = |dump: &mut Vec<u8>, numbers: &[u64]| {
            numbers.iter().for_each(|number| dump.extend(number.to_le_bytes()));
        };
        dump.extend(b"DTiJ\x01\0\0\0\x28\0\0\0\x3e\0\0\0");
        put(&mut dump, &[0, 0, 0]);
        dump.extend([0, 0, 0, 0, 8 + 48 + 4 + 2, 0, 0, 0]);
        put(&mut dump, &[5, 1, 0x1000, 0x1000, 0x10, 1]);
        dump.extend(b"add\0\x90\xc3");
        dump.extend([1, 0, 0, 0, 8 + 56, 0, 0, 0]);
        put(&mut dump, &[6, 1, 0, 0x1000, 0x2000, 0x10, 1]);
        let rows = jitdump::<LE>(&dump);
        let expected = vec![(0x1000, 0x1010, "add".to_owned()), (0x2000, 0x2010, "add".to_owned())];
        assert_eq!(rows, expected);
        assert_eq!(jitdump::<LE>(&dump[..dump.len() - 1]).len(), 1);
    }
}
