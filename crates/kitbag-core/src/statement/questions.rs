//! Finds the questions of the data that a text asks.
//!
//! A question is tried only at the words that it can begin with: there are hundreds of them, and a query is
//! read in every recall.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::asked::FactQuestion;
use super::grammar::{Grammar, Pattern};
use super::lexer::{Sentence, sentences};
use super::times::Times;
use super::{Statements, fill, match_parts};

impl Statements {
    /// Returns the keys of facts that a question asks for.
    #[must_use]
    pub fn asked(&self, query: &str) -> FactQuestion {
        let sentences = sentences(query);
        let mut asked =
            FactQuestion::of_words(sentences.iter().flat_map(|sentence| &sentence.words));
        // Only questions that may begin at a word of the query are matched at all.
        let mut tried: Vec<(Question, usize, usize)> = Vec::new();
        for (number, sentence) in sentences.iter().enumerate() {
            for (at, word) in sentence.words.iter().enumerate() {
                let questions = self.questions.beginning_with(&word.folded);
                tried.extend(questions.map(|question| (question, number, at)));
            }
        }
        // Keys come in the order of the data, wherever the query names them.
        tried.sort_unstable();
        for (question, number, at) in tried {
            let grammar = self.grammars.get(question.language);
            if let (Some(grammar), Some(sentence)) = (grammar, sentences.get(number)) {
                question.ask(grammar, query, sentence, at, &mut asked);
            }
        }
        // "What do I not like?" has the word for both.
        if asked.keys.iter().any(|key| key == "dislikes") {
            asked.keys.retain(|key| key != "likes");
        }
        asked
    }
}

/// The questions of all languages, by the word that they begin with.
#[derive(Debug)]
pub(super) struct Questions {
    by_first_word: BTreeMap<String, Vec<Question>>,
    /// Those that begin with a slot, so with any word.
    open: Vec<Question>,
}

/// A question of one language. The order of questions is that of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Question {
    language: usize,
    asks: Asks,
}

/// The kind of a question, with its number among those of the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Asks {
    Everything(usize),
    Key(usize),
}

impl Question {
    /// Adds the keys that are asked for, if a sentence asks this question from a word on.
    fn ask(
        self,
        grammar: &Grammar,
        query: &str,
        sentence: &Sentence<'_>,
        at: usize,
        asked: &mut FactQuestion,
    ) {
        let words = &sentence.words;
        let mut slots = Vec::new();
        let mut holds = |pattern: &&Pattern| {
            match_parts(grammar, &pattern.parts, words, at, &mut slots).is_some()
        };
        match self.asks {
            Asks::Everything(number) => {
                asked.everything |= grammar.asks_for_all.get(number).filter(holds).is_some();
            }
            Asks::Key(number) => {
                if let Some(pattern) = grammar.asks.get(number).filter(&mut holds) {
                    asked.add_key(fill(&pattern.key, query, words, &slots).to_lowercase());
                }
            }
        }
    }
}

impl Questions {
    pub(super) fn of(grammars: &[Grammar]) -> Self {
        let mut questions = Self {
            by_first_word: BTreeMap::new(),
            open: Vec::new(),
        };
        for (language, grammar) in grammars.iter().enumerate() {
            for (number, pattern) in grammar.asks_for_all.iter().enumerate() {
                let asks = Asks::Everything(number);
                questions.add(Question { language, asks }, pattern, &grammar.times);
            }
            for (number, pattern) in grammar.asks.iter().enumerate() {
                let asks = Asks::Key(number);
                questions.add(Question { language, asks }, pattern, &grammar.times);
            }
        }
        questions
    }

    fn add(&mut self, question: Question, pattern: &Pattern, times: &Times) {
        if pattern.begins_with_slot() {
            self.open.push(question);
            return;
        }
        for (first, _) in pattern.beginnings(times) {
            let of_word = self.by_first_word.entry(first).or_default();
            // Several beginnings may share their first word.
            if of_word.last() != Some(&question) {
                of_word.push(question);
            }
        }
    }

    /// Returns the questions that may begin with a word.
    fn beginning_with(&self, word: &str) -> impl Iterator<Item = Question> {
        let of_word = self.by_first_word.get(word).into_iter().flatten();
        of_word.chain(&self.open).copied()
    }
}
