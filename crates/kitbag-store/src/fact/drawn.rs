//! Draws facts from what people say, in the transaction that keeps their messages.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use kitbag_core::role::Role;
use kitbag_core::statement::{Statement, Statements};

use super::NewFact;
use super::timeline::Timeline;
use crate::error::Result;
use crate::id::MessageId;
use crate::message::NewMessage;
use crate::transaction::Tx;

/// The patterns of statements, compiled once for the whole process.
pub(crate) static STATEMENTS: LazyLock<Statements> = LazyLock::new(Statements::new);

/// The statements of a message. Only a person's own words state anything, and only if they may be
/// recalled and people may see them.
pub(crate) fn statements(message: &NewMessage) -> Vec<Statement> {
    let is_said = message.message.role == Role::User;
    if !is_said || !message.recallable || !message.message.is_for_user() {
        return Vec::new();
    }
    STATEMENTS.of(&message.text())
}

/// A statement of a stored message.
pub(crate) struct Drawn {
    pub(crate) statement: Statement,
    pub(crate) message: MessageId,
    /// The name of the speaker, if the message has one.
    pub(crate) speaker: Option<String>,
    /// The time when it was said.
    pub(crate) at: Option<Timestamp>,
}

/// Keeps statements as facts about a sender.
pub(crate) async fn draw(
    tx: &mut Tx<'_>,
    sender: &str,
    drawn: Vec<Drawn>,
    now: Timestamp,
) -> Result<()> {
    keep_drawn(tx, sender, new_facts(sender, drawn, now)).await
}

/// Turns statements into facts about a sender, with the times when they were made; an unknown time
/// becomes `now`. A speaker other than the sender has keys of their own.
pub(crate) fn new_facts(
    sender: &str,
    drawn: Vec<Drawn>,
    now: Timestamp,
) -> Vec<(NewFact, Timestamp)> {
    let mut facts = Vec::with_capacity(drawn.len());
    for one in drawn {
        // Clients show the sender `ann` as `Ann`.
        let is_sender = |name: &str| name.to_lowercase() == sender.to_lowercase();
        let speaker = one
            .speaker
            .filter(|name| !is_sender(name) && !name.is_empty());
        let key = match &speaker {
            Some(name) => format!("{name}/{}", one.statement.key),
            None => one.statement.key,
        };
        let mut fact = NewFact::new(key, one.statement.value).from_message(one.message);
        (fact.drawn, fact.speaker) = (true, speaker);
        fact.is_retraction = one.statement.retracts;
        // A speaker's name may be too long for a key. That is no reason to refuse the message.
        if fact.check().is_ok() {
            facts.push((fact, one.at.unwrap_or(now)));
        }
    }
    facts
}

/// Keeps drawn facts, each at its place in the order in which they were stated.
pub(crate) async fn keep_drawn(
    tx: &mut Tx<'_>,
    sender: &str,
    facts: Vec<(NewFact, Timestamp)>,
) -> Result<()> {
    let mut keys: BTreeMap<String, Vec<(NewFact, Timestamp)>> = BTreeMap::new();
    for (fact, since) in facts {
        let of_key = keys.entry(fact.key.clone()).or_default();
        of_key.push((fact, since));
    }
    if keys.is_empty() {
        return Ok(());
    }
    super::lock(tx, sender).await?;
    for (key, facts) in keys {
        let mut timeline = Timeline::read(tx, sender, &key).await?;
        for (fact, since) in facts {
            // The same message may come again with an import.
            if !fact
                .source
                .is_some_and(|source| timeline.has_source(source))
            {
                timeline.add(&fact, since);
            }
        }
        timeline.save(tx).await?;
    }
    Ok(())
}
