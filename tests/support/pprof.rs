//! Reads pprof's messages.

use std::collections::BTreeMap;

/// What the samples of each thread in each stack add up to, by the names of the values. A stack is
/// its functions, files and lines, innermost first.
pub fn sums(message: &[u8]) -> BTreeMap<(String, Vec<String>), BTreeMap<String, i64>> {
    let message = fields(message);
    let all = |wanted: u64| {
        message.iter().filter(move |(field, ..)| *field == wanted).map(|(.., bytes)| fields(bytes))
    };
    let strings: Vec<String> = message
        .iter()
        .filter(|(field, ..)| *field == 6)
        .map(|(.., text)| String::from_utf8_lossy(text).into_owned())
        .collect();
    let number = |message: &[(u64, u64, &[u8])], wanted: u64| {
        message.iter().find(|(field, ..)| *field == wanted).map_or(0, |(_, number, _)| *number)
    };
    let text = |message: &[(u64, u64, &[u8])], wanted: u64| {
        strings[number(message, wanted) as usize].clone()
    };
    let types: Vec<String> = all(1).map(|kind| text(&kind, 1)).collect();
    let functions: BTreeMap<u64, String> = all(5)
        .map(|function| {
            (number(&function, 1), format!("{} {}", text(&function, 2), text(&function, 4)))
        })
        .collect();
    let locations: BTreeMap<u64, String> = all(4)
        .map(|location| {
            let line = fields(location.iter().find(|(field, ..)| *field == 4).unwrap().2);
            (number(&location, 1), format!("{}:{}", functions[&number(&line, 1)], number(&line, 2)))
        })
        .collect();
    assert_eq!(locations.len(), all(4).count(), "locations have numbers of their own");
    let mut sums = BTreeMap::<_, BTreeMap<String, i64>>::new();
    for sample in all(2) {
        let labels = sample.iter().filter(|(field, ..)| *field == 3).map(|(.., label)| {
            let label = fields(label);
            format!("{}={}{}", text(&label, 1), text(&label, 2), number(&label, 3))
        });
        let stack = packed(sample[0].2).iter().map(|id| locations[&(*id as u64)].clone()).collect();
        let values = packed(sample[1].2);
        assert_eq!(values.len(), types.len());
        let sums = sums.entry((labels.collect(), stack)).or_default();
        types
            .iter()
            .zip(values)
            .for_each(|(kind, value)| *sums.entry(kind.clone()).or_default() += value);
    }
    sums
}

/// The fields of a message: number, value of a varint, bytes.
pub fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
        }
        unreachable!()
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let number = varint(&mut bytes);
        match key & 7 {
            0 => fields.push((key >> 3, number, &[][..])),
            2 => {
                let (message, rest) = bytes.split_at(number as usize);
                fields.push((key >> 3, 0, message));
                bytes = rest;
            }
            other => panic!("wire type {other}"),
        }
    }
    fields
}

/// The numbers of a packed field.
pub fn packed(bytes: &[u8]) -> Vec<i64> {
    let mut numbers = Vec::new();
    let (mut value, mut shift) = (0u64, 0);
    for byte in bytes {
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if *byte < 0x80 {
            numbers.push(value as i64);
            (value, shift) = (0, 0);
        }
    }
    numbers
}
