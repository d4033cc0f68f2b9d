//! Whose memory a session extends: that of the project in whose folder it takes place.

use std::fs;
use std::path::{Path, PathBuf};

/// The sender of sessions whose memory is the user's and not a project's: the one of `kitbag chat`.
pub const USER: &str = "user";

/// The longest name that the store takes, in characters.
const LONGEST: usize = 500;

/// The sender under whom the sessions in a folder are kept: the folder of its repository.
///
/// Work trees of one repository are one project. A folder outside of any repository is its own.
#[must_use]
pub fn project_sender(folder: &Path) -> String {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let root = folder.ancestors().find_map(repository);
    let root = root.unwrap_or(folder);
    let name = root.to_string_lossy().into_owned();
    match name.chars().count() > LONGEST || name.chars().any(char::is_control) {
        true => format!("project-{}", blake3::hash(name.as_bytes()).to_hex()),
        false => name,
    }
}

/// The main folder of the repository that this folder is the top of.
fn repository(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(folder.to_owned());
    }
    // A work tree has a file, with the path of its part of the repository.
    let link = fs::read_to_string(git).ok()?;
    let part = Path::new(link.strip_prefix("gitdir:")?.trim());
    let main = part.ancestors().find(|one| one.ends_with(".git"));
    let is_work_tree = part.parent().is_some_and(|one| one.ends_with("worktrees"));
    match main.and_then(Path::parent) {
        Some(main) if is_work_tree && main.is_absolute() => Some(main.to_owned()),
        _ => Some(folder.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x11_work_trees_of_a_repository_are_one_project() {
        let folder = tempfile::tempdir().unwrap();
        let (main, tree) = (folder.path().join("main"), folder.path().join("tree"));
        fs::create_dir_all(main.join(".git/worktrees/tree")).unwrap();
        fs::create_dir_all(main.join("src/deep")).unwrap();
        fs::create_dir_all(&tree).unwrap();
        let link = format!("gitdir: {}\n", main.join(".git/worktrees/tree").display());
        fs::write(tree.join(".git"), link).unwrap();
        let expected = main.to_str().unwrap();
        for inside in [&main, &main.join("src/deep"), &tree] {
            assert_eq!(project_sender(inside), expected);
        }
        let module = folder.path().join("module");
        fs::create_dir_all(&module).unwrap();
        fs::write(module.join(".git"), "gitdir: ../main/.git/modules/module\n").unwrap();
        assert_eq!(project_sender(&module), module.to_str().unwrap());
        let alone = folder.path().join("alone");
        assert_eq!(project_sender(&alone), alone.to_str().unwrap());
    }
}
