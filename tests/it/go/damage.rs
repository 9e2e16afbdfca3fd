//! Damaged dumps: no panic, no allocation without reason, and an offset in every error.

use super::fixtures::fixture;
use super::lines::lines;
use crate::support::go::{Dump, HEAP, S, U};
use dumptool::error::{Error, ErrorKind};
use dumptool::input::{self, Format, ReadOptions, info::Info};

fn info(bytes: &[u8]) -> Info {
    input::info(Format::Go, bytes, ReadOptions::default()).unwrap()
}

/// Runs everything on the bytes; what is said must agree.
fn survive(bytes: &[u8]) {
    let info = input::info(Format::Go, bytes, ReadOptions::default());
    let check = input::check(Format::Go, bytes, ReadOptions::default());
    let (records, end) = lines(bytes);
    let Ok(info) = info else {
        assert!(check.is_err() && end.is_err());
        return;
    };
    let damage = info.damage.map(|damage| damage.error);
    assert_eq!(damage.as_ref().map(Error::message), end.as_ref().err().map(Error::message));
    assert_eq!(
        damage.as_ref().map(Error::message),
        check.unwrap().damage.map(|damage| damage.error.message())
    );
    assert_eq!(info.records.total(), records.len() as u64);
    if let Some(error) = damage {
        assert!(error.offset().is_some_and(|offset| offset <= bytes.len() as u64), "{error}");
        assert!(!info.complete);
    }
}

/// A small generator of the xorshift family: the same damage in every run.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

const SMALL: [&str; 7] = [
    "draft13.heapdump",
    "draft13_32be.heapdump",
    "go13.heapdump",
    "go14_be.heapdump",
    "go15_32.heapdump",
    "go16.heapdump",
    "go17_be.heapdump",
];

#[test]
fn every_cut_of_a_dump_is_survived_and_reported() {
    for name in SMALL {
        let source = fixture(name);
        for length in 0..source.bytes().len() {
            let cut = source.bytes().get(..length).unwrap();
            survive(cut);
            if length >= 16 {
                assert!(!info(cut).complete, "{name} cut to {length}");
            }
        }
    }
}

#[test]
fn random_bytes_in_a_dump_are_survived() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for name in SMALL {
        let source = fixture(name);
        for _ in 0..1000 {
            let mut bytes = source.bytes().to_vec();
            for _ in 0..=random(&mut state) % 3 {
                let at = 16 + random(&mut state) as usize % (bytes.len() - 16);
                bytes[at] = random(&mut state) as u8;
            }
            survive(&bytes);
        }
    }
}

#[test]
fn damage_in_a_real_dump_is_survived() {
    let source = fixture("mini_go127_386.heapdump.zst");
    let mut state = 88_172_645_463_325_252;
    for _ in 0..150 {
        let mut bytes = source.bytes().to_vec();
        let at = 16 + random(&mut state) as usize % (bytes.len() - 16);
        bytes[at] = random(&mut state) as u8;
        survive(&bytes);
        survive(&bytes[..at]);
    }
}

#[test]
fn huge_lengths_and_counts_are_errors_and_no_allocations() {
    let start = || Dump::new("go1.27.3");
    let huge = u64::MAX >> 4;
    for bytes in [
        start().record(1, &[U(HEAP), U(huge)]),
        start().record(3, &[U(1), U(2), U(huge)]),
        start().record(16, &[U(1), U(48), U(huge), S("f"), S("g"), U(1)]),
        start().record(12, &[U(1), U(huge)]),
        Dump::empty("1.3")
            .record(10, &[U(0), U(8)])
            .record(7, &[U(1), U(2), S("t"), U(huge), U(0)]),
    ] {
        let info = info(&bytes.bytes());
        let error = info.damage.unwrap().error;
        assert!(matches!(error.kind(), ErrorKind::Truncated | ErrorKind::Corrupt), "{error}");
        assert_eq!(info.records.total(), 1);
    }
}

#[test]
fn an_unknown_tag_is_reported_with_its_place() {
    let dump = Dump::new("go1.27.3").object(HEAP, 16, &[]).record(47, &[]).bytes();
    let error = info(&dump).damage.unwrap().error;
    assert_eq!(error.offset(), Some(dump.len() as u64 - 1));
    assert!(error.headline().starts_with("unknown record tag 47 at offset "), "{error}");
    assert!(error.headline().ends_with("after 1 objects"), "{error}");
    assert!(error.advice().unwrap().contains("no length"));
}

#[test]
fn a_dump_without_its_eof_record_is_cut() {
    let mut dump = Dump::new("go1.27.3").object(HEAP, 16, &[]).finish(1, 16);
    dump.pop();
    let info = info(&dump);
    assert_eq!(info.heap.unwrap().snapshots[0].objects, Some(1));
    assert_eq!(info.damage.unwrap().error.kind(), ErrorKind::Truncated);
}

#[test]
fn impossible_values_are_damage_at_their_place() {
    for (parts, offset) in [
        ([U(2), U(8), U(0), U(0)], 17),
        ([U(0), U(3), U(0), U(0)], 18),
        ([U(0), U(200), U(0), U(0)], 18),
    ] {
        let info = info(&Dump::empty("1.7").record(6, &parts).bytes());
        assert_eq!(info.damage.unwrap().error.offset(), Some(offset));
    }
}

#[test]
fn only_a_foreign_magic_is_an_error_of_info() {
    for bytes in [&b""[..], b"go1.7", b"go1.9 heap dump\n", b"not a heap dump at all"] {
        assert!(input::info(Format::Go, bytes, ReadOptions::default()).is_err());
        assert!(input::check(Format::Go, bytes, ReadOptions::default()).is_err());
    }
    assert!(!info(b"go1.7 heap dump\n").complete);
}
