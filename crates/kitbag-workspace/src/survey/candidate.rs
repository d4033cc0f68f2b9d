//! A file that is looked at closely: its text, its structure, and what its units are worth.

use std::iter::repeat;
use std::sync::Arc;

use rayon::prelude::*;

use super::named;
use crate::cache::{Cache, Key};
use crate::language::Language;
use crate::matcher::Matcher;
use crate::parsed::Parsed;
use crate::query::Query;
use crate::relevance::units::{self, Hits};
use crate::syntax::{self, Syntax};
use crate::text;
use crate::walk::FileRole;
use crate::workspace::Workspace;

/// Raised when parsing changes, so that older entries of a cache are not read.
const FORMAT: &[u8] = b"4";

/// A file with its structure.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Candidate {
    /// The file, as an index into the workspace's files.
    pub file: usize,
    /// Its text.
    pub text: String,
    /// Its structure, and what is known of its text.
    pub parsed: Arc<Parsed>,
    /// The evidence for each unit of the structure.
    pub units: Vec<UnitWorth>,
    /// The lines, from 1, with words of the task, and how much those weigh.
    pub hits: Vec<(u32, f64)>,
    /// The lines, from 1, that a stack trace of the task names.
    pub located: Vec<u32>,
    /// True if the task names the file by its path, outside code and logs.
    pub named: bool,
}

/// The evidence that connects a unit with a task.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct UnitWorth {
    /// By its words.
    pub words: f64,
    /// The share of the task's phrases that stand in it, by how rare they are.
    pub phrases: f64,
    /// True if the task points at one of its lines.
    pub framed: bool,
    /// True if the task names the definition.
    pub named: bool,
    /// True for a test inside a source file.
    pub is_test: bool,
}

/// As much of what belongs to the best files is parsed in any case.
const BYTES_OF_COMPANIONS: u64 = 400_000;

/// As much is parsed to find the definitions that the task names.
const BYTES_OF_DEFINITIONS: u64 = 600_000;

/// Reads and parses files.
pub(super) struct Loader<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) query: &'a Query,
    /// The rarity of each term of the query.
    pub(super) rarity: Vec<f64>,
    pub(super) cache: &'a Cache,
    /// The share that is left of the worth of tests inside a source file.
    pub(super) inner_tests: f64,
}

/// The division of a file into units.
#[derive(Clone, Copy)]
enum Division {
    Parsed,
    Windows,
}

impl Loader<'_> {
    /// Loads the chosen files, side by side. One that cannot be read any more is left out.
    ///
    /// Of `bytes`, which are left for parsing, each file takes its size; one for which too few are
    /// left is divided into windows.
    pub(super) fn load(&self, chosen: &[usize], bytes: &mut u64) -> Vec<Candidate> {
        let matcher = Matcher::new(&self.query.terms);
        let mut divided = Vec::with_capacity(chosen.len());
        for &file in chosen {
            let size = self.workspace.files().get(file).map_or(0, |file| file.size);
            let division = match bytes.checked_sub(size) {
                Some(left) => {
                    *bytes = left;
                    Division::Parsed
                }
                None => Division::Windows,
            };
            divided.push((file, division));
        }
        divided
            .into_par_iter()
            .with_max_len(1)
            .filter_map(|(file, division)| self.candidate(file, division, &matcher))
            .collect()
    }

    /// Loads what belongs to the best files, with bytes of its own for parsing: a model of a test is a
    /// function of one. What is there already and was not parsed is loaded again. Returns what is known.
    pub(super) fn load_companions(
        &self,
        companions: &[usize],
        candidates: &mut Vec<Candidate>,
    ) -> Vec<usize> {
        let is_code = |file: &usize| {
            let entry = self.workspace.files().get(*file);
            entry.is_some_and(|entry| Language::of(&entry.path, "").is_some())
        };
        let is_parsed = |candidate: &Candidate| candidate.parsed.syntax.language.is_some();
        let mut wanted: Vec<usize> = companions.iter().copied().filter(is_code).collect();
        wanted.retain(|file| {
            let mut known = candidates.iter();
            !known.any(|candidate| candidate.file == *file && is_parsed(candidate))
        });
        candidates.retain(|candidate| !wanted.contains(&candidate.file));
        let mut bytes = BYTES_OF_COMPANIONS;
        candidates.extend(self.load(&wanted, &mut bytes));
        wanted
    }

    /// Loads those of the files that define a name of the task, with bytes of its own for parsing.
    pub(super) fn load_defining(&self, files: &[usize]) -> Vec<Candidate> {
        let mut bytes = BYTES_OF_DEFINITIONS;
        let mut candidates = self.load(files, &mut bytes);
        candidates.retain(|candidate| named::defines(&self.query.names, &candidate.parsed.syntax));
        candidates
    }

    fn text(&self, file: usize) -> Option<String> {
        let texts = self.workspace.texts();
        if let Some(Ok(known)) = texts.and_then(|texts| texts.get(file)) {
            return Some(text::decode(known)?.into_owned());
        }
        let mut buffer = Vec::new();
        let entry = self.workspace.files().get(file)?;
        text::read(self.workspace.root(), entry, &mut buffer).ok()?;
        Some(text::decode(&buffer)?.into_owned())
    }

    fn candidate(&self, file: usize, division: Division, matcher: &Matcher) -> Option<Candidate> {
        let (query, rarity) = (self.query, self.rarity.as_slice());
        let entry = self.workspace.files().get(file)?;
        let text = self.text(file)?;
        let parse = || Parsed::new(structure(&entry.path, &text, self.cache));
        let parsed = match (division, self.workspace.texts()) {
            (Division::Parsed, Some(texts)) => texts.parsed(file, parse),
            (Division::Parsed, None) => Arc::new(parse()),
            (Division::Windows, Some(texts)) => texts.windows(file, &text),
            (Division::Windows, None) => Arc::new(Parsed::windows(&text)),
        };
        let hits = Hits::of(matcher, &text);
        let words = units::score(query, rarity, &text, &parsed, &hits);
        let tests = match entry.role {
            FileRole::Source => parsed.inner_tests(&text),
            _ => &[],
        };
        let tests = tests.iter().copied().chain(repeat(false));
        let weigh = |&(line, term): &(u32, u16)| {
            let term = usize::from(term);
            let weight = query.terms.get(term).map_or(0.0, |term| term.unit_weight);
            (line, weight * rarity.get(term).copied().unwrap_or_default())
        };
        Some(Candidate {
            file,
            hits: hits.lines.iter().map(weigh).collect(),
            units: words
                .into_iter()
                .zip(tests)
                .map(|(words, is_test)| UnitWorth {
                    words: if is_test {
                        words * self.inner_tests
                    } else {
                        words
                    },
                    is_test,
                    ..UnitWorth::default()
                })
                .collect(),
            text,
            parsed,
            located: Vec::new(),
            named: false,
        })
    }
}

/// The structure of a text, from the cache if it was parsed before.
pub(crate) fn structure(path: &str, text: &str, cache: &Cache) -> Syntax {
    let Some(language) = Language::of_text(path, text) else {
        return syntax::windows(text);
    };
    let hash = blake3::hash(text.as_bytes());
    let key = Key::new(
        "syntax",
        &[FORMAT, language.name().as_bytes(), hash.as_bytes()],
    );
    if let Some(known) = cache.get(&key) {
        return known;
    }
    let parsed = syntax::parse(language, text);
    cache.put(&key, &parsed);
    parsed
}
