//! A MOJO file as Austin 4.0 writes it in the mode `wall`: keys are addresses, which take seven
//! bytes, and stacks are 13 frames deep on average. Such a file is nearly nothing but references to
//! frames.

#[path = "../../tests/support/mojo.rs"]
#[allow(unreachable_pub, dead_code, reason = "the builder belongs to the tests")]
mod builder;

use super::Random;
use builder::Mojo;
use std::io::{self, Write};

const STRINGS: u64 = 1200;
const FRAMES: u64 = 4000;
const STACKS: u64 = 800;
const PROCESS: i128 = 12345;
const THREADS: [&str; 4] = ["5722", "5728", "5729", "572a"];
const TIME: u64 = 100;

/// Writes a profile of that many samples of 800 stacks.
pub(crate) fn write(samples: u64, file: &mut dyn Write) -> io::Result<()> {
    write_stacks(samples, file, false)
}

/// Writes a profile in which nearly every sample has a stack of its own. No program does that: it
/// is the worst case.
pub(crate) fn write_random(samples: u64, file: &mut dyn Write) -> io::Result<()> {
    write_stacks(samples, file, true)
}

fn write_stacks(samples: u64, file: &mut dyn Write, all_differ: bool) -> io::Result<()> {
    let mut random = Random(1);
    let mut mojo = Mojo::new(3);
    mojo.metadata("austin", "4.0.0").metadata("mode", "wall").metadata("interval", "100");
    mojo.stack(PROCESS, 0, THREADS[0]);
    for i in 0..STRINGS {
        mojo.string(key(0x7f3a_1000_0000, i), name(i));
    }
    for i in 0..FRAMES {
        let (file, scope) = (random.below(STRINGS / 6) * 6, 1 + random.below(STRINGS - 1) / 6 * 6);
        mojo.frame(
            key(0x7f3b_2000_0000, i),
            key(0x7f3a_1000_0000, file),
            key(0x7f3a_1000_0000, scope),
            1 + i as i128 % 900,
        );
    }
    mojo.time(TIME.into());
    let stacks: Vec<Vec<i128>> = (0..STACKS).map(|_| stack(&mut random)).collect();
    let mut time = TIME;
    for sample in 0..samples {
        let elapsed = 80 + random.below(60);
        time += elapsed;
        mojo.stack(PROCESS, 0, THREADS[sample as usize % THREADS.len()]);
        if all_differ {
            for level in 0..5 + random.below(30) {
                mojo.frame_ref(key(0x7f3b_2000_0000, (level * 113 + random.below(3)) % FRAMES));
            }
        } else {
            for &frame in &stacks[random.skewed(STACKS) as usize] {
                mojo.frame_ref(frame);
            }
        }
        mojo.time(elapsed.into());
        if mojo.0.len() > 1 << 20 {
            file.write_all(&mojo.0)?;
            mojo.0.clear();
        }
    }
    mojo.metadata("duration", &time.to_string()).metadata("count", &(samples + 1).to_string());
    file.write_all(&mojo.0)
}

/// Addresses of objects that were allocated one after the other.
fn key(base: i128, i: u64) -> i128 {
    base + 176 * i128::from(i)
}

/// Every sixth string is a file's name.
fn name(i: u64) -> String {
    match i % 6 {
        0 => format!("/usr/lib/python3.13/package_{}/module_{i}.py", i % 7),
        _ => format!("function_name_{i}"),
    }
}

/// Stacks begin alike and differ more the deeper they are.
fn stack(random: &mut Random) -> Vec<i128> {
    let depth = 4 + random.skewed(45);
    (0..depth)
        .map(|level| key(0x7f3b_2000_0000, (level * 113 + random.below(1 + level / 2)) % FRAMES))
        .collect()
}
