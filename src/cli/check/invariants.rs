//! Every invariant that the format promises.

use super::super::args::{Common, OutputFormat};
use super::super::export;
use super::super::open::Input;
use super::super::progress::Progress;
use super::super::size::plural;
use super::super::status::{self, Status};
use super::super::table::{Align, Table};
use super::super::terminal::{Terminal, show_path};
use crate::input::check::{Finding, Findings};
use crate::input::{self, ReadOptions};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    format: &'static str,
    ok: bool,
    damage: Option<input::info::DamageRow<'a>>,
    findings: &'a [Finding],
}

pub(super) fn run(input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let progress = Progress::new(input.bytes().len() as u64, terminal);
    let options = ReadOptions { progress: &|offset| progress.reached(offset), ..ReadOptions::default() };
    let findings = input::check(input.format, input.bytes(), options).map_err(|error| input.error(error))?;
    drop(progress);
    let damage = input.source.damage().or(findings.damage.as_ref().map(|damage| &damage.error));
    let ok = findings.ok() && damage.is_none();
    let text = match common.format {
        OutputFormat::Table => text(input, &findings, ok, common, terminal),
        OutputFormat::Json => {
            let document = Document {
                schema: "dumptool/check/1",
                file: input.path.display().to_string(),
                format: input.format.name(),
                ok,
                damage: damage.map(input::info::DamageRow),
                findings: &findings.findings,
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => export::lines(&findings.findings)?,
        OutputFormat::Csv => export::csv(findings.findings.iter().cloned())?,
    };
    super::super::print_text(&text, common)?;
    if let Some(damage) = damage {
        status::report_damage(&input.path, damage, terminal);
        return Ok(Status::Damaged);
    }
    Ok(if ok { Status::Done } else { Status::Broken })
}

/// Broken rules, or all of them when more is asked for, and a line that sums up.
fn text(input: &Input, findings: &Findings, ok: bool, common: &Common, terminal: &Terminal) -> String {
    let mut table = Table::of_sentences(&[Align::Left, Align::Left, Align::Left]);
    for finding in findings.findings.iter().filter(|finding| common.verbose || !finding.ok) {
        let verdict = if finding.ok { terminal.good("ok") } else { terminal.bad("FAIL") };
        table.row([verdict, finding.rule.clone(), finding.message.clone()]);
    }
    let mut text = table.render();
    let broken = findings.findings.iter().filter(|finding| !finding.ok).count() as u64;
    let rules = plural(findings.findings.len() as u64, "rule", "rules");
    let path = show_path(&input.path);
    text.push_str(&match (ok, broken) {
        (true, _) => format!("{path}: {}, {rules} hold\n", terminal.good("sound")),
        (false, 0) => format!("{path}: {}; the {rules} that could be checked hold\n", terminal.bad("damaged")),
        (false, _) => format!("{path}: {} of {rules} broken\n", terminal.bad(&broken.to_string())),
    });
    text
}
