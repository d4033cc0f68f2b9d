//! How much each kind of evidence weighs.

/// The weights of recall. What each brings was measured: see `docs/recall.md`.
///
/// The parts of a score are in thousandths of what the words of the best message tell.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecallWeights {
    /// How soon further occurrences of a word stop counting (BM25's k1).
    pub saturation: f64,
    /// How much longer passages are discounted, from 0 to 1 (BM25's b).
    pub length_weight: f64,
    /// What share of its rarity a word loses that comes up in every conversation.
    pub spread: f64,
    /// What a word counts that is part of a date, which is sought as a day.
    pub date_word: f64,
    /// What a character counts that stands by itself between words of grammar, in a script without
    /// spaces.
    pub character: f64,
    /// The share of its weight that a word keeps which only belongs to the same concept.
    pub related: f64,
    /// The share of its likeness that a word counts which means nearly the same by a model.
    pub near: f64,
    /// What a word counts that is only spelled alike.
    pub alike: f64,
    /// What a word counts that stands one, two or three messages before.
    pub before: [f64; 3],
    /// What a word counts that stands in the message before when a person answers it.
    pub asked: f64,
    /// What a word counts that stands one, two or three messages after.
    pub after: [f64; 3],
    /// What share of these a message hands to its neighbours that is not by a person: an assistant
    /// repeats the question's words.
    pub assistant_neighbour: f64,
    /// For all words of the query in the whole conversation.
    pub conversation: f64,
    /// For a message of a day that the query names.
    pub day: f64,
    /// For a message of a speaker whom the query names.
    pub named: f64,
    /// For a message that likes or dislikes as the query does; as much less for the opposite.
    pub attitude: f64,
    /// For a short message that only asks.
    pub question: f64,
    /// For a person's answer to a question.
    pub reply: f64,
    /// The share of its words and its meaning that a message loses that is not by a person.
    pub role: f64,
    /// For each doubling of a message's length beyond a passage.
    pub length: f64,
    /// For the newest message; half as much for one in the middle of the scope.
    pub recency: f64,
    /// For a message from which facts or entities are remembered that the query is about.
    pub remembered: f64,
    /// For a message that means what the query means, as a model tells; nothing without a model.
    pub meaning: f64,
    /// For a message from which a fact is known that the query asks for by its key.
    pub fact: f64,
}

impl Default for RecallWeights {
    fn default() -> Self {
        Self {
            saturation: 0.8,
            length_weight: 0.4,
            spread: 0.4,
            date_word: 0.5,
            character: 0.3,
            related: 0.3,
            near: 0.4,
            alike: 0.5,
            before: [0.6, 0.4, 0.2],
            asked: 0.9,
            after: [0.45, 0.25, 0.1],
            assistant_neighbour: 0.3,
            conversation: 300.0,
            day: 1000.0,
            named: 400.0,
            attitude: 500.0,
            question: -100.0,
            reply: 50.0,
            role: 0.6,
            length: -100.0,
            recency: 5.0,
            remembered: 100.0,
            meaning: 1300.0,
            fact: 600.0,
        }
    }
}
