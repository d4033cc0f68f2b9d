//! A temporary folder to walk, perhaps a repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that is removed at the end of a test.
pub(crate) struct Tree {
    folder: tempfile::TempDir,
}

impl Tree {
    /// An empty folder outside any repository.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// An empty repository.
    pub(crate) fn repository() -> Self {
        let tree = Self::new();
        tree.git(&["init", "--quiet", "--initial-branch=main"]);
        tree
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn join(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    /// Writes a file and the folders above it.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Writes empty files.
    pub(crate) fn touch(&self, paths: &[&str]) -> &Self {
        for path in paths {
            self.write(path, "");
        }
        self
    }

    /// Commits all that git does not ignore.
    pub(crate) fn commit(&self, message: &str) -> &Self {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self
    }

    /// Runs git in the folder, without the settings of whoever runs the tests.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(self.path(), arguments)
    }
}

/// Runs git in `folder`, without the settings of whoever runs the tests.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder, arguments).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {complaint}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Git with a name to commit under, and without other settings.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .env_remove("GIT_DIR")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    git
}
