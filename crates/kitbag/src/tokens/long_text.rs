//! Counts texts of any length exactly, in time proportional to their length for every input.
//!
//! The tokenizer underneath has two slow cases. At white space it may look at all the rest of the text,
//! so texts are cut into segments (see [`segment`]). And its time grows faster than the length of a
//! piece, the unit that a pattern finds and byte pairs are merged in, so a piece of megabytes is
//! shortened before it is encoded (see [`shorten`]).

mod segment;
mod shorten;

#[cfg(test)]
mod tests;

use super::vocabulary::Vocabulary;

pub(super) use segment::is_cut_after_line_end;

/// Long enough that cutting costs nothing, short enough that looking at all the rest is cheap.
const SEGMENT: usize = 2 << 10;

/// From here on a segment is searched for runs to shorten.
const LONG: usize = 32 << 10;

/// The length of the next segment. The fast paths of the tokenizer are for ASCII and some Chinese;
/// elsewhere each piece takes time in proportion to its segment.
fn target(rest: &str) -> usize {
    // A sample is enough: a wrong guess costs speed, never exactness.
    if rest.bytes().take(64).all(|byte| byte.is_ascii()) {
        SEGMENT
    } else {
        SEGMENT / 32
    }
}

/// The number of tokens in `text`, equal to that of its table.
pub(super) fn count(vocabulary: Vocabulary, text: &str) -> usize {
    let (table, case) = (vocabulary.table(), vocabulary.letter_case());
    let format = vocabulary.format_chars();
    let mut total = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (segment, after) = segment::split_off(rest, target(rest), format);
        rest = after;
        // A segment is this long only where no safe place to cut was found.
        total += if segment.len() < LONG {
            table.count(segment)
        } else {
            shorten::count(table, case, segment)
        };
    }
    total
}
