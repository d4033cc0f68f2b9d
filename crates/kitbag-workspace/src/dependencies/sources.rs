//! The manifests among the files of a workspace, which ones count, and what is wrong with them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::{Manifest, ManifestProblem};
use crate::relative::{folder_of, name_of};

/// More manifests of one kind than this are not read.
const MAX_MANIFESTS: usize = 2_000;

/// A longer manifest is not read.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// More dependencies of one manifest than this are left out.
const MAX_DEPENDENCIES: usize = 500;

/// Names of folders with code that is not the project's own, or not what it is about.
const ASIDE: [&str; 35] = [
    "test",
    "tests",
    "testing",
    "testdata",
    "test-data",
    "test_data",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "fixture",
    "fixtures",
    "__fixtures__",
    "mock",
    "mocks",
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "playground",
    "template",
    "templates",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "doc",
    "docs",
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "node_modules",
];

/// How the names of all manifests end. Most files are told apart by this alone, once.
const ENDINGS: [&str; 20] = [
    ".toml",
    ".json",
    ".yaml",
    ".txt",
    ".in",
    ".cfg",
    "setup.py",
    "Pipfile",
    ".mod",
    ".work",
    "pom.xml",
    ".gradle",
    ".gradle.kts",
    "Gemfile",
    ".gemspec",
    "proj",
    ".props",
    ".exs",
    ".swift",
    ".sbt",
];

/// Files by path, read on demand; collects what is wrong with them.
pub(super) struct Sources<'a> {
    /// All files.
    paths: &'a [&'a str],
    /// Those that may be manifests.
    candidates: Vec<&'a str>,
    read: &'a dyn Fn(&str) -> Option<String>,
    problems: RefCell<BTreeSet<ManifestProblem>>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(paths: &'a [&'a str], read: &'a dyn Fn(&str) -> Option<String>) -> Self {
        let may_be_one = |path: &&str| ENDINGS.iter().any(|end| path.ends_with(end));
        Self {
            paths,
            candidates: paths.iter().copied().filter(may_be_one).collect(),
            read,
            problems: RefCell::default(),
        }
    }

    /// The files whose name is of interest, with their texts, from the root down.
    pub(super) fn named(&self, is: impl Fn(&str) -> bool) -> Vec<(&'a str, String)> {
        let candidates = self.candidates.iter().copied();
        let mut found: Vec<&str> = candidates.filter(|path| is(name_of(path))).collect();
        found.sort_by_key(|path| (is_aside(path), depth(path), *path));
        found.dedup();
        if let Some(first) = found.get(MAX_MANIFESTS) {
            let more = found.len() - MAX_MANIFESTS;
            self.problem(first, format!("{more} manifests from here on are not read"));
            found.truncate(MAX_MANIFESTS);
        }
        let text = |path| Some((path, self.text(path)?));
        found.into_iter().filter_map(text).collect()
    }

    /// The text of a file, if it is in the workspace and can be read.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let Some(text) = (self.read)(path) else {
            self.problem(path, "cannot be read");
            return None;
        };
        if text.len() > MAX_BYTES {
            self.problem(
                path,
                format!("{} bytes are too many for a manifest", text.len()),
            );
            return None;
        }
        match text.strip_prefix('\u{feff}') {
            Some(rest) => Some(rest.to_owned()),
            None => Some(text),
        }
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }

    pub(super) fn problem(&self, path: &str, reason: impl ToString) {
        let reason = reason.to_string();
        let reason = reason
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        self.problems.borrow_mut().insert(ManifestProblem {
            path: path.to_owned(),
            reason: reason.take(2).collect::<Vec<_>>().join(": "),
        });
    }

    /// Parses a text; what is wrong with it becomes a problem.
    pub(super) fn parsed<T, E: ToString>(&self, path: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.problem(path, error)).ok()
    }

    /// Keeps a manifest within bounds.
    pub(super) fn bounded(&self, mut manifest: Manifest) -> Manifest {
        let count = manifest.dependencies.len();
        if count > MAX_DEPENDENCIES {
            let more = count - MAX_DEPENDENCIES;
            self.problem(
                &manifest.path,
                format!("{more} of {count} dependencies are left out"),
            );
            manifest.dependencies.truncate(MAX_DEPENDENCIES);
        }
        manifest
    }

    pub(super) fn into_problems(self) -> Vec<ManifestProblem> {
        self.problems.into_inner().into_iter().collect()
    }
}

/// Whether a file is in a folder for tests, examples or vendored code.
pub(super) fn is_aside(path: &str) -> bool {
    folder_of(path).split('/').any(|part| ASIDE.contains(&part))
}

/// What the manifests are ordered by.
pub(super) fn order(manifest: &Manifest) -> (bool, usize, &str) {
    (!manifest.is_primary, depth(&manifest.path), &manifest.path)
}

fn depth(path: &str) -> usize {
    path.matches('/').count()
}
