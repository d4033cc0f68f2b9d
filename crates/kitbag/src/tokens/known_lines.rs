//! The counts of lines that a process keeps: those of the files that its next packs may show.
//!
//! A line is known by 96 bits of a keyed hash, so that two different lines with one mark need not be
//! expected among as many as are kept.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::sync::{PoisonError, RwLock};

/// The most lines that are kept, in some 20 MB.
const MOST: usize = 1 << 20;

/// The counts of lines with one vocabulary.
#[derive(Debug, Default)]
pub(super) struct KnownLines {
    bits: RandomState,
    more: RandomState,
    counts: RwLock<HashMap<Mark, u32, BuildHasherDefault<FirstBits>>>,
}

impl KnownLines {
    pub(super) fn get(&self, line: &str) -> Option<usize> {
        let counts = self.counts.read().unwrap_or_else(PoisonError::into_inner);
        let count = *counts.get(&self.mark(line))?;
        usize::try_from(count).ok()
    }

    /// Keeps the counts of lines, as far as there is room.
    pub(super) fn keep<'t>(&self, counted: impl Iterator<Item = (&'t str, usize)>) {
        // Marks are made before the lock is taken, for which a pack may wait.
        let marked = counted.filter_map(|(line, count)| {
            let count = u32::try_from(count).ok()?;
            Some((self.mark(line), count))
        });
        let marked: Vec<(Mark, u32)> = marked.collect();
        let mut counts = self.counts.write().unwrap_or_else(PoisonError::into_inner);
        let room = MOST.saturating_sub(counts.len());
        counts.extend(marked.into_iter().take(room));
    }

    fn mark(&self, line: &str) -> Mark {
        let [a, b, c, d, ..] = self.more.hash_one(line).to_le_bytes();
        Mark {
            bits: self.bits.hash_one(line).to_le_bytes(),
            more: [a, b, c, d],
        }
    }
}

/// The mark of a line, in parts that need no padding beside a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    bits: [u8; 8],
    more: [u8; 4],
}

impl Hash for Mark {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from_le_bytes(self.bits));
    }
}

/// Takes a mark as its own hash: it is one.
#[derive(Debug, Default)]
struct FirstBits(u64);

impl Hasher for FirstBits {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, bits: u64) {
        self.0 = bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x10_lines_are_known_by_all_of_their_bytes() {
        let known = KnownLines::default();
        let lines: Vec<String> = (0..10_000)
            .map(|number| format!("line {number}\n"))
            .collect();
        known.keep(lines.iter().map(String::as_str).zip(0..));
        for (number, line) in lines.iter().enumerate() {
            assert_eq!(known.get(line), Some(number));
        }
        assert_eq!(known.get("line 1"), None);
    }
}
