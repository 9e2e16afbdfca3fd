//! No length field is trusted: damaged input costs no more memory than sound input.
//!
//! An allocator that counts sees every allocation of the readers, but not those inside of the zstd
//! library, which are bounded by the window that a decoder accepts.
#![allow(unsafe_code)]

#[path = "support/counting.rs"]
mod counting;
mod support;

use counting::Counting;
use dumptool::input::Format;
use support::{Random, files, fixture, read, read_in_every_way};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that reading may take beyond the input, for inputs of at most 2 MiB.
const ALLOWED: usize = 64 << 20;

/// Ways in which a fixture is damaged. A debug build is slow.
const TIMES: usize = if cfg!(debug_assertions) { 10 } else { 60 };

/// Reads in every way and returns the peak of memory that it took.
fn peak(format: Format, bytes: &[u8]) -> usize {
    counting::peak(|| read_in_every_way(format, bytes))
}

#[test]
fn damaged_input_takes_no_more_memory_than_sound_input() {
    let mut random = Random(1);
    let mut tried = 0;
    for path in files(&fixture("")) {
        let bytes = read(&path);
        let Ok(format) = dumptool::detect::detect(&bytes) else { continue };
        if !format.magics().iter().any(|magic| bytes.starts_with(magic)) || bytes.len() > 700 << 10
        {
            continue;
        }
        tried += 1;
        let sound = peak(format, &bytes);
        assert!(sound < ALLOWED, "{}: {sound} bytes", path.display());
        for _ in 0..TIMES {
            let mut damaged = bytes.clone();
            // A run of FF is a huge number in every encoding there is here; near the start it hits
            // the counts.
            let range = if random.below(2) == 0 { damaged.len() } else { damaged.len().min(400) };
            let at = random.below(range);
            let length = 1 + random.below(9);
            let value = [0xff, 0x7f, 0x80][random.below(3)];
            damaged.iter_mut().skip(at).take(length).for_each(|byte| *byte = value);
            let taken = peak(format, &damaged);
            assert!(taken < ALLOWED, "{}, {length} bytes at {at}: {taken} bytes", path.display());
        }
    }
    assert!(tried >= 40, "only {tried} fixtures were tried");
}
