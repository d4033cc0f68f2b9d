//! A run as an extension sees it, and what it may do with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use kitbag_core::envelope::ToolDefinition;
use kitbag_core::inject::ContextMessage;
use kitbag_store::{ExtensionChange, KeptFor, TurnId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ExtensionError;

/// The time for which an extension keeps a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StateScope {
    /// Until the run ends.
    Run,
    /// As long as the conversation is remembered.
    Conversation,
    /// For all conversations of the tenant.
    Tenant,
}

/// The run that an extension takes part in. What it does takes effect when its phase has ended well.
#[derive(Debug, Clone)]
pub struct Run {
    pub(super) about: Arc<About>,
    pub(super) step: u32,
    /// The values of the extension, by their scopes and keys.
    pub(super) values: BTreeMap<StateScope, BTreeMap<String, Value>>,
    /// Changes of the values that outlast the run.
    pub(super) changes: BTreeMap<(KeptFor, String), Option<Value>>,
    pub(super) actions: Vec<Action>,
}

/// The facts of a run that do not change during it.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    pub(super) message: String,
    pub(super) sender: Option<String>,
    pub(super) channel: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) turn: Option<TurnId>,
    pub(super) tools: Vec<ToolDefinition>,
}

/// Something that an extension does with a run.
#[derive(Debug, Clone)]
pub(super) enum Action {
    Inject(ContextMessage),
    ExcludeTool(String),
    OnlyTools(Vec<String>),
    SetModel(String),
    SetParameter(String, Value),
    RefuseCall(String),
    Stop(String),
}

/// A larger value belongs somewhere else.
const LARGEST: usize = 64 << 10;

/// Fields of a request that the engine makes, each of which the prompt is counted, kept and replayed by.
const OURS: [&str; 9] = [
    "model",
    "messages",
    "input",
    "instructions",
    "system",
    "tools",
    "prompt",
    "stream",
    "stream_options",
];

impl Run {
    /// The message that is answered.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.about.message
    }

    /// The sender, where that is remembered.
    #[must_use]
    pub fn sender(&self) -> Option<&str> {
        self.about.sender.as_deref()
    }

    /// The channel that it came in on, if the turn is remembered.
    #[must_use]
    pub fn channel(&self) -> Option<&str> {
        self.about.channel.as_deref()
    }

    /// The agent that answers, where one was named.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.about.agent.as_deref()
    }

    /// The turn, where it is remembered.
    #[must_use]
    pub fn turn(&self) -> Option<TurnId> {
        self.about.turn
    }

    /// The tools of the engine.
    #[must_use]
    pub fn tools(&self) -> &[ToolDefinition] {
        &self.about.tools
    }

    /// The number of the step, from 0.
    #[must_use]
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Injects a context message into the next request. Its key and its cooldown count as those of any other.
    ///
    /// In the first request of a turn it stands at its target. Later requests only grow, so that there it stands
    /// behind the results so far; one of the conversation is kept there, others leave with the turn. One that is
    /// consumed when it was emitted waits for the next turn where no request follows.
    pub fn inject(&mut self, message: ContextMessage) {
        self.actions.push(Action::Inject(message));
    }

    /// Leaves a tool out for the rest of the run. It is not offered by the first request; later ones offer it all the
    /// same, since they begin as the first does, and calls of it are refused.
    pub fn exclude_tool(&mut self, name: impl Into<String>) {
        self.actions.push(Action::ExcludeTool(name.into()));
    }

    /// Leaves all tools out but these, likewise.
    pub fn only_tools<N: Into<String>>(&mut self, names: impl IntoIterator<Item = N>) {
        let names = names.into_iter().map(Into::into).collect();
        self.actions.push(Action::OnlyTools(names));
    }

    /// Asks another model in this run, over what routing would choose. It must be done before the first request:
    /// what a provider has read of a prompt is of no use to another model.
    ///
    /// # Errors
    /// After the first request.
    pub fn set_model(&mut self, name: impl Into<String>) -> Result<(), ExtensionError> {
        // Step 0 is the only one before the prompt is laid out for a model.
        if self.step > 0 {
            let problem = "the model of a run can only be set before its first request";
            return Err(ExtensionError::new(problem));
        }
        self.actions.push(Action::SetModel(name.into()));
        Ok(())
    }

    /// Sets a field of all requests that follow, such as `temperature`.
    ///
    /// # Errors
    /// When the engine makes the field itself, or when the value is no JSON.
    pub fn set_parameter(
        &mut self,
        name: impl Into<String>,
        value: impl Serialize,
    ) -> Result<(), ExtensionError> {
        let name = name.into();
        // A changed `messages` or `tools` could not be replayed from what was archived.
        if OURS.contains(&name.as_str()) {
            let problem = format!("`{name}` is no parameter: the engine makes it");
            return Err(ExtensionError::new(problem));
        }
        // Read at once, so that a value that is no JSON fails where it was set.
        let value = serde_json::to_value(value)?;
        self.actions.push(Action::SetParameter(name, value));
        Ok(())
    }

    /// Keeps the call at hand from being made, and tells the model why. In other phases it does nothing.
    pub fn refuse(&mut self, reason: impl Into<String>) {
        self.actions.push(Action::RefuseCall(reason.into()));
    }

    /// Ends the run: no further request is made, and no tool called. What has come is kept.
    pub fn stop(&mut self, reason: impl Into<String>) {
        self.actions.push(Action::Stop(reason.into()));
    }

    /// A value that the extension has kept.
    ///
    /// # Errors
    /// When there is one of another type.
    pub fn get<T: DeserializeOwned>(
        &self,
        scope: StateScope,
        key: &str,
    ) -> Result<Option<T>, ExtensionError> {
        let value = self.values.get(&scope).and_then(|values| values.get(key));
        let read = value.map(|value| T::deserialize(value)).transpose();
        read.map_err(|error| ExtensionError::new(format_args!("`{key}`: {error}")))
    }

    /// Keeps a value. That of a conversation or a tenant is written with the turn: a turn that has no whole
    /// answer writes none. Of two turns that set a tenant's value at the same time, the later one to end counts.
    ///
    /// # Errors
    /// When it is no JSON, or has more than 64 KiB of it.
    pub fn set<T: Serialize + ?Sized>(
        &mut self,
        scope: StateScope,
        key: impl Into<String>,
        value: &T,
    ) -> Result<(), ExtensionError> {
        let (key, value) = (key.into(), serde_json::to_value(value)?);
        // Measured as it is stored.
        if value.to_string().len() > LARGEST {
            let problem = format!("`{key}` has more than {LARGEST} bytes");
            return Err(ExtensionError::new(problem));
        }
        self.change(scope, key, Some(value));
        Ok(())
    }

    /// Removes a value, likewise.
    pub fn remove(&mut self, scope: StateScope, key: impl Into<String>) {
        self.change(scope, key.into(), None);
    }

    fn change(&mut self, scope: StateScope, key: String, value: Option<Value>) {
        // Changed here too: a later phase of the run reads what an earlier one set.
        let values = self.values.entry(scope).or_default();
        match value.clone() {
            Some(value) => values.insert(key.clone(), value),
            None => values.remove(&key),
        };
        let kept_for = match scope {
            // Values of a run are never written.
            StateScope::Run => return,
            StateScope::Conversation => KeptFor::Conversation,
            StateScope::Tenant => KeptFor::Tenant,
        };
        self.changes.insert((kept_for, key), value);
    }

    /// The changes of values that outlast the run.
    pub(super) fn kept(self, extension: &str) -> impl Iterator<Item = ExtensionChange> {
        let changes = self.changes.into_iter();
        changes.map(move |((kept_for, key), value)| {
            ExtensionChange::new(kept_for, extension, key, value)
        })
    }
}
