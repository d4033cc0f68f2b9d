//! Requests that came in: read into the parts of a turn, and fitted into a budget.
//!
//! What a client sent is printed again byte for byte. The messages of a turn name the place of
//! theirs in the request, so that what was fitted is put together from the client's own bytes, and
//! only the note about messages that are left out is new.

mod read;

use indexmap::IndexMap;
use kitbag_core::assembly::{AssembleError, AssemblySettings, BlockBody};
use kitbag_core::content::RawJson;
use kitbag_core::message::Message;
use kitbag_core::role::Role;
use kitbag_core::tokens::{TokenCounter, Tokens};
use serde_json::json;

use super::{Dialect, Request, joined};
use crate::engine::{Composed, Contribution, PromptRequest, compose};

/// An error of reading a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// It is not an object in JSON.
    #[error("this is not a request in JSON: {reason}")]
    NotARequest {
        /// The reason, from the parser.
        reason: String,
    },
    /// There is no list of messages.
    #[error("the request has neither `messages` nor `input`")]
    NoMessages,
    /// A message cannot be read.
    #[error("message {index} of the request: {reason}")]
    Message {
        /// Its place, from 0.
        index: usize,
        /// The reason, from the parser.
        reason: String,
    },
}

impl WireError {
    /// Advice for the user.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NotARequest { .. } | Self::NoMessages => {
                "a request is one object as the Anthropic Messages, OpenAI Chat Completions or OpenAI Responses API takes it"
            }
            Self::Message { .. } => {
                "a message has a `role` (system, developer, user, assistant or tool) and `content`"
            }
        }
    }
}

/// A request as the parts of a turn. The id of each message is its place in the request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReceivedTurn {
    /// The instructions, the tools, what was said before the message to answer, and the steps since.
    pub contribution: Contribution,
    /// The message to answer: the latest one by the user that is no result of a tool.
    pub current: Message,
    /// The model, where one is named.
    pub model: Option<String>,
    /// The limit of the answer's tokens, if the request has one.
    pub max_output: Option<u32>,
}

/// A request within a budget.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FittedRequest {
    pub request: Request,
    /// The prompt that it holds, with its ledger.
    pub composed: Composed,
}

/// An error of fitting a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// It cannot be read.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The parts that must be in do not fit.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
}

impl FitError {
    /// Advice for the user.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Wire(error) => error.hint(),
            Self::Assemble(error) => error.hint(),
        }
    }
}

impl Request {
    /// Reads a request. Its fields decide the dialect, and otherwise the name of its model.
    ///
    /// # Errors
    /// When it is not an object with messages.
    pub fn parse(json: &str) -> Result<Self, WireError> {
        let fields: IndexMap<String, RawJson> =
            serde_json::from_str(json).map_err(|error| WireError::NotARequest {
                reason: error.to_string(),
            })?;
        let dialect = read::dialect(&fields).ok_or(WireError::NoMessages)?;
        Ok(Self { dialect, fields })
    }

    /// The parts of the turn that the request asks for.
    ///
    /// # Errors
    /// When a message cannot be read, or when there is none to answer.
    pub fn turn(&self) -> Result<ReceivedTurn, WireError> {
        read::turn(self)
    }

    /// Fits the request into the budget of `settings` with the history policy of every prompt: the
    /// oldest messages are summarised or counted, the others stay byte for byte. A request that
    /// fits is not changed.
    ///
    /// # Errors
    /// When the request cannot be read, or when what must be in does not fit.
    pub fn fit(
        &self,
        settings: &AssemblySettings,
        counter: &dyn TokenCounter,
    ) -> Result<FittedRequest, FitError> {
        let turn = self.turn()?;
        let budget = settings.budget;
        let mut prompt = PromptRequest::new("", settings.clone());
        prompt.settings.form = self.dialect.form();
        prompt.current = turn.current;
        prompt.model = turn.model;
        prompt.max_output = turn.max_output;
        // The first attempt has no limit: a request that fits must keep its whole history, while a limited
        // prompt gives the history only its share of the budget.
        prompt.settings.budget = Tokens(u32::MAX);
        let mut composed = compose(&prompt, vec![turn.contribution.clone()], counter, None)?;
        if composed.assembly.tokens > budget {
            prompt.settings.budget = budget;
            // The limit begins at the whole history, so that halving it below takes effect at once.
            prompt.history_messages = turn.contribution.draft.history.len();
            composed = loop {
                match compose(&prompt, vec![turn.contribution.clone()], counter, None) {
                    // The room of a history is an estimate, and JSON around calls may exceed it.
                    Err(AssembleError::FixedOverBudget { .. }) if prompt.history_messages > 0 => {
                        prompt.history_messages /= 2;
                    }
                    other => break other?,
                }
            };
        }
        composed.settings.budget = budget;
        composed.assembly.ledger.fit.budget = budget;
        Ok(FittedRequest {
            request: match self.dialect {
                Dialect::Flat => self.with_text_of(&composed),
                _ => self.with_messages_of(&composed),
            },
            composed,
        })
    }

    /// The request with the messages that a prompt made of its turn holds. What the prompt says
    /// besides stands between them.
    fn with_messages_of(&self, composed: &Composed) -> Self {
        let name = self.dialect.messages();
        let received = self.list(name);
        let mut shown: Vec<RawJson> = read::instructions(self.dialect, &received).to_vec();
        let mut system: Vec<String> = Vec::new();
        for (block, text) in joined(&composed.assembly.blocks) {
            match &block.body {
                BlockBody::Message(message) => {
                    let place = message.id.as_ref().and_then(|id| id.parse::<usize>().ok());
                    shown.extend(place.and_then(|place| received.get(place)).cloned());
                }
                BlockBody::Chunk { .. } => match self.dialect {
                    Dialect::Anthropic if block.is_instruction() => system.push(text),
                    dialect => shown.extend(said(dialect, &text)),
                },
                // Instructions and tools stay in the request as they came.
                _ => {}
            }
        }
        let mut request = self.clone();
        // A bare text instead of a list of messages reads as an empty list, and must stay.
        if shown != received && !received.is_empty() {
            request.set(name, &shown);
        }
        if !system.is_empty() {
            let mut blocks = read::system_blocks(self.fields.get("system"));
            let text = |text| RawJson::from_value(&json!({ "type": "text", "text": text }));
            blocks.extend(system.into_iter().filter_map(|one| text(one).ok()));
            request.set("system", &blocks);
        }
        request
    }
}

/// A message with the text of chosen chunks.
fn said(dialect: Dialect, text: &str) -> Option<RawJson> {
    let role = match dialect {
        // Anthropic accepts no system role among its messages.
        Dialect::Anthropic => Role::User,
        Dialect::OpenAi | Dialect::Responses | Dialect::Flat => Role::System,
    };
    RawJson::from_value(&json!({ "role": role, "content": text })).ok()
}
