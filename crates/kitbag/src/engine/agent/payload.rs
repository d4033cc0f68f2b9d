//! The structured payload of an agent's prompt.

use kitbag_core::assembly::Assembly;
use kitbag_layout::chain::PromptSource;
use kitbag_layout::context::formatted_history;
use kitbag_layout::payload::{PAYLOAD_VERSION, Payload, PayloadAgent, PayloadMetadata};
use kitbag_layout::{Agent, ChannelTurn, Map, Value};

use super::AgentPart;
use crate::project::Project;

/// The answering agent: that of the project, or the one that a context describes.
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
    PayloadAgent {
        id: field("id").unwrap_or_else(|| agent.id.clone()),
        provider: provider.unwrap_or_default(),
        mode: channel.mode,
        model,
    }
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
        let thread_id = self.channel.metadata.get("thread_id");
        let problems = assembly.ledger.problems.iter();
        // The original is carried only if rendering changed it.
        let changed = original.filter(|map| **map != self.system.context);
        let mut notes: Vec<String> = problems.map(ToString::to_string).collect();
        let history = formatted_history(&self.channel, project.conversation.as_ref());
        let formatted_history = history.unwrap_or_else(|error| {
            notes.push(format!("the history: {error}"));
            String::new()
        });
        let metadata = PayloadMetadata {
            platform: self.channel.platform.clone(),
            formatted_history,
            message_count: past.len(),
            generated_at: None,
            original_context: changed.map(json),
            thread_id: thread_id.and_then(Value::as_text).map(str::to_owned),
            notes,
            layout: match &self.system.source {
                PromptSource::Layout { id } => Some(id.clone()),
                _ => None,
            },
        };
        Payload {
            version: PAYLOAD_VERSION.to_owned(),
            agent: self.agent.clone(),
            prompt: assembly.body.clone(),
            context: json(&self.system.context),
            messages: past.to_vec(),
            metadata,
        }
    }
}

fn json(context: &Map) -> String {
    Value::Map(context.clone()).to_string()
}
