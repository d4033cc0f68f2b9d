//! The weights of the kinds of evidence.

/// The weights of recall. The effect of each was measured: see `docs/recall.md`.
///
/// The parts of a score are in thousandths of the strength of the best message's words.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecallWeights {
    /// BM25's k1: the number of occurrences at which a word has half of its greatest gain.
    pub saturation: f64,
    /// BM25's b: the discount for longer passages, from 0 to 1.
    pub length_weight: f64,
    /// The share of its rarity that a word loses if it comes up in every conversation.
    pub spread: f64,
    /// The weight of a word that is part of a date, which is looked up as a day, too.
    pub date_word: f64,
    /// The weight of a single character between words of grammar, in a script without spaces.
    pub character: f64,
    /// The weight of a word that only belongs to the same concept.
    pub related: f64,
    /// The weight of a word that means nearly the same by a model, multiplied by its likeness.
    pub near: f64,
    /// The weight of a word that is only spelled alike.
    pub alike: f64,
    /// The weights of a word one, two or three messages before.
    pub before: [f64; 3],
    /// The weight of a word in the message before, if a person answers it.
    pub asked: f64,
    /// The weights of a word one, two or three messages after.
    pub after: [f64; 3],
    /// The share of these that a message hands to its neighbours if it is not by a person: an
    /// assistant repeats the question's words.
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
    /// The share of its words and its meaning that a message loses if it is not by a person.
    pub role: f64,
    /// For each doubling of a message's length beyond a passage.
    pub length: f64,
    /// For the newest message; half as much for one in the middle of the scope.
    pub recency: f64,
    /// For a message from which facts or entities are remembered that the query is about.
    pub remembered: f64,
    /// For a message that means the same as the query, by a model; nothing without a model.
    pub meaning: f64,
    /// For a message from which a fact is known that the query asks for by its key.
    pub fact: f64,
}

impl Default for RecallWeights {
    fn default() -> Self {
        Self {
            // Rounded by hand after the measurements in `docs/recall.md`. Those that concern
            // assistants rest on one set of data: `assistant_neighbour` and `role` keep seven
            // answers of 100 each among the first five there.
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
