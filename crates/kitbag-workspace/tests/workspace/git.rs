//! What git is asked, also where a repository is hostile.

use kitbag_workspace::git::{LogOptions, Repository};

use crate::tree::Tree;

#[test]
fn a_log_lists_commits_with_their_paths() {
    let tree = Tree::repository();
    tree.touch(&["a.rs", "dir/b.rs"]).commit("first");
    tree.write("dir/b.rs", "2").commit("second");
    let repository = Repository::discover(tree.path()).unwrap().unwrap();
    let log = repository.log(&LogOptions::default()).unwrap();
    let found: Vec<_> = log
        .iter()
        .map(|c| (c.subject.as_str(), c.paths.as_slice()))
        .collect();
    assert_eq!(found[0], ("second", ["dir/b.rs".to_owned()].as_slice()));
    assert_eq!(found[1].1, ["a.rs", "dir/b.rs"]);
}
