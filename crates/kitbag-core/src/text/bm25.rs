//! BM25: how much a text tells about a query by the words that they share.

/// The parameters of one field: contents, paths and names each have their own.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bm25 {
    /// How soon further occurrences of a word stop counting.
    pub saturation: f64,
    /// How much longer texts are discounted, from 0 to 1.
    pub length_weight: f64,
    /// The average length of a text, in the unit that lengths are given in.
    pub average: f64,
}

impl Bm25 {
    /// The usual parameters for texts of this average length.
    #[must_use]
    pub fn new(average: f64) -> Self {
        Self {
            saturation: 1.2,
            length_weight: 0.75,
            average: average.max(1.0),
        }
    }

    /// The same with another weight of the length.
    #[must_use]
    pub fn with_length_weight(mut self, weight: f64) -> Self {
        self.length_weight = weight;
        self
    }

    /// What a word that occurs `count` times brings in a text of this length, before it is weighed
    /// by how rare it is: from 0 to `saturation + 1`.
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

/// How rare a word is that stands in `holding` of `texts` texts: never negative.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of texts are far below 2^52"
)]
pub fn inverse_frequency(texts: usize, holding: usize) -> f64 {
    let (texts, holding) = (texts as f64, holding.min(texts) as f64);
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
