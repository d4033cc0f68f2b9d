//! `--diff` and `--staged`: a change, packed for review.

use std::fmt::Write as _;

use super::tree::{Tree, chunk, find, repository, text, tree};

/// A file with forty functions, so that a part of it is not the whole.
fn code(changed: &str) -> String {
    let mut code = String::new();
    for n in 0..40 {
        let body = if n == 20 { changed } else { "first()" };
        write!(
            code,
            "pub fn step_{n}() {{\n    {body};\n    last()\n}}\n\n"
        )
        .unwrap();
    }
    code
}

fn changed() -> Tree {
    let tree = repository(&[
        ("src/steps.rs", &code("first()")),
        ("src/other.rs", "pub fn other() {}\n"),
    ]);
    tree.write("src/steps.rs", code("changed()"));
    tree
}

#[track_caller]
fn shows_the_change(tree: &Tree, args: &[&str]) {
    let pack = tree.json(&[args, &["--budget", "900"]].concat());
    let prompt = text(&pack, "prompt");
    assert_eq!(chunk(&pack, "diff of src/steps.rs")["chunk_type"], "diff");
    assert!(
        prompt.contains("-    first();\n+    changed();\n"),
        "{prompt}"
    );
    let whole = "pub fn step_20() {\n    changed();\n    last()\n}";
    assert!(
        prompt.contains(whole),
        "the function that was touched: {prompt}"
    );
    assert!(find(&pack, "diff of src/other.rs").is_none());
}

#[test]
fn x01_what_was_changed_is_packed_with_its_functions() {
    let tree = changed();
    shows_the_change(&tree, &["--diff"]);
    let prompt = tree.pack(&["--diff"]).success();
    assert!(prompt.contains("Review this change."), "{prompt}");
    let prompt = tree.pack(&["is it safe?", "--diff"]).success();
    assert!(
        prompt.contains("is it safe?") && prompt.contains("+    changed();"),
        "{prompt}"
    );
}

#[test]
fn x01_what_is_staged_is_packed() {
    let tree = changed();
    tree.git(&["add", "src/steps.rs"]);
    tree.write("src/other.rs", "pub fn not_staged() {}\n");
    shows_the_change(&tree, &["--staged"]);
}

#[test]
fn x01_what_was_changed_since_a_revision_is_packed() {
    let tree = changed();
    tree.commit("second");
    tree.write("src/third.rs", "pub fn third() {}\n");
    tree.commit("third");
    shows_the_change(&tree, &["--diff=HEAD~2"]);
    let pack = tree.json(&["--diff=HEAD~1"]);
    assert!(find(&pack, "diff of src/third.rs").is_some());
    assert!(find(&pack, "diff of src/steps.rs").is_none());
}

#[test]
fn x01_what_follows_diff_is_the_task() {
    let tree = changed();
    for args in [&["--diff", "is it safe?"][..], &["--diff", "review"]] {
        let prompt = tree.pack(args).success();
        assert!(
            prompt.contains(&format!("## Request\n{}", args[1]))
                && prompt.contains("+    changed();"),
            "{prompt}"
        );
    }
    tree.commit("second");
    for command in ["pack", "explain"] {
        let error = tree.run(&[command, "--diff", "HEAD~1"]).failure(2);
        assert!(
            error.contains("`HEAD~1` is a revision") && error.contains("`--diff=HEAD~1`"),
            "{error}"
        );
    }
    let help = tree.pack(&["--help"]).success();
    assert!(
        help.contains("--diff[=<REV>]") && help.contains("--diff=main"),
        "{help}"
    );
}

#[test]
fn x01_new_and_deleted_files_are_changes() {
    let tree = changed();
    std::fs::remove_file(tree.path().join("src/other.rs")).unwrap();
    tree.git(&["add", "--all"]);
    let pack = tree.json(&["--diff"]);
    let prompt = text(&pack, "prompt");
    assert!(prompt.contains("-pub fn other() {}"), "{prompt}");
}

#[test]
fn x01_where_there_is_no_change_to_take_it_is_told() {
    let plain = tree(&[("a.rs", "fn a() {}\n")]);
    let error = plain.pack(&["--diff"]).failure(2);
    assert!(
        error.contains("no git repository here") && error.contains("hint: "),
        "{error}"
    );
    let tree = repository(&[("a.rs", "fn a() {}\n")]);
    let error = tree.pack(&["--diff=no-such-revision"]).failure(1);
    assert!(error.contains("no-such-revision"), "{error}");
    // A revision cannot be an option of git's.
    let error = tree.pack(&["--diff=--output=forged"]).failure(1);
    assert!(!tree.path().join("forged").exists(), "{error}");
    let error = tree.pack(&["--diff"]).failure(1);
    assert!(
        error.contains("no change to pack") && error.contains("hint: "),
        "{error}"
    );
}
