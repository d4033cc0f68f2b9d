//! How strongly each word of a query stands in each passage.

use alloc::vec::Vec;

use super::alike::is_alike;
use super::evidence::{Evidence, Place, Posting};
use super::query::{Query, QueryWord};
use super::weights::RecallWeights;
use crate::text::{Bm25, inverse_frequency};

/// A word of the query in a passage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Strength {
    pub(super) place: Place,
    /// Which word of the query.
    pub(super) word: usize,
    pub(super) by_person: bool,
    /// How much it tells: by its rarity, and by how much of the passage it is.
    pub(super) value: f64,
}

/// The strengths of all words, by place and word; each word once in a passage.
pub(super) fn strengths(
    query: &Query,
    evidence: &Evidence,
    weights: &RecallWeights,
) -> Vec<Strength> {
    let average = to_float(evidence.words) / to_float(evidence.passages.max(1));
    let mut field = Bm25::new(average).with_length_weight(weights.length_weight);
    field.saturation = weights.saturation;
    let mut found = Vec::new();
    for (at, word) in query.words().iter().enumerate() {
        for (postings, rarity) in lists(word, evidence, weights) {
            found.extend(postings.iter().map(|posting| Strength {
                place: posting.place,
                word: at,
                by_person: posting.by_person,
                value: rarity * field.gain(f64::from(posting.count), f64::from(posting.words)),
            }));
        }
    }
    found.sort_unstable_by(|a, b| {
        let by_place = (a.place, a.word).cmp(&(b.place, b.word));
        by_place.then(b.value.total_cmp(&a.value))
    });
    found.dedup_by_key(|strength| (strength.place, strength.word));
    found
}

/// Where a word stands, or one that is spelled alike, with what it tells there by its rarity.
fn lists<'e>(
    word: &QueryWord,
    evidence: &'e Evidence,
    weights: &RecallWeights,
) -> Vec<(&'e [Posting], f64)> {
    let known = |term| evidence.postings.get(term).map(Vec::as_slice);
    let exact: Vec<&[Posting]> = word.alternatives.iter().filter_map(known).collect();
    let share = if word.is_date { weights.date_word } else { 1.0 };
    let rarity = rarity(&exact, evidence, weights);
    let most = if exact.is_empty() {
        f64::INFINITY
    } else {
        rarity
    };
    let mut lists: Vec<(&[Posting], f64)> = exact
        .into_iter()
        .map(|postings| (postings, share * rarity))
        .collect();
    let (Some(prefix), Some(term)) = (&word.prefix, word.alternatives.first()) else {
        return lists;
    };
    let from = evidence.postings.range(prefix.clone()..);
    for (other, postings) in from.take_while(|(other, _)| other.starts_with(prefix.as_str())) {
        if !word.alternatives.contains(other) && is_alike(term, other) {
            let rarity = self::rarity(&[postings], evidence, weights).min(most);
            lists.push((postings, weights.alike * share * rarity));
        }
    }
    lists
}

/// How rare a word is among the passages of a scope; less when it comes up in many conversations,
/// as names and greetings do.
fn rarity(lists: &[&[Posting]], evidence: &Evidence, weights: &RecallWeights) -> f64 {
    let postings = lists.iter().copied().flatten();
    let mut conversations: Vec<u32> = postings.map(|posting| posting.place.conversation).collect();
    let passages = usize::try_from(evidence.passages).unwrap_or(usize::MAX);
    let frequency = inverse_frequency(passages, conversations.len());
    conversations.dedup();
    conversations.sort_unstable();
    conversations.dedup();
    let holding = to_float(conversations.len() as u64);
    let spread = holding / to_float(evidence.conversations).max(holding).max(1.0);
    frequency * (1.0 - weights.spread * spread)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(super) fn to_float(count: u64) -> f64 {
    count as f64
}
