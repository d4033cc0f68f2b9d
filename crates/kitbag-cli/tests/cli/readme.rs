//! Every console example of the documents is run, and prints what the document says.

use std::path::Path;
use std::process::Command;

use crate::run::Folder;

#[test]
fn x03_console_examples_print_what_the_readme_says() {
    assert!(run_examples("README.md") >= 1);
}

#[test]
fn p10_console_examples_print_what_the_guide_to_packs_says() {
    assert!(run_examples("docs/packs.md") >= 1);
}

#[test]
fn p07_console_examples_print_what_the_guide_to_fitting_says() {
    assert!(run_examples("docs/fit.md") >= 4);
}

#[test]
fn o06_console_examples_print_what_the_guide_to_memory_says() {
    assert!(run_examples("docs/memory.md") >= 3);
}

#[test]
fn x03_console_examples_print_what_the_guide_to_contexts_says() {
    assert!(run_examples("docs/context.md") >= 5);
}

#[test]
fn x03_the_session_of_the_picture_prints_what_the_picture_shows() {
    assert!(run_examples("docs/session.md") >= 3);
}

#[test]
fn c04_console_examples_print_what_the_guide_to_layouts_says() {
    assert!(run_examples("docs/layouts.md") >= 3);
}

#[test]
fn a11_console_examples_print_what_the_guide_to_nodes_says() {
    assert!(run_examples("docs/nodes.md") >= 1);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_to_string(root.join("docs/nodes.md")).unwrap();
    let example = std::fs::read_to_string(root.join("examples/nodes/kitbag.yaml")).unwrap();
    assert!(guide.contains(&format!("````yaml\n{example}````")));
}

#[test]
fn x11_console_examples_print_what_the_guide_to_agents_says() {
    assert!(run_examples("docs/agents.md") >= 3);
}

#[test]
fn o10_console_examples_print_what_the_guide_to_skills_says() {
    assert!(run_examples("docs/skills.md") >= 3);
}

#[test]
fn t08_console_examples_print_what_the_guide_to_tools_says() {
    assert!(run_examples("docs/tools.md") >= 4);
}

/// Help comes before anything is done, and an option that does not exist before help.
#[test]
fn x03_the_options_in_shell_examples_of_the_documents_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut ran = 0;
    for (name, text) in documents(&root) {
        let blocks = text.split("```sh\n").skip(1);
        let lines = blocks.filter_map(|rest| rest.split("```").next());
        for line in lines.flat_map(str::lines) {
            let Some(command) = line.split("kitbag ").nth(1) else {
                continue;
            };
            // Measurements are commands of cargo, of which the program is an argument.
            if line.starts_with("cargo xtask") {
                continue;
            }
            let command = command.split(" #").next().unwrap();
            let command = command
                .split(" <")
                .next()
                .unwrap()
                .trim_start_matches("-- ");
            let binary = env!("CARGO_BIN_EXE_kitbag");
            let output = Command::new("sh")
                .args(["-c", &format!("{binary} {command} --help")])
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}: {line}: {told}");
            ran += 1;
        }
    }
    assert!(ran > 40, "{ran}");
}

/// Each block is a whole configuration. What it points to need not be there, so only errors of reading count.
#[test]
fn x03_the_configurations_in_the_documents_have_no_unknown_keys() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut read = 0;
    for (name, text) in documents(&root) {
        if name == "layouts.md" {
            // Its blocks are files of layouts, which their own tests read.
            continue;
        }
        for block in text.split("```yaml\n").skip(1) {
            let yaml = block.split("```").next().unwrap().trim_end_matches('`');
            let indent = yaml.len() - yaml.trim_start_matches(' ').len();
            let lines = yaml.lines().map(|line| line.get(indent..).unwrap_or(""));
            let yaml = lines.collect::<Vec<_>>().join("\n");
            let folder = Folder::new();
            folder.write("kitbag.yaml", &yaml);
            let told = folder.run(&["--log", "off", "layout", "check", "--config", "kitbag.yaml"]);
            let unknown = ["not a known key", "expected", "needs"];
            let is_wrong = |line: &&str| unknown.iter().any(|words| line.contains(words));
            assert_eq!(told.stderr.lines().find(is_wrong), None, "{name}:\n{yaml}");
            read += 1;
        }
    }
    assert!(read > 10, "{read}");
}

/// The README and the guides, by their names.
fn documents(root: &Path) -> Vec<(String, String)> {
    let guides = std::fs::read_dir(root.join("docs")).unwrap();
    let guides = guides.map(|entry| entry.unwrap().path());
    let guides = guides.filter(|path| path.extension().is_some_and(|it| it == "md"));
    let all = guides.chain([root.join("README.md")]);
    let mut all: Vec<(String, String)> = all
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                text,
            )
        })
        .collect();
    all.sort();
    all
}

/// Runs every example of a document, and returns how many there are. With KITBAG_UPDATE_EXAMPLES in the environment
/// the document gets what was printed, for a reader to review in the diff.
fn run_examples(document: &str) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(document)).unwrap();
    let is_update = std::env::var_os("KITBAG_UPDATE_EXAMPLES").is_some();
    let mut updated = text.clone();
    let binary = Path::new(env!("CARGO_BIN_EXE_kitbag")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    // What somebody packed or said before must not matter, nor may this be kept for them.
    let cache = tempfile::tempdir().unwrap();
    let mut ran = 0;
    for block in console_blocks(&text) {
        for (command, expected) in commands(block) {
            let output = Command::new("sh")
                .args(["-c", &format!("{command} 2>&1")])
                .env("PATH", &path)
                .env("KITBAG_CACHE_DIR", cache.path())
                .env("HOME", cache.path())
                .env("XDG_CONFIG_HOME", cache.path())
                .env("KITBAG_STORE", cache.path().join("memory.db"))
                .env_remove("KITBAG_LOG")
                .env_remove("KITBAG_CONFIG")
                .env_remove("CLAUDE_PROJECT_DIR")
                .current_dir(&root)
                .output()
                .unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            if is_update {
                let old = format!("$ {command}\n{}", expected.trim_end());
                let new = format!("$ {command}\n{}", printed.trim_end());
                updated = updated.replace(&old, &new);
            } else {
                assert_eq!(printed.trim_end(), expected.trim_end(), "$ {command}");
            }
            ran += 1;
        }
    }
    if updated != text {
        std::fs::write(root.join(document), updated).unwrap();
    }
    ran
}

/// The texts of the blocks that are marked as `console`.
fn console_blocks(document: &str) -> impl Iterator<Item = &str> {
    let fences = document.split("````console\n").skip(1);
    fences.filter_map(|rest| rest.split("````").next())
}

/// Each command of a block with what it prints.
fn commands(block: &str) -> impl Iterator<Item = (&str, &str)> {
    let block = block.strip_prefix("$ ").unwrap();
    block
        .split("\n$ ")
        .map(|part| part.split_once('\n').unwrap())
}
