//! Every invariant that the format promises.

use super::report::{Damage, Verdict, print_verdict};
use crate::cli::open::Input;
use crate::cli::print::{Align, Table};
use crate::cli::session::Session;
use crate::cli::size::plural;
use crate::cli::status::{self, Status};
use crate::cli::terminal::{escaped, show_path};
use crate::input::check::{Finding, Findings};
use crate::input::{self, ReadOptions};

pub(super) fn run(input: &Input, session: &Session) -> anyhow::Result<Status> {
    let progress = session.progress(input);
    let options = ReadOptions { progress: &|offset| progress.reached(offset), ..ReadOptions::default() };
    let findings = input::check(input.format, input.bytes(), options).map_err(|error| input.error(error))?;
    drop(progress);
    let damage = findings.damage.as_ref().map(|damage| &damage.error);
    let damage = input.source.damage().or(damage);
    let ok = findings.ok() && damage.is_none();
    let text = || text(input, &findings, ok, session);
    let columns = super::report::columns(session, |finding: &Finding| finding);
    let damage_of_input = damage.map(|error| Damage { input, error });
    let verdict = Verdict { input, damage: damage_of_input, ok, warnings: &findings.warnings };
    print_verdict(verdict, &findings.findings, &columns, |finding| finding, &text, session)?;
    findings.warnings.iter().for_each(|warning| session.terminal.warn(&input.path, warning));
    Ok(match status::report_if_damaged(session, input, damage) {
        Status::Done if !ok => Status::Broken,
        status => status,
    })
}

/// Lists the failed rules (all rules with `--verbose`) and a summary.
fn text(input: &Input, findings: &Findings, ok: bool, session: &Session) -> String {
    let terminal = &session.terminal;
    let mut table = Table::of_sentences(&[Align::Left, Align::Left, Align::Left]);
    for finding in findings.findings.iter().filter(|finding| session.common.verbose || !finding.ok) {
        let verdict = if finding.ok { terminal.good("ok") } else { terminal.bad("FAIL") };
        table.row([verdict, escaped(&finding.rule), escaped(&finding.message)]);
    }
    let mut text = table.render();
    let broken = findings.findings.iter().filter(|finding| !finding.ok).count() as u64;
    let rules = plural(findings.findings.len() as u64, "rule", "rules");
    let path = show_path(&input.path);
    text.push_str(&match (ok, broken) {
        (true, _) => format!("{path}: {}, {rules} passed\n", terminal.good("ok")),
        (false, 0) => format!("{path}: {}; {rules} checked up to the damage, all passed\n", terminal.bad("damaged")),
        (false, _) => format!("{path}: {} of {} rules failed\n", terminal.bad(&broken.to_string()), findings.findings.len()),
    });
    text
}
