//! The words of the paths of a workspace, split once for all surveys of it.

use std::collections::HashMap;

use kitbag_core::text::{Word, words};
use rayon::prelude::*;

use crate::query::Term;
use crate::relevance::field::Document;
use crate::relevance::units::position;
use crate::walk::FileEntry;

/// The words of each path by their numbers, and each different word once.
#[derive(Debug, Default)]
pub(crate) struct PathWords {
    words: Vec<Word>,
    paths: Vec<Path>,
}

#[derive(Debug)]
struct Path {
    /// The number of its words without those that are whole identifiers.
    length: u32,
    words: Box<[u32]>,
}

impl PathWords {
    pub(super) fn of(files: &[FileEntry]) -> Self {
        let split = files.par_iter();
        let split: Vec<Vec<Word>> = split
            .map(|file| words(without_extension(&file.path)).collect())
            .collect();
        let mut all = Self::default();
        let mut numbers: HashMap<(String, bool), u32> = HashMap::new();
        for path in split {
            let is_part = |word: &&Word| matches!(word, Word::Part(_));
            let length = path.iter().filter(is_part).count();
            let mut number = |word: Word| {
                let (text, is_whole) = parts(&word);
                let key = (text.to_owned(), is_whole);
                *numbers.entry(key).or_insert_with(|| {
                    all.words.push(word);
                    u32::try_from(all.words.len() - 1).unwrap_or(u32::MAX)
                })
            };
            let words = path.into_iter().map(&mut number).collect();
            all.paths.push(Path {
                length: u32::try_from(length).unwrap_or(u32::MAX),
                words,
            });
        }
        all
    }

    /// The terms of a query in each path.
    pub(crate) fn documents(&self, terms: &[Term]) -> Vec<Document> {
        let place = |word: &Word| {
            let (text, is_whole) = parts(word);
            position(terms, text, is_whole)
        };
        let places: Vec<Option<u16>> = self.words.iter().map(place).collect();
        let document = |path: &Path| {
            let mut document = Document {
                length: path.length,
                ..Document::default()
            };
            let words = path.words.iter();
            let words = words.filter_map(|&word| *places.get(usize::try_from(word).ok()?)?);
            words.for_each(|term| document.add(term, 1));
            document.counts.sort_unstable();
            document
        };
        self.paths.iter().map(document).collect()
    }
}

/// The text of a word, and whether it is a whole identifier.
fn parts(word: &Word) -> (&str, bool) {
    match word {
        Word::Part(text) => (text, false),
        Word::Whole(text) => (text, true),
    }
}

fn without_extension(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((stem, extension)) if !extension.contains('/') && !stem.is_empty() => stem,
        _ => path,
    }
}
