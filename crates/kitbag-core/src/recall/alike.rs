//! Words that differ by no more than a slip of the pen, or an ending that no stemmer knows.

use alloc::vec::Vec;

use super::query::{Query, QueryWord};

impl Query {
    /// Tells whether the postings of a term are wanted: it is one of the query's
    /// [terms](Self::terms), or begins with one of its [prefixes](Self::prefixes) and is spelled
    /// much like the word.
    #[must_use]
    pub fn wants(&self, term: &str) -> bool {
        let is_other_form = |word: &QueryWord| {
            let begins = word.prefix.as_deref();
            begins.is_some_and(|prefix| term.starts_with(prefix))
                && word
                    .alternatives
                    .first()
                    .is_some_and(|sought| is_alike(sought, term))
        };
        self.terms().any(|sought| sought == term) || self.words().iter().any(is_other_form)
    }
}

/// Tells whether two terms are probably forms of one word: they share most of their groups of three
/// letters, or at most one letter in four differs.
pub(super) fn is_alike(term: &str, other: &str) -> bool {
    let (term, other): (Vec<char>, Vec<char>) = (term.chars().collect(), other.chars().collect());
    let shorter = term.len().min(other.len());
    shorter >= SHORTEST && (shares_groups(&term, &other) || distance(&term, &other) <= shorter / 4)
}

/// Shorter words are too often one letter apart.
const SHORTEST: usize = 5;

/// Tells whether three fifths of the groups of three letters are in both.
fn shares_groups(term: &[char], other: &[char]) -> bool {
    let is_shared = |group: &&[char]| other.windows(3).any(|other| other == *group);
    let shared = term.windows(3).filter(is_shared).count();
    let all = term.windows(3).len() + other.windows(3).len();
    // Three fifths of the average, since the two words may have different numbers of groups.
    10 * shared >= 3 * all
}

/// Returns the number of letters to insert, leave out or replace to turn one word into the other.
pub(super) fn distance(term: &[char], other: &[char]) -> usize {
    // Levenshtein's distance, of whose table only one row is kept.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in (1..).zip(term) {
        let mut corner = above - 1;
        let mut left = above;
        let mut next = Vec::from([above]);
        for (other, &up) in other.iter().zip(row.iter().skip(1)) {
            let replaced = corner + usize::from(letter != other);
            left = replaced.min(left + 1).min(up + 1);
            corner = up;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x04_slips_and_endings_are_alike() {
        for (term, other) in [
            ("restaurant", "restaraunt"),
            ("tournament", "tournment"),
            ("koiralle", "koiralla"),
            ("guitar", "guittar"),
        ] {
            assert!(
                is_alike(term, other) && is_alike(other, term),
                "{term} {other}"
            );
        }
        for (term, other) in [
            ("paint", "pain"),
            ("univers", "unicorn"),
            ("a", "b"),
            ("", ""),
        ] {
            assert!(!is_alike(term, other), "{term} {other}");
        }
    }

    #[test]
    fn distances_are_counted_in_letters() {
        let letters = |word: &str| word.chars().collect::<Vec<char>>();
        let distance = |a, b| distance(&letters(a), &letters(b));
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("größe", "grösse"), 2);
    }
}
