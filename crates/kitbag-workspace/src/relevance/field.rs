//! One field of all files (contents, paths, commit subjects, names of definitions) compared with
//! a query.
//!
//! Each field has its own rarities and its own average length: a word that is common in contents
//! may be rare in paths, and that is what makes paths tell.

use kitbag_core::text::{Bm25, inverse_frequency};

/// The words of a query that a file has in one field.
#[derive(Debug, Clone, Default)]
pub(crate) struct Document {
    /// The count of each term that occurs, by the index of the term, each once.
    pub(crate) counts: Vec<(u16, u32)>,
    /// The length of the field, in any unit; 0 where the file has no such field.
    pub(crate) length: u32,
}

impl Document {
    /// Counts one more occurrence.
    pub(crate) fn add(&mut self, term: u16, times: u32) {
        match self.counts.iter_mut().find(|(known, _)| *known == term) {
            Some((_, count)) => *count = count.saturating_add(times),
            None => self.counts.push((term, times)),
        }
    }
}

/// A field's rarities and average length, over the files that count.
#[derive(Debug, Clone)]
pub(crate) struct Statistics {
    /// The rarity of each term.
    pub(crate) rarity: Vec<f64>,
    field: Bm25,
}

impl Statistics {
    /// The statistics of these documents, which need not be all that are compared.
    pub(crate) fn of<'d>(
        documents: impl Iterator<Item = &'d Document>,
        terms: usize,
        length_weight: f64,
    ) -> Self {
        let mut holding = vec![0_usize; terms];
        let (mut texts, mut length) = (0_usize, 0_u64);
        for document in documents {
            texts += usize::from(document.length > 0);
            length += u64::from(document.length);
            for &(term, _) in &document.counts {
                if let Some(holding) = holding.get_mut(usize::from(term)) {
                    *holding += 1;
                }
            }
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "sums of file sizes are far below 2^52"
        )]
        let average = length as f64 / texts.max(1) as f64;
        let rarity = |&holding: &usize| inverse_frequency(texts, holding);
        Self {
            rarity: holding.iter().map(rarity).collect(),
            field: Bm25::new(average).with_length_weight(length_weight),
        }
    }

    /// The match of a document with a query of these weights.
    pub(crate) fn score(&self, document: &Document, weights: &[f64]) -> f64 {
        let gain = |&(term, count): &(u16, u32)| {
            let term = usize::from(term);
            let (weight, rarity) = (weights.get(term), self.rarity.get(term));
            let known = weight
                .zip(rarity)
                .map_or(0.0, |(weight, rarity)| weight * rarity);
            known
                * self
                    .field
                    .gain(f64::from(count), f64::from(document.length))
        };
        // The order of the counts is that of the terms: the sum is the same on every machine.
        document.counts.iter().map(gain).sum()
    }
}

/// Divides by the greatest, so that the best file has 1.
pub(crate) fn normalise(scores: &mut [f64]) {
    let greatest = scores.iter().copied().fold(0.0, f64::max);
    // Without evidence of this kind all stay at 0; a division would make them NaN.
    if greatest > 0.0 {
        for score in scores {
            *score /= greatest;
        }
    }
}
