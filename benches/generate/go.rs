//! A Go heap dump of version 1.7 as Go 1.26 writes it: spans of one size class, with the slots at
//! their ends that are no objects, about 50 bytes and 1.4 pointers for each object.
//!
//! Pointers go to where those of a real program go: in a dump of Go 1.27 with 160 k objects (8 MB)
//! 51 % of them go no farther than 128 bytes, 80 % no farther than 16 KiB, the others all over the
//! heap, and 88 % of all go backwards. Here all do, because what is written later is not known yet.

use super::{Out, Random};
use std::io::{self, Write};

const PAGE: u64 = 8192;
const ARENA: u64 = 0xc0_0000_0000;
/// Size classes; small ones are more frequent.
const SIZES: [u64; 25] = [
    8, 16, 16, 16, 16, 24, 32, 32, 32, 48, 48, 64, 64, 80, 96, 112, 128, 160, 192, 208, 256, 320,
    512, 1024, 2048,
];

/// Writes a dump of at least `objects` objects.
pub(crate) fn write(objects: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut out = Out::new(file);
    let mut heap = Heap {
        random: Random(1),
        next: ARENA,
        written: Vec::with_capacity(objects as usize + 1024),
        bytes: 0,
    };
    out.bytes.extend_from_slice(b"go1.7 heap dump\n");
    // The end of the heap is not known yet; reserved address space is larger than what is used
    // anyway.
    let end = ARENA + (objects * 256).next_multiple_of(64 << 20) + (64 << 20);
    out.ulebs([6, 0, 8, ARENA, end]);
    out.string("amd64");
    out.string("go1.26.0");
    out.uleb(2);
    for (i, name) in
        ["main.Node", "main.Leaf", "string", "*main.Tree", "map[string]int"].into_iter().enumerate()
    {
        out.ulebs([3, 0x4a_0000 + 64 * i as u64, 16 * (i as u64 + 1)]);
        out.string(name);
        out.uleb(i as u64 & 1);
    }
    while (heap.written.len() as u64) < objects {
        heap.write_span(&mut out);
        out.spill()?;
    }
    write_goroutine(&mut out);
    write_segment(&mut out, 12, 0x55_0000, 4096);
    write_segment(&mut out, 13, 0x56_0000, 8192);
    write_memstats(&mut out, &heap);
    out.uleb(0);
    out.flush()
}

struct Heap {
    random: Random,
    /// Address of the next span.
    next: u64,
    /// Addresses and sizes of all objects.
    written: Vec<(u64, u64)>,
    bytes: u64,
}

impl Heap {
    fn write_span(&mut self, out: &mut Out<'_>) {
        let start = self.next;
        let scan = self.random.chance(65);
        if self.random.below(2000) == 0 {
            let size = PAGE * (5 + self.random.below(60));
            self.next += size;
            return self.write_object(out, start, size, scan);
        }
        let size = SIZES[self.random.below(SIZES.len() as u64) as usize];
        let fill = 60 + self.random.below(41);
        self.next += PAGE;
        // The ends of spans of small objects hold mark bits, and a bitmap if there are pointers.
        // The writer takes what lies there for objects without pointers.
        let marks = if (16..=512).contains(&size) { 128 } else { 0 };
        let bitmap = if scan && size <= 512 { 128 } else { 0 };
        let slots = (PAGE - marks - bitmap) / size;
        for slot in 0..slots {
            if slot == 0 || self.random.chance(fill) {
                self.write_object(out, start + slot * size, size, scan);
            }
        }
        for slot in slots..PAGE / size {
            out.ulebs([1, start + slot * size, size]);
            out.bytes.resize(out.bytes.len() + size as usize, 0x55);
            out.uleb(0);
        }
    }

    fn write_object(&mut self, out: &mut Out<'_>, address: u64, size: u64, scan: bool) {
        self.written.push((address, size));
        self.bytes += size;
        out.ulebs([1, address, size]);
        let contents = out.bytes.len();
        for _ in 0..size / 8 {
            let word = if scan { self.random.below(1000) } else { self.random.next() };
            out.bytes.extend_from_slice(&word.to_le_bytes());
        }
        if scan {
            let density = 20 + self.random.below(60);
            let words = if size > PAGE { size / 8 } else { (size / 8).min(64) };
            for word in 0..words {
                if word == 0 || self.random.chance(density) {
                    let pointer = self.pointer();
                    let at = contents + 8 * word as usize;
                    out.bytes[at..at + 8].copy_from_slice(&pointer.to_le_bytes());
                    out.ulebs([1, 8 * word]);
                }
            }
        }
        out.uleb(0);
    }
}

impl Heap {
    /// To one of the last few objects, to one of the last pages, or to any; now and then into the
    /// middle of it. Every fifth is nil.
    fn pointer(&mut self) -> u64 {
        if self.random.chance(22) {
            return 0;
        }
        let all = self.written.len() as u64;
        let back = match self.random.below(100) {
            0..51 => self.random.below(all.min(4)),
            51..80 => self.random.below(all.min(400)),
            _ => self.random.below(all),
        };
        let (address, size) = self.written[(all - 1 - back) as usize];
        let inside = if self.random.chance(4) { 8 * self.random.below(size / 8) } else { 0 };
        address + inside
    }
}

fn write_goroutine(out: &mut Out<'_>) {
    let stack = ARENA - 4096;
    out.ulebs([4, 0x50_0000, stack, 1, 0x45_0000, 4, 0, 0, 0]);
    out.string("chan receive");
    out.ulebs([0; 4]);
    out.ulebs([5, stack, 0, 0]);
    out.string([0; 64]);
    out.ulebs([0x45_1000, 0x45_1010, 0x45_1010]);
    out.string("main.main");
    out.ulebs([1, 0, 1, 8, 0]);
}

fn write_segment(out: &mut Out<'_>, tag: u64, address: u64, words: u64) {
    out.ulebs([tag, address]);
    out.string(vec![0; 8 * words as usize]);
    out.ulebs((0..words).step_by(16).flat_map(|word| [1, 8 * word]));
    out.uleb(0);
}

fn write_memstats(out: &mut Out<'_>, heap: &Heap) {
    let mut numbers = [1 << 20; 24];
    // Alloc and HeapAlloc, then HeapObjects.
    numbers[0] = heap.bytes;
    numbers[6] = heap.bytes;
    numbers[11] = heap.written.len() as u64;
    out.uleb(10);
    out.ulebs(numbers);
    out.ulebs([0; 256]);
    out.uleb(3);
}
