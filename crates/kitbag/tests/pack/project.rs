//! A folder to pack, perhaps a repository, and a cache of its own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use kitbag::core::tokens::Tokens;
use kitbag::pack::{Pack, PackError, PackRequest, PackedChunk, pack};
use kitbag::tokens::Counter;
use tempfile::TempDir;

/// A folder that is removed at the end of a test.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    /// A folder with these files, outside any repository.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self {
            folder: TempDir::new().unwrap(),
        };
        fs::create_dir(project.root()).unwrap();
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// A repository in which these files are committed.
    pub(crate) fn repository(files: &[(&str, &str)]) -> Self {
        let project = Self::new(files);
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        if !files.is_empty() {
            project.commit("first");
        }
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// Runs git in the folder, without anybody's settings.
    pub(crate) fn git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .current_dir(self.root())
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_TEST_ASSUME_DIFFERENT_OWNER")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    pub(crate) fn request(&self, task: &str, budget: u32) -> PackRequest {
        let mut request = PackRequest::new(self.root(), task).with_budget(Tokens(budget));
        request.survey.cache_folder = Some(self.folder.path().join("cache"));
        request
    }
}

pub(crate) fn packed(request: &PackRequest) -> Result<Pack, PackError> {
    let counter = Counter::for_model("gpt-4o").unwrap();
    pollster::block_on(pack(request, &counter))
}

/// The chunk of a source, if it is in.
pub(crate) fn find(pack: &Pack, source: &str) -> Option<PackedChunk> {
    let mut chunks = pack.decisions.chunks.iter();
    chunks.find(|chunk| chunk.source == source).cloned()
}

/// Why a source is out.
#[track_caller]
pub(crate) fn why_out(pack: &Pack, source: &str) -> String {
    let excluded = &pack.decisions.excluded;
    let found = excluded.iter().find(|out| out.source == source);
    let found = found.unwrap_or_else(|| panic!("`{source}` is not in {excluded:?}"));
    found.reason.to_string()
}

/// The problems of a pack as people read them.
pub(crate) fn problems(pack: &Pack) -> Vec<String> {
    pack.decisions
        .problems
        .iter()
        .map(ToString::to_string)
        .collect()
}
