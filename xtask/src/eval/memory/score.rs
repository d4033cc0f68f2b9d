//! Shares of the evidence that a ranking holds near its top.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context, Result, bail};

use super::conversation::{Conversation, Label};
use super::program::Answers;

/// The part of a ranking that is searched for evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// The number of turns from the top.
    First(usize),
    /// The turns from the top that cost at most so many thousand tokens; the first that does not fit
    /// ends them.
    Thousands(u64),
}

impl Measure {
    /// In the order in which they are shown.
    pub(super) const ALL: [Self; 6] = [
        Self::First(5),
        Self::First(10),
        Self::First(20),
        Self::Thousands(1),
        Self::Thousands(2),
        Self::Thousands(4),
    ];

    /// The mean share of the evidence, over rows of questions.
    pub(super) fn mean(self, rows: &[Row]) -> f64 {
        let at = Self::ALL.iter().position(|measure| *measure == self);
        let shares = rows.iter().filter_map(|row| row.shares.get(at?));
        shares.sum::<f64>() / rows.len().max(1) as f64
    }

    /// The share of the evidence.
    fn of(self, ranked: &[(&str, u64)], evidence: &BTreeSet<&str>) -> f64 {
        let seen = match self {
            Self::First(count) => count,
            Self::Thousands(thousands) => {
                let costs = ranked.iter().scan(0, |used, (_, cost)| {
                    *used += cost;
                    Some(*used)
                });
                costs.take_while(|used| *used <= thousands * 1000).count()
            }
        };
        let seen = ranked.iter().take(seen);
        let found = seen.filter(|(turn, _)| evidence.contains(turn)).count();
        found as f64 / evidence.len() as f64
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First(count) => write!(f, "r@{count}"),
            Self::Thousands(thousands) => write!(f, "r@{thousands}kt"),
        }
    }
}

/// The scores of one question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) category: Label,
    /// In the order of [`Measure::ALL`].
    pub(super) shares: [f64; Measure::ALL.len()],
}

/// A row for each question. A turn that is ranked twice counts where it stands first, and one that
/// the conversation does not have does not count.
pub(super) fn rows(conversation: &Conversation, answers: &Answers) -> Result<Vec<Row>> {
    let turns = conversation.turns.iter();
    let costs: BTreeMap<&str, u64> = turns.map(|turn| (turn.id.as_str(), turn.tokens)).collect();
    let mut rows = Vec::new();
    for question in &conversation.questions {
        let id = &question.id;
        let answer = answers.get(id);
        let answer = answer.with_context(|| format!("question `{id}` got no answer"))?;
        let mut ranked_before = BTreeSet::new();
        let ranked: Vec<(&str, u64)> = answer
            .iter()
            .filter(|turn| ranked_before.insert(turn.as_str()))
            .filter_map(|turn| costs.get_key_value(turn.as_str()))
            .map(|(turn, cost)| (*turn, *cost))
            .collect();
        let evidence: BTreeSet<&str> = question.evidence.iter().map(String::as_str).collect();
        if evidence.is_empty() {
            bail!("question `{id}` has no evidence");
        }
        rows.push(Row {
            category: question.category.clone(),
            shares: Measure::ALL.map(|measure| measure.of(&ranked, &evidence)),
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::memory::conversation::{Question, Turn};

    /// Turns `t0`, `t1` and so on of these costs, and one question.
    fn conversation(costs: &[u64], evidence: &[&str]) -> Conversation {
        let turn = |(number, tokens): (usize, &u64)| Turn {
            id: format!("t{number}"),
            tokens: *tokens,
            ..Turn::default()
        };
        let question = Question {
            id: "q".to_owned(),
            category: Label::Number(4),
            evidence: evidence.iter().map(|id| (*id).to_owned()).collect(),
            ..Question::default()
        };
        Conversation {
            turns: costs.iter().enumerate().map(turn).collect(),
            questions: vec![question],
            ..Conversation::default()
        }
    }

    fn shares(conversation: &Conversation, ranked: &[&str]) -> [f64; 6] {
        let ranked = ranked.iter().map(|id| (*id).to_owned()).collect();
        let answers = Answers::from([("q".to_owned(), ranked)]);
        rows(conversation, &answers).unwrap()[0].shares
    }

    #[test]
    fn x04_the_share_of_the_evidence_among_the_first_turns() {
        let ids: Vec<String> = (0..30).map(|number| format!("t{number}")).collect();
        let ranked: Vec<&str> = ids.iter().map(String::as_str).collect();
        let talk = conversation(&[1; 30], &["t4", "t5", "t10", "t25"]);
        assert_eq!(shares(&talk, &ranked)[..3], [0.25, 0.5, 0.75]);
    }

    #[test]
    fn x04_a_turn_that_does_not_fit_ends_the_budget() {
        let talk = conversation(&[600, 400, 1, 1000, 1999], &["t1", "t2", "t4"]);
        let ranked = ["t0", "t1", "t2", "t3", "t4"];
        let third = 1.0 / 3.0;
        // 1000 tokens hold two turns to the last token; 2000 do not hold the fourth, and so not what follows.
        assert_eq!(shares(&talk, &ranked)[3..], [third, 2.0 * third, 1.0]);
        let dear_first = ["t4", "t2", "t1"];
        assert_eq!(shares(&talk, &dear_first)[3..], [0.0, 2.0 * third, 1.0]);
    }

    #[test]
    fn x04_repeated_and_unknown_turns_take_no_place_and_evidence_counts_once() {
        let talk = conversation(&[1; 9], &["t5", "t5"]);
        let ranked = ["t0", "t0", "x", "t1", "t2", "y", "t0", "t3", "t5"];
        assert_eq!(shares(&talk, &ranked), [1.0; 6]);
    }

    #[test]
    fn x04_a_question_without_an_answer_or_evidence_is_an_error() {
        let error = rows(&conversation(&[1], &["t0"]), &Answers::new()).unwrap_err();
        assert_eq!(error.to_string(), "question `q` got no answer");
        let answers = Answers::from([("q".to_owned(), Vec::new())]);
        let error = rows(&conversation(&[1], &[]), &answers).unwrap_err();
        assert_eq!(error.to_string(), "question `q` has no evidence");
    }
}
