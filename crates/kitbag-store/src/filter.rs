//! Filters messages by time, role, conversation and metadata.
//!
//! Recall, export and forgetting all use this one filter. Conditions on times and roles are written
//! into the SQL: their values are numbers and fixed words. Words and metadata are compared here,
//! since texts and JSON are mere bytes to the databases.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::str::FromStr;

use kitbag_core::recall::analyse;
use kitbag_core::role::Role;
use serde_json::Value as Json;

use crate::id::ConversationId;
use crate::message::MessageTime;
use crate::transaction::placeholders;
use crate::value::Value;

/// Conditions on messages, all of which must hold. The empty filter admits every message.
///
/// ```
/// use kitbag_core::role::Role;
/// use kitbag_store::{MessageFilter, MessageTime};
///
/// let filter = MessageFilter::default()
///     .since(MessageTime::parse("2024-05-01").unwrap())
///     .by_role(Role::User)
///     .in_conversation("trip")
///     .with_metadata("run_id", "r7");
/// assert_eq!(filter.roles, [Role::User]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageFilter {
    /// Said at this time or later. A time without a zone is compared with the clock of the speaker,
    /// a time with a zone with the moment; a message without a zone then counts as UTC. A message
    /// without a time meets no condition on times.
    pub since: Option<MessageTime>,
    /// Said before this time.
    pub until: Option<MessageTime>,
    /// Said in one of these roles, if there are any.
    pub roles: Vec<Role>,
    /// Said in one of these conversations, if there are any.
    pub conversations: Vec<ConversationKey>,
    /// Said in none of these conversations.
    pub except: Vec<ConversationKey>,
    /// With all of these values in their fields. A key names a field of the message's `metadata`,
    /// or a field of the message that Kitbag does not know. Dots lead into objects. Values other
    /// than text are compared in their JSON form.
    pub metadata: BTreeMap<String, String>,
    /// With all of these words, as whole words in any case, or with others of the same stem. They
    /// are looked up in the texts themselves, since the index lacks messages that may not be
    /// recalled.
    pub words: Vec<String>,
}

/// A conversation, by its id or by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationKey {
    /// By its id, such as 7.12.
    Id(ConversationId),
    /// By the name that a client gave it.
    Name(String),
}

impl FromStr for ConversationKey {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let id = text.parse().map(Self::Id);
        Ok(id.unwrap_or_else(|_| Self::Name(text.to_owned())))
    }
}

impl From<&str> for ConversationKey {
    fn from(text: &str) -> Self {
        text.parse()
            .unwrap_or_else(|never: Infallible| match never {})
    }
}

impl From<ConversationId> for ConversationKey {
    fn from(id: ConversationId) -> Self {
        Self::Id(id)
    }
}

impl MessageFilter {
    /// Restricts the filter to messages said at this time or later.
    #[must_use]
    pub fn since(mut self, since: impl Into<MessageTime>) -> Self {
        self.since = Some(since.into());
        self
    }

    /// Restricts the filter to messages said before this time.
    #[must_use]
    pub fn until(mut self, until: impl Into<MessageTime>) -> Self {
        self.until = Some(until.into());
        self
    }

    /// Admits messages of this role, besides those of roles named before.
    #[must_use]
    pub fn by_role(mut self, role: Role) -> Self {
        self.roles.push(role);
        self
    }

    /// Admits messages of this conversation, besides those of conversations named before.
    #[must_use]
    pub fn in_conversation(mut self, conversation: impl Into<ConversationKey>) -> Self {
        self.conversations.push(conversation.into());
        self
    }

    /// Leaves out the messages of this conversation.
    #[must_use]
    pub fn except_conversation(mut self, conversation: impl Into<ConversationKey>) -> Self {
        self.except.push(conversation.into());
        self
    }

    /// Restricts the filter to messages with this value in their metadata.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Restricts the filter to messages that have all of these words.
    #[must_use]
    pub fn with_words(mut self, words: &str) -> Self {
        let words = words.split_whitespace().map(str::to_owned);
        self.words.extend(words);
        self
    }

    /// Returns true if every message is admitted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if the filter may admit only some messages of a conversation.
    pub(crate) fn is_about_messages(&self) -> bool {
        self.is_about_times() || !self.roles.is_empty() || self.is_about_contents()
    }

    /// Returns true if the contents of messages must be read to apply the filter.
    pub(crate) fn is_about_contents(&self) -> bool {
        !self.metadata.is_empty() || !self.words.is_empty()
    }

    pub(crate) fn is_about_times(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// The conditions on a row of `message`, each behind an `AND`. Those on its conversation and
    /// its contents are separate.
    pub(crate) fn message_conditions(&self) -> String {
        let mut conditions = String::new();
        if let Some(since) = self.since {
            conditions.push_str(&bound(since, ">=", DAY_AND_MORE));
        }
        if let Some(until) = self.until {
            conditions.push_str(&bound(until, "<", -DAY_AND_MORE));
        }
        if !self.roles.is_empty() {
            let roles = self.roles.iter().map(|role| format!("'{}'", role.as_str()));
            let roles: Vec<String> = roles.collect();
            conditions.push_str(&format!(" AND message.role IN ({})", roles.join(", ")));
        }
        conditions
    }

    /// Returns true if the filter names conversations.
    pub(crate) fn is_about_conversations(&self) -> bool {
        !self.conversations.is_empty() || !self.except.is_empty()
    }

    /// The conditions that a row of `conversation` is one of the named ones and none of those left
    /// out, each behind an `AND`. Names are appended to the parameters behind the tenant's.
    pub(crate) fn conversation_condition(&self, parameters: &mut Vec<Value>) -> String {
        let mut conditions = String::new();
        if !self.conversations.is_empty() {
            let named = any_of(&self.conversations, parameters);
            conditions.push_str(&format!(" AND ({named})"));
        }
        for key in &self.except {
            // For a conversation without a name the comparison gives NULL, which must count as "not
            // left out".
            let named = any_of(std::slice::from_ref(key), parameters);
            conditions.push_str(&format!(" AND CASE WHEN {named} THEN 1 ELSE 0 END = 0"));
        }
        conditions
    }

    /// The conditions that a row of `conversation` was active in the filter's period, each behind
    /// an `AND`. They only narrow the search: single messages are checked by
    /// [`message_conditions`](Self::message_conditions).
    pub(crate) fn activity_conditions(&self) -> String {
        let mut conditions = String::new();
        if let Some(since) = self.since {
            let since = since.timestamp().as_microsecond() - slack(since);
            conditions.push_str(&format!(" AND conversation.active >= {since}"));
        }
        if let Some(until) = self.until {
            let until = until.timestamp().as_microsecond() + slack(until);
            conditions.push_str(&format!(" AND conversation.began < {until}"));
        }
        conditions
    }

    /// Returns true if a message has the words and the metadata of the filter, given its text and
    /// its JSON.
    pub(crate) fn admits_contents(&self, text: &str, json: Option<&str>) -> bool {
        // Cheapest first: a text is analysed only if the metadata fit.
        self.admits_fields(json) && self.admits_text(text)
    }

    fn admits_text(&self, text: &str) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let lower = text.to_lowercase();
        let analysis = analyse(text);
        let passages = analysis.passages.iter();
        let terms: BTreeSet<&str> = passages
            .flat_map(|passage| passage.terms.iter().map(|(term, _)| term.as_str()))
            .collect();
        let has = |word: &String| has_word(&lower, &word.to_lowercase()) || has_stem(&terms, word);
        self.words.iter().all(has)
    }

    fn admits_fields(&self, json: Option<&str>) -> bool {
        if self.metadata.is_empty() {
            return true;
        }
        let Some(Ok(fields)) = json.map(serde_json::from_str::<Json>) else {
            return false;
        };
        let has = |(key, value): (&String, &String)| {
            let own = fields.get("metadata").and_then(|own| at_path(own, key));
            let found = own.or_else(|| at_path(&fields, key));
            found.is_some_and(|found| match found {
                Json::String(text) => text == value,
                other => {
                    let written = other.to_string();
                    written == *value
                }
            })
        };
        self.metadata.iter().all(has)
    }
}

/// The condition that a row of `conversation` is one of these.
fn any_of(keys: &[ConversationKey], parameters: &mut Vec<Value>) -> String {
    let mut named = Vec::new();
    for key in keys {
        match key {
            ConversationKey::Id(ConversationId { scope, number }) => named.push(format!(
                "(conversation.scope = {scope} AND conversation.id = {number})"
            )),
            ConversationKey::Name(name) => {
                let place = placeholders(parameters.len() + 2, 1);
                named.push(format!("conversation.name = {place}"));
                parameters.push(name.as_str().into());
            }
        }
    }
    named.join(" OR ")
}

/// 25 hours in microseconds, more than the largest difference between any clock and UTC.
const DAY_AND_MORE: i64 = 90_000_000_000;

/// Returns how far a message without a zone can be from the moment that its conversation records.
fn slack(bound: MessageTime) -> i64 {
    match bound.to_columns() {
        (_, None) => DAY_AND_MORE,
        (_, Some(_)) => 0,
    }
}

/// The condition that a message was said at or after a time, or before it. The index holds moments
/// only: for a time without a zone it yields a day more, in the direction of `margin`, and the
/// second condition compares the speaker's clock.
fn bound(time: MessageTime, comparison: &str, margin: i64) -> String {
    let (at, offset) = time.to_columns();
    match offset {
        Some(_) => format!(" AND message.at {comparison} {at}"),
        None => format!(
            " AND message.at {comparison} {} \
             AND message.at + coalesce(message.at_offset, 0) * 1000000 {comparison} {at}",
            at.saturating_sub(margin)
        ),
    }
}

/// Returns true if a text has this as a whole word.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        // Boundaries of matches are boundaries of characters, so neither slice is ever missing.
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let behind = text.get(at + word.len()..);
        let behind = behind.and_then(|behind| behind.chars().next());
        ![before, behind]
            .into_iter()
            .flatten()
            .any(char::is_alphanumeric)
    })
}

/// Returns true if a text has all terms that a word is indexed under. A stop word has none and
/// never matches.
fn has_stem(terms: &BTreeSet<&str>, word: &str) -> bool {
    let analysis = analyse(word);
    let mut own = analysis
        .passages
        .iter()
        .flat_map(|one| &one.terms)
        .peekable();
    own.peek().is_some() && own.all(|(term, _)| terms.contains(term.as_str()))
}

/// The field of an object by its key, or by a path of keys with dots.
fn at_path<'j>(fields: &'j Json, key: &str) -> Option<&'j Json> {
    // The key as a whole first: field names may contain dots.
    fields.get(key).or_else(|| {
        let (first, rest) = key.split_once('.')?;
        at_path(fields.get(first)?, rest)
    })
}
