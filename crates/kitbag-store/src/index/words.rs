//! The words of some messages with their places, and how they are packed into rows.
//!
//! A row holds some words in their order, each by what it adds to the one before it, so that there
//! are few rows and a word that is known by its first letters is found by its neighbours. A word with
//! many places has rows of its own.

use std::collections::BTreeMap;

use kitbag_core::recall::Posting;

use super::number::{put, take, take_bytes};
use super::places::{decode_places, encode_places};
use super::terms::each_term;

/// Words with their places.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words(BTreeMap<String, Vec<Posting>>);

/// So many bytes fit into a row. SQLite keeps up to 1,002 bytes of a row in its page, key included;
/// what is longer takes further pages alone.
const ROW: usize = 900;

/// A row of words: its number tells rows of the same first word apart.
pub(super) struct PackedRow {
    pub(super) first: String,
    pub(super) part: u32,
    pub(super) pack: Vec<u8>,
}

impl Words {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the words of a message; nothing when `terms` are not readable.
    pub(super) fn add_message(
        &mut self,
        (conversation, seq): (u32, u32),
        by_person: bool,
        terms: &[u8],
    ) -> Option<()> {
        each_term(terms, |term| {
            let posting = term.posting(conversation, seq, by_person);
            self.change(term.term, |postings| postings.push(posting));
        })
    }

    /// Adds what a row holds; nothing when it is damaged.
    pub(super) fn add_pack(&mut self, pack: &[u8]) -> Option<()> {
        each_word(pack, |word, places| {
            self.change(word, |postings| decode_places(places, postings))
        })
    }

    /// Takes out the words of messages that are not wanted any more.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&Posting) -> bool) {
        self.0.retain(|_, postings| {
            postings.retain(&is_wanted);
            !postings.is_empty()
        });
    }

    /// Puts places into their order, once all are there.
    pub(super) fn sort(&mut self) {
        for postings in self.0.values_mut() {
            postings.sort_by_key(|posting| posting.place);
        }
    }

    /// Changes the postings of a word. Most words are there already, and need no copy.
    fn change<T>(&mut self, word: &str, change: impl FnOnce(&mut Vec<Posting>) -> T) -> T {
        match self.0.get_mut(word) {
            Some(postings) => change(postings),
            None => change(self.0.entry(word.to_owned()).or_default()),
        }
    }

    /// The words whose places differ in others.
    pub(super) fn differences<'w>(&'w self, others: &'w Self) -> impl Iterator<Item = &'w str> {
        let differs =
            |(word, postings): &(&String, &Vec<Posting>)| others.0.get(*word) != Some(*postings);
        let missing = others.0.keys().filter(|word| !self.0.contains_key(*word));
        let different = self.0.iter().filter(differs).map(|(word, _)| word);
        different.chain(missing).map(String::as_str)
    }

    /// The rows that hold them.
    pub(super) fn into_rows(mut self) -> Vec<PackedRow> {
        self.sort();
        let mut rows: Vec<PackedRow> = Vec::new();
        // The last row has room for further words as long as this is the last word in it.
        let mut last: Option<String> = None;
        for (word, postings) in self.0 {
            let pieces = encode_places(&postings, ROW);
            if let ([piece], Some(before), Some(row)) = (&pieces[..], &last, rows.last_mut())
                && row.pack.len() + word.len() + piece.len() < ROW
            {
                put_word(&mut row.pack, before, &word, piece);
                last = Some(word);
                continue;
            }
            let is_alone = pieces.len() > 1;
            for (part, piece) in (0..).zip(pieces) {
                let mut pack = Vec::new();
                put_word(&mut pack, "", &word, &piece);
                rows.push(PackedRow {
                    first: word.clone(),
                    part,
                    pack,
                });
            }
            last = (!is_alone).then_some(word);
        }
        rows
    }
}

fn put_word(pack: &mut Vec<u8>, before: &str, word: &str, places: &[u8]) {
    let pairs = before.bytes().zip(word.bytes());
    let shared = pairs.take_while(|(one, other)| one == other).count();
    let added = word.as_bytes().get(shared..).unwrap_or_default();
    put(pack, shared as u64);
    put(pack, added.len() as u64);
    pack.extend_from_slice(added);
    put(pack, places.len() as u64);
    pack.extend_from_slice(places);
}

/// Gives each word of a row, with its places as they are written, to `to`; nothing when the row is
/// damaged.
pub(super) fn each_word(pack: &[u8], mut to: impl FnMut(&str, &[u8]) -> Option<()>) -> Option<()> {
    let mut rest = pack;
    let mut word: Vec<u8> = Vec::new();
    while !rest.is_empty() {
        let shared = usize::try_from(take(&mut rest)?).ok()?;
        if shared > word.len() {
            return None;
        }
        word.truncate(shared);
        word.extend_from_slice(take_bytes(&mut rest)?);
        to(std::str::from_utf8(&word).ok()?, take_bytes(&mut rest)?)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::places::tests::postings;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_come_back_from_rows_in_their_order(
            words in prop::collection::btree_map("[a-c]{1,6}|é{1,3}[ab]|猫.{0,2}", postings(), 0..80),
        ) {
            let rows = Words(words.clone()).into_rows();
            let keys: Vec<_> = rows.iter().map(|row| (row.first.clone(), row.part)).collect();
            prop_assert!(keys.is_sorted_by(|one, next| one < next));
            let mut found = Words::default();
            for row in &rows {
                prop_assert!(row.pack.len() < 2 * ROW);
                prop_assert!(found.add_pack(&row.pack).is_some());
            }
            prop_assert_eq!(found, Words(words));
        }

        #[test]
        fn damaged_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = Words::default().add_pack(&bytes);
        }
    }
}
