//! The identifiers of the files that stay in memory, so that a scan need not read their bytes again.
//!
//! An identifier here is a run of bytes in which words can stand: letters, digits, underscores and all
//! that is not ASCII. A word of a query never reaches beyond one, and what is around a run has no part in
//! how words are found in it. So to search each different identifier once, and to multiply by how often
//! a file has it, finds exactly what a search of the file finds.

use std::collections::HashMap;
use std::sync::Arc;

use crate::matcher::{Matcher, is_word_byte};

/// The occurrences in a file: the number of each identifier and its count.
pub(crate) type Occurrences = Arc<[(u32, u32)]>;

/// The most bytes of identifiers: the files of a tree that has more are searched themselves, in part.
const MOST: usize = 32 << 20;

/// Every identifier that some file has, once.
#[derive(Debug, Default)]
pub(crate) struct Identifiers {
    numbers: HashMap<Box<[u8]>, u32>,
    /// All of them in the order of their numbers, with a line end behind each.
    joined: Vec<u8>,
    /// The place behind the line end of each.
    ends: Vec<usize>,
}

impl Identifiers {
    /// Counts the identifiers of a file; none where there is no room for them.
    pub(crate) fn count(&mut self, bytes: &[u8]) -> Option<Occurrences> {
        let mut counts: HashMap<&[u8], u32> = HashMap::new();
        let runs = bytes.split(|&byte| !is_run_byte(byte));
        for run in runs.filter(|run| !run.is_empty()) {
            let count = counts.entry(run).or_default();
            *count = count.saturating_add(1);
        }
        let mut counted = Vec::with_capacity(counts.len());
        for (run, count) in counts {
            counted.push((self.number(run)?, count));
        }
        counted.sort_unstable();
        Some(counted.into())
    }

    fn number(&mut self, run: &[u8]) -> Option<u32> {
        if let Some(&number) = self.numbers.get(run) {
            return Some(number);
        }
        if self.joined.len() + run.len() > MOST {
            return None;
        }
        let number = u32::try_from(self.ends.len()).ok()?;
        self.joined.extend_from_slice(run);
        // A line end is in no run, so no word of a query is found across two identifiers.
        self.joined.push(b'\n');
        self.ends.push(self.joined.len());
        self.numbers.insert(run.into(), number);
        Some(number)
    }

    /// The identifiers that have terms of a query.
    pub(crate) fn search(&self, matcher: &Matcher) -> MatchingIdentifiers {
        let mut found = MatchingIdentifiers {
            is_found: vec![0; self.ends.len().div_ceil(64)],
            terms: HashMap::new(),
        };
        let mut number = 0;
        matcher.find(&self.joined, |at, term| {
            // Offsets come in ascending order: one pass over the ends is enough.
            while self.ends.get(number).is_some_and(|&end| end <= at) {
                number += 1;
            }
            if let Some(bits) = found.is_found.get_mut(number / 64) {
                *bits |= 1 << (number % 64);
                found.terms.entry(number).or_default().push(term);
            }
        });
        found
    }
}

/// The identifiers that have terms of a query, and which terms.
pub(crate) struct MatchingIdentifiers {
    /// A bit for each, so that those of a large tree stay near the processor.
    is_found: Vec<u64>,
    terms: HashMap<usize, Vec<usize>>,
}

impl MatchingIdentifiers {
    /// Counts the terms of a file. `counts` has a place for each term.
    pub(crate) fn add_to(&self, counts: &mut [u32], occurrences: &[(u32, u32)]) {
        for &(number, times) in occurrences {
            let number = number as usize;
            let bits = self.is_found.get(number / 64).copied().unwrap_or_default();
            if bits & (1 << (number % 64)) == 0 {
                continue;
            }
            for &term in self.terms.get(&number).into_iter().flatten() {
                if let Some(count) = counts.get_mut(term) {
                    *count = count.saturating_add(times);
                }
            }
        }
    }
}

/// Tells if words can have this byte, or stand on both sides of it in one identifier.
fn is_run_byte(byte: u8) -> bool {
    is_word_byte(byte) || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use proptest::prelude::*;

    fn counted(find: impl FnOnce(&mut [u32]), terms: usize) -> Vec<u32> {
        let mut counts = vec![0; terms];
        find(&mut counts);
        counts
    }

    proptest! {
        /// Whatever stands in the files, and in whatever order they come.
        #[test]
        fn x10_identifiers_have_the_words_that_a_search_of_the_bytes_finds(
            texts in proptest::collection::vec(
                "([a-cA-C]{1,4}|[a-cA-C]{4,6}(s|ed|ing)|_|__| |\n|1|-|\\.|é|ß|中|\u{fe0f}){0,30}", 1..5),
            task in "[abc]{3,4} [abc]{4,5} [abc]{3,4}_[abc]{3,4} [abc]{2}é[abc]{2} [ABC][abc]{3}[ABC][abc]{3}",
        ) {
            let query = Query::new(&task);
            let (matcher, terms) = (Matcher::new(&query.terms), query.terms.len());
            let mut identifiers = Identifiers::default();
            let occurrences: Vec<Occurrences> = texts
                .iter()
                .map(|text| identifiers.count(text.as_bytes()).unwrap())
                .collect();
            let found = identifiers.search(&matcher);
            for (text, occurrences) in texts.iter().zip(&occurrences) {
                let by_identifiers = counted(|counts| found.add_to(counts, occurrences), terms);
                let by_bytes = counted(
                    |counts| matcher.find(text.as_bytes(), |_, term| counts[term] += 1),
                    terms,
                );
                prop_assert_eq!(by_identifiers, by_bytes, "{:?}", text);
            }
        }
    }
}
