//! Reads memory for a message: first its conversation with all of its state, then everything else
//! that is known.
//!
//! There are two steps because the second has to know which messages the prompt shows anyway.
//! Nothing is changed or selected here; the engine decides what becomes part of a prompt.

use std::borrow::Cow;

use jiff::Timestamp;
use kitbag_core::problem::Problem;
use kitbag_core::statement::FactQuestion;

use crate::conversation::Conversation;
use crate::error::Result;
use crate::fact::{self, DrawnFrom, Fact};
use crate::filter::MessageFilter;
use crate::history::{self, Readers};
use crate::id::{ConversationId, MessageId};
use crate::message::StoredMessage;
use crate::recall::{self, RecallOutcome, RecallRequest, Recalled};
use crate::scope::Scope;
use crate::state::{self, ConversationState};
use crate::store::Store;
use crate::summary::{self, Summary};
use crate::transaction::Tx;
use crate::turn::Incoming;

/// The most that is read for a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemoryRequest {
    /// The message.
    pub incoming: Incoming,
    /// Its id, if it was accepted already. It and all later messages are then no history.
    pub answering: Option<MessageId>,
    /// The newest messages of the conversation.
    pub messages: u32,
    /// The facts about the sender, the latest learned.
    pub facts: u32,
    /// The summaries of earlier conversations on the channel.
    pub summaries: u32,
    /// The related messages.
    pub recalled: usize,
    /// True if messages of the sender's other channels may be recalled. Words that were said in
    /// private do not belong in a group.
    pub across_channels: bool,
    /// The time of the request.
    pub now: Timestamp,
}

impl MemoryRequest {
    /// Makes a request for the default amounts.
    #[must_use]
    pub fn new(incoming: Incoming, now: Timestamp) -> Self {
        Self {
            incoming,
            answering: None,
            messages: 400,
            facts: 200,
            summaries: 3,
            recalled: 12,
            across_channels: false,
            now,
        }
    }

    /// The scopes whose drawn facts a prompt for a scope shows.
    const fn drawn_from(&self, scope: Option<u32>) -> DrawnFrom {
        match self.across_channels {
            true => DrawnFrom::Anywhere,
            false => DrawnFrom::Scope(scope),
        }
    }

    /// Reads for a message that was accepted already.
    #[must_use]
    pub fn answering(mut self, message: MessageId) -> Self {
        self.answering = Some(message);
        self
    }
}

/// A conversation as the next prompt needs it. If the message begins a conversation, there are no
/// messages, and of its state only the durable entries that it takes over from the one before.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConversationMemory {
    /// The store's number for it; none if the message begins it.
    pub id: Option<ConversationId>,
    /// The newest messages before the one to answer, oldest first, without those that are
    /// summarised.
    pub messages: Vec<StoredMessage>,
    /// The number of messages between those and the ones that are summarised.
    pub unread: u32,
    /// The number of the turn that comes next or is under way.
    pub turn: u32,
    /// All other state that it keeps from turn to turn.
    pub state: ConversationState,
}

/// The memory outside of the conversation.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Recollections {
    /// The facts about the sender: the told ones, and those drawn from messages on this channel.
    pub facts: Vec<Fact>,
    /// The facts that the message asks for.
    pub asked: FactQuestion,
    /// The latest summaries of the channel, oldest first.
    pub summaries: Vec<Summary>,
    /// The related messages, best first.
    pub recalled: Vec<Recalled>,
    /// The sources that failed. The results of the others are here nevertheless.
    pub problems: Vec<Problem>,
}

impl Store {
    /// Reads the conversation that a message continues or would begin, at one moment.
    ///
    /// # Errors
    /// When the conversation cannot be read.
    pub async fn read_conversation(&self, request: &MemoryRequest) -> Result<ConversationMemory> {
        let mut request = request.clone();
        let choice = request.incoming.conversation;
        request.incoming.conversation = self.secrets().masked_choice(choice);
        self.read(async move |tx| conversation(tx, &request).await)
            .await
    }

    /// Reads the memory outside of the conversation: all of it at one moment if possible, and
    /// otherwise each source alone, so that a failing one does not cost the others. Messages in
    /// `shown` are not recalled.
    pub async fn recollect(
        &self,
        request: &MemoryRequest,
        conversation: Option<ConversationId>,
        shown: Vec<MessageId>,
    ) -> Recollections {
        let recall = self.with_model(recall_request(request, shown));
        let (together, asked) = (request.clone(), recall.clone());
        let read =
            self.read(async move |tx| recollections(tx, &together, conversation, &asked).await);
        if let Ok(Some(all)) = read.await {
            return all;
        }
        // One source at a time now, each with its own transaction and its own problem. `recall`
        // also rebuilds an outdated index, which a read cannot do.
        let Incoming {
            channel, sender, ..
        } = &request.incoming;
        let mut known = Recollections {
            asked: fact::STATEMENTS.asked(&request.incoming.message.text()),
            ..Recollections::default()
        };
        let (about, most) = (sender.clone(), request.facts);
        let from = request.drawn_from(conversation.map(|id| id.scope));
        let facts = self.read(async move |tx| fact::current(tx, &about, from, most).await);
        known.facts = known.or_problem("facts", facts.await);
        let summaries = self.summaries(channel, sender, request.summaries).await;
        known.summaries = known.or_problem("summaries", summaries);
        known.recalled = known.or_problem("recall", self.recall(&recall).await);
        known
    }
}

impl ConversationMemory {
    /// A conversation that the message begins.
    fn begun(state: ConversationState) -> Self {
        Self {
            id: None,
            messages: Vec::new(),
            unread: 0,
            turn: 1,
            state,
        }
    }
}

impl Recollections {
    /// Returns the value of a result, or a default and a problem.
    fn or_problem<T: Default>(&mut self, source: &str, result: Result<T>) -> T {
        result.unwrap_or_else(|error| {
            self.problems.push(Problem::failed(source, error));
            T::default()
        })
    }
}

async fn conversation(tx: &mut Tx<'_>, request: &MemoryRequest) -> Result<ConversationMemory> {
    let found = match request.answering {
        Some(message) => Conversation::get(tx, message.conversation).await?,
        None => {
            let (incoming, now) = (&request.incoming, request.now);
            let choice = &incoming.conversation;
            let Some(scope) = Scope::find(tx, &incoming.channel, &incoming.sender).await? else {
                return Ok(ConversationMemory::begun(ConversationState::default()));
            };
            match Conversation::find(tx, scope.id, choice, now).await? {
                Some(found) => found,
                None => {
                    let before = Conversation::before(tx, scope.id, choice, now).await?;
                    let state = match before {
                        Some(before) => state::load_handed_over(tx, before).await?,
                        None => ConversationState::default(),
                    };
                    return Ok(ConversationMemory::begun(state));
                }
            }
        }
    };
    // A message that is being answered may have later ones behind it, which its prompt must not
    // show.
    let before = request.answering.unwrap_or(found.id.end());
    let mut messages = history::newest(tx, before, Readers::Model, request.messages).await?;
    let unread = match messages.first() {
        Some(first) => history::count_before(tx, first.id).await?,
        None => 0,
    };
    let state = state::load_all(tx, found.id).await?;
    // The compaction replaces everything up to its last message.
    messages.retain(|stored| stored.id.seq > state.compaction.through);
    let unread = unread.saturating_sub(state.compaction.messages);
    Ok(ConversationMemory {
        id: Some(found.id),
        messages,
        unread,
        turn: match request.answering {
            Some(_) => found.turns,
            None => found.turns.saturating_add(1),
        },
        state,
    })
}

/// Reads all sources at one moment; none if the index must be rebuilt before it can be used.
async fn recollections(
    tx: &mut Tx<'_>,
    request: &MemoryRequest,
    conversation: Option<ConversationId>,
    recall: &RecallRequest,
) -> Result<Option<Recollections>> {
    let Incoming {
        channel, sender, ..
    } = &request.incoming;
    let scope = match conversation {
        Some(id) => Some(id.scope),
        None => Scope::find(tx, channel, sender)
            .await?
            .map(|scope| scope.id),
    };
    let facts = fact::current(tx, sender, request.drawn_from(scope), request.facts).await?;
    Ok(Some(Recollections {
        asked: match facts.is_empty() {
            true => FactQuestion::default(),
            false => fact::STATEMENTS.asked(&recall.query),
        },
        facts,
        summaries: match scope {
            Some(scope) => summary::latest(tx, scope, request.summaries).await?,
            None => Vec::new(),
        },
        recalled: match recall::recall(tx, recall).await? {
            RecallOutcome::Hits(hits) => hits,
            RecallOutcome::Outdated(_) => return Ok(None),
        },
        problems: Vec::new(),
    }))
}

fn recall_request(request: &MemoryRequest, shown: Vec<MessageId>) -> RecallRequest {
    let incoming = &request.incoming;
    let query = ends(&incoming.message.text()).into_owned();
    let mut recall = RecallRequest::new(&incoming.sender, query)
        .at(incoming.message.at.unwrap_or(request.now.into()))
        .limit(request.recalled)
        .without(shown);
    // The message to answer is in the prompt too, and would match its own words best.
    recall.in_prompt.extend(request.answering);
    recall.answering = request.answering;
    if let (Some(_), Some(at)) = (request.answering, incoming.message.at) {
        // What was said since cannot have been known.
        recall = recall.among(MessageFilter {
            until: Some(at),
            ..MessageFilter::default()
        });
    }
    if !request.across_channels {
        recall = recall.on_channel(&incoming.channel);
    }
    recall
}

/// The bytes that are read from each end of a long message: both its beginning and its end say what
/// it is about.
const READ: usize = 8 * 1024;

fn ends(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * READ {
        return Cow::Borrowed(text);
    }
    let (beginning, _) = text.split_at(text.floor_char_boundary(READ));
    let (_, end) = text.split_at(text.ceil_char_boundary(text.len() - READ));
    Cow::Owned(format!("{beginning}\n{end}"))
}
