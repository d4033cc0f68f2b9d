//! Where the task comes from, and what is attached to it.

use std::io::{BufRead, BufReader, Read};

use crate::pipe::leave_after_a_line;
use crate::run::finish;

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
fn x01_what_is_no_text_cannot_be_attached() {
    let tree = tree(&[LOGIN]);
    tree.write("core.bin", "\u{7f}ELF\0\0\u{1}");
    let failed = tree
        .pack(&["fix the login", "--attach", "core.bin"])
        .failure(1);
    assert!(failed.contains("it is not text"), "{failed}");
}

#[test]
fn x01_a_pipe_into_which_nothing_is_written_does_not_hold_up_a_task() {
    let tree = tree(&[LOGIN]);
    let expected = tree.pack(&["fix the login"]).success();
    let (stdin, writer) = std::io::pipe().unwrap();
    let mut command = tree.command(&["fix the login"]);
    command.stdin(stdin);
    let output = finish(command, None);
    drop(writer);
    assert!(
        output.stderr.contains("nothing came on stdin") && output.stderr.contains("--attach -"),
        "{output:?}"
    );
    assert_eq!(output.success(), expected);
}

#[test]
fn x01_a_task_that_takes_long_is_waited_for_and_told() {
    use std::io::Write as _;

    let tree = tree(&[LOGIN]);
    let mut child = tree.command(&[]).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    stderr.read_line(&mut said).unwrap();
    assert_eq!(said, "note: waiting for the task on stdin\n");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"fix the login redirect").unwrap();
    drop(stdin);
    let mut prompt = String::new();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut prompt).unwrap();
    assert!(prompt.contains("fix the login redirect"), "{prompt}");
    assert!(child.wait().unwrap().success());
}

/// Some programs give their children a socket in place of a pipe.
#[cfg(unix)]
#[test]
fn x01_what_comes_through_a_socket_is_attached() {
    use std::io::Write as _;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let tree = tree(&[LOGIN]);
    let (stdin, mut writer) = UnixStream::pair().unwrap();
    writer
        .write_all(b"ERROR the redirect went wrong\n")
        .unwrap();
    drop(writer);
    let mut command = tree.command(&["fix the login", "--json"]);
    command.stdin(OwnedFd::from(stdin));
    let pack = serde_json::from_str(&finish(command, None).success()).unwrap();
    assert_eq!(chunk(&pack, "stdin")["chunk_type"], "attachment");
}

#[test]
fn x01_an_attachment_may_be_named() {
    let tree = tree(&[LOGIN]);
    tree.write("../fail.log", "ERROR the redirect went wrong\n");
    let pack = tree.json(&["fix the login", "--attach", "../fail.log"]);
    assert_eq!(chunk(&pack, "fail.log")["chunk_type"], "attachment");
    let args = ["fix the login", "--attach", "-", "--json"];
    let pack = tree.pack_piped(&args, "ERROR the redirect\n").success();
    let pack = serde_json::from_str(&pack).unwrap();
    assert_eq!(chunk(&pack, "stdin")["chunk_type"], "attachment");
    let error = tree.pack_piped(&["-", "--attach", "-"], "text").failure(2);
    assert!(error.contains("stdin cannot be the task"), "{error}");
    let error = tree.pack(&["fix it", "--attach", "gone.log"]).failure(1);
    assert!(error.contains("the attachment from `gone.log`"), "{error}");
}

#[test]
fn x01_more_than_is_read_is_an_error_and_never_cut() {
    let tree = tree(&[LOGIN]);
    let huge = "a line of a log\n".repeat((16 << 20) / 16 + 1);
    for args in [&["fix the login"][..], &[], &["-"]] {
        let error = tree.pack_piped(args, &huge).failure(1);
        assert!(
            error.contains("stdin is larger than the limit of 16,777,216 bytes")
                && error.contains("hint: "),
            "{error}"
        );
    }
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
    let told = |problem: &serde_json::Value| {
        problem["message"]
            .as_str()
            .unwrap()
            .contains("half the budget")
    };
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
        problems[0]["message"].as_str().unwrap().contains("no file"),
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
    leave_after_a_line(tree.command(&args));
}
