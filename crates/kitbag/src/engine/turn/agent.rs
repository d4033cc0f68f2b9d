//! The agent of a turn: its layout is rendered with the conversation that memory holds, under the key
//! of the conversation's epoch.

use std::collections::BTreeSet;

use kitbag_core::content::Content;
use kitbag_core::role::Role;
use kitbag_layout::reserved::neutralise;
use kitbag_layout::{PastMessage, SecurityKey, ShownBy};
use kitbag_store::{ConversationMemory, StoredMessage};

use crate::engine::{AgentError, AgentPart, AgentRequest, Contribution, PromptRequest, agent_part};
use crate::project::Project;

/// An agent of a project, and the query as its channel hands it in.
#[non_exhaustive]
pub struct AgentSource<'a> {
    /// The project.
    pub project: &'a Project,
    /// The query. Its messages and its key are filled from memory.
    pub request: AgentRequest,
    /// Reads a variable of the environment.
    pub variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
}

impl<'a> AgentSource<'a> {
    /// An agent whose layout sees no variable of the environment.
    #[must_use]
    pub fn new(project: &'a Project, request: AgentRequest) -> Self {
        Self {
            project,
            request,
            variable: &|_| None,
        }
    }
}

impl std::fmt::Debug for AgentSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("AgentSource");
        shown
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

impl AgentSource<'_> {
    /// The agent's part of the prompt. The key is the one that the request gives, or that of the
    /// conversation's epoch unless a text knows it, or a new one.
    pub(super) fn part(
        &self,
        memory: Option<&ConversationMemory>,
        prompt: &PromptRequest,
        others: &[Contribution],
    ) -> Result<AgentPart, AgentError> {
        let mut request = self.request.clone();
        request.form = prompt.settings.form;
        if let Some(memory) = memory {
            request.channel.messages = memory.messages.iter().filter_map(past_message).collect();
            let stored = memory.state.epoch_key.as_deref();
            let stored = stored.and_then(|key| key.parse().ok());
            request.key = request.key.or(stored);
        }
        let is_given = self.request.key.is_some();
        let is_known = |key: &SecurityKey| others.iter().any(|one| one.holds(key.as_str()));
        if request.key.as_ref().is_some_and(is_known) {
            if is_given {
                return Err(AgentError::KeyKnown);
            }
            request.key = None;
        }
        match agent_part(self.project, &request, self.variable) {
            Err(AgentError::KeyKnown) if !is_given => {
                request.key = None;
                agent_part(self.project, &request, self.variable)
            }
            other => other,
        }
    }
}

/// Keeps texts of other sources from being taken for the operator's: reserved tags in them are
/// escaped, but for wrappers that were sent.
pub(super) fn guard(
    contributions: &mut [Contribution],
    memory: Option<&ConversationMemory>,
    history: ShownBy,
) {
    let messages = memory.map(|memory| memory.messages.as_slice());
    let sent: BTreeSet<String> = messages
        .unwrap_or_default()
        .iter()
        .filter(|stored| stored.sent_as.is_some())
        .map(|stored| stored.id.to_string())
        .collect();
    for contribution in contributions {
        contribution.change_loose_texts(|text| neutralise(text).into_owned());
        if history != ShownBy::Engine {
            // The layout shows the conversation itself.
            contribution.draft.history.clear();
            contribution.draft.unread = 0;
        }
        for message in &mut contribution.draft.history {
            let was_sent = message.id.as_ref().is_some_and(|id| sent.contains(id));
            if let (false, Content::Text(text)) = (was_sent, &mut message.content) {
                *text = neutralise(text).into_owned();
            }
        }
    }
}

/// A message as templates see it; instructions and results of tools are none for them.
fn past_message(stored: &StoredMessage) -> Option<PastMessage> {
    let text = stored.text();
    let mut past = match stored.message.role {
        Role::User => PastMessage::user(text),
        Role::Assistant => PastMessage::assistant(text),
        Role::System | Role::Tool => return None,
    };
    if let Some(name) = &stored.message.name {
        past.metadata
            .insert("user".to_owned(), name.as_str().into());
    }
    past.sent = stored.sent_as.as_ref().map(|sent| sent.text().into_owned());
    Some(past)
}
