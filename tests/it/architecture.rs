//! Data flows in one direction, and so do imports: input → model ← output, and only the command
//! line sees all.

use crate::support::{format_modules, sources};
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use std::collections::BTreeSet;

/// What each module of the crate may import from the others.
const ALLOWED: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("bytes", &["error"]),
    ("parallel", &["phases"]),
    ("phases", &[]),
    ("plain", &[]),
    ("source", &["error", "vm_service"]),
    ("allocator", &["pages", "spill"]),
    ("pages", &[]),
    ("spill", &[]),
    ("spill_elsewhere", &[]),
    ("vm_service", &[]),
    ("java", &[]),
    ("model", &["parallel", "plain"]),
    ("names", &["error", "java", "parallel", "source"]),
    ("analysis", &["model", "parallel", "phases", "plain"]),
    ("symbols", &["bytes", "error", "input", "model", "parallel", "source"]),
    ("input", &["bytes", "error", "java", "model", "names", "parallel", "phases", "plain"]),
    ("detect", &["error", "input"]),
    ("output", &["analysis", "error", "java", "model"]),
    ("tables", &["analyses", "analysis", "model", "output", "parallel"]),
    ("analyses", &["analysis", "input", "model", "parallel", "phases"]),
    ("convert", &["analyses", "analysis", "error", "input", "model", "names", "output", "tables"]),
    (
        "open",
        &[
            "analyses", "analysis", "convert", "detect", "error", "input", "model", "names",
            "output", "source", "symbols",
        ],
    ),
    (
        "cli",
        &[
            "analyses", "analysis", "convert", "detect", "error", "input", "model", "names",
            "open", "output", "parallel", "phases", "source", "symbols", "tables",
        ],
    ),
    ("lib", &[]),
    ("main", &[]),
];

#[test]
fn imports_go_in_one_direction() {
    let mut seen = BTreeSet::new();
    for (path, text) in sources("src") {
        let first = path.split('/').next().unwrap();
        let module = first.trim_end_matches(".rs").to_owned();
        let (_, allowed) = ALLOWED
            .iter()
            .find(|(name, _)| *name == module)
            .unwrap_or_else(|| panic!("what may {module} import?"));
        let code = without_tests(&text);
        for import in code.split("crate::").skip(1) {
            let to: String =
                import.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(to == module || allowed.contains(&to.as_str()), "{path} imports {to}");
        }
        seen.insert(module);
    }
    assert_eq!(seen.len(), ALLOWED.len(), "a module is gone or misspelt in the list: {seen:?}");
}

#[test]
fn readers_do_not_import_each_other() {
    let formats = format_modules();
    assert!(formats.len() > 10, "the formats were found: {formats:?}");
    for format in &formats {
        for (path, text) in sources(&format!("src/input/{format}")) {
            // A path can begin at the crate or at a parent, and name several modules in braces.
            let lines: String = text.lines().flat_map(|line| ["\n", line.trim_start()]).collect();
            let imports = lines
                .split("\nuse ")
                .skip(1)
                .map(|rest| rest.split(';').next().unwrap_or_default());
            let words: BTreeSet<_> = imports
                .flat_map(|path| path.split(|c: char| !c.is_alphanumeric() && c != '_'))
                .collect();
            for other in formats.iter().filter(|other| *other != format) {
                let named =
                    words.contains(other.as_str()) || text.contains(&format!("input::{other}"));
                assert!(!named, "{format}/{path} imports {other}");
            }
        }
    }
}

#[test]
fn formats_do_not_import_the_room_that_imports_them() {
    let (formats, files) = (format_modules(), sources("src/input"));
    for (path, text) in files.iter().filter(|(path, _)| path != "mod.rs") {
        let of = path.split('/').next().unwrap();
        for import in text.split("crate::input::").skip(1) {
            let room: String =
                import.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // The types that the table of formats declares.
            let is_declared =
                ["Format", "Kind"].contains(&room.as_str()) || import.starts_with("{Format, Kind}");
            let shared = files.iter().any(|(path, _)| *path == format!("{room}.rs"));
            let own = formats.contains(&room) && room == of;
            assert!(
                shared || own || is_declared,
                "{path} imports input::{room} of input/mod.rs or of another format",
            );
        }
        if !formats.iter().any(|format| format == of) {
            let named = formats.iter().find(|format| {
                ["super::{", "super::"].iter().any(|up| text.contains(&format!("{up}{format}")))
            });
            assert!(named.is_none() || of == "info", "{path} imports a format: {named:?}");
        }
    }
}

#[test]
fn commands_do_not_import_each_other() {
    let files = sources("src/cli");
    let (_, text) = files.iter().find(|(path, _)| path == "mod.rs").unwrap();
    let table = text.split("\ncommands! {").nth(1).unwrap().split("\n}").next().unwrap();
    // `"info" Info(InfoArgs) => info::run, ONE;` is run by the module `info`.
    let commands: Vec<&str> = table
        .lines()
        .filter_map(|line| line.split_once("=> ")?.1.split_once("::run,"))
        .map(|(module, _)| module)
        .collect();
    assert!(commands.len() > 15 && commands.contains(&"serve"), "{commands:?}");
    let mut seen = BTreeSet::new();
    for (path, text) in &files {
        // The module of the file, below `cli`: `super` is one less of it.
        let module: Vec<&str> =
            path.trim_end_matches(".rs").split('/').filter(|part| *part != "mod").collect();
        let Some(&command) = module.first().filter(|first| commands.contains(first)) else {
            continue;
        };
        seen.insert(command.to_owned());
        for import in imports(&without_tests(text)) {
            let mut steps = import.iter().map(String::as_str).peekable();
            let mut here: Vec<&str> = match steps.peek() {
                Some(&"crate") => {
                    steps.next();
                    if steps.next() != Some("cli") {
                        continue;
                    }
                    Vec::new()
                }
                Some(&"super") => module.clone(),
                _ => continue,
            };
            while steps.next_if_eq(&"super").is_some() {
                here.pop();
            }
            here.extend(steps);
            let other = here.first().filter(|first| **first != command && commands.contains(first));
            assert_eq!(other, None, "{path} imports a command: {}", import.join("::"));
        }
    }
    assert_eq!(seen.len(), commands.len(), "a command is gone: {seen:?}");
}

/// A module and its own parts belong together: the parent declares them, and they use its types. No
/// other files need each other in turn, except a heap and its values, which need it to be asked.
#[test]
fn no_files_import_each_other_in_a_circle() {
    let files = sources("src");
    let modules: Vec<Vec<&str>> = files.iter().map(|(path, _)| module_of(path)).collect();
    let mut graph = DiGraph::<&str, ()>::new();
    let nodes: Vec<_> = files.iter().map(|(path, _)| graph.add_node(path.as_str())).collect();
    for (at, (_, text)) in files.iter().enumerate() {
        for import in imports(&without_tests(text)) {
            let Some(to) = file_of(&import, &modules[at], &modules) else { continue };
            let is_tied =
                [&modules[at], &modules[to]] == [&["model", "values"], &["model", "heap"]];
            if to != at && !is_tied && !modules[to].starts_with(&modules[at]) {
                graph.update_edge(nodes[at], nodes[to], ());
            }
        }
    }
    assert!(graph.edge_count() > files.len(), "imports were found: {}", graph.edge_count());
    let circles: Vec<Vec<&str>> = tarjan_scc(&graph)
        .into_iter()
        .filter(|files| files.len() > 1)
        .map(|files| files.into_iter().map(|file| graph[file]).collect())
        .collect();
    assert!(circles.is_empty(), "files import each other: {circles:#?}");
}

/// The path of a file's module from the crate.
fn module_of(path: &str) -> Vec<&str> {
    let parts = path.trim_end_matches(".rs").split('/');
    parts.filter(|part| !["mod", "lib"].contains(part)).collect()
}

/// The file with the module that a path in `here` names. None: another crate's, or an item that a
/// parent hands on.
fn file_of(import: &[String], here: &[&str], modules: &[Vec<&str>]) -> Option<usize> {
    let mut steps = import.iter().map(String::as_str).peekable();
    let mut path = match *steps.peek()? {
        "crate" => {
            steps.next();
            Vec::new()
        }
        "super" => here.to_vec(),
        _ => return None,
    };
    while steps.next_if_eq(&"super").is_some() {
        path.pop();
    }
    path.extend(steps);
    // The last step is an item, unless it is the module itself.
    [path.len(), path.len().saturating_sub(1)]
        .into_iter()
        .find_map(|end| modules.iter().position(|module| *module == path[..end]))
        .filter(|file| !modules[*file].is_empty())
}

/// The code without comments and without what only tests have: they may use what they like.
fn without_tests(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            code.extend([line, "\n"]);
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_end =
            |line: &&str| line.ends_with(';') || line.ends_with('{') || line.ends_with('}');
        if lines.by_ref().find(is_end).is_some_and(|line| line.ends_with('{')) {
            let end = format!("{indent}}}");
            lines.by_ref().find(|line| *line == end);
        }
    }
    code
}

/// The paths that code imports or names, one for each item in braces.
fn imports(code: &str) -> Vec<Vec<String>> {
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut paths = Vec::new();
    // Prefixes of the braces that are open.
    let mut open: Vec<Vec<String>> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in code.chars() {
        match c {
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            ':' => path.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            '{' => open.push(std::mem::take(&mut path)),
            _ => {
                path.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                if path.len() + open.last().map_or(0, Vec::len) > 1 {
                    paths.push(open.iter().flatten().chain(&path).cloned().collect());
                }
                path.clear();
                if c == '}' {
                    open.pop();
                }
            }
        }
    }
    paths
}
