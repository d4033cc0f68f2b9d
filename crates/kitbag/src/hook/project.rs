//! The owner of a session's memory: the project in whose folder the session takes place.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The sender of sessions whose memory is the user's and not a project's: the one of `kitbag chat`.
pub const USER: &str = "user";

/// The longest name that the store takes, in characters.
const LONGEST: usize = 500;

/// The sender under whom the sessions in a folder are kept: the folder of its repository.
///
/// Work trees of one repository are one project. A folder outside of any repository is its own. A folder is
/// the same by whatever links it was reached.
#[must_use]
pub fn project_sender(folder: &Path) -> String {
    let real = fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
    let folder = real.unwrap_or_else(|_| folder.to_owned());
    let root = folder.ancestors().find_map(repository);
    let root = root.unwrap_or(folder);
    kept_name(root.to_string_lossy().into_owned())
}

/// The sender under whom the sessions in a folder of another machine are kept: its path, as that machine says it.
///
/// Nothing is looked up: a folder of the same path here would be another one.
#[must_use]
pub fn remote_project_sender(folder: &str) -> String {
    let folder = folder.trim();
    let name = folder.trim_end_matches(['/', '\\']);
    kept_name(if name.is_empty() { folder } else { name }.to_owned())
}

fn kept_name(name: String) -> String {
    match name.chars().count() > LONGEST || name.chars().any(char::is_control) {
        // The hash is as unique as the path, and a name that the store accepts.
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
    let link = short_text(&git)?;
    Some(main_folder(&git, &link).unwrap_or_else(|| folder.to_owned()))
}

/// The main folder of the repository that a work tree belongs to. The tree has a file with the path of its part
/// of the repository, and the repository names that file in turn: anybody can write the first, and only
/// who has the repository the second.
fn main_folder(git: &Path, link: &str) -> Option<PathBuf> {
    let named = link.strip_prefix("gitdir:")?.trim();
    let part = fs::canonicalize(git.parent()?.join(named)).ok()?;
    let trees = part.parent().filter(|it| it.ends_with("worktrees"))?;
    let main = trees.parent().filter(|it| it.ends_with(".git"))?.parent()?;
    let back = part.join(short_text(&part.join("gitdir"))?.trim());
    // Otherwise a cloned folder could name any repository and read the memory of its sessions.
    let is_known = fs::canonicalize(back).ok()? == fs::canonicalize(git).ok()?;
    is_known.then(|| main.to_owned())
}

/// The text of a file that holds one path, or `None` if it is something else.
fn short_text(file: &Path) -> Option<String> {
    const LONGEST_PATH: u64 = 1 << 13;
    let (file, length) = kitbag_text::regular(file).ok()?;
    let mut text = String::new();
    file.take(LONGEST_PATH).read_to_string(&mut text).ok()?;
    // A text that was cut is not the path that the file holds.
    (length < LONGEST_PATH).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x11_work_trees_of_a_repository_are_one_project() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(temporary.path()).unwrap();
        let (main, tree) = (folder.join("main"), folder.join("tree"));
        fs::create_dir_all(main.join(".git/worktrees/tree")).unwrap();
        fs::create_dir_all(main.join("src/deep")).unwrap();
        fs::create_dir_all(&tree).unwrap();
        let link = format!("gitdir: {}\n", main.join(".git/worktrees/tree").display());
        fs::write(tree.join(".git"), &link).unwrap();
        let back = format!("{}\n", tree.join(".git").display());
        fs::write(main.join(".git/worktrees/tree/gitdir"), back).unwrap();
        let expected = main.to_str().unwrap();
        for inside in [&main, &main.join("src/deep"), &tree] {
            assert_eq!(project_sender(inside), expected);
        }
        let module = folder.join("module");
        fs::create_dir_all(&module).unwrap();
        fs::write(module.join(".git"), "gitdir: ../main/.git/modules/module\n").unwrap();
        assert_eq!(project_sender(&module), module.to_str().unwrap());
        let alone = folder.join("alone");
        assert_eq!(project_sender(&alone), alone.to_str().unwrap());
    }

    #[test]
    fn x11_no_folder_claims_the_memory_of_another_project() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(temporary.path()).unwrap();
        let (main, thief) = (folder.join("main"), folder.join("thief"));
        let part = main.join(".git/worktrees/tree");
        fs::create_dir_all(&part).unwrap();
        fs::create_dir_all(&thief).unwrap();
        let link = format!("gitdir: {}\n", part.display());
        fs::write(thief.join(".git"), &link).unwrap();
        for back in ["", "/", "/elsewhere/.git", &link.repeat(1000)] {
            assert_eq!(project_sender(&thief), thief.to_str().unwrap());
            fs::write(part.join("gitdir"), back).unwrap();
        }
        assert_eq!(project_sender(&thief), thief.to_str().unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn x11_a_link_to_a_project_is_the_project() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(temporary.path()).unwrap();
        fs::create_dir_all(folder.join("main/.git")).unwrap();
        std::os::unix::fs::symlink(folder.join("main"), folder.join("link")).unwrap();
        let expected = project_sender(&folder.join("main"));
        assert_eq!(project_sender(&folder.join("link")), expected);
    }
}
