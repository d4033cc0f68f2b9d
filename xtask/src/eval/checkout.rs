//! Lays out a repository at one commit, with its history up to there and nothing after it.
//!
//! The objects are borrowed from a git directory that is only read. Some of its largest blobs may be
//! absent: those files are left out.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::instance::Instance;
use crate::command::git;

/// The sources of trees, and the folder where they are laid out.
pub(super) struct Trees {
    /// A folder of git directories, named `OWNER+NAME` in upper or lower case.
    pub(super) mirrors: PathBuf,
    /// The folder in which each task's tree stays, by its id; without it trees are removed after use.
    pub(super) kept: Option<PathBuf>,
}

/// A tree that is laid out.
pub(super) struct Tree {
    pub(super) root: PathBuf,
    /// Removes the tree when it is dropped.
    _passing: Option<TempDir>,
}

impl Trees {
    /// The tree of a task, as fresh from git.
    pub(super) fn tree(&self, instance: &Instance) -> Result<Tree> {
        let (folder, _passing) = match &self.kept {
            Some(kept) => (kept.clone(), None),
            None => {
                let passing = TempDir::new()?;
                (passing.path().to_owned(), Some(passing))
            }
        };
        let root = folder.join(&instance.id);
        if is_laid_out(instance, &root) {
            run(git(&root).args(["clean", "-fdxq"]))?;
        } else {
            // A tree has its name only when it is complete, so that an interruption leaves no half.
            let part = folder.join(format!(".part-{}", instance.id));
            for folder in [&part, &root] {
                if folder.exists() {
                    fs::remove_dir_all(folder)?;
                }
            }
            fs::create_dir_all(&folder)?;
            self.lay_out(instance, &part)?;
            fs::rename(&part, &root)?;
        }
        Ok(Tree { root, _passing })
    }

    fn lay_out(&self, instance: &Instance, folder: &Path) -> Result<()> {
        let source = git_directory(&self.mirrors, &instance.repo)?;
        let commit = instance.commit.as_str();
        run(Command::new("git").args(["init", "-q"]).arg(folder))?;
        // Nothing of a large history is copied: git looks up objects in the other directory.
        let borrowed = format!("{}\n", source.join("objects").display());
        fs::write(folder.join(".git/objects/info/alternates"), borrowed)?;
        // A detached head and no branches: nothing leads to later commits.
        fs::write(folder.join(".git/HEAD"), format!("{commit}\n"))?;
        let complete = git(folder)
            // The bytes as they were committed: no line ends are changed, and files of LFS stay
            // pointers.
            .args(["-c", "core.autocrlf=false", "-c", "filter.lfs.smudge=cat"])
            .args(["-c", "filter.lfs.required=false"])
            .args(["read-tree", "--reset", "-u", commit])
            .stderr(Stdio::null())
            .status()?;
        // It fails if contents are absent.
        if !complete.success() {
            lay_out_what_is_there(folder, commit)?;
        }
        run(git(folder).args(["clean", "-fdxq"]))
    }
}

/// The git directory of a repository among mirrors.
pub(super) fn git_directory(mirrors: &Path, repo: &str) -> Result<PathBuf> {
    // The names of mirrors and of the data may differ in case.
    let wanted = repo.to_lowercase().replace('/', "+");
    let shown = mirrors.display();
    let folders = fs::read_dir(mirrors).with_context(|| format!("could not read {shown}"))?;
    for folder in folders {
        let folder = folder?;
        if folder.file_name().to_string_lossy().to_lowercase() != wanted {
            continue;
        }
        let places = ["", "repo", ".git", "repo/.git"].map(|place| folder.path().join(place));
        if let Some(place) = places.iter().find(|place| place.join("objects").is_dir()) {
            // Git would read a relative path in `alternates` from another folder.
            return fs::canonicalize(place).context("a git directory vanished");
        }
    }
    bail!("no repository {repo} in {shown}")
}

fn is_laid_out(instance: &Instance, folder: &Path) -> bool {
    let head = fs::read_to_string(folder.join(".git/HEAD"));
    head.is_ok_and(|head| head.trim_end() == instance.commit)
}

/// The index without the files whose contents are absent, then the rest of the files.
fn lay_out_what_is_there(folder: &Path, commit: &str) -> Result<()> {
    run(git(folder).args(["read-tree", commit]))?;
    let listed = output(git(folder).args(["ls-tree", "-r", "-l", "-z", commit]))?;
    let mut absent = Vec::new();
    let entries = listed.split(|byte| *byte == 0);
    for entry in entries.filter(|entry| !entry.is_empty()) {
        // A path may hold a tab, but what comes before it does not.
        let mut parts = entry.splitn(2, |byte| *byte == b'\t');
        let (Some(about), Some(path)) = (parts.next(), parts.next()) else {
            bail!("unexpected line of git ls-tree");
        };
        // In the place of a number stands a word for contents that are absent, or a dash for a
        // submodule.
        let size = about.rsplit(|byte| *byte == b' ').next();
        if !size.is_some_and(|size| size.iter().all(u8::is_ascii_digit)) {
            absent.extend(path.iter().chain([&0]));
        }
    }
    let mut removal = git(folder)
        .args(["update-index", "-z", "--force-remove", "--stdin"])
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = removal.stdin.take() {
        stdin.write_all(&absent)?;
    }
    if !removal.wait()?.success() {
        bail!("git update-index failed in {}", folder.display());
    }
    // Some file may still be refused, for instance by its name: the others are there.
    git(folder)
        .args(["checkout-index", "-a", "-f", "-q"])
        .stderr(Stdio::null())
        .status()?;
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    output(command).map(|_| ())
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().context("could not start git")?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("git failed ({}): {}", output.status, stderr.trim_end());
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(folder: &Path, message: &str) -> String {
        fs::write(folder.join("a.txt"), message).unwrap();
        run(git(folder).args(["add", "."])).unwrap();
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        run(git(folder).args(author).args(["commit", "-qm", message])).unwrap();
        let head = output(git(folder).args(["rev-parse", "HEAD"])).unwrap();
        String::from_utf8(head).unwrap().trim_end().to_owned()
    }

    #[test]
    fn a_tree_knows_its_past_and_not_its_future() {
        let home = TempDir::new().unwrap();
        let source = home.path().join("mirrors/Some+Name/repo");
        run(Command::new("git").args(["init", "-q"]).arg(&source)).unwrap();
        commit(&source, "first");
        let middle = commit(&source, "second");
        commit(&source, "third");
        let trees = Trees {
            mirrors: home.path().join("mirrors"),
            kept: Some(home.path().join("trees")),
        };
        let instance = Instance {
            id: "some__name-1".to_owned(),
            repo: "some/name".to_owned(),
            commit: middle,
            ..Instance::default()
        };
        for _ in ["fresh", "kept"] {
            let tree = trees.tree(&instance).unwrap();
            assert_eq!(tree.root, home.path().join("trees/some__name-1"));
            let text = fs::read_to_string(tree.root.join("a.txt")).unwrap();
            assert_eq!(text, "second");
            let log = output(git(&tree.root).args(["log", "--all", "HEAD", "--format=%s"]));
            assert_eq!(log.unwrap(), b"second\nfirst\n");
            // What a run leaves behind is gone in the next one.
            fs::write(tree.root.join("left-behind"), "").unwrap();
        }
        assert!(
            !trees
                .tree(&instance)
                .unwrap()
                .root
                .join("left-behind")
                .exists()
        );
    }

    #[test]
    fn a_repository_that_is_not_there_is_named() {
        let home = TempDir::new().unwrap();
        let trees = Trees {
            mirrors: home.path().to_owned(),
            kept: None,
        };
        let instance = Instance {
            repo: "no/such".to_owned(),
            ..Instance::default()
        };
        let error = trees.tree(&instance).err().unwrap().to_string();
        assert!(error.contains("no repository no/such"), "{error}");
    }
}
