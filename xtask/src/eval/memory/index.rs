//! Recall in this process, over the core alone, for evaluations with many weights.
//!
//! A conversation is analysed once and kept in memory. A store finds the same places in its tables, so the
//! figures are those of the program, and each further set of weights takes seconds.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use kitbag_core::recall::{
    Analyser, Candidate, Evidence, Hit, MessageFacts, Place, Posting, Query, RecallWeights,
    candidates, rank,
};
use kitbag_core::role::Role;
use kitbag_core::time;

use super::conversation::{Conversation, Question};
use super::program::Answers;

/// As many as `kitbag memory recall --limit 200` looks at.
const CANDIDATES: usize = 400;

/// The messages of one conversation, ready to be asked.
pub(super) struct Index<'a> {
    conversation: &'a Conversation,
    evidence: Evidence,
    facts: BTreeMap<(u32, u32), (MessageFacts, &'a str)>,
    questions: Vec<(&'a Question, Query)>,
}

impl<'a> Index<'a> {
    pub(super) fn new(conversation: &'a Conversation) -> Result<Self> {
        let mut analyser = Analyser::new();
        let mut evidence = Evidence::default();
        let mut facts: BTreeMap<(u32, u32), (MessageFacts, &str)> = BTreeMap::new();
        let mut sittings: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        for (arrival, turn) in conversation.turns.iter().enumerate() {
            let next = u32::try_from(sittings.len())?;
            let sitting = sittings
                .entry(turn.session.to_string())
                .or_insert((next, 0));
            let (number, message) = *sitting;
            sitting.1 += 1;
            let analysis = analyser.analyse(&turn.shown_text());
            let mut known = MessageFacts::new(number, message);
            // Only within a sitting: the last message of another one is no context.
            let before = message.checked_sub(1);
            let before = before.and_then(|before| facts.get(&(number, before)));
            known.previous = before.map(|(facts, _)| facts.traits);
            known.role = match turn.role.as_deref() {
                None | Some("user") => Role::User,
                Some(_) => Role::Assistant,
            };
            known.speaker = Some(turn.speaker.clone());
            known.at = turn.at.as_deref().map(moment).transpose()?;
            known.traits = analysis.traits;
            known.words = analysis.words();
            known.arrival = arrival as u64 + 1;
            known.fingerprint = analysis.fingerprint;
            for (passage, terms) in analysis.passages.into_iter().enumerate() {
                evidence.passages += 1;
                evidence.words += u64::from(terms.words);
                let place = Place {
                    conversation: number,
                    message,
                    passage: u16::try_from(passage)?,
                };
                for (term, count) in terms.terms {
                    evidence.postings.entry(term).or_default().push(Posting {
                        place,
                        count,
                        words: u16::try_from(terms.words)?,
                        by_person: known.role == Role::User,
                    });
                }
            }
            facts.insert((number, message), (known, turn.id.as_str()));
        }
        // When it is imported, each sitting is a conversation of its own.
        evidence.conversations = sittings.len() as u64;
        let now = match conversation.now.as_deref() {
            Some(now) => moment(now)?,
            // As the program does.
            None => today()?,
        };
        let ask = |question: &'a Question| (question, Query::new(&question.question, Some(now)));
        Ok(Self {
            conversation,
            evidence,
            facts,
            questions: conversation.questions.iter().map(ask).collect(),
        })
    }

    pub(super) fn conversation(&self) -> &Conversation {
        self.conversation
    }

    /// Recalls messages for each question with these weights.
    pub(super) fn answers(&self, weights: &RecallWeights) -> Answers {
        let answer = |(question, query): &(&Question, Query)| {
            let ranked = self.ranked(query, weights);
            (question.id.clone(), ranked)
        };
        self.questions.iter().map(answer).collect()
    }

    fn ranked(&self, query: &Query, weights: &RecallWeights) -> Vec<String> {
        let evidence = self.evidence_for(query);
        let found = candidates(query, &evidence, weights, CANDIDATES);
        let known = |candidate: &Candidate| {
            let place = (candidate.conversation, candidate.message);
            self.facts.get(&place).map(|(facts, _)| facts.clone())
        };
        let facts: Vec<MessageFacts> = found.iter().filter_map(known).collect();
        let hits = rank(query, found, &facts, weights, usize::MAX);
        let turn = |hit: &Hit| self.facts.get(&(hit.conversation, hit.message));
        let turns = hits.iter().filter_map(turn);
        turns.map(|(_, turn)| (*turn).to_owned()).collect()
    }

    /// Looks up the evidence for a query, as a store would.
    fn evidence_for(&self, query: &Query) -> Evidence {
        let whole = &self.evidence;
        let mut found = Evidence {
            passages: whole.passages,
            conversations: whole.conversations,
            words: whole.words,
            ..Evidence::default()
        };
        for term in query.terms() {
            if let Some(postings) = whole.postings.get(term) {
                found.postings.insert(term.to_owned(), postings.clone());
            }
        }
        for prefix in query.prefixes() {
            // The map is ordered, so words with one prefix stand together.
            let from = whole.postings.range(prefix.to_owned()..);
            for (term, postings) in from.take_while(|(term, _)| term.starts_with(prefix)) {
                found.postings.insert(term.clone(), postings.clone());
            }
        }
        for range in query.days().iter().filter(|range| range.is_short()) {
            let days = range.first..=range.told_until();
            let is_of_days = |facts: &MessageFacts| {
                let day = facts
                    .at
                    .map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date());
                day.is_some_and(|day| days.contains(&day))
            };
            let of_days = self
                .facts
                .iter()
                .filter(|(_, (facts, _))| is_of_days(facts));
            found.dated.extend(of_days.map(|(place, _)| *place));
        }
        found
    }
}

fn today() -> Result<jiff::Timestamp> {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let now = jiff::Timestamp::from_second(passed.as_secs().try_into()?);
    now.ok().context("the clock shows no time")
}

fn moment(text: &str) -> Result<jiff::Timestamp> {
    time::parse(text).with_context(|| format!("`{text}` is not a time"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::memory::conversation::Turn;

    #[test]
    fn x04_questions_are_answered_without_the_program() {
        let turn = |id: &str, text: &str| Turn {
            id: id.to_owned(),
            text: text.to_owned(),
            at: Some("2024-03-01T10:00:00".to_owned()),
            ..Turn::default()
        };
        let question = Question {
            id: "q".to_owned(),
            question: "Which instrument do I play?".to_owned(),
            ..Question::default()
        };
        let talk = Conversation {
            turns: vec![turn("a", "Rain again."), turn("b", "I play the oboe.")],
            questions: vec![question],
            ..Conversation::default()
        };
        let answers = Index::new(&talk)
            .unwrap()
            .answers(&RecallWeights::default());
        assert_eq!(answers["q"].first().map(String::as_str), Some("b"));
    }
}
