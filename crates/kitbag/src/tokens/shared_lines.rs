//! Counts texts that have lines in common, each line once.
//!
//! The levels of a file are made of the same lines: a dozen slices, each a little longer than the one
//! before. Texts are cut after line ends, where no piece of any vocabulary crosses (see
//! [`long_text`]), so that the counts of lines add up to that of the text.
//!
//! Where counts are kept, lines are looked up in blocks of about nine. A line ends a block by its own letters,
//! so a part of a file has the blocks of the whole.

use std::collections::HashMap;

use super::known_lines::{KnownLines, Reading};
use super::long_text::{self, is_cut_after_line_end};
use super::vocabulary::Vocabulary;

/// The number of tokens in each of `texts`. Lines whose counts were kept are not counted.
pub(super) fn count(
    vocabulary: Vocabulary,
    texts: &[&str],
    kept: Option<&KnownLines>,
) -> Vec<usize> {
    // Keyed by the text of the line or block: the levels of a file are copies, not slices of one text.
    let mut known = HashMap::new();
    let mut count = |line| {
        let count = || long_text::count(vocabulary, line);
        *known.entry(line).or_insert_with(count)
    };
    let Some(kept) = kept.map(KnownLines::read) else {
        let sum = |text| lines(text).map(&mut count).sum();
        return texts.iter().copied().map(sum).collect();
    };
    let mut known_blocks = HashMap::new();
    let mut block = |block| {
        if let Some(count) = kept.get(block) {
            return count;
        }
        // A part of a file ends within blocks, which are in its other parts too.
        let sum = || by_line(block, &kept, &mut count);
        *known_blocks.entry(block).or_insert_with(sum)
    };
    let sum = |text| blocks(text).map(&mut block).sum();
    texts.iter().copied().map(sum).collect()
}

fn by_line<'t>(
    block: &'t str,
    kept: &Reading<'_>,
    count: &mut impl FnMut(&'t str) -> usize,
) -> usize {
    let lines = lines(block);
    let of_line = |line| kept.get(line).unwrap_or_else(|| count(line));
    lines.map(of_line).sum()
}

/// Keeps the counts of a text's lines and blocks.
pub(super) fn learn(vocabulary: Vocabulary, text: &str, kept: &KnownLines) {
    let mut counted = Vec::new();
    {
        let known = kept.read();
        for block in blocks(text).filter(|block| known.get(block).is_none()) {
            let mut count = |line| {
                let count = long_text::count(vocabulary, line);
                counted.push((line, count));
                count
            };
            let count = by_line(block, &known, &mut count);
            counted.push((block, count));
        }
    }
    kept.keep(counted.into_iter());
}

/// The blocks of a text: lines up to one that ends a block, or to the end.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let (mut rest, mut lines) = (text, lines(text));
    std::iter::from_fn(move || {
        let mut length = 0;
        for line in lines.by_ref() {
            length += line.len();
            if ends_block(line) {
                break;
            }
        }
        let (block, after) = rest.split_at_checked(length)?;
        rest = after;
        (length > 0).then_some(block)
    })
}

/// About one line of nine ends a block, by its length and its last letters.
fn ends_block(line: &str) -> bool {
    let letters = line.bytes().rev().take(8);
    let mixed = letters.fold(line.len(), |mixed, letter| {
        mixed.wrapping_mul(31).wrapping_add(usize::from(letter))
    });
    (mixed >> 3) % 8 == 0
}

/// The lines of a text; those that cannot be cut apart are one.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    let mut rest = text;
    let mut start = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        for end in ends.by_ref() {
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
