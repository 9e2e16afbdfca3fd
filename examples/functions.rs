//! The functions of a profile with the largest self values:
//! `cargo run --example functions -- FILE`.

use dumptool::analysis::profile::{FrameBy, Selected, TopBy, top};
use std::error::Error;
use std::io::Write;

/// Prints the self and total values of the five most expensive functions, in the profile's default
/// metric.
pub fn run(path: &str, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let dump = dumptool::open(path)?;
    let profile = dump.profile()?;
    let metric = profile.default_metric();
    let mut functions =
        top(&Selected::of(&profile, &Default::default()), TopBy::Frames(FrameBy::Function));
    functions.sort(&metric, false);
    for row in functions.rows.iter().take(5) {
        writeln!(
            out,
            "{:>9} {:>9}  {}",
            row.sums.own.get(&metric),
            row.sums.total.get(&metric),
            row.label.name
        )?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: functions FILE")?;
    run(&path, &mut std::io::stdout())
}
