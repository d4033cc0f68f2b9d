//! Counts a segment with very long runs of one class of characters, by leaving most of them out.
//!
//! Two facts make this exact. The first is about patterns: inside a run of one [`CharClass`] every
//! character continues the same piece, so leaving out characters from the middle shortens that piece
//! and changes no other. The second is about byte pairs: a sequence of tokens is the encoding of a
//! piece if and only if each two neighbours are the encoding of their own bytes, because the first
//! merge across a border between tokens would happen between those two alone as well.
//!
//! So let the encoding of a window into the run have the same token `t` twice, ending at `x` and `y`,
//! and leave out the bytes between. If in the encoding of what is kept a token `t` ends at `x`, then
//! the tokens of the window between `x` and `y` can be put in there: every pair of neighbours stands
//! in one encoding or the other. The whole has as many tokens as both together.
//!
//! Windows begin with text that is kept before them, at a border between tokens, so that their tokens
//! fall into step; whether they do is checked at the end. If not, the segment is counted whole.

use std::collections::HashMap;
use std::ops::Range;

use tiktoken::CoreBpe;

use super::super::char_class::{CharClass, LetterCase, is_line_end};

/// The shortest run to shorten: below this the tokenizer is fast enough.
const LONG_RUN: usize = 16 << 10;

/// The bytes of a run that are encoded at a time.
const WINDOW: usize = 16 << 10;

/// The bytes kept at either end of a run, where neighbours may matter: a contraction, a last space.
const MARGIN: usize = 64;

/// The kept text that a window begins with: much at first, where a run begins in other text.
const FIRST_LEAD: usize = 4 << 10;
const LEAD: usize = 256;

/// The number of tokens in `segment`, equal to `table.count(segment)`.
pub(super) fn count(table: &CoreBpe, case: LetterCase, segment: &str) -> usize {
    count_shortened(table, case, segment).unwrap_or_else(|| table.count(segment))
}

/// The number of tokens counted by shortening, or `None` if nothing is long or a check fails.
pub(super) fn count_shortened(table: &CoreBpe, case: LetterCase, segment: &str) -> Option<usize> {
    let mut shortened = Shortened::default();
    let mut done = 0;
    for run in long_runs(segment, case) {
        shortened.kept.push_str(part(segment, done..run.start));
        shortened.push_run(table, part(segment, run.clone()));
        done = run.end;
    }
    if shortened.cuts.is_empty() {
        return None;
    }
    shortened.kept.push_str(part(segment, done..segment.len()));
    shortened.count(table)
}

/// A text with parts left out.
#[derive(Default)]
struct Shortened {
    kept: String,
    cuts: Vec<Cut>,
    tokens_left_out: usize,
}

/// A place in the kept text where something was left out, which began after this token and ended with
/// the same.
struct Cut {
    at: usize,
    token: u32,
}

impl Shortened {
    /// Adds a run, of which most is left out.
    fn push_run(&mut self, table: &CoreBpe, run: &str) {
        let mut done = run.ceil_char_boundary(MARGIN);
        let end = run.floor_char_boundary(run.len() - MARGIN);
        self.kept.push_str(part(run, 0..done));
        let first_lead = self.kept.len().saturating_sub(FIRST_LEAD);
        let mut lead = self.kept.floor_char_boundary(first_lead);
        // A shorter rest is not worth another window: what settles in it would be at most a few leads long.
        while end - done > 4 * LEAD {
            let window_end = run.floor_char_boundary(end.min(done + WINDOW));
            let kept_before = self.kept.len() - lead;
            let mut window = part(&self.kept, lead..self.kept.len()).to_owned();
            window.push_str(part(run, done..window_end));

            let tokens = table.encode(&window);
            let ends = token_ends(table, &tokens, &window);
            let settled = kept_before..settled_end(run, &window);
            let Some((from, to)) = farthest_repetition(&ends, settled) else {
                // Without a token that repeats, the rest of the run is kept and counted as it is.
                break;
            };
            self.kept.push_str(part(&window, kept_before..from.end));
            self.tokens_left_out += to.index - from.index;
            self.cuts.push(Cut {
                at: self.kept.len(),
                token: from.token,
            });
            // The next window begins between two tokens of this one: elsewhere its tokens might differ from
            // those of the whole text.
            let in_step = ends.iter().rev().find(|e| e.end + LEAD <= from.end);
            lead += in_step.map_or(0, |e| e.end);
            done += to.end - kept_before;
        }
        self.kept.push_str(part(run, done..run.len()));
    }

    /// The number of tokens in the whole text, if each cut turns out to be at its token.
    fn count(&self, table: &CoreBpe) -> Option<usize> {
        let tokens = table.encode(&self.kept);
        let ends = token_ends(table, &tokens, &self.kept);
        let mut ends = ends.iter();
        let mut current = ends.next();
        for cut in &self.cuts {
            while current.is_some_and(|e| e.end < cut.at) {
                current = ends.next();
            }
            // The proof in the module's comment needs this token here; without it the segment is counted whole.
            current.filter(|e| e.end == cut.at && e.token == cut.token)?;
        }
        Some(tokens.len() + self.tokens_left_out)
    }
}

/// A token that ends between two characters.
#[derive(Clone, Copy)]
struct TokenEnd {
    token: u32,
    index: usize,
    end: usize,
}

fn token_ends(table: &CoreBpe, tokens: &[u32], text: &str) -> Vec<TokenEnd> {
    let mut end = 0;
    let mut ends = Vec::with_capacity(tokens.len());
    for (index, &token) in tokens.iter().enumerate() {
        end += table.decode(&[token]).len();
        // A character may be written with several tokens; inside it nothing can be cut.
        if text.is_char_boundary(end) {
            ends.push(TokenEnd { token, index, end });
        }
    }
    ends
}

/// The two ends of the same token within `range` that lie farthest apart.
fn farthest_repetition(ends: &[TokenEnd], range: Range<usize>) -> Option<(TokenEnd, TokenEnd)> {
    let mut firsts: HashMap<u32, TokenEnd> = HashMap::new();
    let mut farthest = None;
    let mut distance = 0;
    for &to in ends.iter().filter(|e| range.contains(&e.end)) {
        let from = *firsts.entry(to.token).or_insert(to);
        // The first of equal distances wins, whatever the order of the map: only its entries are read.
        if to.end - from.end > distance {
            distance = to.end - from.end;
            farthest = Some((from, to));
        }
    }
    farthest
}

/// The end of the window's tokens that cannot change when more of the run follows.
fn settled_end(run: &str, window: &str) -> usize {
    // White space that goes on after the last line end is a piece of its own only in the window.
    let piece_end = if run.ends_with(is_line_end) {
        window.rfind(is_line_end).unwrap_or_default()
    } else {
        window.len()
    };
    // The last tokens of a window may merge differently once more text follows.
    piece_end.saturating_sub(LEAD)
}

/// The long runs that are in one piece each, in order.
fn long_runs(text: &str, case: LetterCase) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut class = None;
    let mut start = 0;
    let classes = text
        .char_indices()
        .map(|(offset, character)| (offset, CharClass::of(character, case)));
    for (offset, next) in classes.chain([(text.len(), None)]) {
        if next != class {
            match class {
                Some(CharClass::White) => runs.extend(white_pieces(text, start..offset)),
                Some(_) => runs.push(start..offset),
                None => {}
            }
            class = next;
            start = offset;
        }
    }
    runs.retain(|run| run.len() >= LONG_RUN);
    runs
}

/// Line ends at the beginning, which may belong to punctuation; all up to the last line end; the rest.
fn white_pieces(text: &str, run: Range<usize>) -> [Range<usize>; 3] {
    let white = part(text, run.clone());
    let first = white.find(|c| !is_line_end(c)).unwrap_or(white.len());
    let last = white.rfind(is_line_end).map_or(0, |index| index + 1);
    let (first, last) = (run.start + first, run.start + last.max(first));
    // Three pieces, since no pattern joins them; each is shortened by itself.
    [run.start..first, first..last, last..run.end]
}

/// A part of a text between two of its characters.
fn part(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}
