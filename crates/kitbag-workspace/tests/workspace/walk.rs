//! What a walk lists, and what it says of the rest.

use kitbag_workspace::git::Repository;
use kitbag_workspace::walk::{Walk, WalkOptions, walk};

use crate::tree::Tree;

fn paths(walk: &Walk) -> Vec<&str> {
    walk.files.iter().map(|file| file.path.as_str()).collect()
}

fn skips(walk: &Walk) -> Vec<String> {
    let skips = walk.skipped.iter();
    skips.map(|s| format!("{}: {}", s.path, s.reason)).collect()
}

fn walk_all(tree: &Tree) -> Walk {
    walk(tree.path(), &WalkOptions::default())
}

#[test]
fn tracked_files_are_never_ignored_by_git() {
    let tree = Tree::repository();
    tree.touch(&["kernel/fork.c", "init/main.c"]).commit("all");
    tree.write(".gitignore", "/*\n!/debian/\n")
        .touch(&["debian/rules", "scratch.c"]);
    let tracked = Repository::discover(tree.path())
        .unwrap()
        .unwrap()
        .tracked()
        .unwrap();
    let found = walk(tree.path(), &WalkOptions::default().with_tracked(&tracked));
    assert_eq!(
        paths(&found),
        ["debian/rules", "init/main.c", "kernel/fork.c"]
    );
}

#[test]
fn a_vendored_folder_is_one_line() {
    let tree = Tree::new();
    tree.touch(&["src/a.js", "node_modules/x/a.js", "node_modules/y/b.js"]);
    let found = walk_all(&tree);
    assert_eq!(paths(&found), ["src/a.js"]);
    assert_eq!(skips(&found), ["node_modules: code of other projects"]);
}
