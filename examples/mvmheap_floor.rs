//! Compares `info` of a MoarVM heap snapshot with its floor: bare zstd decompression of the columns that it needs.
//!
//! ```text
//! cargo run --release --example mvmheap_floor -- FILE [ROUNDS]
//! ```
//!
//! Both run on one thread and take turns; the best round of each counts.

use dumptool::input::{Options, mvmheap};
use dumptool::source::Source;
use mvmheap::records::Part;
use std::io::Read;
use std::time::{Duration, Instant};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let source = Source::open(arguments.next().expect("a file").as_ref()).expect("a readable file");
    let rounds = arguments.next().map_or(5, |rounds| rounds.parse().expect("a number of rounds"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let (mut floor, mut info, mut check) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for _ in 0..rounds {
        floor = floor.min(time(|| assert!(decompress(source.bytes()) > 0)));
        info = info.min(time(|| pool.install(|| drop(mvmheap::info(source.bytes(), Options::default())))));
        check = check.min(time(|| pool.install(|| drop(mvmheap::check(source.bytes(), Options::default())))));
    }
    println!("floor {floor:?}, info {info:?} ({:.2} x), check {check:?}", info.as_secs_f64() / floor.as_secs_f64());
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn decompress(bytes: &[u8]) -> usize {
    let mut buffer = vec![0; 128 << 10];
    let mut total = 0;
    for (_, record) in mvmheap::Records::new(bytes).expect("a MoarVM heap snapshot").flatten() {
        let Part::Block(block) = record.part else { continue };
        let mvmheap::Body::Column { frame, .. } = block.body else { continue };
        if !["colkind", "colsize", "coltofi", "colrfcnt", "colusize"].iter().any(|name| block.name.is(name)) {
            continue;
        }
        let mut decoder = zstd::stream::read::Decoder::with_buffer(frame).expect("a decoder");
        while let length @ 1.. = decoder.read(&mut buffer).expect("an intact frame") {
            total += length;
        }
    }
    total
}
