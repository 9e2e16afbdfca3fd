//! A Dart heap snapshot as hprof, written by the tool itself.

use super::dart;
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::output::hprof::{self, HprofOptions};
use std::io::{self, BufWriter, Write};

/// Writes a dump of that many objects of Dart, and of what texts and the like need besides.
pub(crate) fn write(objects: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut snapshot = Vec::new();
    dart::write(objects, &mut snapshot)?;
    let loaded =
        input::load(Format::Dart, &snapshot, LoadOptions::default()).map_err(io::Error::other)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    hprof::write(&loaded.heap, &HprofOptions::default(), &mut out)?;
    out.flush()
}
