//! How much each kind of evidence weighs.

/// The weights of recall. What each brings was measured: see `docs/recall.md`.
///
/// Parts of a score are in thousandths of the best message's words.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecallWeights {
    /// How soon further occurrences of a term stop counting (BM25's k1).
    pub saturation: f64,
    /// How much longer passages are discounted (BM25's b).
    pub length_weight: f64,
    /// What a term in the message one, two, three before counts.
    pub before: [f64; 3],
    /// What a term in the message one, two, three after counts.
    pub after: [f64; 3],
    /// What a term in another passage of the same message counts.
    pub inside: f64,
    /// What a term in the message before counts when that asks a question.
    pub asked: f64,
    /// What a term that is spelled alike counts.
    pub alike: f64,
    /// For the words that the whole conversation shares with the query.
    pub conversation: f64,
    /// For a message of a day that the query names.
    pub day: f64,
    /// For a message that ends with a question.
    pub question: f64,
    /// For a message that answers a question.
    pub reply: f64,
    /// For a message in which the speaker names himself.
    pub first_person: f64,
    /// For a message with a number.
    pub number: f64,
    /// The share of its words that a message by an assistant or a tool loses.
    pub role: f64,
    /// For each doubling of a message's length beyond a passage.
    pub length: f64,
    /// For the newest message; half for one in the middle of the scope.
    pub recency: f64,
    /// For a message from which a fact or an entity is remembered.
    pub remembered: f64,
}

impl Default for RecallWeights {
    fn default() -> Self {
        Self {
            saturation: 0.3,
            length_weight: 0.3,
            before: [0.6, 0.4, 0.1],
            after: [0.45, 0.25, 0.1],
            inside: 0.5,
            asked: 0.9,
            alike: 0.5,
            conversation: 170.0,
            day: 1150.0,
            question: -110.0,
            reply: 90.0,
            first_person: 230.0,
            number: 0.0,
            role: 0.0,
            length: 0.0,
            recency: 10.0,
            remembered: 100.0,
        }
    }
}
