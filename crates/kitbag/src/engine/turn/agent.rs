//! The agent of a turn: its layout is rendered with the conversation that memory holds, under the key
//! of the conversation's epoch.

use std::borrow::Cow;

use kitbag_core::content::{Content, ContentBlock};
#[cfg(feature = "store")]
use kitbag_core::history::start;
use kitbag_core::message::Message;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::role::Role;
#[cfg(feature = "store")]
use kitbag_core::tokens::TokenCounter;
#[cfg(feature = "store")]
use kitbag_layout::PastMessage;
use kitbag_layout::bands::{self, with_name};
use kitbag_layout::query::Wrapped;
use kitbag_layout::reserved::neutralise;
use kitbag_layout::{SecurityKey, ShownBy};
#[cfg(feature = "store")]
use kitbag_store::StoredMessage;

use super::conversation::Conversation;
use super::{Sources, TurnError};
#[cfg(feature = "store")]
use crate::engine::history;
use crate::engine::{
    AgentError, AgentPart, AgentRequest, Contribution, DraftParts, PromptRequest, agent_part,
};
use crate::project::Project;

/// The agent of a turn, and the project that it is taken from.
pub(super) struct AgentSource<'a> {
    project: &'a Project,
    variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
    request: AgentRequest,
}

impl<'a> AgentSource<'a> {
    pub(super) fn new(sources: Sources<'a>, request: AgentRequest) -> Result<Self, TurnError> {
        Ok(Self {
            project: sources.project.ok_or(TurnError::NoProject)?,
            variable: sources.variable,
            request,
        })
    }
}

impl AgentSource<'_> {
    /// The agent's part of the prompt. The key is the one of the request, or that of the conversation's
    /// epoch unless a text contains it, or a new one.
    pub(super) fn part(
        &self,
        conversation: &Conversation,
        prompt: &PromptRequest,
        others: &[Contribution],
    ) -> Result<AgentPart, AgentError> {
        let mut request = self.request.clone();
        request.form = prompt.settings.form;
        if request.channel.query.is_empty() {
            // A channel may bring a query of its own, which then stands in the place of the message.
            request.channel.query = prompt.current.content.text().into_owned();
        }
        if let (None, Some(name)) = (request.channel.speaker(), &prompt.current.name) {
            let metadata = &mut request.channel.metadata;
            metadata.insert("user".to_owned(), name.as_str().into());
        }
        if let Some(past) = &conversation.past {
            request.channel.messages.clone_from(past);
        }
        let stored = conversation.key.as_deref();
        let stored = stored.and_then(|key| key.parse().ok());
        request.key = request.key.or(stored);
        // The wrappers that were sent hold the key of the epoch; no other text may contain it.
        let messages = others
            .iter()
            .flat_map(|one| one.draft.history.iter().chain(&one.draft.steps))
            .filter(|message| !conversation.has_sent(message));
        let messages: Vec<Cow<'_, str>> = messages.map(|one| one.content.text()).collect();
        let is_known = |key: &SecurityKey| {
            let texts = others.iter().flat_map(Contribution::texts);
            key.occurs_in(texts.chain(messages.iter().map(AsRef::as_ref)))
        };
        let part = match request.key.as_ref().is_some_and(is_known) {
            true => Err(AgentError::KeyKnown),
            false => agent_part(self.project, &request, self.variable),
        };
        let mut part = match part {
            // A stored key that leaked into a text is replaced. A key of the request is not: its caller relies on it.
            Err(AgentError::KeyKnown) if self.request.key.is_none() => {
                request.key = None;
                agent_part(self.project, &request, self.variable)?
            }
            other => other?,
        };
        if conversation.past.is_none() {
            let mut draft = std::mem::take(&mut part.contribution.draft);
            draft.history = bands::history(&part.channel);
            shape(&mut draft, &part, conversation);
            part.contribution.draft = draft;
        }
        Ok(part)
    }
}

/// The content of the message to answer, with the wrapped query in the place of its words: pictures
/// and files stay.
pub(super) fn wrapped(received: &Content, query: &str) -> Content {
    let is_other = |block: &ContentBlock| block.as_text().is_none();
    match received {
        Content::Blocks(blocks) if blocks.iter().any(is_other) => {
            let mut shown = vec![ContentBlock::text(query)];
            shown.extend(blocks.iter().filter(|block| is_other(block)).cloned());
            Content::Blocks(shown)
        }
        _ => query.into(),
    }
}

/// Keeps texts of other sources from being taken for the operator's: reserved tags in them are
/// escaped, but for wrappers that were sent.
pub(super) fn guard(
    contributions: &mut [Contribution],
    part: &AgentPart,
    conversation: &Conversation,
) {
    for contribution in contributions {
        // The key was chosen before memory was searched, so a recalled text may contain it.
        contribution.change_loose_texts(|text| part.key.hide_in(&neutralise(text)));
        let said = contribution.draft.history.iter_mut();
        // Results of tools are data in fields of their own, and must stay byte for byte.
        let said = said.filter(|message| message.role != Role::Tool);
        for message in said {
            let was_sent = conversation.has_sent(message);
            escape_tags(&mut message.content, was_sent);
        }
        let tools = contribution.draft.history.iter();
        let tools = tools.filter(|message| message.role == Role::Tool).count();
        if part.system.history == ShownBy::Layout && tools > 0 {
            let message = format!("{tools} results of tools are not shown by the layout");
            let problem = Problem::new("history", ProblemKind::NotCarried, message);
            contribution.problems.push(problem);
        }
        shape(&mut contribution.draft, part, conversation);
    }
}

/// Removes the history if the engine does not show it, and names the speakers if there are several.
fn shape(draft: &mut DraftParts, part: &AgentPart, conversation: &Conversation) {
    match part.system.history {
        ShownBy::Engine => {}
        // Instructions and internal messages are no part of what a layout shows. Messages that were
        // not even read are counted in the prompt all the same.
        ShownBy::Layout => draft
            .history
            .retain(|message| message.role == Role::System || !message.is_for_user()),
        ShownBy::Nobody => {
            draft.history.clear();
            draft.unread = 0;
        }
    }
    let has_several = part.channel.has_several_speakers();
    let users = draft.history.iter_mut();
    for message in users.filter(|message| message.role == Role::User) {
        // A message that was sent without a name stays without: changing it would end the cached prefix there.
        let is_new = !conversation.has_sent(message);
        let name = message.name.take().filter(|_| has_several && is_new);
        if let (Some(name), Content::Text(text)) = (name, &mut message.content) {
            *text = with_name(&neutralise(&name), text);
        }
    }
}

/// Escapes the reserved tags in the texts of a message, but for a wrapper that it was sent in.
fn escape_tags(content: &mut Content, was_sent: bool) {
    let is_wrapper = |text: &str| was_sent && Wrapped::parse(text).is_some();
    let neutralise = |text: &str| match is_wrapper(text) {
        true => None,
        false => Some(neutralise(text).into_owned()).filter(|escaped| escaped != text),
    };
    match content {
        Content::Null => {}
        Content::Text(text) => {
            if let Some(escaped) = neutralise(text) {
                *text = escaped;
            }
        }
        Content::Blocks(blocks) => {
            for block in blocks {
                if let Some(escaped) = block.as_text().and_then(neutralise) {
                    *block = ContentBlock::text(escaped);
                }
            }
        }
    }
}

impl Conversation {
    /// Prepares for a layout that shows the conversation itself: messages that have no room are left
    /// out, the oldest first, and counted. Tells whether there were any.
    #[cfg(feature = "store")]
    pub(super) fn leave_to_layout(
        &mut self,
        draft: &mut DraftParts,
        prompt: &PromptRequest,
        counter: &dyn TokenCounter,
    ) -> bool {
        let Some(past) = &mut self.past else {
            return false;
        };
        // The layout prints the history in its own words, but the same messages count against the same room.
        let room = history::room(draft, prompt, counter);
        let start = start(&draft.history, draft.unread, room, None, counter);
        let left_out = draft.history.drain(..start);
        let is_past = |message: &Message| {
            message.is_for_user() && matches!(message.role, Role::User | Role::Assistant)
        };
        let count = left_out.filter(is_past).count();
        past.drain(..count.min(past.len()));
        draft.unread = draft.unread.saturating_add(start);
        let left = draft.history.iter();
        let ids = left.filter_map(|message| message.id.as_deref()?.parse().ok());
        self.shown_elsewhere = Some(ids.collect());
        start > 0
    }

    /// Tells whether a message stands in the history as it was sent.
    fn has_sent(&self, message: &Message) -> bool {
        let id = message.id.as_ref();
        id.is_some_and(|id| self.sent.contains(id))
    }
}

/// Messages as templates see them; instructions, results of tools and internal messages are none for
/// them.
#[cfg(feature = "store")]
pub(super) fn past_messages(stored: &[StoredMessage]) -> Vec<PastMessage> {
    let past = |stored: &StoredMessage| {
        let text = stored.text();
        let mut past = match stored.message.role {
            Role::User => PastMessage::user(text),
            Role::Assistant => PastMessage::assistant(text),
            Role::System | Role::Tool => return None,
        };
        let name = stored.message.name.as_deref();
        let name = name.map(|name| ("user".to_owned(), name.into()));
        past.metadata.extend(name);
        past.sent = stored.sent_as.as_ref().map(|sent| sent.text().into_owned());
        Some(past)
    };
    let stored = stored.iter().filter(|stored| stored.message.is_for_user());
    stored.filter_map(past).collect()
}
