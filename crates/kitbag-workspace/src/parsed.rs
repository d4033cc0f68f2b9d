//! A text's structure and facts derived from the two, computed once per process.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use crate::relevance::units;
use crate::syntax::{Syntax, inner_tests, windows};
use crate::walk::FileRole;

/// A text's structure and the facts derived from the two so far. It does not hold the text: every method must be
/// asked with the same one.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Parsed {
    /// The structure.
    pub syntax: Syntax,
    lengths: OnceLock<Box<[u32]>>,
    inner_tests: OnceLock<Box<[bool]>>,
    is_shown_as_it_is: OnceLock<bool>,
    distinct_lines: OnceLock<Box<[u64]>>,
}

impl Parsed {
    /// A text of this structure.
    #[must_use]
    pub fn new(syntax: Syntax) -> Self {
        Self {
            syntax,
            ..Self::default()
        }
    }

    /// A text in no known language, divided at its blank lines.
    #[must_use]
    pub fn windows(text: &str) -> Self {
        Self::new(windows(text))
    }

    /// Tells if a text has nothing that must not be shown. `find_out` is called once.
    pub fn is_shown_as_it_is(&self, find_out: impl FnOnce() -> bool) -> bool {
        *self.is_shown_as_it_is.get_or_init(find_out)
    }

    /// The lines that say something, each once, as hashes in ascending order. They are compared within one
    /// process only.
    pub fn distinct_lines(&self, text: &str) -> &[u64] {
        self.distinct_lines.get_or_init(|| {
            let lines = text.lines().map(str::trim).filter(|line| line.len() > 3);
            let mut hashes: Vec<u64> = lines
                .map(|line| {
                    let mut hasher = DefaultHasher::new();
                    line.hash(&mut hasher);
                    hasher.finish()
                })
                .collect();
            hashes.sort_unstable();
            hashes.dedup();
            hashes.into()
        })
    }

    /// Finds out what a survey will ask about a file with this role.
    pub(crate) fn look_ahead(&self, text: &str, role: FileRole) {
        self.lengths(text);
        if role == FileRole::Source {
            self.inner_tests(text);
        }
    }

    /// The number of words in each unit.
    pub(crate) fn lengths(&self, text: &str) -> &[u32] {
        let count = || units::lengths(text, &self.syntax).into();
        self.lengths.get_or_init(count)
    }

    /// Tells of each unit of a source file if it is a test.
    pub(crate) fn inner_tests(&self, text: &str) -> &[bool] {
        let find = || inner_tests(text, &self.syntax).into();
        self.inner_tests.get_or_init(find)
    }
}
