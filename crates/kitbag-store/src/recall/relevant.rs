//! Facts that a query is about, and what they say about messages: which one answers it, and which
//! one is outdated.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use kitbag_core::recall::Candidate;
use kitbag_core::statement::FactQuestion;

use super::{Later, Part, RecallRequest};
use crate::error::Result;
use crate::fact::{self, DrawnFrom, Fact, STATEMENTS};
use crate::filter::MessageFilter;
use crate::id::MessageId;
use crate::transaction::{Tx, placeholders};
use crate::value::Value;

/// The number of facts that are read, the latest learned, and as many of those whose key is asked for.
const FACTS: u32 = 500;
/// The number of facts whose earlier values are read, the most relevant ones.
const KEYS: usize = 8;
/// The relevance of a fact to a query that asks for its key.
pub(super) const ASKED: u32 = 1000;

/// The fact that holds in place of an older one: its message, if it has one, and the time from
/// which it holds.
type Replacement = (Option<MessageId>, Timestamp);

/// Facts that are relevant to a query.
#[derive(Default)]
pub(super) struct RelevantFacts {
    /// The facts with their relevance in thousandths, most relevant first. A retraction is among
    /// them: its message answers the query.
    pub(super) facts: Vec<(Fact, u32)>,
    /// True if the query asks for everything that is known.
    pub(super) is_everything: bool,
    /// Messages whose statement was replaced, with the replacement.
    outdated: BTreeMap<MessageId, Replacement>,
}

impl RelevantFacts {
    pub(super) async fn read(
        tx: &mut Tx<'_>,
        parts: &[Part],
        request: &RecallRequest,
    ) -> Result<Self> {
        // With conditions on messages, the query is for those and not for facts.
        if request.filter != MessageFilter::default() {
            return Ok(Self::default());
        }
        // A sender without scopes may still have facts that were set by hand.
        if !parts.is_empty() && !parts.iter().any(|part| part.contents.facts) {
            return Ok(Self::default());
        }
        let from = match request.channel {
            Some(_) => DrawnFrom::Scope(parts.first().map(|part| part.scope.id)),
            None => DrawnFrom::Anywhere,
        };
        let mut facts = fact::latest(tx, &request.sender, from, FACTS).await?;
        // Parsing the question costs more than the rest of this when nothing is known.
        if facts.is_empty() {
            return Ok(Self::default());
        }
        let asked = STATEMENTS.asked(&request.query);
        if facts.len() >= FACTS as usize {
            // There are more, and what is asked for may be among the older ones.
            let known: BTreeSet<(String, u32)> = facts.iter().map(place).collect();
            let named = fact::latest_of(tx, &request.sender, from, &asked.keys, FACTS).await?;
            let older = named
                .into_iter()
                .filter(|fact| !known.contains(&place(fact)));
            facts.extend(older);
        }
        let facts = relevant(facts, &asked);
        let outdated = outdated(tx, &request.sender, &facts).await?;
        Ok(Self {
            facts,
            is_everything: asked.everything,
            outdated,
        })
    }

    /// Returns the relevance of the facts from a message to the query, in thousandths.
    pub(super) fn relevance(&self, message: MessageId) -> u32 {
        let of_it = self
            .facts
            .iter()
            .filter(|(fact, _)| fact.source == Some(message));
        of_it.map(|(_, relevance)| *relevance).max().unwrap_or(0)
    }

    /// The message that states what holds now, if the statement of this one no longer does.
    pub(super) fn outdated_by(&self, message: MessageId) -> Option<MessageId> {
        self.outdated.get(&message)?.0
    }

    /// The fact that replaced the statement of a message: its own message if it was drawn from one,
    /// and the time from which it holds.
    pub(super) fn replaced(&self, message: MessageId) -> Option<Later> {
        let (id, at) = *self.outdated.get(&message)?;
        let at = Some(at.into());
        Some(Later { id, at })
    }

    /// Returns true if a message states something that holds.
    pub(super) fn holds(&self, message: MessageId) -> bool {
        let mut facts = self.facts.iter();
        facts.any(|(fact, _)| !fact.is_retraction && fact.source == Some(message))
    }

    /// Returns true if a fact, or a retraction, came from a message.
    pub(super) fn is_source(&self, message: MessageId) -> bool {
        let mut facts = self.facts.iter();
        facts.any(|(fact, _)| fact.source == Some(message))
    }

    /// Adds the messages whose facts the query asks for, even if they share no word with it.
    pub(super) fn add_candidates(&self, parts: &[Part], candidates: &mut Vec<Candidate>) {
        let asked = self
            .facts
            .iter()
            .filter(|(_, relevance)| *relevance >= ASKED);
        for source in asked.filter_map(|(fact, _)| fact.source) {
            let part = parts
                .iter()
                .find(|part| part.scope.id == source.conversation.scope);
            let Some((conversation, message)) = part.map(|part| part.place(source)) else {
                continue;
            };
            let is_it =
                |one: &Candidate| (one.conversation, one.message) == (conversation, message);
            if !candidates.iter().any(is_it) {
                candidates.push(Candidate::new(conversation, message));
            }
        }
    }
}

/// The primary key of a fact, among those of one sender.
fn place(fact: &Fact) -> (String, u32) {
    (fact.key.clone(), fact.version)
}

fn scope(fact: &Fact) -> Option<u32> {
    fact.source.map(|source| source.conversation.scope)
}

/// The facts that are relevant to a query, most relevant first.
fn relevant(facts: Vec<Fact>, asked: &FactQuestion) -> Vec<(Fact, u32)> {
    let mut facts: Vec<(Fact, u32)> = facts
        .into_iter()
        .map(|fact| {
            let relevance = asked.relevance(&fact.key, &fact.value, fact.speaker.as_deref());
            (fact, relevance)
        })
        .filter(|(_, relevance)| *relevance > 0)
        .collect();
    facts.sort_by(|(a, most), (b, more)| (more, b.since, &a.key).cmp(&(most, a.since, &b.key)));
    facts
}

async fn outdated(
    tx: &mut Tx<'_>,
    sender: &str,
    facts: &[(Fact, u32)],
) -> Result<BTreeMap<MessageId, Replacement>> {
    // One key may have a value on one channel and a retraction on another.
    let mut holding: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
    for (fact, _) in facts.iter().take(KEYS) {
        holding.entry(&fact.key).or_default().push(fact);
    }
    let mut outdated = BTreeMap::new();
    if holding.is_empty() {
        return Ok(outdated);
    }
    let keys: Vec<Value> = holding.keys().map(|key| Value::from(*key)).collect();
    let sql = format!(
        "SELECT {} FROM fact WHERE tenant = $1 AND sender = $2 AND key IN ({}) \
         AND drawn < 2 AND source_scope IS NOT NULL ORDER BY key, version",
        fact::COLUMNS,
        placeholders(3, keys.len()),
    );
    for earlier in tx.query::<Fact>(&sql, (sender, keys)).await? {
        let Some(source) = earlier.source else {
            continue;
        };
        let of_key = holding.get(earlier.key.as_str());
        let of_key = of_key.map(Vec::as_slice).unwrap_or_default();
        if of_key.iter().any(|fact| fact.source == Some(source)) {
            continue;
        }
        // A retraction outdates only statements of its own channel.
        let latest = of_key.iter().find(|latest| {
            let is_other = match latest.is_retraction {
                true => scope(latest) == scope(&earlier),
                false => earlier.value != latest.value,
            };
            is_other && earlier.since <= latest.since
        });
        if let Some(latest) = latest {
            outdated.insert(source, (latest.source, latest.since));
        }
    }
    Ok(outdated)
}
