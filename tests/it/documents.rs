//! Documents for those who are new, people and assistants: commands work, links lead somewhere.

use crate::support::fixture;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_skill_is_printed() {
    let mut dumptool = Command::new(env!("CARGO_BIN_EXE_dumptool"));
    let output = dumptool.args(["mcp", "--print-skill"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout, std::fs::read(root().join("SKILL.md")).unwrap());
}

/// The lines of the blocks of shell commands.
fn commands(text: &str) -> Vec<&str> {
    let blocks = text.split("```sh\n").skip(1);
    blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines()).collect()
}

#[cfg(unix)]
#[test]
fn every_command_of_the_skill_works() {
    let text = std::fs::read_to_string(root().join("SKILL.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, of) in [
        ("app.hprof", "hprof/small_java17.hprof.zst"),
        ("cpu.pb.gz", "pprof/go127-cpu.pb.gz"),
        ("base.heapsnapshot", "heapsnapshot/sessions-node24-small.heapsnapshot.zst"),
        ("before.heapsnapshot", "heapsnapshot/sessions-node24-small.heapsnapshot.zst"),
        ("after.heapsnapshot", "heapsnapshot/sessions-node24-small.heapsnapshot.zst"),
    ] {
        std::fs::copy(fixture(of), folder.path().join(name)).unwrap();
    }
    let commands = commands(&text);
    assert!(commands.len() > 15, "{commands:?}");
    let program = Path::new(env!("CARGO_BIN_EXE_dumptool")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    for command in commands {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", &path).current_dir(&folder);
        let run = shell.output().unwrap();
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{command}: {errors}");
        let is_silent = command.contains(" convert ") || command.contains(" report ");
        assert!(is_silent || !run.stdout.is_empty(), "{command} prints nothing: {errors}");
    }
}

/// The Markdown files of the project, and llms.txt.
fn documents() -> Vec<PathBuf> {
    let is_document = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "md") || path.ends_with("llms.txt")
    };
    let listed = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|at| at.unwrap().path());
    let mut documents: Vec<_> = listed(root()).filter(is_document).collect();
    let mut folders: Vec<_> =
        [".github", "contrib", "docs", "fixtures"].map(|name| root().join(name)).into();
    while let Some(folder) = folders.pop() {
        documents.extend(listed(&folder).filter(is_document));
        folders.extend(listed(&folder).filter(|path| path.is_dir()));
    }
    documents
}

#[test]
fn links_between_documents_lead_to_files() {
    let documents = documents();
    assert!(documents.len() > 30, "{documents:?}");
    for document in documents {
        let text = std::fs::read_to_string(&document).unwrap();
        // What stands in code is shown, not followed.
        let prose: String = text.split("```").step_by(2).collect();
        let prose: String = prose.split('`').step_by(2).collect::<Vec<_>>().join("x");
        for link in prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()) {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let target = document.parent().unwrap().join(target);
            assert!(target.exists(), "{}: no file for {link}", document.display());
        }
    }
}

#[test]
fn the_readme_and_the_changes_name_the_version() {
    let version = env!("CARGO_PKG_VERSION");
    let text = |name| std::fs::read_to_string(root().join(name)).unwrap();
    let dependency = format!("dumptool = {{ version = \"{version}\"");
    assert!(text("README.md").contains(&dependency), "README.md: {dependency}");
    assert!(text("CHANGELOG.md").contains(&format!("\n## [{version}]")), "CHANGELOG.md: {version}");
}
