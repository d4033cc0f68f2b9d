//! The words of some messages with their places, and the way they are packed into rows.
//!
//! A row holds consecutive words, each as its difference to the one before, so there are few rows,
//! and words with a common prefix are next to each other. A word with many places has rows of its
//! own.

use std::cmp::Ordering;

use kitbag_core::recall::Posting;

use super::distinct::DistinctWords;
use super::number::{put, take, take_bytes};
use super::places::{decode_places, encode_places};
use super::terms::each_term;

/// Words with their places, in any order.
#[derive(Default)]
pub(super) struct Words {
    distinct: DistinctWords,
    entries: Vec<Entry>,
}

struct Entry {
    /// The number of the word; after sorting, its rank.
    word: u32,
    posting: Posting,
}

impl Words {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds the words of a message. Returns none if `terms` are not readable.
    pub(super) fn add_message(
        &mut self,
        (conversation, seq): (u32, u32),
        by_person: bool,
        terms: &[u8],
    ) -> Option<()> {
        each_term(terms, |term| {
            let posting = term.posting(conversation, seq, by_person);
            self.add(term.term, [posting]);
        })
    }

    /// Adds the words of a row. Returns none if the row is damaged.
    pub(super) fn add_pack(&mut self, pack: &[u8]) -> Option<()> {
        // One vector for all words of the row, emptied for each.
        let mut postings = Vec::new();
        each_word(pack, |word, places| {
            postings.clear();
            decode_places(places, &mut postings)?;
            self.add(std::str::from_utf8(word).ok()?, postings.drain(..));
            Some(())
        })
    }

    fn add(&mut self, word: &str, postings: impl IntoIterator<Item = Posting>) {
        let word = self.distinct.number(word);
        let postings = postings.into_iter();
        self.entries
            .extend(postings.map(|posting| Entry { word, posting }));
    }

    /// Removes the places that are not wanted any more.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&Posting) -> bool) {
        self.entries.retain(|entry| is_wanted(&entry.posting));
    }

    /// Sorts words and places.
    pub(super) fn sorted(mut self) -> SortedWords {
        // Ranks replace the numbers, so sorting the many entries compares integers and no strings.
        let order = self.distinct.order();
        let mut ranks = vec![0; order.len()];
        for (rank, number) in (0..).zip(&order) {
            if let Some(place) = ranks.get_mut(*number as usize) {
                *place = rank;
            }
        }
        for entry in &mut self.entries {
            if let Some(rank) = ranks.get(entry.word as usize) {
                entry.word = *rank;
            }
        }
        // A stable sort merges sorted runs, and each row of a block is one.
        self.entries
            .sort_by_key(|entry| (entry.word, entry.posting.place));
        SortedWords {
            distinct: self.distinct,
            order,
            entries: self.entries,
        }
    }
}

/// Sorted words with their sorted places.
pub(super) struct SortedWords {
    distinct: DistinctWords,
    order: Vec<u32>,
    entries: Vec<Entry>,
}

/// The most bytes of a row that holds several words. Longer rows leave more of a page empty; shorter ones spend
/// more of it on keys.
const ROW: usize = 450;
/// The most bytes of the first row, which is the only one of a small block, and of a row that holds a part of one
/// word's places. SQLite keeps up to 1,002 bytes of a row within its page, key included; a longer row takes
/// whole pages of its own.
const LONG_ROW: usize = 900;

/// A row of words. Rows that begin with the same word differ in `part`.
pub(super) struct PackedRow {
    pub(super) first: String,
    pub(super) part: u32,
    pub(super) pack: Vec<u8>,
}

impl SortedWords {
    /// The words whose places differ between the two.
    pub(super) fn differences<'w>(&'w self, others: &'w Self) -> Vec<&'w str> {
        let mut differing = Vec::new();
        let (mut ours, mut theirs) = (self.groups().peekable(), others.groups().peekable());
        loop {
            let order = match (ours.peek(), theirs.peek()) {
                (Some(ours), Some(theirs)) => ours.0.cmp(theirs.0),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return differing,
            };
            // Equal words advance both sides, other ones only the side with the lesser word.
            let ours = ours.next_if(|_| order.is_le());
            let theirs = theirs.next_if(|_| order.is_ge());
            let postings = |group: Option<(&'w str, &'w [Entry])>| {
                let entries = group.map(|(_, entries)| entries).unwrap_or_default();
                entries.iter().map(|entry| entry.posting)
            };
            if !postings(ours).eq(postings(theirs)) {
                differing.extend(ours.or(theirs).map(|(word, _)| word));
            }
        }
    }

    /// Packs the words into rows.
    pub(super) fn rows(&self) -> Vec<PackedRow> {
        let mut rows: Vec<PackedRow> = Vec::new();
        // The last word of the last row, if that row may take further words.
        let mut last: Option<&str> = None;
        for (word, entries) in self.groups() {
            let postings = entries.iter().map(|entry| entry.posting);
            let pieces = encode_places(postings, LONG_ROW);
            let most = if rows.len() == 1 { LONG_ROW } else { ROW };
            if let ([piece], Some(before), Some(row)) = (&pieces[..], last, rows.last_mut())
                && row.pack.len() + word.len() + piece.len() < most
            {
                put_word(&mut row.pack, before, word, piece);
                last = Some(word);
                continue;
            }
            let is_alone = pieces.len() > 1;
            for (part, piece) in (0..).zip(pieces) {
                // 48 bytes hold the word and the lengths in most cases.
                let mut pack = Vec::with_capacity(if is_alone { piece.len() + 48 } else { ROW });
                put_word(&mut pack, "", word, &piece);
                rows.push(PackedRow {
                    first: word.to_owned(),
                    part,
                    pack,
                });
            }
            last = (!is_alone).then_some(word);
        }
        rows
    }

    /// Each word with its entries.
    fn groups(&self) -> impl Iterator<Item = (&str, &[Entry])> {
        let groups = self.entries.chunk_by(|one, other| one.word == other.word);
        groups.filter_map(|entries| {
            let number = self.order.get(entries.first()?.word as usize)?;
            Some((self.distinct.word(*number), entries))
        })
    }
}

fn put_word(pack: &mut Vec<u8>, before: &str, word: &str, places: &[u8]) {
    let pairs = before.bytes().zip(word.bytes());
    let shared = pairs.take_while(|(one, other)| one == other).count();
    let added = word.as_bytes().get(shared..).unwrap_or_default();
    let (few, more) = (shared.min(NIBBLE), added.len().min(NIBBLE));
    pack.push((few << 4 | more) as u8);
    for (length, nibble) in [(shared, few), (added.len(), more)] {
        if nibble == NIBBLE {
            put(pack, (length - NIBBLE) as u64);
        }
    }
    pack.extend_from_slice(added);
    put(pack, places.len() as u64);
    pack.extend_from_slice(places);
}

/// The greatest number of four bits. In its place the rest of the length follows.
const NIBBLE: usize = 0xf;

/// Passes each word of a row to `to`, as bytes, with its packed places. Returns none if the row is
/// damaged.
pub(super) fn each_word(pack: &[u8], mut to: impl FnMut(&[u8], &[u8]) -> Option<()>) -> Option<()> {
    let mut rest = pack;
    let mut word: Vec<u8> = Vec::new();
    while !rest.is_empty() {
        let (first, after) = rest.split_first()?;
        rest = after;
        let shared = take_length(usize::from(first >> 4), &mut rest)?;
        let added = take_length(usize::from(first & 0xf), &mut rest)?;
        // A damaged row: `truncate` would ignore it and give a wrong word.
        if shared > word.len() {
            return None;
        }
        word.truncate(shared);
        let (added, after) = rest.split_at_checked(added)?;
        rest = after;
        word.extend_from_slice(added);
        to(&word, take_bytes(&mut rest)?)?;
    }
    Some(())
}

/// Completes a length whose first four bits are known.
fn take_length(nibble: usize, rest: &mut &[u8]) -> Option<usize> {
    if nibble < NIBBLE {
        return Some(nibble);
    }
    NIBBLE.checked_add(usize::try_from(take(rest)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::super::places::tests::postings;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_come_back_from_rows_in_their_order(
            words in prop::collection::btree_map(
                "[a-c]{1,6}|é{1,3}[ab]|猫.{0,2}|[ab]{14,40}", postings(), 0..80,
            ),
        ) {
            let mut all = Words::default();
            for (word, postings) in &words {
                all.add(word, postings.clone());
            }
            let rows = all.sorted().rows();
            let keys: Vec<_> = rows.iter().map(|row| (row.first.clone(), row.part)).collect();
            prop_assert!(keys.is_sorted_by(|one, next| one < next));
            let mut found = Words::default();
            for row in rows.iter().rev() {
                prop_assert!(row.pack.len() < 2 * LONG_ROW);
                prop_assert!(found.add_pack(&row.pack).is_some());
            }
            let found = found.sorted();
            let found: Vec<(String, Vec<Posting>)> = found
                .groups()
                .map(|(word, entries)| {
                    let postings = entries.iter().map(|entry| entry.posting);
                    (word.to_owned(), postings.collect())
                })
                .collect();
            prop_assert_eq!(found, words.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn differences_name_each_word_that_is_not_the_same(
            one in prop::collection::btree_map("[ab]{1,2}|abcdefgh[ab]", postings(), 0..8),
            other in prop::collection::btree_map("[ab]{1,2}|abcdefgh[ab]", postings(), 0..8),
        ) {
            let [ours, theirs] = [&one, &other].map(|words| {
                let mut all = Words::default();
                for (word, postings) in words.iter().rev() {
                    all.add(word, postings.clone());
                }
                all.sorted()
            });
            let words: std::collections::BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            let differing = words.into_iter().filter(|word| one.get(*word) != other.get(*word));
            prop_assert_eq!(ours.differences(&theirs), differing.collect::<Vec<_>>());
        }

        #[test]
        fn damaged_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = Words::default().add_pack(&bytes);
        }
    }
}
