//! What was recalled, as it is printed in JSON, and as much of it as fits.

use kitbag::core::rank::ScorePart;
use kitbag::core::role::Role;
use kitbag::core::tokens::{TokenCounter, Tokens};
use kitbag::store::{Fact, Later, MessageId, MessageTime, Recalled, RecalledFact};
use serde::Serialize;

use super::shown;
use crate::commands::memory::said;

/// The answer to a query.
#[derive(Serialize)]
pub(super) struct Found {
    /// The facts that it is about, most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) facts: Vec<FoundFact>,
    /// The messages, best first.
    pub(super) ranked: Vec<Hit>,
    /// The tokens of the printed text, where there is a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Tokens>,
    /// What did not fit, if nothing did.
    #[serde(skip)]
    pub(super) misfit: Option<Misfit>,
}

/// Messages that were found, and none of which fits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Misfit {
    pub(super) messages: usize,
    /// What the best of them needs.
    pub(super) needed: Tokens,
}

/// A fact that the query is about.
#[derive(Serialize)]
pub(super) struct FoundFact {
    #[serde(flatten)]
    pub(super) fact: Fact,
    /// The name that its message came with.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    /// Its relevance to the query, in thousandths.
    relevance: u32,
    /// Who said it, where it came from a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) said_by: Option<String>,
}

/// A message that was recalled.
#[derive(Serialize)]
pub(super) struct Hit {
    /// The name that it came with.
    #[serde(rename = "ref")]
    reference: Option<String>,
    pub(super) score: i64,
    /// The store's own name for it.
    pub(super) id: MessageId,
    conversation: String,
    pub(super) at: Option<MessageTime>,
    pub(super) role: Role,
    pub(super) speaker: Option<String>,
    /// The part of the message that says most.
    pub(super) text: String,
    /// Whether there is more of it.
    is_part: bool,
    /// Messages that say nearly the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    duplicates: Vec<MessageId>,
    /// The later message by which it no longer holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outdated_by: Option<Later>,
    /// What the score is made of, if that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parts: Option<Vec<ScorePart>>,
}

impl Found {
    /// Facts and messages, with what the scores of these are made of if that is asked for.
    pub(super) fn new(
        facts: Vec<RecalledFact>,
        recalled: Vec<Recalled>,
        is_explained: bool,
    ) -> Self {
        let fact = |recalled: RecalledFact| FoundFact {
            said_by: recalled.message.as_ref().map(|stored| {
                let said = &stored.message;
                said::speaker(said.name.as_deref(), said.role)
            }),
            reference: recalled.message.and_then(|stored| stored.reference),
            fact: recalled.fact,
            relevance: recalled.relevance,
        };
        let hit = |recalled: Recalled| Hit {
            text: recalled.text().into_owned(),
            is_part: recalled.text().len() < recalled.message.text().len(),
            reference: recalled.message.reference,
            score: recalled.score.total(),
            id: recalled.message.id,
            conversation: recalled.message.id.conversation().to_string(),
            at: recalled.message.at,
            role: recalled.message.message.role,
            speaker: recalled.message.message.name,
            duplicates: recalled.duplicates,
            outdated_by: recalled.outdated_by,
            parts: is_explained.then(|| recalled.score.parts().to_vec()),
        };
        Self {
            facts: facts.into_iter().map(fact).collect(),
            ranked: recalled.into_iter().map(hit).collect(),
            tokens: None,
            misfit: None,
        }
    }

    /// Keeps the longest beginning that fits in `budget` as it is printed, facts first.
    pub(super) fn cut(&mut self, budget: Tokens, counter: &impl TokenCounter) {
        let mut text = String::new();
        let mut used = Tokens(0);
        // Counts do not add up across joins: the whole is counted each time.
        let mut fits = |add: &dyn Fn(&mut String)| {
            let before = text.len();
            add(&mut text);
            let tokens = counter.count(&text);
            let fits = tokens <= budget;
            match fits {
                true => used = tokens,
                false => text.truncate(before),
            }
            (fits, tokens)
        };
        let facts = self.facts.iter();
        let facts = facts.take_while(|fact| fits(&|text| shown::add_fact(text, fact)).0);
        let facts = facts.count();
        self.facts.truncate(facts);
        let mut kept = 0;
        for (index, hit) in self.ranked.iter().enumerate() {
            let (fits, needed) = fits(&|text| shown::add(text, hit));
            if !fits {
                self.misfit = (index == 0).then_some(Misfit {
                    messages: self.ranked.len(),
                    needed,
                });
                break;
            }
            kept = index + 1;
        }
        self.ranked.truncate(kept);
        self.tokens = Some(used);
    }
}
