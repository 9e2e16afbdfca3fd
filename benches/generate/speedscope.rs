//! A recording of py-spy as speedscope's JSON: stacks of 20 frames, of which each sample has
//! another one.

use super::{Out, Random};
use std::io::{self, Write};

const DEPTH: u64 = 20;
/// Functions of each depth.
const FUNCTIONS: u64 = 50;

/// Writes that many samples.
pub(crate) fn write(samples: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut random = Random(1);
    let mut out = Out::new(file);
    write!(
        out.bytes,
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[{{"type":"sampled","name":"Thread 1","unit":"seconds","startValue":0.0,"endValue":{},"samples":["#,
        samples as f64 / 100.0
    )?;
    for sample in 0..samples {
        out.bytes.extend_from_slice(if sample == 0 { b"[" } else { b",[" });
        for depth in 0..DEPTH {
            let comma = if depth == 0 { "" } else { "," };
            write!(out.bytes, "{comma}{}", depth * FUNCTIONS + random.skewed(FUNCTIONS))?;
        }
        out.bytes.push(b']');
        out.spill()?;
    }
    out.bytes.extend_from_slice(br#"],"weights":[0.01"#);
    for _ in 1..samples {
        out.bytes.extend_from_slice(b",0.01");
        out.spill()?;
    }
    out.bytes.extend_from_slice(br#"]}],"shared":{"frames":["#);
    for function in 0..DEPTH * FUNCTIONS {
        let (comma, module) = (if function == 0 { "" } else { "," }, function / FUNCTIONS);
        write!(
            out.bytes,
            r#"{comma}{{"name":"function{function}","file":"/srv/app/module{module}.py","line":{},"col":null}}"#,
            10 + function
        )?;
    }
    out.bytes.extend_from_slice(
        br#"]},"activeProfileIndex":null,"exporter":"py-spy@0.4.3","name":"app"}"#,
    );
    out.flush()
}
