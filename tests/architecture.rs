//! Data flows in one direction, and so do imports: input → model ← output, and only the command
//! line sees all.

use std::collections::BTreeSet;
use std::path::Path;

mod support;

/// What each module of the crate may import from the others.
const ALLOWED: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("bytes", &["error"]),
    ("source", &["error", "vm_service"]),
    ("allocator", &["pages", "spill"]),
    ("pages", &[]),
    ("spill", &[]),
    ("spill_elsewhere", &[]),
    ("vm_service", &[]),
    ("java", &[]),
    ("model", &[]),
    ("analysis", &["model"]),
    ("input", &["bytes", "error", "java", "model"]),
    ("detect", &["error", "input"]),
    ("output", &["analysis", "error", "java", "model"]),
    ("open", &["analysis", "detect", "error", "input", "model", "output", "source"]),
    ("cli", &["analysis", "detect", "error", "input", "model", "open", "output", "source"]),
    ("lib", &[]),
    ("main", &[]),
];

#[test]
fn imports_go_in_one_direction() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = BTreeSet::new();
    for path in support::files(&sources) {
        let relative = path.strip_prefix(&sources).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        let (_, allowed) = ALLOWED
            .iter()
            .find(|(name, _)| *name == module)
            .unwrap_or_else(|| panic!("what may {module} import?"));
        let text = std::fs::read_to_string(&path).unwrap();
        // Tests inside of a module may use what they like.
        let code = text.split("#[cfg(test)]").next().unwrap();
        for import in code.split("crate::").skip(1) {
            let to: String =
                import.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(
                to == module || allowed.contains(&to.as_str()),
                "{} imports {to}",
                relative.display()
            );
        }
        seen.insert(module);
    }
    assert_eq!(seen.len(), ALLOWED.len(), "a module is gone or misspelt in the list: {seen:?}");
}

#[test]
fn readers_do_not_import_each_other() {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/input");
    let formats = [
        "austin",
        "dart",
        "folded",
        "go",
        "heapsnapshot",
        "hprof",
        "mojo",
        "mvmheap",
        "perf_script",
        "pmat",
        "pprof",
        "ruby",
        "speedscope",
        "v8profile",
    ];
    for format in formats {
        for path in support::files(&inputs.join(format)) {
            let text = std::fs::read_to_string(&path).unwrap();
            // A path can begin at the crate or at a parent, and name several modules in braces.
            let lines: String = text.lines().flat_map(|line| ["\n", line.trim_start()]).collect();
            let imports = lines
                .split("\nuse ")
                .skip(1)
                .map(|rest| rest.split(';').next().unwrap_or_default());
            let words: BTreeSet<_> = imports
                .flat_map(|path| path.split(|c: char| !c.is_alphanumeric() && c != '_'))
                .collect();
            for other in formats.iter().filter(|other| **other != format) {
                let named = words.contains(other) || text.contains(&format!("input::{other}"));
                assert!(!named, "{} imports {other}", path.display());
            }
        }
    }
}

#[test]
fn formats_do_not_import_the_room_that_imports_them() {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/input");
    let formats = [
        "austin",
        "dart",
        "folded",
        "go",
        "heapsnapshot",
        "hprof",
        "mojo",
        "mvmheap",
        "perf_script",
        "pmat",
        "pprof",
        "ruby",
        "speedscope",
        "v8profile",
    ];
    for path in support::files(&inputs) {
        let relative = path.strip_prefix(&inputs).unwrap();
        let of = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        if of == "mod.rs" {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for import in text.split("crate::input::").skip(1) {
            let room: String =
                import.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // What stands in `mod.rs` itself begins with a capital letter, a brace, or is a
            // function.
            let shared = inputs.join(format!("{room}.rs")).exists();
            let own = formats.contains(&room.as_str()) && room == of;
            assert!(
                shared || own,
                "{} imports input::{room} of input/mod.rs or of another format",
                relative.display()
            );
        }
        if !formats.contains(&of.as_str()) {
            let up = ["super::{", "super::"]
                .map(|prefix| formats.map(|format| format!("{prefix}{format}")));
            let named = up.iter().flatten().find(|import| text.contains(import.as_str()));
            assert!(
                named.is_none() || of == "info",
                "{} imports a format: {named:?}",
                relative.display()
            );
        }
    }
}

#[test]
fn commands_do_not_import_each_other() {
    let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli");
    let commands = [
        "cat", "check", "convert", "diff", "find", "formats", "info", "path", "query", "show",
        "threads", "top", "tree", "waste",
    ];
    for command in commands {
        let (file, folder) = (rooms.join(format!("{command}.rs")), rooms.join(command));
        let files = [file]
            .into_iter()
            .filter(|file| file.exists())
            .chain(folder.exists().then(|| support::files(&folder)).into_iter().flatten());
        for path in files.collect::<Vec<_>>() {
            // The module of the file, below `cli`: `super` is one less of it.
            let relative = path.strip_prefix(&rooms).unwrap().with_extension("");
            let module: Vec<String> = relative
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .filter(|part| part != "mod")
                .collect();
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for import in imports(code) {
                let mut steps = import.iter().map(String::as_str).peekable();
                let mut here: Vec<&str> = match steps.peek() {
                    Some(&"crate") => {
                        steps.next();
                        if steps.next() != Some("cli") {
                            continue;
                        }
                        Vec::new()
                    }
                    Some(&"super") => module.iter().map(String::as_str).collect(),
                    _ => continue,
                };
                while steps.next_if_eq(&"super").is_some() {
                    here.pop();
                }
                here.extend(steps);
                let other =
                    here.first().filter(|first| **first != command && commands.contains(first));
                assert_eq!(
                    other,
                    None,
                    "{} imports a command: {}",
                    path.display(),
                    import.join("::")
                );
            }
        }
    }
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
