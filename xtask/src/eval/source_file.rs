//! Selects the ranked paths that count: source code that is no test.

use anyhow::Result;
use regex::Regex;

const EXTENSIONS: &str = " py pyx pyi rs go java c h cc cpp hpp cxx hh js jsx mjs cjs ts tsx vue php rb y l lex jq lua tcl ";

/// Matched against the path in lower case.
const TESTS: &str = concat!(
    r"(^|/)(tests?|testing|__tests__|specs?|testdata|test[-_]?data|fixtures?|testsuite|__mocks__",
    r"|test-[\w-]+|e2e|browser_tests|regrtest)(/|$)",
    r"|(^|/)test_[^/]*$|_test\.\w+$|[._-]spec\.\w+$|_spec\.rb$|\.test\.\w+$|(^|/)conftest\.py$",
    r"|tests?\.(java|php)$|(^|/)tests?\.(py|rs|c|js)$|(^|/)test[a-z]\w*\.java$",
);

/// Tells source files from all others by their path.
pub(super) struct SourceFiles {
    tests: Regex,
}

impl SourceFiles {
    pub(super) fn new() -> Result<Self> {
        let tests = Regex::new(TESTS)?;
        Ok(Self { tests })
    }

    pub(super) fn contain(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        let name = path.rsplit('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(is_code) && !self.tests.is_match(&path)
    }
}

fn is_code(extension: &str) -> bool {
    EXTENSIONS.split_whitespace().any(|code| code == extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_documents_are_left_out() {
        let files = SourceFiles::new().unwrap();
        for path in [
            "src/a.rs",
            "Lib/X.PY",
            "latest/contest.go",
            ".rb",
            "a.b/x.c",
        ] {
            assert!(files.contain(path), "{path}");
        }
        let others = [
            "README.md",
            "Makefile",
            "src.c/readme",
            "tests/a.py",
            "a/Testing/b.py",
            "x_test.go",
            "a.spec.ts",
            "FooTest.java",
            "TestFoo.java",
            "a/test-utils-2/x.js",
            "conftest.py",
            "test_x.py",
            "test.rs",
        ];
        for path in others {
            assert!(!files.contain(path), "{path}");
        }
    }
}
