//! Looks up the terms of a query.

use std::collections::BTreeMap;

use kitbag_core::recall::{Posting, Query};

use super::block::damaged;
use super::places::decode_places;
use super::words::each_word;
use crate::error::Result;
use crate::scope::Scope;
use crate::transaction::Tx;

/// Returns the places of a query's terms in a scope, by term, sorted by place. Reading a term stops once it has
/// more than `most` places, so a longer list is incomplete.
pub(crate) async fn evidence(
    tx: &mut Tx<'_>,
    scope: &Scope,
    query: &Query,
    most: usize,
) -> Result<BTreeMap<String, Vec<Posting>>> {
    let ranges = ranges(query);
    if ranges.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut wanted = WantedPostings::new(query, most);
    let mut large = Vec::new();
    let sql = "SELECT id, words FROM block WHERE tenant = $1 AND scope = $2 ORDER BY id";
    for (block, words) in tx.query::<(u32, Option<Vec<u8>>)>(sql, scope.id).await? {
        // Small blocks keep their words in their own row, so that this one query has read them
        // already.
        let Some(words) = words else {
            large.push(block);
            continue;
        };
        let added = wanted.add(&words, |word| {
            // Ranges do not overlap, so only the last one that begins at or before the word can
            // hold it.
            let from = ranges.partition_point(|range| range.first.as_bytes() <= word);
            let range = from.checked_sub(1).and_then(|last| ranges.get(last));
            range.is_some_and(|range| range.holds(word))
        });
        added.ok_or_else(|| damaged(scope.id, block))?;
    }
    for (range, block, words) in rows(tx, scope.id, &large, &ranges).await? {
        // A row may hold words of several ranges, and is returned once for each.
        let Some(range) = usize::try_from(range).ok().and_then(|at| ranges.get(at)) else {
            continue;
        };
        let added = wanted.add(&words, |word| range.holds(word));
        added.ok_or_else(|| damaged(scope.id, block))?;
    }
    Ok(wanted.into_postings())
}

/// The rows of some blocks that may hold words of the ranges, each with the number of its range and
/// its block.
async fn rows(
    tx: &mut Tx<'_>,
    scope: u32,
    blocks: &[u32],
    ranges: &[Range<'_>],
) -> Result<Vec<(u32, u32, Vec<u8>)>> {
    let mut sought = Vec::with_capacity(blocks.len() * ranges.len());
    for block in blocks {
        for (number, range) in (0_u32..).zip(ranges) {
            sought.push((number, *block, range.first, range.last.as_str()));
        }
    }
    // A range may begin in the middle of a row, namely the last one whose first word is not behind
    // it.
    tx.query_each(
        "SELECT given.number, block, words FROM posting \
         WHERE tenant = $1 AND scope = $2 AND block = given.block AND first <= given.last \
         AND first >= (SELECT coalesce(max(first), '') FROM posting WHERE tenant = $1 \
         AND scope = $2 AND block = given.block AND first <= given.first)",
        scope,
        &["number INTEGER", "block INTEGER", "first TEXT", "last TEXT"],
        sought,
    )
    .await
}

/// The terms from `first` to `last`, both included.
struct Range<'q> {
    first: &'q str,
    last: String,
}

impl Range<'_> {
    /// Compares bytes: in UTF-8 their order is that of the characters.
    fn holds(&self, term: &[u8]) -> bool {
        self.first.as_bytes() <= term && term <= self.last.as_bytes()
    }
}

/// The terms that a query looks up, as sorted ranges that do not overlap.
fn ranges(query: &Query) -> Vec<Range<'_>> {
    let prefixes = query.prefixes().map(|prefix| Range {
        first: prefix,
        // The greatest character is unassigned, so no word contains it and all words with the
        // prefix come before.
        last: format!("{prefix}{}", char::MAX),
    });
    let terms = query.terms().map(|term| Range {
        first: term,
        last: term.to_owned(),
    });
    let mut ranges: Vec<Range> = prefixes.chain(terms).collect();
    ranges.sort_by(|one, other| (one.first, &other.last).cmp(&(other.first, &one.last)));
    // A term either lies within a prefix or outside of it, and so does a longer prefix; ranges
    // never overlap in part.
    ranges.dedup_by(|next, range| next.last <= range.last);
    ranges
}

/// The postings that a query wants, collected row by row.
struct WantedPostings<'q> {
    query: &'q Query,
    /// The terms that were met. A term that is not wanted has no places: the answer is kept, since
    /// the same term comes up in many blocks.
    terms: BTreeMap<String, Option<Vec<Posting>>>,
    /// The number of places from which on a term's further ones are not read.
    most: usize,
}

impl<'q> WantedPostings<'q> {
    fn new(query: &'q Query, most: usize) -> Self {
        Self {
            query,
            most,
            terms: BTreeMap::new(),
        }
    }

    /// Adds the wanted places of those words of a row that `is_sought` admits. Returns none if the
    /// row is damaged.
    fn add(&mut self, pack: &[u8], is_sought: impl Fn(&[u8]) -> bool) -> Option<()> {
        each_word(pack, |word, places| {
            if !is_sought(word) {
                return Some(());
            }
            let word = std::str::from_utf8(word).ok()?;
            if !self.terms.contains_key(word) {
                let postings = self.query.wants(word).then(Vec::new);
                self.terms.insert(word.to_owned(), postings);
            }
            match self.terms.get_mut(word) {
                Some(Some(postings)) if postings.len() <= self.most => {
                    decode_places(places, postings)
                }
                _ => Some(()),
            }
        })
    }

    fn into_postings(self) -> BTreeMap<String, Vec<Posting>> {
        let terms = self.terms.into_iter();
        let wanted = terms.filter_map(|(term, postings)| Some((term, postings?)));
        let sorted = wanted.map(|(term, mut postings)| {
            postings.sort_by_key(|posting| posting.place);
            (term, postings)
        });
        sorted.collect()
    }
}
