//! Profiles of Node 24: of the CPU, and sampled allocations.

use super::{Out, Random};
use std::io::{self, Write};

/// Nodes of the tree of calls of a CPU profile.
const NODES: u64 = 20_000;
const DEPTH: usize = 40;

/// Writes a CPU profile of that many samples.
pub(crate) fn write_cpu(samples: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut random = Random(1);
    // A node's caller is one of those before it, and often the last.
    let mut children = vec![Vec::new(); NODES as usize];
    for node in 1..NODES {
        let caller = node - 1 - random.skewed(node.min(200));
        children[caller as usize].push(node + 1);
    }
    let mut out = Out::new(file);
    out.bytes.extend_from_slice(br#"{"nodes":["#);
    for (node, children) in (0..NODES).zip(children) {
        let comma = if node == 0 { "" } else { "," };
        write!(out.bytes, r#"{comma}{{"id":{},"#, node + 1)?;
        call_frame(node, &mut out)?;
        out.bytes.extend_from_slice(br#","hitCount":0"#);
        if !children.is_empty() {
            write!(out.bytes, r#","children":{children:?}"#)?;
        }
        out.bytes.push(b'}');
        out.spill()?;
    }
    let end = 1_000_000 + samples * 1_250;
    write!(out.bytes, r#"],"startTime":1000000,"endTime":{end},"samples":[1"#)?;
    for _ in 1..samples {
        write!(out.bytes, ",{}", 1 + random.skewed(NODES))?;
        out.spill()?;
    }
    out.bytes.extend_from_slice(br#"],"timeDeltas":[1250"#);
    for _ in 1..samples {
        write!(out.bytes, ",{}", 1_000 + random.skewed(500))?;
        out.spill()?;
    }
    out.bytes.extend_from_slice(b"]}");
    out.flush()
}

/// Writes a profile of allocations whose tree has that many nodes, with a sample for each.
pub(crate) fn write_heap(nodes: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut random = Random(1);
    let mut out = Out::new(file);
    out.bytes.extend_from_slice(br#"{"head":{"#);
    let mut depth = 0_usize;
    for node in 0..nodes {
        if node > 0 {
            // A callee of the last node, or of one of its callers.
            let up = random.below(3).min(depth as u64) as usize;
            let up = if depth + 1 - up > DEPTH { depth } else { up };
            match up {
                0 => out.bytes.push(b'{'),
                _ => {
                    (0..up).for_each(|_| out.bytes.extend_from_slice(b"]}"));
                    out.bytes.extend_from_slice(b",{");
                }
            }
            depth = depth + 1 - up;
        }
        call_frame(node % NODES, &mut out)?;
        write!(out.bytes, r#","selfSize":{},"id":{},"children":["#, 512 * (node % 9), node + 1)?;
        out.spill()?;
    }
    (0..=depth).for_each(|_| out.bytes.extend_from_slice(b"]}"));
    out.bytes.extend_from_slice(br#","samples":["#);
    for node in 0..nodes {
        let comma = if node == 0 { "" } else { "," };
        let id = node + 1;
        write!(
            out.bytes,
            r#"{comma}{{"size":{},"nodeId":{id},"ordinal":{id}}}"#,
            512 * (node % 9)
        )?;
        out.spill()?;
    }
    out.bytes.extend_from_slice(b"]}");
    out.flush()
}

fn call_frame(node: u64, out: &mut Out<'_>) -> io::Result<()> {
    let (function, script) = (node % 5_000, node % 300);
    let name = if node == 0 { "(root)".to_owned() } else { format!("function{function}") };
    write!(
        out.bytes,
        r#""callFrame":{{"functionName":"{name}","scriptId":"{script}","url":"file:///srv/app/lib/module{script}.js","lineNumber":{},"columnNumber":{}}}"#,
        10 + function,
        function % 80
    )
}
