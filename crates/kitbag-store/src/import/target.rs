//! A conversation that messages are imported into, with the references it has.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::append::{Analysed, ContentHash};
use crate::conversation::{Chosen, Conversation, ConversationChoice};
use crate::error::Result;
use crate::scope::Scope;
use crate::transaction::Tx;

pub(super) struct Target {
    pub(super) conversation: Conversation,
    /// True if it has a row. A new one is inserted once, with its final values.
    is_stored: bool,
    /// The messages with references, read when the first imported message has one.
    references: Option<BTreeMap<String, KnownMessage>>,
}

struct KnownMessage {
    seq: u32,
    /// The hashes of its current and its older contents.
    contents: Vec<ContentHash>,
}

/// The relation of an imported message to those of its conversation.
pub(super) enum Relation {
    New,
    /// It exists and has or had this content. So an export from before a change does not undo the
    /// change.
    Known(u32),
    /// It exists and never had this content.
    Changed(u32),
}

impl Target {
    pub(super) async fn choose(
        tx: &mut Tx<'_>,
        scope: &mut Scope,
        name: Option<String>,
        said: Timestamp,
    ) -> Result<Self> {
        let choice = match name {
            Some(name) => ConversationChoice::Named(name),
            None => ConversationChoice::default(),
        };
        let chosen = Conversation::choose_or_begin(tx, scope, &choice, said).await?;
        let (conversation, is_stored) = match chosen {
            Chosen::Stored(conversation) => (conversation, true),
            Chosen::New(conversation) => (conversation, false),
        };
        Ok(Self {
            conversation,
            is_stored,
            references: None,
        })
    }

    /// Writes the conversation, which has `kept` more messages that people may see.
    pub(super) async fn save(&self, tx: &mut Tx<'_>, kept: i64) -> Result<()> {
        if !self.is_stored {
            return self.conversation.insert(tx, kept).await;
        }
        self.conversation.save(tx).await?;
        Conversation::add_kept(tx, self.conversation.id, kept).await
    }

    pub(super) async fn read_references(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        if self.references.is_some() {
            return Ok(());
        }
        let mut references: BTreeMap<String, KnownMessage> = BTreeMap::new();
        if self.conversation.messages > 0 {
            // Ordered like the index that should be used: otherwise SQLite reads all messages of
            // the scope.
            let sql = "SELECT ref, seq, role, body, json FROM message WHERE tenant = $1 \
                       AND scope = $2 AND conversation = $3 AND ref IS NOT NULL ORDER BY seq";
            let versions = "SELECT message.ref, message.seq, version.role, version.body, version.json \
                            FROM message_version AS version JOIN message \
                            ON message.tenant = version.tenant AND message.scope = version.scope \
                            AND message.conversation = version.conversation \
                            AND message.seq = version.seq WHERE version.tenant = $1 \
                            AND version.scope = $2 AND version.conversation = $3 \
                            AND message.ref IS NOT NULL";
            for sql in [sql, versions] {
                type Content = (String, String, Option<String>);
                let rows = tx.query::<(String, u32, Content)>(sql, self.conversation.id);
                for (reference, seq, (role, body, json)) in rows.await? {
                    let known = references.entry(reference).or_insert(KnownMessage {
                        seq,
                        contents: Vec::new(),
                    });
                    let content = ContentHash::of(&role, &body, json.as_deref());
                    known.contents.push(content);
                }
            }
        }
        self.references = Some(references);
        Ok(())
    }

    /// Returns the relation of a message to the conversation, and notes it there under the number
    /// `next` if it is new.
    pub(super) fn relation(&mut self, message: &Analysed, next: u32) -> Relation {
        let Some(reference) = message.reference() else {
            return Relation::New;
        };
        let content = message.content_hash();
        let references = self.references.get_or_insert_default();
        let Some(known) = references.get_mut(reference) else {
            let contents = vec![content];
            let known = KnownMessage {
                seq: next,
                contents,
            };
            references.insert(reference.to_owned(), known);
            return Relation::New;
        };
        if known.contents.contains(&content) {
            return Relation::Known(known.seq);
        }
        known.contents.push(content);
        Relation::Changed(known.seq)
    }
}
