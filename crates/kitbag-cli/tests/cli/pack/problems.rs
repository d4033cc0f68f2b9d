//! Whatever fails on its own: the prompt is there, and a line says what is missing.

use serde_json::Value;

use super::tree::{find, find_type, repository, text, tree};

const FILES: [(&str, &str); 2] = [
    ("src/login.rs", "pub fn login() {}\n"),
    (
        "Cargo.toml",
        "[package]\nname = \"shop\"\n\n[dependencies]\nserde = \"1\"\n",
    ),
];

const TASK: [&str; 3] = ["explain the login", "--task-type", "analyze"];

#[track_caller]
fn told(pack: &Value, part: &str) {
    assert!(
        text(pack, "prompt").contains("pub fn login() {}"),
        "{pack:#}"
    );
    let problems = pack["problems"].as_array().unwrap();
    let has = |problem: &Value| {
        let (source, message) = (problem["source"].as_str(), problem["message"].as_str());
        source.is_some_and(|source| source.contains(part)) || message.unwrap().contains(part)
    };
    assert!(problems.iter().any(has), "{problems:?}");
}

#[test]
fn p04_nothing_is_told_where_all_is_well() {
    let pack = repository(&FILES).json(&TASK);
    assert_eq!(pack["problems"], serde_json::json!([]));
    assert!(find_type(&pack, "dependency").is_some() && find_type(&pack, "history").is_some());
}

#[test]
fn p04_a_broken_manifest_costs_only_the_dependencies() {
    let tree = repository(&FILES);
    tree.write("package.json", "{\"dependencies\": {");
    let pack = tree.json(&TASK);
    told(&pack, "package.json");
    assert!(text(&pack, "prompt").contains("serde"));
}

#[test]
fn p04_without_the_git_program_there_is_a_prompt() {
    let tree = repository(&FILES);
    let mut command = tree.command(&[&TASK[..], &["--json"]].concat());
    command
        .env("PATH", tree.path())
        .stdin(std::process::Stdio::null());
    let output = crate::run::finish(command, None).success();
    let pack = serde_json::from_str(&output).unwrap();
    told(&pack, "git");
    assert!(find(&pack, "git log").is_none());
}

#[test]
fn p04_a_repository_that_git_cannot_read_costs_only_history() {
    let tree = repository(&FILES);
    std::fs::write(tree.path().join(".git/config"), "[core\nbroken").unwrap();
    let pack = tree.json(&TASK);
    told(&pack, "git");
}

/// A repository that comes from somebody else may not run programs.
#[test]
fn p04_the_settings_of_a_repository_run_no_program() {
    let tree = repository(&FILES);
    tree.write(".gitattributes", "*.rs diff=evil\n");
    tree.write("src/login.rs", "pub fn login() {}\npub fn changed() {}\n");
    tree.git(&["add", "--all"]);
    let forged = tree.path().join("../forged");
    let script = tree.write(
        "../run.sh",
        format!("#!/bin/sh\ntouch {}\n", forged.display()),
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let script = script.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "core.hooksPath",
        "diff.evil.textconv",
    ] {
        tree.git(&["config", key, script]);
    }
    let pack = tree.json(&[&TASK[..], &["--diff"]].concat());
    assert!(text(&pack, "prompt").contains("+pub fn changed() {}"));
    tree.json(&["--staged"]);
    tree.json(&TASK);
    assert!(!forged.exists());
}

#[test]
fn p04_a_pattern_that_is_none_is_told() {
    let pack = tree(&FILES).json(&[&TASK[..], &["--exclude", "[z-"]].concat());
    told(&pack, "[z-");
}

#[test]
fn x01_problems_are_said_and_from_the_sixth_on_counted() {
    let tree = tree(&FILES);
    let said = |patterns: usize| {
        let wrong: Vec<String> = (0..patterns).map(|n| format!("--exclude=[{n}-")).collect();
        let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
        tree.pack(&[&TASK[..], &wrong].concat()).stderr
    };
    let warnings = |said: &str| said.matches("warning: ").count();
    assert_eq!(warnings(&said(0)), 0);
    assert_eq!(warnings(&said(5)), 5);
    let many = said(9);
    assert_eq!(warnings(&many), 6, "{many}");
    assert!(
        many.contains("warning: 4 more like these; `--json` lists all\n"),
        "{many}"
    );
    let explained = tree.run(&[
        "explain",
        "explain the login",
        "src/login.rs",
        "--exclude=[1-",
    ]);
    assert_eq!(warnings(&explained.stderr), 1, "{explained:?}");
}

#[test]
fn x01_a_folder_without_files_is_told_with_what_to_do() {
    let tree = tree(&[]);
    for args in [&["fix the login"][..], &[]] {
        let output = tree.pack(args);
        assert!(
            output.stderr.contains("warning: there are no files")
                && output
                    .stderr
                    .contains("hint: name the folder of a project with `--root`"),
            "{output:?}"
        );
        output.success();
    }
}

#[test]
fn x01_a_pattern_that_matches_nothing_is_a_failure() {
    let tree = tree(&FILES);
    let error = tree.pack(&["--include", "[z-"]).failure(1);
    assert!(
        error.contains("warning: `[z-` is not a file pattern"),
        "{error}"
    );
    let args = [
        "explain the login",
        "--include",
        "nope",
        "--include",
        "*.py",
    ];
    for command in ["pack", "explain"] {
        let error = tree.run(&[&[command], &args[..]].concat()).failure(1);
        assert!(
            error.contains("no file below `.` matches `--include nope` or `--include *.py`")
                && error.contains("hint: "),
            "{error}"
        );
    }
}
