//! Every invariant that the format promises.

use super::report::{Damage, Outcome, Report};
use crate::cli::args::CheckArgs;
use crate::cli::memory::reading_limit;
use crate::cli::open::Input;
use crate::cli::print::{Align, Table};
use crate::cli::profile::refused;
use crate::cli::session::Session;
use crate::cli::size::plural;
use crate::cli::status::Status;
use crate::cli::terminal::{escaped, show_path};
use crate::input::check::Findings;
use crate::input::{self, ReadOptions};

pub(super) fn run(args: &CheckArgs, input: &Input, session: &Session) -> anyhow::Result<Report> {
    input.accept(&args.heap.roots.of_formats())?;
    let progress = session.progress(input);
    let options = ReadOptions {
        memory: reading_limit(input, &session.common),
        layout: args.heap.roots.layout(),
        progress: &|offset| progress.reached(offset),
        ..ReadOptions::default()
    };
    let findings = input::check(input.format, input.bytes(), options)
        .map_err(|error| refused(error, input, &session.common))?;
    drop(progress);
    let damage = input.source.damage().or(findings.damage.as_ref().map(|damage| &damage.error));
    let ok = findings.ok() && damage.is_none();
    let text = text(input, &findings, ok, session);
    // Data that every HotSpot dump omits is not worth a warning.
    findings
        .warnings
        .iter()
        .filter(|warning| session.common.verbose || !warning.is_usual())
        .for_each(|warning| session.terminal.warn(&input.path, &warning.to_string()));
    let status = match input.report_if_damaged(damage, &session.terminal) {
        Status::Done if !ok => Status::Broken,
        status => status,
    };
    let damage = damage.map(|error| Damage::of(input, error));
    let outcome = |finding| Outcome { finding, kind: "invariant", ..Outcome::default() };
    Ok(Report {
        path: input.path.clone(),
        format: input.format,
        status,
        ok,
        damage,
        warnings: findings.warnings,
        outcomes: findings.findings.into_iter().map(outcome).collect(),
        filters: args.profile.narrow.clone(),
        text,
    })
}

/// Lists the failed rules (all rules with `--verbose`) and a summary.
fn text(input: &Input, findings: &Findings, ok: bool, session: &Session) -> String {
    let terminal = &session.terminal;
    let mut table = Table::of_sentences(&[Align::Left, Align::Left, Align::Left]);
    for finding in findings.findings.iter().filter(|finding| session.common.verbose || !finding.ok)
    {
        let verdict = if finding.ok { terminal.good("ok") } else { terminal.bad("FAIL") };
        table.row([verdict, escaped(&finding.rule), escaped(&finding.message)]);
    }
    let mut text = table.render();
    let broken = findings.findings.iter().filter(|finding| !finding.ok).count() as u64;
    let rules = plural(findings.findings.len() as u64, "rule", "rules");
    let path = show_path(&input.path);
    text.push_str(&match (ok, broken) {
        (true, _) => format!("{path}: {}, {rules} passed\n", terminal.good("ok")),
        (false, 0) => format!(
            "{path}: {}; {rules} checked up to the damage, all passed\n",
            terminal.bad("damaged")
        ),
        (false, _) => format!(
            "{path}: {} of {} rules failed\n",
            terminal.bad(&broken.to_string()),
            findings.findings.len()
        ),
    });
    text
}
