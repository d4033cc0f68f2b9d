//! The options that choose files, and those that are wrong.

use std::fs;
use std::process::Command;

use super::tree::{chunk, find, repository, text, tree};

fn shop() -> super::tree::Tree {
    tree(&[
        ("src/login.rs", "pub fn login() {\n    redirect()\n}\n"),
        ("src/order.rs", "pub fn order() {}\n"),
        ("web/login.js", "export function login() {}\n"),
        ("docs/login.md", "# Login\n\nHow the login works.\n"),
    ])
}

#[test]
fn x01_a_pinned_file_is_shown_in_any_case() {
    let tree = shop();
    let args = ["fix the login", "--budget", "150", "--pin", "src/order.rs"];
    let pack = tree.json(&args);
    let pinned = chunk(&pack, "src/order.rs");
    assert_eq!(
        (&pinned["level"], &pinned["reason"]["kind"]),
        (&"full".into(), &"critical".into())
    );
    assert!(text(&pack, "prompt").contains("pub fn order() {}"));
    // As it is typed from where one is.
    let absolute = tree.path().join("src/order.rs");
    for typed in [
        "./src/order.rs",
        "src/../src/order.rs",
        absolute.to_str().unwrap(),
    ] {
        let pack = tree.json(&["fix the login", "--pin", typed]);
        assert_eq!(chunk(&pack, "src/order.rs")["reason"]["kind"], "critical");
    }
}

#[test]
fn x01_what_cannot_be_pinned_is_told_with_why() {
    let tree = shop();
    tree.write("../outside.rs", "");
    tree.write(".kitbag/sessions/a.json", "{}");
    let huge = fs::File::create(tree.path().join("huge.log")).unwrap();
    huge.set_len(10 << 30).unwrap();
    let cases = [
        (
            "src/missing.rs",
            "there is no file `src/missing.rs` below the root `.`",
        ),
        ("../outside.rs", "`../outside.rs` is outside the root `.`"),
        ("huge.log", "`huge.log` has 10,737,418,240 bytes"),
        (".kitbag/sessions/a.json", "is never shown"),
    ];
    for (pin, why) in cases {
        let error = tree.pack(&["fix it", "--pin", pin]).failure(2);
        assert!(error.contains(why) && error.contains("hint: "), "{error}");
    }
    tree.write("login.png", b"\x89PNG\0\0\0\0login");
    tree.write("login.txt", b"login\0\0\0\x01\x02\0");
    for pin in ["login.png", "login.txt"] {
        let error = tree.pack(&["fix the login", "--pin", pin]).failure(1);
        assert!(
            error.contains(&format!("`{pin}` cannot be shown: ")),
            "{error}"
        );
    }
}

#[cfg(unix)]
#[test]
fn x01_a_pipe_cannot_be_pinned() {
    let tree = shop();
    let fifo = Command::new("mkfifo").arg(tree.path().join("log")).status();
    assert!(fifo.unwrap().success());
    let error = tree.pack(&["fix it", "--pin", "log"]).failure(2);
    assert!(
        error.contains("`log` is a pipe, a socket or a device"),
        "{error}"
    );
}

#[test]
fn x01_patterns_choose_the_files() {
    let tree = shop();
    let shown = |args: &[&str]| -> Vec<String> {
        let pack = tree.json(&[&["explain the login and the order"], args].concat());
        let files = [
            "src/login.rs",
            "src/order.rs",
            "web/login.js",
            "docs/login.md",
        ];
        let is_in = |file: &&str| find(&pack, file).is_some();
        files.into_iter().filter(is_in).map(String::from).collect()
    };
    assert_eq!(shown(&[]).len(), 4);
    assert_eq!(
        shown(&["--include", "*.rs"]),
        ["src/login.rs", "src/order.rs"]
    );
    let only = [
        "--include",
        "src/",
        "--include",
        "*.js",
        "--exclude",
        "order.*",
    ];
    assert_eq!(shown(&only), ["src/login.rs", "web/login.js"]);
    assert_eq!(
        shown(&["--exclude", "src", "--exclude", "/docs/**"]),
        ["web/login.js"]
    );
}

#[test]
fn x01_without_git_nothing_is_asked_of_it() {
    let tree = repository(&[("a.rs", "fn login() {}\n"), (".gitignore", "b.rs\n")]);
    tree.write("b.rs", "fn login_too() {}\n");
    let task = "why does the login crash?";
    let with = tree.json(&[task, "--task-type", "debug"]);
    let without = tree.json(&[task, "--task-type", "debug", "--no-git"]);
    assert!(find(&with, "git log").is_some());
    assert!(find(&without, "git log").is_none());
    assert!(find(&without, "a.rs").is_some() && find(&without, "b.rs").is_none());
}

#[test]
fn x01_a_line_on_stderr_sums_up() {
    let tree = shop();
    let said = tree
        .pack(&["fix the login", "--budget", "1k", "--model", "gpt-4o"])
        .stderr;
    let line = said.lines().last().unwrap();
    assert!(line.contains(" of 1,000 tokens, files: "), "{line}");
    assert!(line.contains("task type debug from “fix”"), "{line}");
    let price = line.split_once("; $0.").unwrap().1;
    assert!(price.ends_with(" for the input"), "{line}");
    let said = tree.pack(&["fix the login", "--task-type", "test"]).stderr;
    assert!(!said.contains('$') && !said.contains("taken for"), "{said}");
}

#[test]
fn x01_wrong_arguments_are_told_with_what_is_right() {
    let tree = shop();
    let usage: [(&[&str], &str); 9] = [
        (&["--budget", "0"], "0"),
        (&["--budget", "-5"], "-5"),
        (&["--budget", "many"], "many"),
        (&["--task-type", "sing"], "sing"),
        (&["--model", "no-such-model"], "no-such-model"),
        (&["--tokenizer", "no-such"], "no-such"),
        (&["--format", "pdf"], "pdf"),
        (&["--strategy", "best"], "best"),
        (&["--staged", "--diff"], "--diff"),
    ];
    for (args, named) in usage {
        let error = tree.pack(&[&["fix the login"], args].concat()).failure(2);
        assert!(error.contains(named), "{args:?}: {error}");
        assert!(error.lines().count() > 1, "{args:?}: {error}");
    }
    for (root, why) in [
        ("missing", "cannot read the folder `missing`"),
        ("src/login.rs", "is not a folder"),
    ] {
        let error = tree.pack(&["fix the login", "--root", root]).failure(1);
        assert!(error.contains(why) && error.contains("hint: "), "{error}");
    }
    for form in ["anthropic", "openai"] {
        let error = tree.pack(&["--format", form]).failure(2);
        assert!(error.contains("there is no task"), "{error}");
    }
}

#[test]
fn p02_what_cannot_fit_is_a_failure_that_says_what_would() {
    let tree = shop();
    let error = tree.pack(&["fix the login", "--budget", "3"]).failure(1);
    assert!(
        error.contains("budget") && error.contains("hint: "),
        "{error}"
    );
    tree.write("large.rs", "pub fn one_of_many() {}\n".repeat(500));
    let error = tree.pack(&[
        "fix it",
        "--budget",
        "200",
        "--pin",
        "large.rs",
        "--pin",
        "src/order.rs",
    ]);
    // A pinned file that is too large may be degraded, but it is in.
    match error.code {
        Some(0) => assert!(error.stdout.contains("large.rs"), "{error:?}"),
        _ => assert!(error.failure(1).contains("large.rs")),
    }
}
