//! The prompt that a message would be answered with.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Extension, Json};
use http::{Method, StatusCode};
use kitbag::Engine;
use kitbag::core::assembly::OutputForm;
use kitbag::engine::{EngineBuilder, EngineError, TurnError};
use kitbag::report::PromptReport;
use kitbag::store::{
    ConversationChoice, ConversationId, ExportFilter, Incoming, KeyScope, MessageFilter, Store,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::input::{Input, budget};
use super::{Endpoint, json};
use crate::App;
use crate::access::Caller;
use crate::engines::Choices;
use crate::refusal::Refusal;

/// A message with its sender and its place.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageInput {
    /// The message
    pub(super) message: String,
    /// The sender of the message, `user` unless it is given
    pub(super) sender: Option<String>,
    /// The channel that it comes in on, `http` unless it is given
    pub(super) channel: Option<String>,
    /// The conversation, by its name or by its id, such as 7.12; the open one unless it is given
    pub(super) conversation: Option<String>,
    /// The agent that answers; needed only if the project has several
    pub(super) agent: Option<String>,
    /// The model that is asked, or for which the prompt is counted
    pub(super) model: Option<String>,
    /// The most tokens that the prompt may have
    pub(super) budget: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextInput {
    /// The message
    message: String,
    /// The sender of the message, `user` unless it is given
    sender: Option<String>,
    /// The channel that it comes in on, `http` unless it is given
    channel: Option<String>,
    /// The conversation, by its name or by its id, such as 7.12; the open one unless it is given
    conversation: Option<String>,
    /// The agent that answers; needed only if the project has several
    agent: Option<String>,
    /// The model for which the prompt is counted
    model: Option<String>,
    /// The most tokens that the prompt may have
    budget: Option<u32>,
    /// The form of the prompt: flat, pack, markdown, xml, node, anthropic, openai, responses or json
    #[schemars(with = "Option<String>")]
    format: Option<OutputForm>,
}

pub(super) fn endpoint() -> Endpoint {
    let answer = json::<PromptReport<'static>>();
    let route = "/api/v1/context";
    Endpoint::new(Method::POST, route, KeyScope::Read, answer, post(context))
        .summary("The prompt that a message would be answered with; nothing is sent or changed")
        .body::<ContextInput>()
}

async fn context(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Input(asked): Input<ContextInput>,
) -> Result<Response, Refusal> {
    let format = asked.format.unwrap_or(OutputForm::Flat);
    let message = MessageInput {
        message: asked.message,
        sender: asked.sender,
        channel: asked.channel,
        conversation: asked.conversation,
        agent: asked.agent,
        model: asked.model,
        budget: asked.budget,
    };
    let incoming = message.incoming(caller.store.as_ref()).await?;
    let engine = message.engine(&app)?.build()?.with_store(caller.store);
    let mut turn = engine.turn(incoming)?;
    turn.prompt.settings.form = format;
    // Fitting takes long enough to hold up whatever else this thread serves.
    let runtime = tokio::runtime::Handle::current();
    let made = tokio::task::spawn_blocking(move || {
        let made = runtime.block_on(engine.prompt(turn))?;
        let body = made.composed.body_for_people().text;
        Ok(Json(PromptReport::of(&made.composed, &body)).into_response())
    });
    made.await.unwrap_or_else(|error| {
        tracing::error!(event = "prompt_panicked", %error);
        Err(Refusal::bug("the prompt stopped with a bug"))
    })
}

impl MessageInput {
    /// The choices that make the engine another one.
    pub(super) fn choices(&self) -> Choices {
        Choices {
            agent: self.agent.clone(),
            model: self.model.clone(),
            budget: self.budget,
        }
    }

    /// The engine with what the request chooses, which asks nobody yet.
    pub(super) fn engine(&self, app: &App) -> Result<EngineBuilder, Refusal> {
        let mut engine = Engine::builder()
            .project(Arc::clone(&app.project))
            .clock(app.clock);
        if let Some(id) = &self.agent {
            engine = engine.agent(id);
        }
        if let Some(model) = &self.model {
            engine = engine.model(model);
        }
        if let Some(budget) = budget(self.budget)? {
            engine = engine.budget(budget);
        }
        Ok(engine)
    }

    /// The message as a channel hands it in. The id of a conversation says whose it is, and where.
    pub(super) async fn incoming(&self, store: Option<&Store>) -> Result<Incoming, Refusal> {
        if self.message.trim().is_empty() {
            return Err(Refusal::invalid("`message` is empty").hint("give a message"));
        }
        let [sender, channel] = [&self.sender, &self.channel].map(Option::as_deref);
        let named = self.conversation.as_deref();
        let id = named.and_then(|named| named.parse::<ConversationId>().ok());
        if let (Some(id), Some(store)) = (id, store) {
            let within = MessageFilter::default().in_conversation(id);
            // A sender that does not own the conversation finds nothing, as if it were not there.
            let within = ExportFilter::new(self.sender.clone(), self.channel.clone()).among(within);
            let found = store.latest_conversations(&within, 1).await?.pop();
            let found = found.ok_or_else(|| {
                Refusal::missing(format!("there is no conversation `{id}`"))
                    .hint("`/api/v1/conversations` lists the conversations")
            })?;
            let mut incoming = Incoming::new(found.channel, found.sender, self.message.as_str());
            incoming.conversation = ConversationChoice::Id(id);
            return Ok(incoming);
        }
        let (sender, channel) = (sender.unwrap_or("user"), channel.unwrap_or("http"));
        let incoming = Incoming::new(channel, sender, self.message.as_str());
        Ok(match named {
            Some(named) => incoming.in_conversation(named),
            None => incoming,
        })
    }
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        Self::invalid(error.to_string()).hint_if(error.hint())
    }
}

impl From<TurnError> for Refusal {
    fn from(error: TurnError) -> Self {
        let hint = error.hint();
        match error {
            TurnError::Store(error) => error.into(),
            TurnError::Agent(_) | TurnError::Channel(_) | TurnError::Assemble(_) => {
                Self::invalid(error.to_string()).hint_if(hint)
            }
            other => {
                tracing::error!(event = "no_prompt", %other);
                let what = "there is no prompt";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", what).hint_if(hint)
            }
        }
    }
}
