//! Made-up talk: words as frequent as words are, senders in turn.

/// This many messages, by this many senders in turn.
#[derive(Clone, Copy)]
pub(crate) struct Talk {
    pub(crate) messages: usize,
    pub(crate) senders: usize,
}

/// A query, and who asks.
pub(crate) type Question = (usize, String);

/// How many words there are.
const VOCABULARY: usize = 30_000;

impl Talk {
    /// The messages in their order: who sends each, and what.
    pub(crate) fn said(self) -> impl Iterator<Item = (usize, String)> {
        let mut random = Random(7);
        (0..self.messages).map(move |number| {
            let words = 8 + random.below(30);
            let text: Vec<String> = (0..words).map(|_| random.word()).collect();
            (number % self.senders, text.join(" "))
        })
    }

    /// Questions of a few words, some common, some rare.
    pub(crate) fn questions(self, count: usize) -> Vec<Question> {
        self.ask(count, Random::word)
    }

    /// Questions of words that nobody said, nor any that begin like them.
    pub(crate) fn unknown_questions(self, count: usize) -> Vec<Question> {
        self.ask(count, |random| format!("qua{}", random.word()))
    }

    fn ask(self, count: usize, word: impl Fn(&mut Random) -> String) -> Vec<Question> {
        let mut random = Random(99);
        let mut question = |number: usize| {
            let words = 5 + random.below(5);
            let words: Vec<String> = (0..words).map(|_| word(&mut random)).collect();
            (number * 7 % self.senders, words.join(" "))
        };
        (0..count).map(&mut question).collect()
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // A permuted congruential generator's step: the same talk in every run.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }

    /// By Zipf's law: the word of rank r about 1/r as often as the first. Half of what is said is
    /// grammar.
    fn word(&mut self) -> String {
        const GRAMMAR: [&str; 10] = ["the", "a", "to", "and", "of", "I", "it", "is", "in", "you"];
        if self.below(2) == 0 {
            return GRAMMAR[self.below(GRAMMAR.len())].to_owned();
        }
        let share = self.below(1_000_000) as f64 / 1e6;
        let rank = (VOCABULARY as f64).powf(share) as usize;
        name(rank)
    }
}

/// A pronounceable word for a number, so that stemming has something to do.
fn name(mut number: usize) -> String {
    const BEGIN: [&str; 20] = [
        "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "st", "tr",
        "pl", "gr", "sh",
    ];
    const MIDDLE: [&str; 6] = ["a", "e", "i", "o", "u", "ou"];
    let mut word = String::new();
    loop {
        word.push_str(BEGIN[number % 20]);
        number /= 20;
        word.push_str(MIDDLE[number % 6]);
        number /= 6;
        if number == 0 {
            word.push_str("ck");
            return word;
        }
    }
}
