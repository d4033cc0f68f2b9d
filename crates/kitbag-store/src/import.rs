//! Bringing in many messages at once.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use kitbag_core::recall::Analyser;

use crate::append::{Analysed, Batch};
use crate::conversation::{Conversation, ConversationChoice, IDLE};
use crate::error::Result;
use crate::message::NewMessage;
use crate::names;
use crate::scope::Scope;
use crate::store::Store;
use crate::transaction::Tx;

/// A message from elsewhere.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Import {
    /// Where it was said.
    pub channel: String,
    /// In whose conversation.
    pub sender: String,
    /// The name of the conversation; the same name is the same conversation. Without one it belongs to
    /// the open conversation.
    pub conversation: Option<String>,
    /// The message. One with the reference of a message that the conversation has already is skipped.
    pub message: NewMessage,
}

impl Import {
    /// A message from elsewhere.
    #[must_use]
    pub fn new(
        channel: impl Into<String>,
        sender: impl Into<String>,
        conversation: Option<String>,
        message: NewMessage,
    ) -> Self {
        Self {
            channel: channel.into(),
            sender: sender.into(),
            conversation,
            message,
        }
    }

    /// Checks what the store would refuse, which is then the whole batch.
    ///
    /// # Errors
    /// Names what is wrong.
    pub fn check(&self) -> Result<()> {
        names::name("the channel", &self.channel)?;
        names::name("the sender", &self.sender)?;
        if let Some(conversation) = &self.conversation {
            names::name("the conversation", conversation)?;
        }
        self.message.check()
    }
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// How many messages were kept.
    pub messages: usize,
    /// How many were there already.
    pub known: usize,
}

impl Store {
    /// Keeps messages in their order: all of them, or none.
    ///
    /// # Errors
    /// When one of them is not a message, or the store fails.
    pub async fn import(&self, messages: Vec<Import>, now: Timestamp) -> Result<Imported> {
        let mut scopes: BTreeMap<(String, String), Vec<Line>> = BTreeMap::new();
        let mut analyser = Analyser::new();
        for import in messages {
            import.check()?;
            let message = Analysed::new(import.message, |text| analyser.analyse(text))?;
            scopes
                .entry((import.channel, import.sender))
                .or_default()
                .push((import.conversation, message));
        }
        self.write(async move |tx| {
            let mut imported = Imported::default();
            if scopes.len() > 1 {
                Scope::lock_many(tx).await?;
            }
            for ((channel, sender), messages) in scopes {
                let done = import_scope(tx, &channel, &sender, messages, now).await?;
                imported.messages += done.messages;
                imported.known += done.known;
            }
            Ok(imported)
        })
        .await
    }
}

/// The name of a conversation, and a message of it.
type Line = (Option<String>, Analysed);

async fn import_scope(
    tx: &mut Tx<'_>,
    channel: &str,
    sender: &str,
    messages: Vec<Line>,
    now: Timestamp,
) -> Result<Imported> {
    let mut scope = Scope::lock_or_make(tx, channel, sender).await?;
    let mut batch = Batch::default();
    let mut conversations: BTreeMap<Option<String>, Target> = BTreeMap::new();
    let mut imported = Imported::default();
    // Runs of messages of one conversation are added together.
    let mut waiting = messages.into_iter().peekable();
    while let Some((name, first)) = waiting.next() {
        let mut run = vec![first];
        while let Some((_, next)) = waiting.next_if(|(next_name, next)| {
            *next_name == name && (name.is_some() || follows(run.last(), next))
        }) {
            run.push(next);
        }
        if name.is_none() {
            // Silence ends a conversation without a name: the next run may belong to another.
            if let Some(target) = conversations.remove(&None) {
                target.conversation.save(tx).await?;
            }
        }
        let target = match conversations.entry(name.clone()) {
            Entry::Occupied(target) => target.into_mut(),
            Entry::Vacant(vacant) => {
                let said = run.iter().find_map(Analysed::at).unwrap_or(now);
                vacant.insert(Target::choose(tx, &mut scope, name, said).await?)
            }
        };
        let before = run.len();
        if run.iter().any(|message| message.reference().is_some()) {
            target.read_references(tx).await?;
        }
        run.retain(|message| target.is_new(message.reference()));
        imported.known += before - run.len();
        imported.messages += run.len();
        let conversation = &mut target.conversation;
        for at in run.iter().filter_map(Analysed::at) {
            conversation.began = conversation.began.min(at);
            conversation.active = conversation.active.max(at);
        }
        batch.add(tx, &mut scope, conversation, run).await?;
    }
    for target in conversations.values() {
        target.conversation.save(tx).await?;
    }
    batch.write(tx, &mut scope).await?;
    scope.save(tx).await?;
    Ok(imported)
}

/// Whether a message was said so soon after another that it belongs to the same conversation.
fn follows(before: Option<&Analysed>, next: &Analysed) -> bool {
    match (before.and_then(Analysed::at), next.at()) {
        (Some(before), Some(next)) => next.duration_since(before).abs() <= IDLE,
        _ => true,
    }
}

/// A conversation that messages are added to.
struct Target {
    conversation: Conversation,
    /// The references that it has, once a message came with one.
    references: Option<BTreeSet<String>>,
}

impl Target {
    async fn choose(
        tx: &mut Tx<'_>,
        scope: &mut Scope,
        name: Option<String>,
        said: Timestamp,
    ) -> Result<Self> {
        let choice = match name {
            Some(name) => ConversationChoice::Named(name),
            None => ConversationChoice::default(),
        };
        let conversation = Conversation::choose(tx, scope, &choice, said).await?;
        Ok(Self {
            conversation,
            references: None,
        })
    }

    async fn read_references(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        if self.references.is_some() {
            return Ok(());
        }
        let mut references = BTreeSet::new();
        if self.conversation.messages > 0 {
            // In the order of the index that should be used: SQLite would rather read all messages of
            // the scope.
            let sql = "SELECT ref FROM message WHERE tenant = $1 AND scope = $2 \
                       AND conversation = $3 AND ref IS NOT NULL ORDER BY seq";
            references.extend(tx.query::<String>(sql, self.conversation.id).await?);
        }
        self.references = Some(references);
        Ok(())
    }

    /// Whether the conversation has no message of that reference yet; it has one from now on.
    fn is_new(&mut self, reference: Option<&str>) -> bool {
        let Some(reference) = reference else {
            return true;
        };
        let references = self.references.get_or_insert_default();
        references.insert(reference.to_owned())
    }
}
