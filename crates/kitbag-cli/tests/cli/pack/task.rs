//! Where the task comes from, and what is attached to it.

use std::io::{BufRead, BufReader, Read};

use super::tree::{chunk, find_type, repository, text, tree};

const LOGIN: (&str, &str) = ("src/login.rs", "pub fn login() {\n    redirect()\n}\n");

#[test]
fn x01_the_task_comes_from_the_argument_a_file_or_stdin() {
    let tree = tree(&[LOGIN]);
    tree.write("../task.txt", "fix the login redirect");
    let given = tree.pack(&["fix the login redirect"]).success();
    assert!(
        given.contains("pub fn login() {\n    redirect()\n}"),
        "{given}"
    );
    assert!(given.contains("fix the login redirect"), "{given}");
    let piped = |args: &[&str]| tree.pack_piped(args, "fix the login redirect").success();
    assert_eq!(tree.pack(&["--task-file", "../task.txt"]).success(), given);
    assert_eq!(piped(&[]), given);
    assert_eq!(piped(&["-"]), given);
    assert_eq!(piped(&["--task-file", "-"]), given);
}

#[test]
fn x01_what_is_piped_in_beside_a_task_is_attached() {
    let tree = tree(&[LOGIN]);
    let log = "ERROR the redirect went to /nowhere\n";
    let pack = tree.pack_piped(&["fix the login", "--json"], log).success();
    let pack = serde_json::from_str(&pack).unwrap();
    assert_eq!(chunk(&pack, "stdin")["chunk_type"], "attachment");
    assert!(text(&pack, "prompt").contains(log.trim_end()));
    let without = tree.json(&["fix the login"]);
    assert!(find_type(&without, "attachment").is_none());
}

#[test]
fn x01_a_task_that_cannot_be_read_is_a_failure() {
    let tree = tree(&[LOGIN]);
    let error = tree.pack(&["--task-file", "missing.txt"]).failure(1);
    assert!(
        error.contains("cannot read the task from `missing.txt`"),
        "{error}"
    );
    tree.pack(&["fix it", "--task-file", "task.txt"]).failure(2);
}

#[test]
fn p02_a_huge_task_is_shortened_and_says_so() {
    let tree = tree(&[LOGIN]);
    let log = "thread main panicked at src/login.rs:2\n".repeat(26_000);
    let task = format!("fix the login redirect\n{log}\nthanks");
    assert!(task.len() > 1_000_000);
    let args = ["--json", "--budget", "3k"];
    let pack: serde_json::Value =
        serde_json::from_str(&tree.pack_piped(&args, &task).success()).unwrap();
    let prompt = text(&pack, "prompt");
    assert!(pack["tokens"].as_u64().unwrap() <= 3_000);
    assert!(prompt.contains("fix the login redirect\n") && prompt.contains("\nthanks"));
    assert!(prompt.contains("pub fn login() {"), "{prompt}");
    let problems = pack["problems"].as_array().unwrap();
    let told = |problem: &serde_json::Value| problem.as_str().unwrap().contains("half the budget");
    assert!(problems.iter().any(told), "{problems:?}");
}

#[test]
fn p10_without_a_task_there_is_an_overview() {
    let tree = repository(&[
        ("README.md", "# Shop\n\nSells kits.\n"),
        (
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n\n[dependencies]\nserde = \"1\"\n",
        ),
        LOGIN,
        (
            "src/order.rs",
            "pub struct Order;\n\nimpl Order {\n    pub fn total(&self) -> u64 {\n        17\n    }\n}\n",
        ),
    ]);
    let pack = tree.json(&["--budget", "2k"]);
    let prompt = text(&pack, "prompt");
    for part in [
        "login.rs",
        "Sells kits.",
        "serde",
        "pub fn total(&self) -> u64",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    for chunk_type in ["structure", "dependency", "history", "file"] {
        assert!(
            find_type(&pack, chunk_type).is_some(),
            "{chunk_type}: {prompt}"
        );
    }
    assert!(!prompt.contains("## Request"), "{prompt}");
}

#[test]
fn p10_an_overview_outside_git_shows_files_too() {
    let many: Vec<(String, String)> = (0..300)
        .map(|n| {
            (
                format!("a/part_{n}.py"),
                format!("def part_{n}():\n    return {n}\n"),
            )
        })
        .collect();
    let mut files: Vec<(&str, &str)> = many.iter().map(|(p, t)| (&**p, &**t)).collect();
    files.push(("README.rst", "Shop\n====\n\nSells kits.\n"));
    let pack = tree(&files).json(&["--budget", "1k"]);
    let prompt = text(&pack, "prompt");
    assert!(
        prompt.contains("Sells kits.") && prompt.contains("def part_"),
        "{prompt}"
    );
}

#[test]
fn x01_an_empty_folder_says_so() {
    let pack = tree(&[]).json(&["fix the login"]);
    let problems = pack["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].as_str().unwrap().contains("no file"),
        "{problems:?}"
    );
    assert_eq!(pack["chunks"].as_array().unwrap().len(), 0);
}

#[test]
fn x01_a_reader_that_goes_away_is_met_with_silence() {
    let long = "the login redirect goes there\n".repeat(20_000);
    let tree = tree(&[("notes.md", &long)]);
    let args = [
        "the login redirect",
        "--budget",
        "900k",
        "--pin",
        "notes.md",
    ];
    let mut child = tree.command(&args).spawn().unwrap();
    drop(child.stdin.take());
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert!(!first.is_empty());
    drop(stdout);
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(said, "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
