//! Compares a query with many passages by meaning.
//!
//! The plain mean of a sentence is mostly what all sentences share. So a token counts by its rarity
//! among the passages, and a passage counts with its neighbours: an answer is often a single word.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::text::inverse_frequency;

use super::{Embedder, length, product};

/// The shares that neighbouring passages add to a meaning, by their distance in messages.
const NEARBY: [(i64, f32); 4] = [(-2, 0.3), (-1, 0.5), (1, 0.4), (2, 0.2)];

/// The likeness of each passage to the query, in thousandths. Passages are those of messages, by
/// conversation and number.
pub(crate) fn likenesses(
    embedder: &Embedder,
    query: &str,
    passages: &BTreeMap<(u32, u32), String>,
) -> BTreeMap<(u32, u32), i32> {
    let tokens: Vec<((u32, u32), Vec<u32>)> = passages
        .iter()
        .map(|(place, text)| (*place, embedder.tokens(text)))
        .collect();
    let rarity = Rarity::among(&tokens);
    let meaning = |tokens: &[u32]| {
        let mut sum = vec![0.0; embedder.dimensions()];
        for &token in tokens {
            embedder.table.add_row(token, rarity.of(token), &mut sum);
        }
        sum
    };
    let query = meaning(&embedder.tokens(query));
    let meanings: BTreeMap<(u32, u32), Vec<f32>> = tokens
        .iter()
        .map(|(place, tokens)| (*place, meaning(tokens)))
        .collect();
    let likeness = |(&place, own): (&(u32, u32), &Vec<f32>)| {
        // A copy, since `meanings` is still needed for the neighbours of others.
        let mut together = own.clone();
        for (step, share) in NEARBY {
            let other = nearby(place, step).and_then(|place| meanings.get(&place));
            for (sum, value) in together.iter_mut().zip(other.into_iter().flatten()) {
                *sum += share * value;
            }
        }
        (place, likeness(&query, &together))
    };
    meanings.iter().map(likeness).collect()
}

/// The agreement of two vectors' directions in thousandths: 1000 for the same direction, 0 for
/// nothing in common.
pub(super) fn likeness(one: &[f32], other: &[f32]) -> i32 {
    thousandths(product(one, other), length(one) * length(other))
}

/// A product of vectors with these lengths, in thousandths of its maximum.
#[expect(
    clippy::cast_possible_truncation,
    reason = "between -1000 and 1000 after the clamp; what is no number becomes 0"
)]
pub(super) fn thousandths(product: f32, lengths: f32) -> i32 {
    // Integers: recall adds likeness to its other scores, and those are compared exactly on every
    // machine.
    if lengths > 0.0 {
        (1000.0 * product / lengths).round().clamp(-1000.0, 1000.0) as i32
    } else {
        0
    }
}

fn nearby((conversation, message): (u32, u32), step: i64) -> Option<(u32, u32)> {
    let message = u32::try_from(i64::from(message) + step).ok()?;
    Some((conversation, message))
}

/// The number of passages that hold each token.
struct Rarity {
    passages: usize,
    holding: BTreeMap<u32, usize>,
}

impl Rarity {
    fn among(passages: &[((u32, u32), Vec<u32>)]) -> Self {
        let mut holding = BTreeMap::new();
        for (_, tokens) in passages {
            let tokens: BTreeSet<u32> = tokens.iter().copied().collect();
            for token in tokens {
                *holding.entry(token).or_insert(0) += 1;
            }
        }
        Self {
            passages: passages.len(),
            holding,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a weight, far from limits")]
    fn of(&self, token: u32) -> f32 {
        let holding = self.holding.get(&token).copied().unwrap_or(0);
        inverse_frequency(self.passages, holding) as f32
    }
}
