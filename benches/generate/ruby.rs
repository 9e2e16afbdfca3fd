//! A dump of Ruby 3.1 with traced allocations: objects of some classes, which refer to two objects
//! near them, as lists and trees of an application do.

use super::{Out, Random};
use std::io::{self, Write};

const CLASSES: u64 = 400;
const SITES: u64 = 3_000;
const BASE: u64 = 0x7f2f_3fa0_0000;

/// Writes a dump of that many objects.
pub(crate) fn write(objects: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut random = Random(1);
    let mut out = Out::new(file);
    let address = |number: u64| BASE + 40 * number;
    writeln!(
        out.bytes,
        r#"{{"type":"ROOT", "root":"vm", "references":["{:#x}", "{:#x}"]}}"#,
        address(0),
        address(CLASSES)
    )?;
    for class in 0..CLASSES {
        writeln!(
            out.bytes,
            r#"{{"address":"{:#x}", "type":"CLASS", "class":"{:#x}", "name":"Shop::Model{class}", "references":["{:#x}"], "memsize":592, "flags":{{"wb_protected":true, "old":true, "uncollectible":true, "marked":true}}}}"#,
            address(class),
            address(0),
            address((class + 1) % CLASSES),
        )?;
    }
    for number in CLASSES..objects.max(CLASSES + 1) {
        let site = random.skewed(SITES);
        let next = address((number + 1).min(objects - 1));
        let other = address(CLASSES + random.below(number - CLASSES + 1));
        writeln!(
            out.bytes,
            r#"{{"address":"{:#x}", "type":"OBJECT", "class":"{:#x}", "embedded":true, "ivars":3, "references":["{next:#x}", "{other:#x}"], "file":"/srv/shop/app/models/model_{}.rb", "line":{}, "method":"new", "generation":{}, "memsize":40, "flags":{{"wb_protected":true, "old":true, "uncollectible":true, "marked":true}}}}"#,
            address(number),
            address(random.skewed(CLASSES)),
            site / 40,
            10 + site % 40 * 7,
            15 + number / 100_000,
        )?;
        out.spill()?;
    }
    out.flush()
}
