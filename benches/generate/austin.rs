//! The text of Austin for a MOJO profile, written by the tool itself.

use super::mojo;
use dumptool::input::ReadOptions;
use dumptool::input::mojo::samples::for_each_sample;
use dumptool::input::mojo::symbols::Lookup;
use dumptool::output::austin::{AustinWriter, Dialect};
use std::io::{self, BufWriter, Write};

/// Writes that many samples.
pub(crate) fn write(samples: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut profile = Vec::new();
    mojo::write(samples, &mut profile)?;
    let out = BufWriter::with_capacity(1 << 20, file);
    let mut writer = AustinWriter::new(out, Dialect::Full);
    let (_, stop) = for_each_sample(&profile, Lookup::Robust, ReadOptions::default(), &mut writer);
    stop.map_or(Ok(()), |stop| Err(io::Error::other(format!("{stop:?}"))))?;
    writer.finish()?;
    Ok(())
}
