//! What a reader is compared with: the least work that could give its answer.

use super::inputs::create_converted;
use super::loading::{CONVERTED, load};
use dumptool::input::Format;
use dumptool::source::Source;
use rayon::ThreadPoolBuilder;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::Ordering;

/// Reads a file in blocks of 256 KiB, as `dd` does, and does nothing with it.
pub(crate) fn read_in_blocks(path: &Path) {
    let mut file = File::open(path).expect("the input opens");
    let mut block = vec![0; 256 << 10];
    while file.read(&mut block).expect("the input is read") > 0 {
        black_box(&block);
    }
}

/// Reads all numbers in a text, digit by digit.
pub(crate) fn scan_numbers(path: &Path) {
    let source = Source::open(path).expect("the input opens");
    let (mut sum, mut number) = (0_u64, 0_u64);
    for byte in source.bytes() {
        match byte {
            b'0'..=b'9' => number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            _ => (sum, number) = (sum.wrapping_add(number), 0),
        }
    }
    black_box(sum);
}

/// Decompresses those columns of a version 3 heap snapshot that a summary needs when the writer's
/// lists name the types.
pub(crate) fn decompress_needed_columns(path: &Path) {
    decompress_columns(path, &[b"colkind\0", b"colsize\0", b"colrfcnt", b"colusize"]);
}

/// The same and the types, which a summary needs when there are no such lists.
pub(crate) fn decompress_columns_with_types(path: &Path) {
    decompress_columns(path, &[b"colkind\0", b"colsize\0", b"coltofi\0", b"colrfcnt", b"colusize"]);
}

/// Decompresses all columns of the last snapshot, which loading it needs.
pub(crate) fn decompress_last_snapshot(path: &Path) {
    let source = Source::open(path).expect("the input opens");
    let bytes = source.bytes();
    // The table that ends the file is that of no snapshot.
    let snapshots =
        tocs(bytes).filter(|&toc| entries(bytes, toc).any(|(name, ..)| name == *b"reftrget"));
    let toc = snapshots.last().expect("there is a snapshot");
    decompress(bytes, toc, &COLUMNS);
}

/// All columns that a heap is made of.
const COLUMNS: [&[u8; 8]; 8] = [
    b"colkind\0",
    b"colsize\0",
    b"coltofi\0",
    b"colrfcnt",
    b"colrfstr",
    b"colusize",
    b"refdescr",
    b"reftrget",
];

fn decompress_columns(path: &Path, columns: &[&[u8; 8]]) {
    let source = Source::open(path).expect("the input opens");
    let bytes = source.bytes();
    tocs(bytes).for_each(|toc| decompress(bytes, toc, columns));
}

/// The offsets of the tables of contents of the snapshots.
fn tocs(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let outer = entries(bytes, number(bytes, bytes.len() - 8));
    outer.filter(|(name, ..)| name == b"toc\0\0\0\0\0").map(|(_, toc, _)| toc)
}

fn decompress(bytes: &[u8], toc: usize, columns: &[&[u8; 8]]) {
    let mut block = vec![0; 128 << 10];
    for (name, start, end) in entries(bytes, toc) {
        if columns.contains(&&name) {
            // The frame stands behind the name, the width and the length of the column.
            let mut frame = zstd::stream::read::Decoder::with_buffer(&bytes[start + 18..end])
                .expect("zstd starts");
            while frame.read(&mut block).expect("the column is intact") > 0 {
                black_box(&block);
            }
        }
    }
}

/// The name, the start and the end of the blocks in the table of contents at an offset.
fn entries(bytes: &[u8], toc: usize) -> impl Iterator<Item = ([u8; 8], usize, usize)> {
    (0..number(bytes, toc + 8)).map(move |i| {
        let at = toc + 16 + 24 * i;
        (
            bytes[at..at + 8].try_into().expect("a name has 8 bytes"),
            number(bytes, at + 8),
            number(bytes, at + 16),
        )
    })
}

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("a number has 8 bytes")) as usize
}

/// Loads a heap with one thread.
pub(crate) fn load_on_one_thread(format: Format, path: &Path) {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("threads start");
    let source = Source::open(path).expect("the input opens");
    pool.install(|| load(format, source.bytes()));
}

/// Loads a heap and writes as many bytes as its conversion has just written, to a new file and in
/// blocks of 1 MiB.
pub(crate) fn load_and_write(format: Format, path: &Path) {
    let source = Source::open(path).expect("the input opens");
    load(format, source.bytes());
    let mut left = CONVERTED.load(Ordering::Relaxed) as usize;
    assert!(left > 0, "a conversion came before");
    let mut file = create_converted();
    let block = vec![0x55; 1 << 20];
    while left > 0 {
        let length = left.min(block.len());
        file.write_all(&block[..length]).expect("the output is written");
        left -= length;
    }
}

/// Walks over the objects of a Go heap dump and sums their sizes: no checks, no errors, no other
/// records.
pub(crate) fn walk_go(path: &Path) {
    let source = Source::open(path).expect("the input opens");
    let mut walk = Walk { bytes: source.bytes(), at: 16 };
    let mut sum = 0;
    loop {
        match walk.uleb() {
            1 => {
                walk.uleb();
                sum += walk.string();
                while walk.uleb() != 0 {
                    walk.uleb();
                }
            }
            3 => {
                walk.ulebs(2);
                walk.string();
                walk.uleb();
            }
            6 => {
                walk.ulebs(4);
                walk.string();
                walk.string();
                walk.uleb();
            }
            _ => break,
        }
    }
    black_box(sum);
}

/// Walks over the objects of a Dart heap snapshot and counts their references: no checks, no
/// errors, no classes.
pub(crate) fn walk_dart(path: &Path) {
    let source = Source::open(path).expect("the input opens");
    let mut walk = Walk { bytes: source.bytes(), at: 9 };
    walk.string();
    walk.ulebs(3);
    for _ in 0..walk.uleb() {
        walk.uleb();
        walk.strings(4);
        for _ in 0..walk.uleb() {
            walk.ulebs(2);
            walk.string();
            walk.string();
        }
    }
    walk.uleb();
    let objects = walk.uleb();
    let mut sum = 0;
    for _ in 0..objects {
        walk.uleb();
        sum += walk.uleb();
        match walk.uleb() {
            3 | 7 => walk.ulebs(1),
            4 => walk.at += 8,
            tag @ (5 | 6) => {
                walk.uleb();
                walk.at += walk.uleb() as usize * (tag as usize - 4);
            }
            _ => {}
        }
        let references = walk.uleb();
        sum += references;
        walk.ulebs(references);
    }
    walk.uleb();
    walk.ulebs(objects);
    black_box(sum);
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    #[inline]
    fn uleb(&mut self) -> u64 {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let byte = self.bytes[self.at];
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }

    #[inline]
    fn ulebs(&mut self, count: u64) {
        for _ in 0..count {
            black_box(self.uleb());
        }
    }

    #[inline]
    fn string(&mut self) -> u64 {
        let length = self.uleb();
        self.at += length as usize;
        length
    }

    fn strings(&mut self, count: u64) {
        for _ in 0..count {
            self.string();
        }
    }
}
