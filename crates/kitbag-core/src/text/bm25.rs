//! BM25: the weight of a text for a query, by the words that they share.

/// The parameters of one field: contents, paths and names each have their own.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bm25 {
    /// The number of occurrences at which a word has half of its greatest gain, in a text of
    /// average length.
    pub saturation: f64,
    /// The discount for longer texts, from 0 to 1.
    pub length_weight: f64,
    /// The average length of a text, in the unit that lengths are given in.
    pub average: f64,
}

impl Bm25 {
    /// Creates the usual parameters for texts of this average length.
    #[must_use]
    pub fn new(average: f64) -> Self {
        // The defaults of Lucene and most other engines.
        Self {
            saturation: 1.2,
            length_weight: 0.75,
            average: average.max(1.0),
        }
    }

    /// Sets the weight of the length.
    #[must_use]
    pub fn with_length_weight(mut self, weight: f64) -> Self {
        self.length_weight = weight;
        self
    }

    /// Returns the gain of a word that occurs `count` times in a text of this length, before it is
    /// weighted by rarity: from 0 to `saturation + 1`.
    ///
    /// ```
    /// use kitbag_core::text::Bm25;
    ///
    /// let field = Bm25::new(100.0);
    /// assert!(field.gain(2.0, 100.0) > field.gain(1.0, 100.0));
    /// assert!(field.gain(1.0, 50.0) > field.gain(1.0, 500.0));
    /// assert_eq!(field.gain(0.0, 100.0), 0.0);
    /// ```
    #[must_use]
    pub fn gain(&self, count: f64, length: f64) -> f64 {
        if count <= 0.0 {
            return 0.0;
        }
        let relative = 1.0 - self.length_weight + self.length_weight * length / self.average;
        count * (self.saturation + 1.0) / (count + self.saturation * relative)
    }
}

/// Returns the rarity of a word that stands in `holding` of `texts` texts: never negative.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of texts are far below 2^52"
)]
pub fn inverse_frequency(texts: usize, holding: usize) -> f64 {
    let (texts, holding) = (texts as f64, holding.min(texts) as f64);
    // The added 1 keeps words of more than half of the texts from becoming negative.
    libm::log(1.0 + (texts - holding + 0.5) / (holding + 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_tell_more_and_no_word_tells_less_than_nothing() {
        assert!(inverse_frequency(100, 1) > inverse_frequency(100, 50));
        assert!(inverse_frequency(100, 100) > 0.0);
        assert!(inverse_frequency(0, 5) >= 0.0);
    }
}
