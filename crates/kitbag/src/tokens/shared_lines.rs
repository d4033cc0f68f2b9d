//! Counts texts that have lines in common, each line once.
//!
//! The levels of a file are made of the same lines: a dozen slices, each a little longer than the one
//! before. Texts are cut after line ends, where no piece of any vocabulary crosses (see
//! [`long_text`]), so that the counts of lines add up to that of the text.

use std::collections::HashMap;

use super::known_lines::KnownLines;
use super::long_text::{self, is_cut_after_line_end};
use super::vocabulary::Vocabulary;

/// The number of tokens in each of `texts`. Lines whose counts were kept are not counted.
pub(super) fn count(
    vocabulary: Vocabulary,
    texts: &[&str],
    kept: Option<&KnownLines>,
) -> Vec<usize> {
    let mut known = HashMap::new();
    let mut count = |line| {
        let kept = || kept?.get(line);
        let count = || kept().unwrap_or_else(|| long_text::count(vocabulary, line));
        // Keyed by the text of the line: the levels of a file are copies, not slices of one text.
        *known.entry(line).or_insert_with(count)
    };
    let sum = |text| lines(text).map(&mut count).sum();
    texts.iter().copied().map(sum).collect()
}

/// Keeps the counts of a text's lines.
pub(super) fn learn(vocabulary: Vocabulary, text: &str, kept: &KnownLines) {
    let new = lines(text).filter(|line| kept.get(line).is_none());
    let counted = new.map(|line| (line, long_text::count(vocabulary, line)));
    kept.keep(counted);
}

/// The lines of a text; those that cannot be cut apart are one.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut ends = text.match_indices('\n');
    let mut rest = text;
    let mut start = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        for (end, _) in ends.by_ref() {
            let (line, after) = rest.split_at_checked(end + 1 - start)?;
            if is_cut_after_line_end(after) {
                (rest, start) = (after, end + 1);
                return Some(line);
            }
        }
        Some(std::mem::take(&mut rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn x01_lines_add_up_to_the_count_of_the_text(
            texts in proptest::collection::vec("([a-zA-Z é中/.,;(){}\t'0-9]{0,12}(\r?\n| \n|\n\n  )?){0,12}", 1..5),
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            for vocabulary in Vocabulary::available() {
                let expected: Vec<usize> = texts
                    .iter()
                    .map(|text| vocabulary.table().count(text))
                    .collect();
                prop_assert_eq!(&count(vocabulary, &texts, None), &expected, "{}", vocabulary);
                // Also where some lines are known, and others are not.
                let kept = KnownLines::default();
                texts.iter().step_by(2).for_each(|text| learn(vocabulary, text, &kept));
                prop_assert_eq!(count(vocabulary, &texts, Some(&kept)), expected, "{}", vocabulary);
            }
        }
    }

    #[test]
    fn lines_are_kept_together_where_a_piece_may_cross() {
        let cut = |text| lines(text).collect::<Vec<_>>();
        assert_eq!(cut("a\n b\n"), ["a\n", " b\n"]);
        assert_eq!(cut("a\n\n b"), ["a\n\n", " b"]);
        assert_eq!(cut("a();\n// b\nc"), ["a();\n// b\n", "c"]);
        assert_eq!(cut("a\n  \n"), ["a\n  \n"]);
    }
}
