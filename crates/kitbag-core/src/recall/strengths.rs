//! The strength of each word of a query in each passage.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::alike::is_alike;
use super::evidence::{Evidence, Posting};
use super::query::{Query, QueryWord, WordKind};
use super::weights::RecallWeights;
use crate::text::{Bm25, inverse_frequency};

/// A word of the query in a passage of a conversation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Strength {
    pub(super) message: u32,
    pub(super) passage: u16,
    /// The number of the word in the query.
    pub(super) word: u16,
    pub(super) by_person: bool,
    /// Its weight: by its rarity, and by its count against the length of the passage.
    pub(super) value: f64,
}

/// The strengths of all words of a query, one conversation after the other.
///
/// Postings are sorted, so that no more than one conversation is held at a time.
pub(super) struct Strengths<'e> {
    lists: Vec<PostingList<'e>>,
    field: Bm25,
}

/// The postings of one term that are still to be read.
struct PostingList<'e> {
    word: u16,
    /// The weight of the word by its rarity.
    rarity: f64,
    postings: Cow<'e, [Posting]>,
    taken: usize,
}

impl PostingList<'_> {
    fn rest(&self) -> &[Posting] {
        self.postings.get(self.taken..).unwrap_or_default()
    }
}

impl<'e> Strengths<'e> {
    pub(super) fn new(query: &Query, evidence: &'e Evidence, weights: &RecallWeights) -> Self {
        let average = to_float(evidence.words) / to_float(evidence.passages.max(1));
        let mut field = Bm25::new(average).with_length_weight(weights.length_weight);
        // Messages are shorter than documents, for which the usual parameters are meant.
        field.saturation = weights.saturation;
        let mut lists = Vec::new();
        for (word, sought) in (0..).zip(query.words()) {
            for (postings, rarity) in of_word(sought, evidence, weights) {
                lists.push(PostingList {
                    word,
                    rarity,
                    postings: sorted(postings),
                    taken: 0,
                });
            }
        }
        Self { lists, field }
    }

    /// Replaces `found` by the strengths in the next conversation, by message, passage and word,
    /// each word once in a passage, and returns the conversation's number.
    pub(super) fn next_conversation(&mut self, found: &mut Vec<Strength>) -> Option<u32> {
        found.clear();
        let first = |list: &PostingList| list.rest().first().map(|one| one.place.conversation);
        let conversation = self.lists.iter().filter_map(first).min()?;
        for list in &mut self.lists {
            let mut taken = 0;
            for posting in list.rest() {
                if posting.place.conversation != conversation {
                    break;
                }
                taken += 1;
                let gain = self
                    .field
                    .gain(f64::from(posting.count), f64::from(posting.words));
                found.push(Strength {
                    message: posting.place.message,
                    passage: posting.place.passage,
                    word: list.word,
                    by_person: posting.by_person,
                    value: list.rarity * gain,
                });
            }
            list.taken += taken;
        }
        let place = |one: &Strength| (one.message, one.passage, one.word);
        // A word may be found by several terms: the strongest comes first, and stays.
        found.sort_unstable_by(|a, b| place(a).cmp(&place(b)).then(b.value.total_cmp(&a.value)));
        found.dedup_by_key(|one| place(one));
        Some(conversation)
    }
}

/// Sorts postings by their places. A store mostly gives them in that order.
fn sorted(postings: &[Posting]) -> Cow<'_, [Posting]> {
    if postings.is_sorted_by_key(|posting| posting.place) {
        return Cow::Borrowed(postings);
    }
    let mut postings = postings.to_vec();
    postings.sort_by_key(|posting| posting.place);
    Cow::Owned(postings)
}

/// Returns the postings of a word, of related words and of words spelled alike, each list with its
/// weight by rarity.
fn of_word<'e>(
    word: &QueryWord,
    evidence: &'e Evidence,
    weights: &RecallWeights,
) -> Vec<(&'e [Posting], f64)> {
    let known = |term| evidence.postings.get(term).map(Vec::as_slice);
    let exact: Vec<&[Posting]> = word.alternatives.iter().filter_map(known).collect();
    let share = match word.kind {
        WordKind::Topic => 1.0,
        WordKind::Date => weights.date_word,
        WordKind::Character => weights.character,
    };
    let rarity = rarity(&exact, evidence, weights);
    // A related word or another spelling never counts more than the word itself, where that occurs.
    let most = if exact.is_empty() {
        f64::INFINITY
    } else {
        rarity
    };
    let mut lists: Vec<(&[Posting], f64)> = exact
        .into_iter()
        .map(|postings| (postings, share * rarity))
        .collect();
    for postings in word.related.iter().filter_map(known) {
        let rarity = self::rarity(&[postings], evidence, weights).min(most);
        lists.push((postings, weights.related * share * rarity));
    }
    for (term, likeness) in &word.near {
        let Some(postings) = known(term) else {
            continue;
        };
        let rarity = self::rarity(&[postings], evidence, weights).min(most);
        let near = weights.near * f64::from(*likeness) / 1000.0;
        lists.push((postings, near * share * rarity));
    }
    let (Some(prefix), Some(term)) = (&word.prefix, word.alternatives.first()) else {
        return lists;
    };
    // Words that are spelled alike begin alike, so they are next to each other in the map.
    let from = evidence.postings.range(prefix.clone()..);
    for (other, postings) in from.take_while(|(other, _)| other.starts_with(prefix.as_str())) {
        if !word.alternatives.contains(other) && is_alike(term, other) {
            let rarity = self::rarity(&[postings], evidence, weights).min(most);
            lists.push((postings, weights.alike * share * rarity));
        }
    }
    lists
}

/// Returns the rarity of a word among the passages of a scope; less if it comes up in many
/// conversations, as names and greetings do.
fn rarity(lists: &[&[Posting]], evidence: &Evidence, weights: &RecallWeights) -> f64 {
    let postings: usize = lists.iter().map(|list| list.len()).sum();
    let passages = usize::try_from(evidence.passages).unwrap_or(usize::MAX);
    let frequency = inverse_frequency(passages, postings);
    let mut conversations: Vec<u32> = Vec::new();
    for list in lists {
        let runs = list.chunk_by(|a, b| a.place.conversation == b.place.conversation);
        let firsts = runs.filter_map(<[Posting]>::first);
        conversations.extend(firsts.map(|posting| posting.place.conversation));
    }
    conversations.sort_unstable();
    conversations.dedup();
    let holding = to_float(conversations.len() as u64);
    // At most 1, whatever number of conversations the store has counted.
    let spread = holding / to_float(evidence.conversations).max(holding).max(1.0);
    frequency * (1.0 - weights.spread * spread)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(super) fn to_float(count: u64) -> f64 {
    count as f64
}
