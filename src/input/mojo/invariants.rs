//! The invariants that `check` verifies for a MOJO file; every Austin release keeps them.

use super::summary::{Tally, parse_ratio};
use crate::error::Result;
use crate::input::check::Findings;
use crate::input::read::ReadOptions;

pub(super) fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (tally, damage) = Tally::of(bytes, options)?;
    let mut findings = Findings::default();
    check_events(&tally, &mut findings);
    check_metrics(&tally, &mut findings);
    // The totals are at the end of the file: in a damaged file they are missing or incomplete.
    if damage.is_none() {
        check_totals(&tally, &mut findings);
    }
    findings.set_damage(damage);
    Ok(findings)
}

fn check_events(tally: &Tally<'_>, findings: &mut Findings) {
    findings.none(
        "events.outside_of_samples",
        tally.strays.0,
        "frames and metrics before the first stack",
    );
    findings.none("keys.unresolved", tally.symbols.unresolved(), "keys that are never defined");
    if tally.version < 4 {
        let newer = ["stack_repeat", "task_stack", "task_waiter", "task_running"]
            .map(|name| tally.count(name))
            .iter()
            .sum();
        findings.none("events.of_version_4", newer, "events of version 4 in an older file");
    }
}

fn check_metrics(tally: &Tally<'_>, findings: &mut Findings) {
    let mode = tally.metadatum("mode").unwrap_or("wall");
    if mode != "memory" {
        findings.none("samples.without_time", tally.timeless_samples.0, "samples without a time");
        findings.none("time.negative", u64::from(tally.time.0 < 0), "sums of times below zero");
    }
    if matches!(mode, "memory" | "full") {
        findings.none(
            "samples.without_memory",
            tally.memoryless_samples.0,
            "samples without a memory delta",
        );
    }
    if mode != "full" {
        findings.none("events.idle", tally.count("idle"), "idle marks outside of the mode `full`");
    }
}

/// Austin's own counts at the end of the file.
fn check_totals(tally: &Tally<'_>, findings: &mut Findings) {
    if let Some(count) = tally.number("count") {
        findings.equal("metadata.count", count, tally.samples.0, "samples");
    }
    if let Some((bad, total)) = tally.metadatum("errors").and_then(parse_ratio) {
        findings.equal("metadata.errors.total", total, tally.samples.0, "samples");
        findings.at_most("metadata.errors", bad, tally.invalid_samples.0, "invalid samples");
    }
    // From version 4 on the total counts sampling rounds.
    if let Some((_, total)) =
        tally.metadatum("saturation").and_then(parse_ratio).filter(|_| tally.version < 4)
    {
        findings.equal("metadata.saturation.total", total, tally.samples.0, "samples");
    }
    if let Some(time) = tally.number("gc") {
        let actual = u64::try_from(tally.gc_time.0).unwrap_or(0);
        findings.equal("metadata.gc", time, actual, "microseconds of garbage collection");
    }
}
