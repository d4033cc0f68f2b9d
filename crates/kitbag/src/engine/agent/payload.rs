//! The structured payload of an agent's prompt.

use kitbag_core::assembly::Assembly;
use kitbag_layout::chain::PromptSource;
use kitbag_layout::context::formatted_history;
use kitbag_layout::payload::{Payload, PayloadAgent, PayloadMetadata};
use kitbag_layout::{Agent, ChannelTurn, Map, Value};

use super::AgentPart;
use crate::project::Project;

/// Who answers: the agent, or the one that a context describes.
pub(super) fn answering(
    agent: &Agent,
    context: Option<&Map>,
    channel: &ChannelTurn,
) -> PayloadAgent {
    let field = |name: &str| Some(context?.get("agent")?.get(name)?.as_text()?.to_owned());
    let (provider, model) = match context {
        Some(_) => (field("provider"), field("model")),
        None => (agent.providers.first().cloned(), agent.model.clone()),
    };
    let id = field("id").unwrap_or_else(|| agent.id.clone());
    let mut answers = PayloadAgent::new(id, provider.unwrap_or_default(), channel.mode);
    answers.model = model;
    answers
}

impl AgentPart {
    /// The prompt that was made with this part as structured data, for providers, logs and other
    /// programs. `original` is the context that was handed in whole, if one was.
    ///
    /// The prompt of a payload is a text, so that the assembly should be of a form that is one.
    #[must_use]
    pub fn payload(
        &self,
        assembly: &Assembly,
        project: &Project,
        original: Option<&Map>,
    ) -> Payload {
        let past = self.channel.past();
        let mut metadata = PayloadMetadata::new(self.channel.platform.clone(), past.len());
        metadata.formatted_history =
            formatted_history(&self.channel, project.conversation.as_ref());
        metadata.thread_id = match self.channel.metadata.get("thread_id") {
            Some(Value::Text(thread)) => Some(thread.clone()),
            _ => None,
        };
        let problems = assembly.ledger.problems.iter();
        metadata.notes = problems.map(ToString::to_string).collect();
        metadata.layout = match &self.system.source {
            PromptSource::Layout { id } => Some(id.clone()),
            _ => None,
        };
        metadata.original_context = original
            .filter(|map| **map != self.system.context)
            .map(json);
        let mut payload = Payload::new(self.agent.clone(), &assembly.body, past.to_vec(), metadata);
        payload.context = json(&self.system.context);
        payload
    }
}

fn json(context: &Map) -> String {
    // A context consists of texts, numbers and lists, which JSON always has words for.
    serde_json::to_string(context).unwrap_or_default()
}
