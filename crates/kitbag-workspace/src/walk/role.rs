//! The purpose of a file, judged by its path alone.
//!
//! Folders named `admin`, `compat`, `tools`, `scripts`, `build` or `ci` tell nothing: in some
//! projects they are the source.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::table::{Meanings, meanings};

/// The purpose of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[non_exhaustive]
pub enum FileRole {
    /// Code of the project.
    Source,
    /// A test, or what tests need.
    Test,
    /// An example, a benchmark, a demonstration, a web site, a fuzz target.
    Example,
    /// Text for readers.
    Docs,
    /// A manifest: it describes the project and its dependencies.
    Manifest,
    /// Settings of the project or of a tool.
    Config,
    /// Tables, messages, records.
    Data,
}

impl FileRole {
    /// Judges a path below the root, with `/` between its parts.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let mut place = Place::default();
        let mut rest = path;
        while let Some((folder, below)) = rest.split_once('/') {
            place = place.enter(folder);
            rest = below;
        }
        place.role_of(rest)
    }
}

/// The evidence that the folders above a file give.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    role: Option<FileRole>,
    below_root: bool,
    /// Below a folder that holds source: only the names of tests count from there on.
    in_source: bool,
    /// Below a folder `test` that is not at the root: in Python a package for users may have that
    /// name, and its tests have names of their own.
    maybe_test: bool,
    /// Below `src/main`: there a package may be named `test`.
    in_main: bool,
}

impl Place {
    pub(super) fn enter(self, folder: &str) -> Self {
        let mut place = self;
        if matches!(self.role, Some(FileRole::Example | FileRole::Test)) && is_corpus(folder) {
            // What benchmarks and tests read is neither. Elsewhere a `corpora` may be a module.
            place.role = Some(FileRole::Data);
        }
        if self.role.is_none() {
            // The outermost folder that tells wins: `docs/src` is documentation.
            place.role = self.folder_role(folder);
            place.maybe_test |= folder == "test" && self.below_root && !self.in_main;
        }
        place.in_main |= folder == "main" && self.in_source;
        place.in_source |= matches!(
            folder,
            "src" | "lib" | "pkg" | "internal" | "app" | "Sources"
        );
        place.below_root = true;
        place
    }

    fn folder_role(self, folder: &str) -> Option<FileRole> {
        let lower = folder.to_ascii_lowercase();
        let role = FOLDERS.get(lower.as_str()).copied();
        match lower.as_str() {
            _ if self.in_main => None,
            _ if role == Some(FileRole::Test) || ends_in_test(folder) => Some(FileRole::Test),
            // `testing` is a module for users in many libraries, but a folder of tests at the root.
            "test" | "testing" if !self.below_root => Some(FileRole::Test),
            _ if self.in_source => None,
            "spec" | "specs" => Some(FileRole::Test),
            _ => role,
        }
    }

    pub(super) fn role_of(self, name: &str) -> FileRole {
        let (stem, extension) = match name.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => (stem, extension),
            _ => (name, ""),
        };
        match self.role {
            Some(role) => return role,
            None if self.maybe_test && extension != "py" => return FileRole::Test,
            None if is_test(stem, extension) => return FileRole::Test,
            None => {}
        }
        if self.is_script_settings(stem, extension) {
            return FileRole::Config;
        }
        if stem.ends_with(".stories") {
            return FileRole::Example;
        }
        if name.starts_with("requirements") && extension == "txt" {
            return FileRole::Manifest;
        }
        let known = NAMES.get(name).or_else(|| EXTENSIONS.get(extension));
        known.copied().unwrap_or_else(|| by_shape(name, extension))
    }

    /// `vite.config.ts`, `karma.conf.js`, `.eslintrc.cjs`: settings of a tool, written as a program.
    fn is_script_settings(self, stem: &str, extension: &str) -> bool {
        let is_script = matches!(extension, "js" | "cjs" | "mjs" | "ts" | "cts" | "mts");
        // In source, `app.config.ts` is code of an application: it exports settings that others read.
        let is_named = [".config", ".conf"].iter().any(|end| stem.ends_with(end));
        is_script && (stem.starts_with('.') || is_named && !self.in_source)
    }
}

/// Tells a folder of texts that are there to be searched, not to be read.
fn is_corpus(folder: &str) -> bool {
    matches!(
        folder,
        "corpora" | "corpus" | "dataset" | "datasets" | "haystack" | "haystacks"
    )
}

/// Tells data that no reader of a prompt wants: what stands in a corpus, and long tables and texts.
pub(crate) fn is_bulk(path: &str, role: FileRole, size: u64) -> bool {
    let mut folders = path.split('/');
    folders.next_back();
    role == FileRole::Data && (size > BULK || folders.any(is_corpus))
}

/// A larger file of data is no table of settings, messages or names.
const BULK: u64 = 256 << 10;

/// In lower case. What is no test is so only outside source.
static FOLDERS: Meanings<FileRole> = LazyLock::new(|| meanings(include_str!("role/folders.txt")));
static NAMES: Meanings<FileRole> = LazyLock::new(|| meanings(include_str!("role/names.txt")));
static EXTENSIONS: Meanings<FileRole> =
    LazyLock::new(|| meanings(include_str!("role/extensions.txt")));

/// `commonTest`, `Parser.Tests`: a capital after a small letter or a dot.
fn ends_in_test(folder: &str) -> bool {
    ["Test", "Tests", "TestUtils"].iter().any(|end| {
        folder
            .strip_suffix(end)
            .and_then(|start| start.chars().next_back())
            .is_some_and(|last| !last.is_ascii_uppercase())
    })
}

fn is_test(stem: &str, extension: &str) -> bool {
    // A name may have more than one extension: `user_spec.js.snap`.
    let first = stem.split('.').next().unwrap_or(stem);
    let mut ends = "_test _tests -test -tests _unittest _spec -spec _kunit".split(' ');
    let capital = "java kt kts scala groovy cs php swift hs fs vb m mm cpp cc dart jl";
    let starts_capital = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase());
    stem.starts_with("test_")
        || stem.starts_with("test-")
        || ends.any(|end| first.ends_with(end))
        || stem.contains(".test")
        || [".spec", ".e2e", ".cy"]
            .iter()
            .any(|end| stem.ends_with(end))
        || matches!(
            (stem, extension),
            ("conftest" | "tests" | "test", "py" | "pyi")
                | ("tests" | "test", "rs" | "go" | "js" | "ts" | "rb")
                | (_, "t" | "bats" | "snap" | "phpt")
        )
        // `error.caddyfiletest`.
        || extension.len() > 4 && extension.ends_with("test")
        || capital.split(' ').any(|known| known == extension)
            && (ends_in_test(stem) || stem.ends_with("TestCase") || ends_small(stem, "Spec"))
        || extension == "java"
            && (ends_small(stem, "IT") || stem.strip_prefix("Test").is_some_and(starts_capital))
}

fn ends_small(stem: &str, end: &str) -> bool {
    stem.strip_suffix(end)
        .and_then(|start| start.chars().next_back())
        .is_some_and(|last| last.is_ascii_lowercase() || last.is_ascii_digit())
}

fn by_shape(name: &str, extension: &str) -> FileRole {
    let notices = [
        "LICENSE", "LICENCE", "COPYING", "README", "CHANGES", "NOTICE",
    ];
    let is_settings = name.starts_with('.') || name.contains("config") || name.contains("settings");
    match extension {
        "json" if is_settings => FileRole::Config,
        "json" => FileRole::Data,
        "" if name.starts_with('.') => FileRole::Config,
        // LICENSE, README, AUTHORS, CHANGES.
        "" if !name.contains(|c: char| c.is_ascii_lowercase()) => FileRole::Docs,
        "" => FileRole::Source,
        // `LICENSE.python`, `README.ja`.
        _ if notices.iter().any(|start| name.starts_with(start)) => FileRole::Docs,
        _ => FileRole::Source,
    }
}

#[cfg(test)]
mod tests {
    use super::FileRole::{self, *};

    fn check(role: FileRole, paths: &[&str]) {
        for path in paths {
            assert_eq!(FileRole::of(path), role, "{path}");
        }
    }

    #[test]
    fn tests_of_all_languages_have_their_names() {
        check(
            Test,
            &[
                "tests/helper.rs",
                "tests/README.md",
                "pkg/tests/data.json",
                "src/__tests__/a.ts",
                "a/testdata/x.golden",
                "test/run.py",
                "lib/test/run.rb",
                "spec/models/user_spec.rb",
                "testing/test_config.py",
                "src/test/java/com/acme/UtilTest.java",
                "src/commonTest/kotlin/A.kt",
                "Acme.Parser.Tests/Fixture.cs",
                "tools/testing/selftests/net/a.sh",
                "test_models.py",
                "pkg/conftest.py",
                "app/tests.py",
                "server_test.go",
                "fs/ext4/inode-test.c",
                "base/files_unittest.cc",
                "button.spec.ts",
                "button.test.tsx",
                "src/UserTest.php",
                "src/UserTests.swift",
                "src/TestUser.java",
                "src/UserSpec.scala",
                "src/UserIT.java",
                "src/parse/tests.rs",
                "t/basic.t",
                "__snapshots__/a.snap",
                "adapt/errors.caddyfiletest",
                "ext/date/basic.phpt",
            ],
        );
    }

    #[test]
    fn source_keeps_its_role_below_telling_names() {
        check(
            Source,
            &[
                "src/main/java/com/example/demo/App.java",
                "src/main/java/org/junit/test/Runner.java",
                "django/test/client.py",
                "numpy/testing/utils.py",
                "Lib/unittest/case.py",
                "compiler/target/src/spec/mod.rs",
                "lib/kunit/test.c",
                "admin/compat/tools.py",
                "scripts/build.sh",
                "build/ci/main.go",
                "src/latest.rs",
                "src/contest.py",
                "src/attest.c",
                "src/Contest.java",
                "src/Testimony.java",
                "src/docs/render.ts",
                "src/app/app.config.ts",
                "src/config/database.config.ts",
                "templates/index.html",
            ],
        );
    }

    #[test]
    fn other_roles_go_by_folder_name_and_extension() {
        check(
            Docs,
            &[
                "docs/conf.py",
                "README.md",
                "Documentation/a.yaml",
                "LICENSE",
                "man/x.1",
            ],
        );
        check(Docs, &["LICENSE.python", "notes.txt", "src/guide.rst"]);
        check(
            Example,
            &[
                "examples/a.rs",
                "benches/b.rs",
                "website/src/x.js",
                "fuzz/fuzz_targets/a.rs",
            ],
        );
        check(Example, &["src/Button.stories.tsx", "samples/kprobes/a.c"]);
        check(
            Manifest,
            &[
                "Cargo.toml",
                "web/package.json",
                "requirements-dev.txt",
                "App.csproj",
            ],
        );
        check(Manifest, &["CMakeLists.txt", "go.mod"]);
        check(
            Config,
            &[
                "Makefile",
                ".github/workflows/ci.yml",
                "tsconfig.base.json",
                "vite.config.ts",
                "site/karma.conf.js",
                ".eslintrc.cjs",
                "src/.eslintrc.cjs",
                ".gitignore",
            ],
        );
        check(
            Data,
            &[
                "benchmarks/haystacks/opensubtitles/en.txt",
                "fuzz/corpora/a.json",
            ],
        );
        check(
            Source,
            &["src/corpus/reader.py", "gensim/corpora/reader.py"],
        );
        check(
            Data,
            &["locale/de.po", "data/cities.json", "icon.svg", "rows.csv"],
        );
    }
}
