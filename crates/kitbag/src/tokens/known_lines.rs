//! The counts of lines and of blocks of lines that a process keeps: those of the files that its next packs
//! may show.
//!
//! A line is known by 96 bits of a keyed hash, so that two different lines with one mark need not be
//! expected among as many as are kept.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hash, Hasher};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

// Faster than the standard hash, which took most of the time of a look-up; keyed as well.
use foldhash::quality::RandomState;

/// The most lines and blocks that are kept, in some 18 MB. A table of 2^20 places is full with seven eighths of
/// them; one more entry would double it.
const MOST: usize = 7 << 17;

/// The counts of lines and blocks with one vocabulary.
#[derive(Debug, Default)]
pub(super) struct KnownLines {
    bits: RandomState,
    more: RandomState,
    counts: RwLock<Counts>,
}

type Counts = HashMap<Mark, u32, BuildHasherDefault<FirstBits>>;

/// The counts at one moment. Nothing is added while they are read.
pub(super) struct Reading<'k> {
    known: &'k KnownLines,
    counts: RwLockReadGuard<'k, Counts>,
}

impl Reading<'_> {
    /// The count of a line or a block.
    pub(super) fn get(&self, text: &str) -> Option<usize> {
        let count = *self.counts.get(&self.known.mark(text))?;
        usize::try_from(count).ok()
    }
}

impl KnownLines {
    /// Begins to read: once for many lines, since two threads that lock at each of them wait for each other.
    pub(super) fn read(&self) -> Reading<'_> {
        Reading {
            known: self,
            counts: self.counts.read().unwrap_or_else(PoisonError::into_inner),
        }
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
            assert_eq!(known.read().get(line), Some(number));
        }
        assert_eq!(known.read().get("line 1"), None);
    }
}
