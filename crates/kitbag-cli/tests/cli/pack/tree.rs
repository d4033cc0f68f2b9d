//! A folder with code to pack, perhaps a repository, and a cache of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::run::{Output, finish};

/// A folder that is removed at the end of a test.
pub(crate) struct Tree {
    folder: TempDir,
}

/// A folder with these files, outside any repository.
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    let tree = Tree {
        folder: TempDir::new().unwrap(),
    };
    fs::create_dir(tree.path()).unwrap();
    for (path, text) in files {
        tree.write(path, text);
    }
    tree
}

/// A repository in which these files are committed.
pub(crate) fn repository(files: &[(&str, &str)]) -> Tree {
    let tree = tree(files);
    tree.git(&["init", "--quiet", "--initial-branch=main"]);
    tree.commit("first");
    tree
}

impl Tree {
    /// The root; the cache is beside it.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Writes a file and the folders above it.
    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Commits all that git does not ignore.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// Runs git in the folder, always at the same time and without anybody's settings.
    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(self.path())
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z")
            .env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z");
        let output = git.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    /// `kitbag pack` with nothing on stdin.
    pub(crate) fn pack(&self, args: &[&str]) -> Output {
        let mut command = self.command(args);
        command.stdin(Stdio::null());
        finish(command, None)
    }

    /// `kitbag pack` with something piped in.
    pub(crate) fn pack_piped(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        finish(self.command(args), Some(stdin.as_ref()))
    }

    /// What `kitbag pack --json` says.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.pack(&[args, &["--json"]].concat());
        serde_json::from_str(&output.success()).unwrap()
    }

    /// `kitbag pack` in the folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.kitbag(&[&["pack"], args].concat())
    }

    /// `kitbag` with nothing on stdin.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        let mut command = self.kitbag(args);
        command.stdin(Stdio::null());
        finish(command, None)
    }

    /// `kitbag` in the folder.
    fn kitbag(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kitbag"));
        command
            .args(args)
            .current_dir(self.path())
            .env_remove("KITBAG_LOG")
            .env("KITBAG_CACHE_DIR", self.folder.path().join("cache"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// The chunk of a source, in what `--json` says.
#[track_caller]
pub(crate) fn chunk<'a>(pack: &'a Value, source: &str) -> &'a Value {
    let found = find(pack, source);
    found.unwrap_or_else(|| panic!("no chunk `{source}` in {:#}", pack["chunks"]))
}

/// The chunk of a source, if it is in.
pub(crate) fn find<'a>(pack: &'a Value, source: &str) -> Option<&'a Value> {
    let chunks = pack["chunks"].as_array().unwrap();
    chunks.iter().find(|chunk| chunk["source"] == source)
}

/// The chunk of a type, if one is in.
pub(crate) fn find_type<'a>(pack: &'a Value, chunk_type: &str) -> Option<&'a Value> {
    let chunks = pack["chunks"].as_array().unwrap();
    chunks
        .iter()
        .find(|chunk| chunk["chunk_type"] == chunk_type)
}

/// Why a source is out.
#[track_caller]
pub(crate) fn excluded<'a>(pack: &'a Value, source: &str) -> &'a str {
    let excluded = pack["excluded"].as_array().unwrap();
    let found = excluded
        .iter()
        .find(|excluded| excluded["source"] == source);
    let found = found.unwrap_or_else(|| panic!("`{source}` is not in {excluded:?}"));
    found["reason"].as_str().unwrap()
}

/// The text of a field.
#[track_caller]
pub(crate) fn text<'a>(pack: &'a Value, field: &str) -> &'a str {
    pack[field].as_str().unwrap()
}
