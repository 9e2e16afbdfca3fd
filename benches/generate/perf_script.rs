//! The text of `perf script` with stacks of 20 frames.

use super::{Out, Random};
use std::io::{self, Write};

const DEPTH: u64 = 20;

/// Writes that many samples.
pub(crate) fn write(samples: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut random = Random(1);
    let mut out = Out::new(file);
    for sample in 0..samples {
        let (thread, time) = (27_802 + random.below(8), 2_575_000_000 + sample * 2_500);
        writeln!(
            out.bytes,
            "worker 27802/{thread} [00{}]  {}.{:06}:    2500000 cpu-clock: ",
            sample % 2,
            time / 1_000_000,
            time % 1_000_000
        )?;
        for depth in (0..DEPTH).rev() {
            let function = depth * 50 + random.skewed(50);
            let address = 0x7f35_2800_0000 + function * 512;
            writeln!(
                out.bytes,
                "\t{address:16x} app_module{depth}_function{function}+0x2a (/usr/lib/libapp.so.1)"
            )?;
        }
        out.bytes.push(b'\n');
        out.spill()?;
    }
    out.flush()
}
