//! Random trees with random rules: the walk lists what git lists.

use std::path::Path;
use std::process::Command;

use kitbag_workspace::git::Repository;
use kitbag_workspace::walk::walk;
use kitbag_workspace::workspace::WorkspaceOptions;
use proptest::prelude::*;

use crate::tree::Tree;

/// Names that none of the walk's own skips knows.
const NAMES: [&str; 8] = ["a", "b", "ab", "c.x", "d.y", ".h", "e f", "{a,b}"];

fn path() -> impl Strategy<Value = String> {
    let names = prop::collection::vec(prop::sample::select(&NAMES[..]), 1..4);
    names.prop_map(|names| names.join("/"))
}

/// Patterns of all shapes, but for one: git takes `a**/b` for `a` and anything up to `/b`, at any
/// depth, which its manual denies.
fn pattern() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => prop::sample::select(&NAMES[..]),
        3 => prop::sample::select(&[
            "*", "**", "?", "a*", "*.x", "*b", "[ab]", "[!a]", "[^a]", "**b", "\\a", "*.?",
            "[a-c]*", "\\{a,b\\}", "[a-c]?[x-z]", "e\\ f", ".*", "*.*",
        ][..]),
    ];
    let parts = prop::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"));
    let before = prop::sample::select(&["", "", "", "/", "!", "!", "!/", "**/", "\\!", "#"][..]);
    let after = prop::sample::select(&["", "", "", "", "/", "/*", "/**", " ", "\\ "][..]);
    (before, parts, after).prop_map(|(before, parts, after)| format!("{before}{parts}{after}"))
}

/// The folder of a rule file, its name and its lines.
fn rules() -> impl Strategy<Value = (String, Vec<String>)> {
    let folder = prop_oneof![2 => Just(String::new()), 3 => path().prop_map(|path| path + "/")];
    (folder, prop::collection::vec(pattern(), 1..5))
        .prop_map(|(folder, lines)| (folder + ".gitignore", lines))
}

/// What git lists, with the settings of whoever runs the tests, as the walk has them too.
fn listed_by_git(root: &Path) -> Vec<String> {
    let output = Command::new("git")
        .current_dir(root)
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .output()
        .unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let mut list: Vec<String> = list.split_terminator('\0').map(str::to_owned).collect();
    list.sort();
    list.dedup();
    list
}

/// Writes what can be written: a path may pass through what is a file already.
fn write(tree: &Tree, path: &str, text: &str) {
    let place = tree.join(path);
    if std::fs::create_dir_all(place.parent().unwrap()).is_ok() {
        let _ = std::fs::write(place, text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_walk_lists_what_git_lists(
        files in prop::collection::vec(path(), 1..25),
        tracked in prop::collection::vec(path(), 0..6),
        rules in prop::collection::vec(rules(), 0..4),
        exclude in prop::collection::vec(pattern(), 0..3),
        below in prop::sample::select(&["", "a", "a/b"][..]),
    ) {
        let tree = Tree::repository();
        for path in &tracked {
            write(&tree, path, "tracked");
        }
        tree.git(&["add", "--force", "--all"]);
        for path in &files {
            write(&tree, path, "new");
        }
        for (path, lines) in &rules {
            write(&tree, path, &(lines.join("\n") + "\n"));
        }
        tree.write(".git/info/exclude", exclude.join("\n"));
        let root = tree.join(below);
        std::fs::create_dir_all(&root).ok();
        prop_assume!(root.is_dir());

        let tracked = Repository::discover(&root).unwrap().unwrap().tracked().unwrap();
        let found = walk(&root, &WorkspaceOptions::default(), Some(&tracked));
        // Where everything is ignored, the walk deliberately lists it all the same.
        prop_assume!(found.problems.is_empty());
        let found: Vec<String> = found.files.into_iter().map(|file| file.path).collect();
        prop_assert_eq!(found, listed_by_git(&root));
    }
}
