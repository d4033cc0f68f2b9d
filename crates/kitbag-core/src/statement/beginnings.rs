//! A filter for texts that have none of some words, at the cost of one look at each byte.

use alloc::vec;
use alloc::vec::Vec;

/// The words with which phrases begin, as bits: a word that is not here begins none. Two words may
/// share a bit, which only costs a closer look.
#[derive(Debug)]
pub(super) struct Beginnings {
    pairs: Vec<u64>,
    alone: Vec<u64>,
}

const BITS: u32 = 1 << 16;

impl Beginnings {
    /// Creates the filter of some pairs; a first word without a second begins a phrase by itself.
    pub(super) fn of<'p>(pairs: impl Iterator<Item = (&'p str, Option<&'p str>)>) -> Self {
        let empty = vec![0; BITS as usize / 64];
        let mut beginnings = Self {
            pairs: empty.clone(),
            alone: empty,
        };
        for (first, second) in pairs {
            let first = hash(first.bytes());
            match second {
                Some(second) => set(&mut beginnings.pairs, pair(first, hash(second.bytes()))),
                None => set(&mut beginnings.alone, first),
            }
        }
        beginnings
    }

    /// Tells whether one of the beginnings may stand somewhere in a text. Letters beyond ASCII are
    /// not looked at: with them, it may.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        if !text.is_ascii() && text.chars().any(is_foreign_letter) {
            return true;
        }
        let mut before = None;
        let mut word = EMPTY;
        let mut bytes = text.bytes().peekable();
        while let Some(byte) = bytes.next() {
            let next = bytes.peek().copied().unwrap_or(b' ');
            // Words have to be cut as the lexer does it, or one would be missed.
            let is_inner = match byte {
                b'\'' | b'@' | b'.' | b'+' | b'-' => word != EMPTY && next.is_ascii_alphanumeric(),
                // The bytes of ’: it stands for an apostrophe.
                0xe2 => {
                    let rest = [bytes.next(), bytes.next()];
                    let is_apostrophe = rest == [Some(0x80), Some(0x99)];
                    if is_apostrophe
                        && word != EMPTY
                        && bytes.peek().is_some_and(u8::is_ascii_alphanumeric)
                    {
                        word = add(word, b'\'');
                        continue;
                    }
                    false
                }
                byte => byte.is_ascii_alphanumeric(),
            };
            if is_inner {
                word = add(word, byte.to_ascii_lowercase());
            } else if word != EMPTY {
                if self.begins(before, word) {
                    return true;
                }
                before = Some(word);
                word = EMPTY;
            }
        }
        word != EMPTY && self.begins(before, word)
    }

    /// Tells whether one of the beginnings may stand at a word.
    pub(super) fn may_begin(&self, word: &str, next: Option<&str>) -> bool {
        let word = hash(word.bytes());
        let is_pair = |next: &str| has(&self.pairs, pair(word, hash(next.bytes())));
        has(&self.alone, word) || next.is_some_and(is_pair)
    }

    fn begins(&self, before: Option<u32>, word: u32) -> bool {
        has(&self.alone, word) || before.is_some_and(|before| has(&self.pairs, pair(before, word)))
    }
}

/// Tells letters beyond ASCII from punctuation, symbols and emoji.
fn is_foreign_letter(c: char) -> bool {
    !c.is_ascii() && c.is_alphabetic()
}

// The hash of no letters: FNV-1a's offset.
const EMPTY: u32 = 0x811c_9dc5;

fn hash(word: impl Iterator<Item = u8>) -> u32 {
    word.fold(EMPTY, add)
}

/// One step of FNV-1a.
const fn add(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

const fn pair(first: u32, second: u32) -> u32 {
    first.wrapping_mul(31) ^ second
}

const fn place(hash: u32) -> (usize, u64) {
    let bit = (hash ^ (hash >> 16)) % BITS;
    ((bit / 64) as usize, 1 << (bit % 64))
}

fn set(bits: &mut [u64], hash: u32) {
    let (at, bit) = place(hash);
    if let Some(bits) = bits.get_mut(at) {
        *bits |= bit;
    }
}

fn has(bits: &[u64], hash: u32) -> bool {
    let (at, bit) = place(hash);
    bits.get(at).is_some_and(|bits| bits & bit != 0)
}
