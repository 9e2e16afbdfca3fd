//! Bare zstd decompression of the columns that `info` needs: the floor for its speed.
use dumptool::input::mvmheap::{Body, Records, records::Part};
use std::io::Read;
fn main() {
    let source = dumptool::source::Source::open(std::env::args().nth(1).unwrap().as_ref()).unwrap();
    let mut total = 0;
    let mut buffer = vec![0; 128 << 10];
    for record in Records::new(source.bytes()).unwrap().flatten() {
        let Part::Block(block) = record.1.part else { continue };
        let Body::Column { frame, .. } = block.body else { continue };
        if !["colkind", "colsize", "coltofi", "colrfcnt", "colusize"].iter().any(|name| block.name.is(name)) {
            continue;
        }
        let mut decoder = zstd::stream::read::Decoder::with_buffer(frame).unwrap();
        loop {
            match decoder.read(&mut buffer).unwrap() {
                0 => break,
                length => total += length,
            }
        }
    }
    println!("{total}");
}
