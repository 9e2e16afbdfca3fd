//! The documents of `--format json`: printed as docs/json.md declares them, described by
//! docs/schemas, and compatible with the last release.
//!
//! `TRYCMD=overwrite` (with `--test-threads 1`) adds what is printed to docs/json.md and writes the
//! schemas; meanings are written by hand. `TRYCMD=release` writes docs/schemas/released.txt.

mod contract;
mod schema;

use crate::support::{files, fixture};
use contract::{Contract, Section};
use rayon::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

fn wanted(what: &str) -> bool {
    std::env::var("TRYCMD").is_ok_and(|value| value == what)
}

fn declared() -> Contract {
    Contract::parse(&fs::read_to_string(docs("json.md")).unwrap())
}

/// The lines of commands.txt, one for each file in brackets.
fn commands() -> Vec<String> {
    let mut commands = Vec::new();
    for line in include_str!("commands.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((before, rest)) = line.split_once('[') else {
            commands.push(line.to_owned());
            continue;
        };
        let (files, after) = rest.split_once(']').unwrap();
        commands.extend(files.split(' ').map(|file| format!("{before}{file}{after}")));
    }
    commands
}

fn run(words: &[String], folder: &Path) -> Option<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dumptool"));
    command.args(words).args(["--format", "json"]).current_dir(folder);
    serde_json::from_slice(&command.output().unwrap().stdout).ok()
}

/// Objects of the dominator tree, for the commands about one.
fn some_ids(words: &[String], folder: &Path) -> Vec<String> {
    let file = words.iter().find(|word| word.contains('/')).unwrap();
    let tree = run(&["tree".into(), file.clone(), "--depth".into(), "6".into()], folder).unwrap();
    let ids = tree["nodes"].as_array().unwrap().iter();
    ids.filter_map(|node| Some(node["object"].as_str()?.to_owned())).take(8).collect()
}

/// The documents that a command prints: one, or one for each object.
fn printed(command: &str, out: &Path) -> Vec<Value> {
    let folder = fixture("");
    let words = command
        .split(' ')
        .map(|word| word.replace("%20", " ").replace("OUT", out.to_str().unwrap()));
    let words: Vec<String> = words.collect();
    let run = |words: &[String]| {
        run(words, &folder).unwrap_or_else(|| panic!("{command} prints no document"))
    };
    let Some(at) = words.iter().position(|word| word == "ID") else { return vec![run(&words)] };
    let mut words = words;
    let ids = some_ids(&words[..at], &folder);
    assert!(!ids.is_empty(), "{command}");
    ids.into_iter()
        .map(|id| {
            words[at] = id;
            run(&words)
        })
        .collect()
}

#[test]
fn every_key_is_printed_as_documented() {
    let out = tempfile::tempdir().unwrap();
    let commands = commands();
    let printed: Vec<_> = commands.par_iter().map(|command| printed(command, out.path())).collect();
    let mut contract = declared();
    for (command, documents) in commands.iter().zip(printed) {
        documents.iter().for_each(|document| contract.watch(document, command));
    }
    if wanted("overwrite") {
        contract.learn();
        fs::write(docs("json.md"), contract.to_string()).unwrap();
    }
    let problems = contract.problems();
    assert!(
        problems.is_empty(),
        "docs/json.md (TRYCMD=overwrite adds keys):\n{}",
        problems.join("\n")
    );
}

/// The source in a folder, with each call on a line.
fn source(folder: &str) -> String {
    let paths = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let sources = paths.iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let source: String = sources.map(|path| fs::read_to_string(path).unwrap()).collect();
    source.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(")
}

/// Keys that are columns of CSV only, or of a table of `explore`.
const NOT_IN_JSON: [&str; 4] = ["every", "root_kind", "slots", "step"];

/// Also what no command of the other test prints. The keys are looked for by name alone.
#[test]
fn every_key_of_the_code_is_documented() {
    let (contract, source, commands) = (declared(), source("src"), source("src/cli"));
    let rows = contract.sections.iter().flat_map(|section| &section.rows);
    let names: Vec<&str> =
        rows.flat_map(|row| row.path.split('.')).map(|key| key.trim_end_matches("[]")).collect();
    for name in &names {
        let is_there = [format!("\"{name}\""), format!("{name}:"), format!(".{name}\"")];
        assert!(is_there.iter().any(|part| source.contains(part)), "nothing prints {name}");
    }
    for call in ["with", "rows", "some_rows", "text", "number", "bytes", "value", "json"] {
        for rest in commands.split(&format!(".{call}(\"")).skip(1) {
            let (key, _) = rest.split_once('"').unwrap();
            let is_key = key.chars().all(|at| at.is_ascii_lowercase() || "._".contains(at));
            if is_key && !NOT_IN_JSON.contains(&key) {
                let known = key.split('.').all(|part| names.contains(&part));
                assert!(known, "{key} is not in docs/json.md");
            }
        }
    }
}

#[test]
fn the_schemas_are_those_of_the_document() {
    let contract = declared();
    let folder = docs("schemas");
    for section in contract.sections.iter().filter(|section| section.is_document()) {
        let name = section.name.replace('/', "-").replace("dumptool-", "") + ".json";
        let text = schema::text(&schema::of(section, &contract));
        if wanted("overwrite") {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(&name), &text).unwrap();
        }
        let stored = fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert!(stored == text, "docs/schemas/{name} differs: run with TRYCMD=overwrite");
        assert!(serde_json::from_str::<Value>(&text).is_ok());
    }
}

/// The keys of the last release. One may be added, but none removed or given another type.
#[test]
fn no_released_key_changes() {
    let contract = declared();
    let path = docs("schemas/released.txt");
    if wanted("release") {
        let version = env!("CARGO_PKG_VERSION");
        let lines = contract.sections.iter().flat_map(Section::lines).collect::<String>();
        fs::write(&path, format!("# Keys of {version}\n{lines}")).unwrap();
    }
    for line in fs::read_to_string(&path).unwrap().lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let [section, path, kinds, always] = fields[..] else { panic!("{line}") };
        let section = contract.section(section).unwrap_or_else(|| panic!("{section} is gone"));
        let row = section.row(path).unwrap_or_else(|| panic!("{} {path} is gone", section.name));
        let known: Vec<_> = kinds.split(" or ").collect();
        let is_same = row.kinds.iter().all(|kind| known.contains(&kind.as_str()));
        assert!(is_same, "{} {path} was {kinds}, and is {}", section.name, row.kinds.join(" or "));
        assert!(always.is_empty() || row.always, "{} {path} was always there", section.name);
    }
}
