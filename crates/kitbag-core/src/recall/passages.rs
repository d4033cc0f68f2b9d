//! Cuts a long message into passages of whole sentences.

use alloc::vec::Vec;

use crate::text::{Script, Token};

/// The number of words that a passage should reach.
const WANTED: usize = 50;
/// The most words of a message that stays whole, and of a sentence that does.
const MOST: usize = 75;

/// One passage: its bytes in the text, and its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Passage<'t> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) tokens: &'t [Token<'t>],
}

/// Returns the passages of a text, which cover it from its beginning to its end; at least one.
pub(super) fn passages<'t>(text: &str, tokens: &'t [Token<'t>]) -> Vec<Passage<'t>> {
    let mut cuts: Vec<usize> = Vec::new();
    if tokens.iter().map(word_count).sum::<usize>() > MOST {
        cuts = find_cuts(text, tokens);
    }
    let mut found = Vec::new();
    let (mut start, mut first) = (0, 0);
    for cut in cuts {
        let end = boundary(text, tokens, cut);
        // Cuts are indices of tokens in rising order, so these ranges exist.
        let tokens = tokens.get(first..cut).unwrap_or_default();
        found.push(Passage { start, end, tokens });
        (start, first) = (end, cut);
    }
    let tokens = tokens.get(first..).unwrap_or_default();
    let end = text.len();
    found.push(Passage { start, end, tokens });
    found
}

/// Returns the indices of the tokens with which a new passage begins.
fn find_cuts(text: &str, tokens: &[Token<'_>]) -> Vec<usize> {
    let mut cuts = Vec::new();
    let (mut words, mut in_sentence, mut sentence) = (0, 0, 0);
    let mut left: usize = tokens.iter().map(word_count).sum();
    for (at, token) in tokens.iter().enumerate() {
        if at > 0 && ends_sentence(text, tokens, at) {
            sentence = at;
            in_sentence = 0;
            // A short rest is not worth a passage of its own.
            if words >= WANTED && left >= WANTED / 2 {
                cuts.push(at);
                words = 0;
            }
        }
        let weight = word_count(token);
        if words + weight > MOST && words > 0 {
            // Before the sentence that does not fit; inside it when it is the only one.
            let cut = if in_sentence < words { sentence } else { at };
            cuts.push(cut);
            words = if cut == at { 0 } else { in_sentence };
            if cut == at {
                (sentence, in_sentence) = (at, 0);
            }
        }
        words += weight;
        in_sentence += weight;
        left -= weight;
    }
    cuts
}

/// Returns the number of words that a token counts as.
pub(super) fn word_count(token: &Token<'_>) -> usize {
    match token.script {
        Script::Unspaced => token.word.chars().count().div_ceil(2),
        _ => 1,
    }
}

/// Tells whether a sentence ends before a token.
fn ends_sentence(text: &str, tokens: &[Token<'_>], at: usize) -> bool {
    gap(text, tokens, at).contains(['.', '!', '?', '…', '\n', '。', '！', '？', '؟', '।'])
}

/// Returns the text between a token and the one before it.
fn gap<'t>(text: &'t str, tokens: &[Token<'_>], at: usize) -> &'t str {
    let start = at
        .checked_sub(1)
        .and_then(|before| tokens.get(before))
        .map_or(0, |t| t.end);
    let end = tokens.get(at).map_or(text.len(), |t| t.start);
    text.get(start..end).unwrap_or_default()
}

/// Returns the beginning of the passage that begins with a token, signs before its first word
/// included.
fn boundary(text: &str, tokens: &[Token<'_>], at: usize) -> usize {
    let gap = gap(text, tokens, at);
    let end = tokens.get(at).map_or(text.len(), |token| token.start);
    let start = end - gap.len();
    // A sign at the end of a sentence belongs to it, and one behind a line break to the next.
    let break_at = gap.rfind('\n').or_else(|| gap.find(char::is_whitespace));
    break_at.map_or(end, |offset| start + offset)
}
