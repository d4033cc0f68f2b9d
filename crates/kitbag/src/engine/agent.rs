//! An agent of a project as a source: its layout as the identity of the prompt, its documents as
//! chunks, its tools, and the query in its wrapper.
//!
//! Choosing the agent, reading documents, drawing the key, flags and telemetry happen here, once for
//! every channel.

mod choice;
mod flags;
mod key;
mod payload;

use kitbag_core::assembly::OutputForm;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_layout::given::Given;
use kitbag_layout::layout::LayoutFailure;
use kitbag_layout::payload::PayloadAgent;
use kitbag_layout::prompt::{LegacyAppend, Sources, SystemPrompt, system_prompt};
use kitbag_layout::{
    Agent, ChannelTurn, Document, Documents, FileProblem, Layout, Map, SecurityKey, ShownBy, Value,
    bands,
};

use super::{Contribution, clean};
use crate::project::{LayoutError, Project, ProjectDocuments};
use choice::{agent, layout};
use flags::{APPEND, TELEMETRY, is_on};
use key::key;

/// A query to an agent, as its channel hands it in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentRequest {
    /// The agent's id; the project's only agent where none is named.
    pub agent: Option<String>,
    /// A layout to use instead of the agent's own.
    pub layout: Option<LayoutOverride>,
    /// Props that stand over those that the agent sets.
    pub props: Option<Value>,
    /// Documents that the channel brings: the agent is given them like its own.
    pub documents: Documents,
    /// The query, what was said before, and all else that the channel knows.
    pub channel: ChannelTurn,
    /// The key of the conversation's epoch; without one a new key is drawn.
    pub key: Option<SecurityKey>,
    /// The form of the prompt: one that is a text lists tools only once.
    pub form: OutputForm,
    /// A whole context for the layout, which another program put together: then nothing of an agent
    /// is added to it.
    pub context: Option<Map>,
}

/// A layout that is used instead of the agent's own.
#[derive(Debug, Clone)]
pub enum LayoutOverride {
    /// The project's layout of this id.
    Named(String),
    /// This one, wherever it comes from.
    Given(Box<Layout>),
}

impl AgentRequest {
    /// A query to the project's only agent.
    #[must_use]
    pub fn new(channel: ChannelTurn) -> Self {
        Self {
            agent: None,
            layout: None,
            props: None,
            documents: Documents::new(),
            channel,
            key: None,
            form: OutputForm::Flat,
            context: None,
        }
    }

    /// The same query to the agent of this id.
    #[must_use]
    pub fn to(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// The same query under this key.
    #[must_use]
    pub fn with_key(mut self, key: SecurityKey) -> Self {
        self.key = Some(key);
        self
    }
}

/// The part of a prompt that an agent brings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentPart {
    /// The identity, tools and documents, with the secrets and the problems that were met.
    pub contribution: Contribution,
    /// The query in its wrapper.
    pub current: String,
    /// The key of that wrapper.
    pub key: SecurityKey,
    /// The model to ask, if one is named.
    pub model: Option<String>,
    /// The rendered layout, and who shows what of the turn.
    pub system: SystemPrompt,
    /// The answering agent.
    pub agent: PayloadAgent,
    /// The query as templates saw it, with what the project adds to it.
    pub channel: ChannelTurn,
}

/// An error of making the prompt of an agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The project has no agent of this id.
    #[error("there is no agent `{id}`")]
    UnknownAgent {
        /// The id that was asked for.
        id: String,
        /// The agents that there are.
        known: Vec<String>,
    },
    /// The project has several agents, and none is named.
    #[error("the project has {} agents, and none is named", .known.len())]
    SeveralAgents { known: Vec<String> },
    /// The project's files have errors, and no agent could be read from them.
    #[error("the project's files have errors, and no agent could be read")]
    NoAgent,
    /// The agent's layout is unknown or malformed.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A layout cannot be rendered with the context that was handed in.
    #[error("layout {id}: {reason}")]
    Render {
        /// The layout.
        id: String,
        reason: LayoutFailure,
    },
    /// A text contains the key, so that it could imitate what only the operator may write.
    #[error("a text contains the security key of this conversation")]
    KeyKnown,
    /// No key can be drawn.
    #[error("the system has no random bytes for a key: {reason}")]
    NoRandomness {
        /// The system's message.
        reason: String,
    },
}

impl AgentError {
    /// Advice for the user.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let listed = |known: &[String]| match known {
            [] => "the project defines no agents".to_owned(),
            known => format!("the agents are {}", known.join(", ")),
        };
        match self {
            Self::UnknownAgent { known, .. } | Self::SeveralAgents { known } => Some(listed(known)),
            Self::Layout(error) => error.hint(),
            Self::KeyKnown => Some("leave the key out, so that another one is drawn".to_owned()),
            Self::NoAgent | Self::Render { .. } | Self::NoRandomness { .. } => None,
        }
    }
}

/// Makes the part of a prompt that an agent brings. `variable` reads the environment; templates see
/// of it what the project allows.
///
/// # Errors
/// When there is no such agent or layout, or when a text contains the key that was given.
pub fn agent_part(
    project: &Project,
    request: &AgentRequest,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<AgentPart, AgentError> {
    let mut agent = match request.context {
        // A given context describes its own agent; the project's must not leak into it.
        Some(_) => Agent::new("assistant"),
        None => agent(project, request)?,
    };
    let (layout, warning) = layout(project, request, &agent)?;
    let mut read = match request.context {
        Some(_) => ProjectDocuments::default(),
        None => project.documents(Some(&agent)),
    };
    for (name, document) in &request.documents {
        read.add(name, document);
        agent.documents.push(name.clone());
    }
    let mut channel = request.channel.clone();
    let given = std::mem::replace(&mut channel.vars, project.config.vars.clone());
    // Extended last: a variable of the channel wins over that of the project.
    channel.vars.extend(given);
    channel.language = channel.language.or_else(|| project.language(&agent));
    channel.model = channel.model.or_else(|| agent.model.clone());
    let env = project.env(&agent, variable);
    // Drawn last, when all texts are known that must not contain it.
    let key = key(request, &agent, &channel, &read.documents, &env)?;

    let system = match &request.context {
        Some(context) => {
            let mut given = Given::new(layout, context, &project.partials);
            given.props = request.props.as_ref();
            given.conversation = project.conversation.as_ref();
            given.language = channel.language.as_deref();
            given.render(&key).map_err(|reason| AgentError::Render {
                id: layout.id.clone(),
                reason,
            })?
        }
        None => {
            let mut sources =
                Sources::new(&agent, &read.documents, &project.partials, &key).with_layout(layout);
            sources.props = request.props.as_ref();
            sources.conversation = project.conversation.as_ref();
            sources.env = Some(&env);
            if is_on(APPEND, variable) {
                sources.append = LegacyAppend::On;
            }
            system_prompt(&sources, &channel)
        }
    };
    if is_on(TELEMETRY, variable) {
        tracing::debug!(
            event = "layout_rendered",
            agent = agent.id,
            layout = system.source.describe(),
            platform = channel.platform.as_str(),
            specialties = agent.specialties.len(),
            capabilities = agent.capabilities.len(),
        );
    }
    let mut contribution = contribution(&system, request.form, &channel, &key);
    // In front, since an unknown layout explains the problems that follow.
    contribution.problems.splice(0..0, warning);
    contribution.problems.extend(read.document_problems());
    contribution.redacted.extend(read.redactions);
    Ok(AgentPart {
        contribution,
        current: bands::current(&channel, &key),
        key,
        model: channel.model.clone(),
        agent: payload::answering(&agent, request.context.as_ref(), &channel),
        system,
        channel,
    })
}

fn contribution(
    system: &SystemPrompt,
    form: OutputForm,
    channel: &ChannelTurn,
    key: &SecurityKey,
) -> Contribution {
    let mut contribution = Contribution::default();
    let identity = system.identity(key);
    // A wrapper needs its explanation: without the key in the layout's text the model would have to guess
    // what the key is for.
    contribution.draft.key = identity
        .contains(key.as_str())
        .then(|| key.as_str().to_owned());
    contribution.draft.identity = Some(identity);
    // A request lists tools in a field of its own, whatever the layout says about them.
    if system.tools == ShownBy::Engine || !form.is_text() {
        contribution.draft.tools = bands::tools(channel);
    }
    for chunk in bands::document_chunks(&system.documents) {
        // The documents were cleaned when they were read.
        contribution.add_clean(chunk.into(), Vec::new());
    }
    contribution.problems.clone_from(&system.problems);
    let count = channel.past().len();
    if system.history == ShownBy::Nobody && count > 0 {
        let message = format!("{count} earlier messages are not sent: `showHistory` is off");
        let problem = Problem::new("history", ProblemKind::LeftOut, message);
        contribution.problems.push(problem);
    }
    contribution
}

impl ProjectDocuments {
    /// Adds a document that a channel brings.
    fn add(&mut self, name: &str, document: &Document) {
        let cleaned = clean(&document.content, name);
        let mut document = document.clone();
        document.content = cleaned.text.into_owned();
        self.redactions.extend(cleaned.redacted);
        self.documents.insert(name.to_owned(), document);
    }

    /// The problems of documents as those of a prompt.
    fn document_problems(&self) -> Vec<Problem> {
        let of_file = |problem: &FileProblem| {
            let mut told = Problem::failed("documents", problem);
            told.hint.clone_from(&problem.hint);
            told
        };
        let of_skipped = |file: &String| {
            let message = format!("{file} is not text and is left out");
            Problem::new("documents", ProblemKind::LeftOut, message)
        };
        let skipped = self.skipped.iter().map(of_skipped);
        self.problems.iter().map(of_file).chain(skipped).collect()
    }
}
