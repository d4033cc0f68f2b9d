//! Files that come along with the best ones: their tests, what those tests need, and the code that
//! uses them or is used by them.
//!
//! A test belongs to a file when it is named after it, or imports it. Nothing is parsed for this: of
//! imports only those of the candidates are known.

use std::cmp::Reverse;

use super::candidate::Candidate;
use crate::relevance::imports::PathIndex;
use crate::walk::{FileEntry, FileRole};

/// The kinds of files that come along.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Companions {
    /// The tests of the best files.
    pub tests: bool,
    /// The files that the tests of the best files share: fixtures, `conftest.py`, helpers.
    pub fixtures: bool,
    /// The files that import one of the best; the files that the best import are reported as well.
    pub dependents: bool,
}

/// The relation of a file to one of the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// It tests it.
    Test,
    /// Its tests use it.
    Fixture,
    /// It imports it.
    Dependent,
    /// It is imported by it.
    Dependency,
}

impl Relation {
    /// The relation as metadata spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Fixture => "fixture",
            Self::Dependent => "dependent",
            Self::Dependency => "dependency",
        }
    }
}

/// The best files whose companions are looked for.
const TARGETS: usize = 3;

/// The most tests of one file by name, and as many by import; the most fixtures in all.
const MOST_TESTS: usize = 2;
const MOST_FIXTURES: usize = 3;

/// The most dependents of one file.
const MOST_DEPENDENTS: usize = 4;

/// Finds companions among `files`: each with its relation, and the file that it belongs to. `best` are
/// the files in order.
pub(super) fn find(
    wanted: Companions,
    best: &[usize],
    files: &[FileEntry],
    candidates: &[Candidate],
    paths: &PathIndex,
) -> Vec<(usize, Relation, usize)> {
    if wanted == Companions::default() {
        return Vec::new();
    }
    let has_role = |file: usize, role| files.get(file).is_some_and(|file| file.role == role);
    let of_role = |role| {
        best.iter()
            .copied()
            .filter(move |&file| has_role(file, role))
    };
    let targets: Vec<usize> = of_role(FileRole::Source).take(TARGETS).collect();
    let imports: Vec<(usize, Vec<usize>)> = candidates
        .iter()
        .map(|candidate| {
            let from = files.get(candidate.file).map_or("", |file| &file.path);
            let imports = candidate.parsed.syntax.imports.iter();
            let found = imports.flat_map(|import| paths.resolve(import, from, files));
            (candidate.file, found.collect())
        })
        .collect();
    let importers = |target: usize, role| {
        let importing = imports.iter().filter(move |(file, imported)| {
            *file != target && has_role(*file, role) && imported.contains(&target)
        });
        importing.map(|(file, _)| *file)
    };
    let mut found = Vec::new();
    for (place, &target) in targets.iter().enumerate() {
        // A file is no companion of itself, nor of a file that ranks below it among the targets.
        let better = targets.get(..=place).unwrap_or_default();
        let mut add = |file, relation| {
            if !better.contains(&file) {
                found.push((file, relation, target));
            }
        };
        if wanted.tests || wanted.fixtures {
            let named = tests_named_after(target, files).into_iter();
            let importing = importers(target, FileRole::Test).take(MOST_TESTS);
            named
                .take(MOST_TESTS)
                .chain(importing)
                .for_each(|file| add(file, Relation::Test));
        }
        if wanted.dependents {
            importers(target, FileRole::Source)
                .take(MOST_DEPENDENTS)
                .for_each(|file| add(file, Relation::Dependent));
            let used = imports.iter().filter(|(file, _)| *file == target);
            used.flat_map(|(_, imported)| imported)
                .for_each(|&file| add(file, Relation::Dependency));
        }
    }
    if wanted.fixtures
        && let Some(&target) = targets.first().or(best.first())
    {
        let tests = found.iter().map(|&(file, ..)| file);
        let tests: Vec<usize> = tests.chain(of_role(FileRole::Test).take(TARGETS)).collect();
        let fixtures = fixtures_of(&tests, files).into_iter();
        found.extend(fixtures.map(|file| (file, Relation::Fixture, target)));
    }
    found
}

/// The tests that are named after a file, the nearest first.
fn tests_named_after(target: usize, files: &[FileEntry]) -> Vec<usize> {
    let Some(path) = files.get(target).map(|file| file.path.as_str()) else {
        return Vec::new();
    };
    let wanted: String = subject(path).collect();
    let tests = files.iter().enumerate();
    let tests = tests.filter(|(_, file)| file.role == FileRole::Test);
    let mut named: Vec<((bool, usize), usize)> = tests
        .filter(|(_, file)| subject(&file.path).eq(wanted.chars()))
        .map(|(index, file)| {
            // A `forms.py` among the tests is what they need, and no test of `forms.py`.
            let likely = (says_test(&file.path), shared_folders(path, &file.path));
            (likely, index)
        })
        .collect();
    // Many folders have a `test_utils.py`: the one that shares most folders is meant.
    named.sort_by_key(|&(likely, index)| (Reverse(likely), index));
    named.into_iter().map(|(_, index)| index).collect()
}

/// Tells a test by the name of its file.
fn says_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let more = name.split('.').nth(1).unwrap_or_default();
    is_test_folder(stem) || is_test_folder(more) || bare(stem) != stem
}

/// The name of what a file holds or tests: `parser` for `src/parser.rs`, `tests/test_parser.py`,
/// `ParserTest.java` and `parser/tests.rs`.
fn subject(path: &str) -> impl Iterator<Item = char> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let bare = bare(stem);
    let is_general = |name: &str| {
        let names = ["", "mod", "lib", "index", "main", "__init__", "__main__"];
        names.contains(&name) || is_test_folder(name)
    };
    // The folder names the subject of `parser/mod.rs` and `parser/tests.rs`.
    let name = match is_general(bare) {
        true => folder.rsplit('/').find(|folder| !is_test_folder(folder)),
        false => None,
    };
    let letters = name.unwrap_or(bare).chars();
    // `ParserTest` and `parser_test` have the same subject.
    let letters = letters.filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase)
}

/// A stem without what marks tests.
fn bare(stem: &str) -> &str {
    let prefixes = ["test_", "test-", "Test", "spec_"];
    let suffixes = [
        "_tests", "_test", "-tests", "-test", "_spec", "-spec", "Tests", "TestCase", "Test", "Spec",
    ];
    let bare = prefixes.iter().find_map(|prefix| stem.strip_prefix(prefix));
    let bare = bare.unwrap_or(stem);
    let short = suffixes.iter().find_map(|suffix| bare.strip_suffix(suffix));
    short.unwrap_or(bare)
}

fn is_test_folder(name: &str) -> bool {
    ["test", "tests", "__tests__", "spec", "specs"].contains(&name)
}

/// The number of folders of one path that another has too, or has a part of: `forms` and `forms_tests`.
fn shared_folders(one: &str, other: &str) -> usize {
    let folder = |path: &str| {
        path.rsplit_once('/')
            .map_or("", |(folder, _)| folder)
            .to_owned()
    };
    let (one, other) = (folder(one), folder(other));
    let parts: Vec<&str> = other.split('/').collect();
    let is_like = |part: &str, other: &str| part == other || part.len() > 2 && other.contains(part);
    let has = |part: &&str| parts.iter().any(|other| is_like(part, other));
    one.split('/').filter(has).count()
}

/// The files that tests share: in a folder above them, or in a folder of fixtures next to
/// or above them. The nearest first.
fn fixtures_of(tests: &[usize], files: &[FileEntry]) -> Vec<usize> {
    let tests: Vec<&str> = tests
        .iter()
        .filter_map(|&test| Some(files.get(test)?.path.as_str()))
        .collect();
    let fixtures = files.iter().enumerate().filter_map(|(index, file)| {
        let place = place_of_fixture(&file.path)?;
        let serves = |test: &&str| {
            let below = test.strip_prefix(place);
            *test != file.path
                && below.is_some_and(|below| place.is_empty() || below.starts_with('/'))
        };
        tests.iter().any(serves).then_some((place.len(), index))
    });
    let mut fixtures: Vec<(usize, usize)> = fixtures.collect();
    // The longest place is the nearest folder above the tests.
    fixtures.sort_by_key(|&(length, index)| (Reverse(length), index));
    let fixtures = fixtures.into_iter().take(MOST_FIXTURES);
    fixtures.map(|(_, index)| index).collect()
}

/// The folder whose tests may use a file, if it is one that tests share.
fn place_of_fixture(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let helpers = ["conftest", "test_helper", "spec_helper", "rails_helper"];
    if helpers.contains(&stem) || says_fixture(stem) {
        return Some(folder);
    }
    if !says_fixture(folder) {
        return None;
    }
    let mut end = 0;
    for part in folder.split('/') {
        if says_fixture(part) {
            return Some(path.get(..end).unwrap_or_default().trim_end_matches('/'));
        }
        end += part.len() + 1;
    }
    None
}

/// Looks for the word in any case. Every path of a tree is asked, so nothing is copied.
fn says_fixture(name: &str) -> bool {
    let mut parts = name.as_bytes().windows("fixture".len());
    parts.any(|part| part.eq_ignore_ascii_case(b"fixture"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> Vec<FileEntry> {
        paths
            .iter()
            .map(|path| FileEntry::new(*path, 1, None))
            .collect()
    }

    fn named<'f>(files: &'f [FileEntry], found: &[usize]) -> Vec<&'f str> {
        found
            .iter()
            .filter_map(|&file| Some(files.get(file)?.path.as_str()))
            .collect()
    }

    #[test]
    fn p05_a_test_is_named_after_what_it_tests() {
        for path in [
            "src/parser.rs",
            "src/parser/tests.rs",
            "tests/test_parser.py",
            "pkg/parser_test.go",
            "src/__tests__/parser.test.ts",
            "app/src/test/java/ParserTest.java",
            "spec/parser_spec.rb",
            "src/parser/index.ts",
        ] {
            assert_eq!(subject(path).collect::<String>(), "parser", "{path}");
        }
        assert!(subject("src/latest.rs").eq("latest".chars()));
    }

    #[test]
    fn p05_the_nearest_test_comes_first() {
        let files = files(&["a/src/io.py", "a/tests/test_io.py", "b/tests/test_io.py"]);
        assert_eq!(
            named(&files, &tests_named_after(0, &files)),
            ["a/tests/test_io.py", "b/tests/test_io.py"]
        );
    }

    #[test]
    fn p05_a_test_comes_before_what_tests_need() {
        let files = files(&[
            "app/forms/forms.py",
            "tests/admin/forms.py",
            "tests/admin/test_forms.py",
            "tests/forms_tests/test_forms.py",
        ]);
        assert_eq!(
            named(&files, &tests_named_after(0, &files)),
            [
                "tests/forms_tests/test_forms.py",
                "tests/admin/test_forms.py",
                "tests/admin/forms.py"
            ]
        );
    }

    #[test]
    fn p05_fixtures_serve_the_tests_below_them() {
        let files = files(&[
            "conftest.py",
            "other/conftest.py",
            "tests/conftest.py",
            "tests/fixtures/users.json",
            "tests/unit/test_login.py",
        ]);
        assert_eq!(
            named(&files, &fixtures_of(&[4], &files)),
            [
                "tests/conftest.py",
                "tests/fixtures/users.json",
                "conftest.py"
            ]
        );
    }
}
