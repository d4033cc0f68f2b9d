//! What git is asked, also where a repository is hostile.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use kitbag_workspace::git::{Changes, FileDiff, FileStatus, GitError, Repository};

use crate::tree::{Tree, command, git};

fn repository(root: &Path) -> Repository {
    Repository::discover(root).unwrap().unwrap()
}

fn log(root: &Path) -> Vec<(String, Vec<String>)> {
    let repository = repository(root);
    let log = repository.history().unwrap().iter();
    log.map(|c| (c.subject.clone(), c.paths.clone())).collect()
}

fn diff(root: &Path, changes: &Changes) -> Vec<FileDiff> {
    repository(root).diff(changes).unwrap()
}

#[test]
fn a_log_lists_commits_with_their_paths() {
    let tree = Tree::repository();
    tree.touch(&["a.rs", "dir/b.rs"]).commit("first");
    tree.write("dir/b.rs", "2").commit("second");
    let log = log(tree.path());
    assert_eq!(log[0], ("second".to_owned(), vec!["dir/b.rs".to_owned()]));
    assert_eq!(log[1], ("first".to_owned(), vec![]));
    let repository = repository(tree.path());
    let newest = &repository.history().unwrap()[0];
    assert_eq!(newest.author, "Ann");
    assert_eq!(newest.id.len(), 40);
    assert!(newest.time > 1_600_000_000);
}

#[test]
fn merges_are_no_part_of_the_history() {
    let tree = Tree::repository();
    tree.touch(&["a"]).commit("base");
    tree.git(&["checkout", "--quiet", "-b", "side"]);
    tree.touch(&["b"]).commit("side");
    tree.git(&["checkout", "--quiet", "main"]);
    tree.touch(&["c"]).commit("main");
    tree.git(&["merge", "--quiet", "--no-edit", "side"]);
    let mut subjects: Vec<_> = log(tree.path()).into_iter().map(|(s, _)| s).collect();
    subjects.sort();
    assert_eq!(subjects, ["base", "main", "side"]);
}

#[test]
fn names_and_subjects_may_hold_anything() {
    let tree = Tree::repository();
    let names = [
        "\nfirst",
        "line\nbreak",
        "tab\tand \"quotes\"",
        "ünïcode",
        "back\\slash",
    ];
    tree.commit("first");
    tree.touch(&names).commit("\u{1}odd\u{1b}[31m");
    let mut expected: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    expected.sort();
    assert_eq!(repository(tree.path()).tracked().unwrap(), expected);
    let log = log(tree.path());
    assert_eq!(log[0].0, "\u{1}odd\u{1b}[31m");
    assert_eq!(log[0].1, expected);
    for name in names {
        tree.write(name, "new\n");
    }
    let changed = diff(tree.path(), &Changes::Uncommitted);
    let paths: Vec<_> = changed.iter().map(|file| file.path.clone()).collect();
    assert_eq!(paths, expected);
    assert!(changed.iter().all(|file| file.hunks == [(1, 1)]));
}

#[test]
fn a_sub_folder_sees_its_own_paths_only() {
    let tree = Tree::repository();
    tree.touch(&["top.rs", "sub/in.rs"]).commit("first");
    tree.write("top.rs", "x")
        .write("sub/in.rs", "x")
        .commit("both");
    tree.write("top.rs", "xx").commit("outside");
    tree.write("top.rs", "y").write("sub/in.rs", "y\n");
    let sub = tree.join("sub");
    assert_eq!(repository(&sub).tracked().unwrap(), ["in.rs"]);
    let log = log(&sub);
    assert_eq!(log[0], ("outside".to_owned(), vec![]));
    assert_eq!(log[1].1, ["in.rs"]);
    let changed = diff(&sub, &Changes::Uncommitted);
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].path, "in.rs");
}

#[test]
fn an_empty_repository_gives_empty_answers() {
    let tree = Tree::repository();
    tree.touch(&["a"]);
    let repository = repository(tree.path());
    assert_eq!(repository.tracked().unwrap(), [""; 0]);
    assert_eq!(repository.history().unwrap(), []);
    for changes in [Changes::Uncommitted, Changes::Staged] {
        assert_eq!(repository.diff(&changes).unwrap(), []);
    }
}

#[test]
fn before_the_first_commit_what_is_tracked_is_new() {
    let tree = Tree::repository();
    tree.write("staged", "a\nb\n").git(&["add", "staged"]);
    tree.write("untracked", "c\n").write("ignored", "d\n");
    tree.write(".gitignore", "ignored\n");
    let repository = repository(tree.path());
    for changes in [Changes::Uncommitted, Changes::Staged] {
        let diff = repository.diff(&changes).unwrap();
        assert_eq!(diff.len(), 1);
        assert_eq!(diff[0].status, FileStatus::Added);
        assert_eq!(diff[0].hunks, [(1, 2)]);
    }
    let unknown = repository.diff(&Changes::Since("HEAD".into()));
    assert!(matches!(unknown, Err(GitError::UnknownRevision { .. })));
    assert_eq!(repository.untracked().unwrap(), [".gitignore", "untracked"]);
}

#[test]
fn a_patch_without_context_is_as_git_writes_it() {
    let tree = Tree::repository();
    let lines = |keep: &dyn Fn(usize) -> bool, mark: &str| -> String {
        let line = |n: usize| {
            if keep(n) {
                format!("{n}\n")
            } else {
                mark.to_owned()
            }
        };
        (0..40).map(line).collect()
    };
    tree.write("a", lines(&|_| true, "")).commit("base");
    let untouched = |n: usize| ![0, 1, 7, 9, 20, 39].contains(&n);
    for mark in ["", "x\n", "x\ny\n", "x"] {
        tree.write("a", lines(&untouched, mark));
        let whole = diff(tree.path(), &Changes::Uncommitted).remove(0);
        let git = tree.git(&["diff", "--unified=0"]);
        let hunks = |patch: &str| {
            // Git looks for the section where the hunk begins, which is elsewhere with context.
            let line = |line: &str| match line.strip_prefix("@@ ") {
                Some(places) => places.split(" @@").next().unwrap().to_owned(),
                None => line.to_owned(),
            };
            let body = patch.lines().skip_while(|line| !line.starts_with("@@ "));
            body.map(line).collect::<Vec<_>>()
        };
        assert_eq!(hunks(&whole.without_context(usize::MAX)), hunks(&git));
        let (came, went) = whole.changed_lines();
        let numbers = tree.git(&["diff", "--numstat"]);
        assert_eq!(numbers, format!("{came}\t{went}\ta\n"));
        let short = whole.without_context(3);
        let left_out = came + went - 3;
        assert!(short.ends_with(&format!("… ({left_out} more changed lines)\n")));
        assert_eq!(
            whole.places().matches("@@ -").count(),
            whole.patch.matches("@@ -").count()
        );
    }
}

#[test]
fn a_file_that_is_not_tracked_can_be_made_a_change() {
    let tree = Tree::repository();
    for text in ["one\ntwo\n", "one", ""] {
        tree.write("new", text).git(&["add", "--all"]);
        let git = diff(tree.path(), &Changes::Staged).remove(0);
        let ours = FileDiff::added("new", Some(text));
        let without_ids = |patch: &str| {
            let lines = patch.lines().filter(|line| !line.starts_with("index "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let git_lines = without_ids(&git.patch.replace("@@ -0,0 +1 @@", "@@ -0,0 +1,1 @@"));
        assert_eq!(without_ids(&ours.patch), git_lines);
        assert_eq!((ours.hunks, ours.status), (git.hunks, git.status));
    }
}

#[test]
fn outside_a_work_tree_there_is_no_repository() {
    assert!(Repository::discover(Tree::new().path()).unwrap().is_none());
    let bare = Tree::new();
    bare.git(&["init", "--quiet", "--bare"]);
    assert!(Repository::discover(bare.path()).unwrap().is_none());
    let tree = Tree::repository();
    assert!(Repository::discover(&tree.join(".git")).unwrap().is_none());
}

#[test]
fn a_folder_that_is_missing_is_an_error() {
    let missing = Tree::new().join("missing");
    let error = Repository::discover(&missing).unwrap_err();
    assert!(matches!(error, GitError::Failed { .. }), "{error}");
}

#[test]
fn detached_heads_linked_work_trees_and_shallow_clones_answer() {
    let tree = Tree::repository();
    tree.touch(&["a"]).commit("one").touch(&["b"]).commit("two");
    tree.git(&["checkout", "--quiet", "--detach", "HEAD~1"]);
    assert_eq!(repository(tree.path()).tracked().unwrap(), ["a"]);
    assert_eq!(log(tree.path()).len(), 1);

    let elsewhere = Tree::new();
    let linked = elsewhere.join("linked");
    tree.git(&[
        "worktree",
        "add",
        "--quiet",
        linked.to_str().unwrap(),
        "main",
    ]);
    assert_eq!(repository(&linked).tracked().unwrap(), ["a", "b"]);

    let clone = elsewhere.join("clone");
    let url = format!("file://{}", tree.path().display());
    let arguments = ["clone", "--quiet", "--depth=1", "--branch=main", &url];
    git(elsewhere.path(), &[&arguments[..], &["clone"]].concat());
    let shallow = log(&clone);
    // Where a history is cut off, a commit seems to touch everything.
    assert_eq!(shallow, [("two".to_owned(), vec![])]);
}

#[test]
fn a_submodule_shows_its_files() {
    let library = Tree::repository();
    library.touch(&["lib.rs", "deep/x.rs"]).commit("library");
    let tree = Tree::repository();
    tree.touch(&["lib-x.rs", "main.rs"]);
    let url = library.path().to_str().unwrap();
    tree.git(&["submodule", "--quiet", "add", url, "lib"]);
    tree.commit("all");
    let expected = [
        ".gitmodules",
        "lib-x.rs",
        "lib/deep/x.rs",
        "lib/lib.rs",
        "main.rs",
    ];
    assert_eq!(repository(tree.path()).tracked().unwrap(), expected);
    tree.write("lib/lib.rs", "changed");
    assert_eq!(diff(tree.path(), &Changes::Uncommitted), []);
}

#[test]
fn a_diff_tells_what_happened_and_where() {
    let tree = Tree::repository();
    let ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    tree.write("edit", ten)
        .write("cut", ten)
        .write("gone", "x\n");
    tree.write("old", "a\nb\nc\nd\ne\n").write("bin", [0, 1, 2]);
    tree.commit("base");
    tree.write("edit", "1\ntwo\nmore\n3\n4\n5\n6\n7\n8\n9\n10\n11\n");
    tree.write("cut", "1\n2\n3\n6\n7\n8\n9\n10\n");
    tree.write("bin", [0, 9]).write("added", "new\n");
    tree.write("untracked", "no part of it\n");
    fs::remove_file(tree.join("gone")).unwrap();
    fs::rename(tree.join("old"), tree.join("new")).unwrap();
    tree.git(&["add", "added", "new", "old"]);
    let changed = diff(tree.path(), &Changes::Uncommitted);
    let found: Vec<_> = changed
        .iter()
        .map(|f| (f.path.as_str(), f.status.clone(), f.binary, f.hunks.clone()))
        .collect();
    let from = "old".to_owned();
    assert_eq!(
        found,
        [
            ("added", FileStatus::Added, false, vec![(1, 1)]),
            ("bin", FileStatus::Modified, true, vec![]),
            ("cut", FileStatus::Modified, false, vec![(4, 4)]),
            ("edit", FileStatus::Modified, false, vec![(2, 3), (12, 12)]),
            ("gone", FileStatus::Deleted, false, vec![]),
            ("new", FileStatus::Renamed { from }, false, vec![]),
        ]
    );
    assert!(changed[3].patch.starts_with("diff --git a/edit b/edit\n"));
    assert!(changed[3].patch.ends_with(" 10\n+11\n"));
    let staged = diff(tree.path(), &Changes::Staged);
    let paths: Vec<_> = staged.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(paths, ["added", "new"]);
}

#[test]
fn a_diff_may_begin_at_any_revision() {
    let tree = Tree::repository();
    tree.write("a", "1\n")
        .commit("one")
        .write("a", "1\n2\n")
        .commit("two");
    tree.write("a", "1\n2\n3\n");
    let since = |revision: &str| repository(tree.path()).diff(&Changes::Since(revision.into()));
    assert_eq!(since("HEAD~1").unwrap()[0].hunks, [(2, 3)]);
    assert_eq!(since("main").unwrap()[0].hunks, [(3, 3)]);
    assert_eq!(since("HEAD~1..HEAD").unwrap()[0].hunks, [(2, 2)]);
    for revision in [
        "nowhere",
        "",
        "--output=canary",
        "a",
        "-p",
        "a\0b",
        "HEAD~9",
    ] {
        let error = since(revision).unwrap_err();
        assert!(
            matches!(error, GitError::UnknownRevision { .. }),
            "{revision}: {error}"
        );
    }
    assert!(!tree.join("canary").exists());
}

#[test]
fn a_conflict_is_one_file() {
    let tree = Tree::repository();
    tree.write("a", "base\n").commit("base");
    tree.git(&["checkout", "--quiet", "-b", "side"]);
    tree.write("a", "side\n").commit("side");
    tree.git(&["checkout", "--quiet", "main"]);
    tree.write("a", "main\n").commit("main");
    let merge = command(tree.path(), &["merge", "--quiet", "side"]).output();
    assert!(!merge.unwrap().status.success());
    assert_eq!(repository(tree.path()).tracked().unwrap(), ["a"]);
    let changed = diff(tree.path(), &Changes::Uncommitted);
    assert_eq!(changed.len(), 1);
    assert!(
        changed[0].patch.contains("+<<<<<<<"),
        "{}",
        changed[0].patch
    );
    let staged = diff(tree.path(), &Changes::Staged);
    assert_eq!(staged.len(), 1);
    assert_eq!(staged[0].status, FileStatus::Unmerged);
}

#[test]
fn settings_that_change_the_output_change_nothing() {
    let tree = Tree::repository();
    tree.commit("first")
        .write("a", "1\n\n2\n3\n")
        .commit("one")
        .write("a", "1\n\n2\nx\n");
    let plain = diff(tree.path(), &Changes::Uncommitted);
    let settings = [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("diff.context", "0"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.submodule", "log"),
        ("diff.orderFile", "missing"),
        ("log.date", "relative"),
        ("log.showRoot", "true"),
        ("log.follow", "true"),
        ("core.quotePath", "true"),
        ("format.pretty", "oneline"),
    ];
    for (key, value) in settings {
        tree.git(&["config", key, value]);
    }
    let changed = diff(tree.path(), &Changes::Uncommitted);
    assert_eq!(changed[0].hunks, plain[0].hunks);
    assert_eq!(changed[0].hunks, [(4, 4)]);
    let log = log(tree.path());
    assert_eq!(
        (log[0].1.as_slice(), log[1].1.len()),
        (&["a".to_owned()][..], 0)
    );
}

/// Everything that a repository can hold to have git start a program.
#[test]
fn a_hostile_repository_starts_nothing() {
    let tree = Tree::repository();
    let library = Tree::repository();
    library.write("x", "1\n").commit("library");
    let url = library.path().to_str().unwrap();
    tree.git(&["submodule", "--quiet", "add", url, "lib"]);
    tree.write("a.txt", "one\n")
        .write("b.bin", "one\n")
        .commit("one");
    let canary = tree.join("canary");
    let touch = format!("touch '{}'; cat", canary.display());
    let script = tree.join("script.sh");
    fs::write(&script, format!("#!/bin/sh\n{touch}\n")).unwrap();
    Command::new("chmod")
        .arg("+x")
        .arg(&script)
        .status()
        .unwrap();
    let script = script.to_str().unwrap();
    let settings = [
        ("core.fsmonitor", script),
        ("core.pager", &touch),
        ("pager.diff", &touch),
        ("pager.log", &touch),
        ("core.sshCommand", &touch),
        ("core.editor", &touch),
        ("diff.external", script),
        ("diff.evil.command", script),
        ("diff.evil.textconv", script),
        ("diff.evil.cachetextconv", "true"),
        ("filter.evil.clean", &touch),
        ("filter.evil.smudge", &touch),
        ("filter.evil.required", "true"),
        ("filter.e=v.il.clean", &touch),
        ("filter.long.process", script),
        ("gpg.program", script),
        ("log.showSignature", "true"),
        ("core.hooksPath", tree.path().to_str().unwrap()),
        ("core.alternateRefsCommand", &touch),
    ];
    for folder in [tree.path(), &tree.join("lib")] {
        for (key, value) in settings {
            git(folder, &["config", key, value]);
        }
    }
    tree.write("post-index-change", format!("#!/bin/sh\n{touch}\n"));
    tree.write(
        ".git/hooks/post-index-change",
        format!("#!/bin/sh\n{touch}\n"),
    );
    for hook in ["post-index-change", ".git/hooks/post-index-change"] {
        Command::new("chmod")
            .arg("+x")
            .arg(tree.join(hook))
            .status()
            .unwrap();
    }
    tree.write(".git/info/attributes", "*.bin filter=long diff=evil\n");
    tree.write(
        ".gitattributes",
        "*.txt filter=evil diff=evil\nc.txt filter=e=v.il\n",
    );
    tree.write("a.txt", "two\n")
        .write("b.bin", "two\n")
        .write("lib/x", "2\n");

    // The trap works: git as it is walks into it.
    let open = command(tree.path(), &["diff"]).output();
    assert!(open.is_ok() && canary.exists());
    fs::remove_file(&canary).unwrap();
    tree.write("a.txt", "three\n").write("b.bin", "three\n");

    for root in [tree.path(), &tree.join("lib")] {
        let repository = repository(root);
        repository.tracked().unwrap();
        repository.history().unwrap();
        for changes in [
            Changes::Uncommitted,
            Changes::Staged,
            Changes::Since("HEAD".into()),
        ] {
            repository.diff(&changes).unwrap();
        }
        assert!(!canary.exists(), "{}", root.display());
    }
    let changed = diff(tree.path(), &Changes::Uncommitted);
    assert!(changed.iter().any(|file| file.patch.contains("+three")));
}

#[test]
fn a_repository_that_points_at_a_pipe_is_given_up() {
    let tree = Tree::repository();
    tree.touch(&["a"]).commit("one");
    let pipe = tree.join("pipe");
    Command::new("mkfifo").arg(&pipe).status().unwrap();
    tree.git(&["config", "include.path", pipe.to_str().unwrap()]);
    let error = Repository::discover_within(tree.path(), Duration::from_millis(200)).unwrap_err();
    assert!(matches!(error, GitError::TimedOut { .. }), "{error}");
}

#[test]
fn a_missing_git_is_an_error_with_a_hint() {
    if std::env::var_os("KITBAG_TEST_WITHOUT_GIT").is_some() {
        let error = Repository::discover(Path::new(".")).unwrap_err();
        assert!(matches!(error, GitError::NotRun { .. }), "{error}");
        assert!(error.hint().unwrap().contains("install git"));
        return;
    }
    let empty = Tree::new();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "git::a_missing_git_is_an_error_with_a_hint"])
        .env("KITBAG_TEST_WITHOUT_GIT", "1")
        .env("PATH", empty.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

#[test]
fn variables_that_point_elsewhere_are_not_heeded() {
    if std::env::var_os("KITBAG_TEST_ELSEWHERE").is_some() {
        let root = std::env::var_os("KITBAG_TEST_ELSEWHERE").unwrap();
        assert_eq!(repository(Path::new(&root)).tracked().unwrap(), ["here"]);
        return;
    }
    let here = Tree::repository();
    here.touch(&["here"]).commit("here");
    let there = Tree::repository();
    there.touch(&["there"]).commit("there");
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "git::variables_that_point_elsewhere_are_not_heeded",
        ])
        .env("KITBAG_TEST_ELSEWHERE", here.path())
        .env("GIT_DIR", there.join(".git"))
        .env("GIT_WORK_TREE", there.path())
        .env("GIT_INDEX_FILE", there.join(".git/index"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
}
