//! The answer to a recall: as JSON, as a text, and as much of it as fits.
//!
//! Whoever recalls for a person or a program gives the same answer: the command, the tool, a server.

pub mod said;

use kitbag_core::neutral::one_line;
use kitbag_core::rank::ScorePart;
use kitbag_core::role::Role;
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_store::{
    Fact, Later, MessageId, MessageTime, RecallRequest, Recalled, RecalledFact, Store, StoreError,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::memory::REMEMBERED_BY;

/// The answer to a query.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RecallAnswer {
    /// The facts that it is about, most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<Value>>")]
    pub facts: Vec<FoundFact>,
    /// The messages, best first.
    pub ranked: Vec<FoundMessage>,
    /// The tokens of the printed text, where there is a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u32>")]
    pub tokens: Option<Tokens>,
    /// The messages that did not fit, if none did.
    #[serde(skip)]
    pub misfit: Option<Misfit>,
}

/// Messages that were found, and none of which fits.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Misfit {
    /// Their number.
    pub messages: usize,
    /// The tokens that the best of them needs.
    pub needed: Tokens,
}

/// A fact that the query is about.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FoundFact {
    /// The fact.
    #[serde(flatten)]
    pub fact: Fact,
    /// The name that its message came with.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Its relevance to the query, in thousandths.
    pub relevance: u32,
    /// The speaker, if it came from a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said_by: Option<String>,
    /// The service that remembered it, where it came with the memory of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remembered_by: Option<String>,
}

/// A message that was recalled.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FoundMessage {
    /// The name that it came with.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// The sum of its score.
    pub score: i64,
    /// The store's own name for it.
    #[schemars(with = "String")]
    pub id: MessageId,
    /// Its conversation.
    pub conversation: String,
    /// When it was said.
    #[schemars(with = "Option<String>")]
    pub at: Option<MessageTime>,
    /// The speaker.
    #[schemars(with = "String")]
    pub role: Role,
    /// The name of who said it.
    pub speaker: Option<String>,
    /// The part of the message that says most.
    pub text: String,
    /// True if the text was cut.
    pub is_part: bool,
    /// Messages that say nearly the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub duplicates: Vec<MessageId>,
    /// The later message by which it no longer holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub outdated_by: Option<Later>,
    /// The parts of the score, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Value>>")]
    pub parts: Option<Vec<ScorePart>>,
}

impl RecallAnswer {
    /// Asks the store for the facts and the messages that a query is about.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn of(
        store: &Store,
        request: &RecallRequest,
        is_explained: bool,
    ) -> Result<Self, StoreError> {
        // Two questions: facts are few and ranked by themselves, so that messages never crowd them out.
        let facts = store.recall_facts(request).await?;
        let recalled = store.recall(request).await?;
        Ok(Self::new(facts, recalled, is_explained))
    }

    /// Says whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.ranked.is_empty()
    }

    /// The facts, then the messages, one after the other.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.facts_text();
        for message in &self.ranked {
            message.add_to(&mut text);
        }
        text
    }

    /// The facts, each on a line.
    #[must_use]
    pub fn facts_text(&self) -> String {
        let mut text = String::new();
        for fact in &self.facts {
            fact.add_to(&mut text);
        }
        text
    }

    fn new(facts: Vec<RecalledFact>, recalled: Vec<Recalled>, is_explained: bool) -> Self {
        let fact = |recalled: RecalledFact| {
            let remembered_by = remembered_by(&recalled);
            // The words are the service's, whoever said the message that they came from.
            let said = recalled
                .message
                .as_ref()
                .filter(|_| remembered_by.is_none());
            FoundFact {
                said_by: said.map(|stored| {
                    let said = &stored.message;
                    said::speaker(said.name.as_deref(), said.role)
                }),
                remembered_by,
                reference: recalled.message.and_then(|stored| stored.reference),
                fact: recalled.fact,
                relevance: recalled.relevance,
            }
        };
        let hit = |recalled: Recalled| FoundMessage {
            text: recalled.text().into_owned(),
            // The passage that says most is shown, and readers should know that there is more.
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
    pub fn cut(&mut self, budget: Tokens, counter: &dyn TokenCounter) {
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
                // Taken back, so that the next try is counted on what is really printed.
                false => text.truncate(before),
            }
            (fits, tokens)
        };
        let facts = self.facts.iter();
        let facts = facts.take_while(|fact| fits(&|text| fact.add_to(text)).0);
        let facts = facts.count();
        self.facts.truncate(facts);
        let mut kept = 0;
        for (index, hit) in self.ranked.iter().enumerate() {
            let (fits, needed) = fits(&|text| hit.add_to(text));
            if !fits {
                // Once one message fits, a smaller answer is an answer.
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

/// The service whose memory a fact is from.
fn remembered_by(recalled: &RecalledFact) -> Option<String> {
    // What was drawn from the message is in its own words.
    let message = recalled.message.as_ref().filter(|_| !recalled.fact.drawn)?;
    let metadata = message.message.metadata.as_ref()?;
    let service = metadata.extra.get(REMEMBERED_BY)?.as_str()?;
    Some(service.to_owned())
}

impl FoundFact {
    /// Adds what is known, and who said it when.
    fn add_to(&self, text: &mut String) {
        let fact = &self.fact;
        let (key, value) = (one_line(&fact.key), one_line(&fact.value));
        let day = fact.since.strftime("%Y-%m-%d");
        let note = match (&self.remembered_by, &self.said_by, fact.source) {
            (Some(service), _, Some(source)) => {
                format!("from {}'s memory of {day}, {source}", one_line(service))
            }
            (_, Some(speaker), Some(source)) => format!("said by {speaker} on {day}, {source}"),
            _ => format!("told on {day}"),
        };
        text.push_str(&format!("{key}: {value} ({note})\n"));
    }
}

impl FoundMessage {
    /// The name of who said it, or else the role.
    #[must_use]
    pub fn said_by(&self) -> String {
        said::speaker(self.speaker.as_deref(), self.role)
    }

    fn add_to(&self, text: &mut String) {
        let outdated = match &self.outdated_by {
            Some(Later { id, at, .. }) => {
                let day = at.map(|at| at.wall_clock().date());
                let by = match (id, day) {
                    (Some(id), Some(day)) => format!(", see {id} of {day}"),
                    (Some(id), None) => format!(", see {id}"),
                    // A fact that was set by hand has no message to name.
                    (None, Some(day)) => format!(" by a fact told on {day}"),
                    (None, None) => String::new(),
                };
                format!(", outdated{by}")
            }
            None => String::new(),
        };
        let note = format!("{}, score {}{outdated}", self.id, self.score);
        said::add(text, self.at, &self.said_by(), &note, &self.text);
    }
}
