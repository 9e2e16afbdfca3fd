//! Writes tiny Go heap dumps, record by record.
#![allow(dead_code)]

/// A part of a record: a number, a string, or a list of fields (kind and offset) with its end mark.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    U(u64),
    S(&'a str),
    B(&'a [u8]),
    F(&'a [(u64, u64)]),
}
pub(crate) use Part::{B, F, S, U};

/// A dump that is being written.
#[derive(Clone)]
pub(crate) struct Dump {
    bytes: Vec<u8>,
}

/// First address of the heap in the dumps that are written here.
pub(crate) const HEAP: u64 = 0xc0_0000_0000;

impl Dump {
    /// A dump with only its magic: `1.3` to `1.7`.
    pub(crate) fn empty(version: &str) -> Self {
        Self { bytes: format!("go{version} heap dump\n").into_bytes() }
    }

    /// A dump of a 64-bit little-endian program by Go 1.7 or later, with its params.
    pub(crate) fn new(go_version: &str) -> Self {
        Self::with_pointers(go_version, 8)
    }

    /// As [`Dump::new`], for pointers of 4 or 8 bytes.
    pub(crate) fn with_pointers(go_version: &str, pointer_size: u64) -> Self {
        let heap_end = HEAP + (64 << 20);
        let parts = [U(0), U(pointer_size), U(HEAP), U(heap_end), S("amd64"), S(go_version), U(4)];
        Self::empty("1.7").record(6, &parts)
    }

    /// Any record.
    pub(crate) fn record(mut self, tag: u64, parts: &[Part<'_>]) -> Self {
        uvarint(&mut self.bytes, tag);
        for part in parts {
            match part {
                U(value) => uvarint(&mut self.bytes, *value),
                S(text) => string(&mut self.bytes, text.as_bytes()),
                B(bytes) => string(&mut self.bytes, bytes),
                F(fields) => {
                    for (kind, offset) in *fields {
                        uvarint(&mut self.bytes, *kind);
                        uvarint(&mut self.bytes, *offset);
                    }
                    self.bytes.push(0);
                }
            }
        }
        self
    }

    /// An object of 1.4 and later with pointers at the offsets.
    pub(crate) fn object(self, addr: u64, size: usize, pointers: &[u64]) -> Self {
        let fields: Vec<_> = pointers.iter().map(|offset| (1, *offset)).collect();
        self.record(1, &[U(addr), B(&vec![0; size]), F(&fields)])
    }

    /// A goroutine that waits.
    pub(crate) fn goroutine(self, addr: u64, sp: u64, status: u64, reason: &str) -> Self {
        let flags_and_time = [U(0), U(0), U(0)];
        let links = [U(0), U(0), U(0), U(0)];
        self.record(
            4,
            &[
                &[U(addr), U(sp), U(1), U(0x401000), U(status)][..],
                &flags_and_time,
                &[S(reason)],
                &links,
            ]
            .concat(),
        )
    }

    /// A frame of 32 bytes.
    pub(crate) fn frame(self, sp: u64, depth: u64, child_sp: u64, name: &str) -> Self {
        self.record(
            5,
            &[
                U(sp),
                U(depth),
                U(child_sp),
                B(&[0; 32]),
                U(0x401000),
                U(0x401010),
                U(0x401010),
                S(name),
                F(&[(1, 8)]),
            ],
        )
    }

    /// The statistics: so many objects of so many bytes in all.
    pub(crate) fn memstats(self, objects: u64, bytes: u64) -> Self {
        let mut numbers = [0; 281];
        numbers[0] = bytes;
        numbers[6] = bytes;
        numbers[11] = objects;
        let parts: Vec<_> = numbers.into_iter().map(U).collect();
        self.record(10, &parts)
    }

    /// Empty segments, the statistics and the end.
    pub(crate) fn finish(self, objects: u64, bytes: u64) -> Vec<u8> {
        let segment = |addr| [U(addr), B(&[]), F(&[])];
        self.record(12, &segment(0x70_0000))
            .record(13, &segment(0x71_0000))
            .memstats(objects, bytes)
            .record(0, &[])
            .bytes()
    }

    /// What has been written.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Appends an unsigned LEB128 number.
pub(crate) fn uvarint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn string(bytes: &mut Vec<u8>, content: &[u8]) {
    uvarint(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}
