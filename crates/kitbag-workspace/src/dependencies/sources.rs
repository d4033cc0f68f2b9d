//! The manifests among the files of a workspace, which ones count, and what is wrong with them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

use super::{Ecosystem, Manifest, ManifestProblem};
use crate::relative::{folder_of, name_of};

/// More manifests of one kind than this are not read.
const MAX_MANIFESTS: usize = 2_000;

/// A longer manifest is not read.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// More dependencies of one manifest than this are left out.
const MAX_DEPENDENCIES: usize = 500;

/// Names of folders with code that is not the project's own, or not what it is about.
const ASIDE: &str = "\
    test tests testing testdata test-data test_data __tests__ spec specs e2e fixture fixtures \
    __fixtures__ mock mocks example examples sample samples demo demos playground template \
    templates bench benches benchmark benchmarks doc docs vendor vendored third_party \
    third-party node_modules";

/// The endings of the names of all manifests. They rule out most files, once for all ecosystems.
const ENDINGS: &str = "\
    .toml .json .yaml .txt .in .cfg setup.py Pipfile .mod .work pom.xml .gradle .gradle.kts \
    Gemfile .gemspec proj .props .exs .swift .sbt";

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
        let may_be_one = |path: &&str| ENDINGS.split(' ').any(|end| path.ends_with(end));
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
        // The project proper first: if there are too many, those of its tests and examples are left
        // out.
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
            let reason = format!("{} bytes are too many for a manifest", text.len());
            self.problem(path, reason);
            return None;
        }
        Some(
            text.strip_prefix('\u{feff}')
                .map(str::to_owned)
                .unwrap_or(text),
        )
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }

    pub(super) fn problem(&self, path: &str, reason: impl ToString) {
        let reason = reason.to_string();
        let lines = reason
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        self.problems.borrow_mut().insert(ManifestProblem {
            path: path.to_owned(),
            // A reason is one line of a report, for which the start of a long message is enough.
            reason: lines.take(2).collect::<Vec<_>>().join(": "),
        });
    }

    /// Parses a text; what is wrong with it becomes a problem.
    pub(super) fn parsed<T, E: ToString>(&self, path: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.problem(path, error)).ok()
    }

    /// Parses a manifest in TOML.
    pub(super) fn toml(&self, path: &str, text: &str) -> Option<Value> {
        let table = toml::from_str(text);
        self.parsed(
            path,
            table.map_err(|error: toml::de::Error| error.message().to_owned()),
        )
    }

    /// Parses a manifest in JSON, which is an object.
    pub(super) fn json(&self, path: &str, text: &str) -> Option<Value> {
        // A list or a number is refused: no manifest is one.
        self.parsed(path, serde_json::from_str(text).map(Value::Object))
    }

    /// Makes a manifest of each file whose name is of interest; none where `read` gives none.
    pub(super) fn manifests(
        &self,
        ecosystem: Ecosystem,
        is: impl Fn(&str) -> bool,
        mut read: impl FnMut(&mut Manifest, &str) -> Option<()>,
    ) -> Vec<Manifest> {
        let made = |(path, text): (&str, String)| {
            let mut manifest = Manifest::new(path, ecosystem);
            read(&mut manifest, &text)?;
            Some(manifest)
        };
        self.named(is).into_iter().filter_map(made).collect()
    }

    /// Keeps a manifest within bounds.
    pub(super) fn bound(&self, manifest: &mut Manifest) {
        let count = manifest.dependencies.len();
        if let more @ 1.. = count.saturating_sub(MAX_DEPENDENCIES) {
            let reason = format!("{more} of {count} dependencies are left out");
            self.problem(&manifest.path, reason);
            manifest.dependencies.truncate(MAX_DEPENDENCIES);
        }
    }

    pub(super) fn into_problems(self) -> Vec<ManifestProblem> {
        self.problems.into_inner().into_iter().collect()
    }
}

/// Tells if a file is in a folder for tests, examples or vendored code.
pub(super) fn is_aside(path: &str) -> bool {
    let mut parts = folder_of(path).split('/');
    parts.any(|part| ASIDE.split(' ').any(|aside| aside == part))
}

/// The key by which manifests are ordered.
pub(super) fn order(manifest: &Manifest) -> (bool, usize, &str) {
    (!manifest.is_primary, depth(&manifest.path), &manifest.path)
}

fn depth(path: &str) -> usize {
    path.matches('/').count()
}
