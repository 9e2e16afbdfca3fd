//! `check` of Austin's text.

use super::summary::read;
use crate::error::Result;
use crate::input::check::Findings;
use crate::input::read::ReadOptions;

/// Checks a profile.
///
/// # Errors
/// When no line has the format.
pub fn check(bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    let (profile, damage) = read(bytes, options)?;
    let mut findings = Findings::default();
    findings.none(
        "samples.without_metric",
        profile.notes.without_metric,
        "samples without a metric",
    );
    findings.none("names.utf8", profile.notes.replaced, "names that are not UTF-8");
    findings.none("time.negative", u64::from(profile.total.time() < 0), "sums of times below zero");
    // The totals are at the end of the file: in a damaged file they are missing or incomplete.
    if damage.is_none() {
        if let Some(count) = profile.metadatum("count").and_then(|count| count.trim().parse().ok())
        {
            findings.equal("metadata.count", count, profile.total.samples(), "samples");
        }
        if let Some(time) = profile.metadatum("gc").and_then(|gc| gc.trim().parse().ok()) {
            // A dialect that leaves out GC frames has nothing to add up.
            let actual = u64::try_from(profile.total.gc_time()).unwrap_or(0);
            if profile.total.gc_samples() > 0 {
                findings.equal("metadata.gc", time, actual, "microseconds of garbage collection");
            }
        }
    }
    findings.set_damage(damage);
    Ok(findings)
}
