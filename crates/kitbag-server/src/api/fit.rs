//! The prompt of a turn within another budget: what would enter, and what would leave.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Json};
use http::Method;
use kitbag::Engine;
use kitbag::report::PromptReport;
use kitbag::store::{
    ConversationChoice, ExportFilter, Incoming, KeyScope, MessageFilter, NewMessage, TurnId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::difference::{Compared, PromptDifference};
use super::input::{Asked, Named, budget, memory};
use super::turns::replayed;
use super::{Endpoint, json};
use crate::App;
use crate::access::Caller;
use crate::refusal::Refusal;

pub(super) fn endpoint() -> Endpoint {
    let route = "/api/v1/turns/{id}/fit";
    Endpoint::new(
        Method::GET,
        route,
        KeyScope::Read,
        json::<Refitted<'static>>(),
        get(fit),
    )
    .summary("The prompt of a turn within another budget, beside the one that was sent")
    .query::<FitQuery>()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FitQuery {
    /// The most tokens that the prompt may have
    budget: u32,
    /// The agent that answers; needed only if the project has several
    agent: Option<String>,
}

/// A prompt for the message of a turn, with a new choice from what memory holds now.
#[derive(Serialize, JsonSchema)]
struct Refitted<'a> {
    /// The turn.
    turn: String,
    /// The prompt within that budget. Nothing is sent or changed.
    prompt: PromptReport<'a>,
    /// The difference from the prompt that was sent.
    difference: PromptDifference,
}

async fn fit(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Named(id): Named<TurnId>,
    Asked(asked): Asked<FitQuery>,
) -> Result<Response, Refusal> {
    let store = memory(&caller)?.clone();
    let budget = budget(Some(asked.budget))?;
    let sent = replayed(&caller, id, None).await?;
    let answered = store.turn(id).await?.message;
    let stored = store.message(answered).await?;
    let conversation = id.conversation();
    let within = MessageFilter::default().in_conversation(conversation);
    let within = ExportFilter::new(None, None).among(within);
    let place = store.latest_conversations(&within, 1).await?.pop();
    let place = place
        .ok_or_else(|| Refusal::missing(format!("there is no conversation `{conversation}`")))?;
    let mut message = NewMessage::from(stored.message);
    message.at = stored.at;
    let mut incoming = Incoming::new(place.channel, place.sender, message);
    incoming.conversation = ConversationChoice::Id(conversation);
    let engine = |model: Option<&String>| {
        let mut engine = Engine::builder()
            .project(Arc::clone(&app.project))
            .clock(app.clock);
        if let Some(id) = &asked.agent {
            engine = engine.agent(id);
        }
        if let Some(model) = model {
            engine = engine.model(model);
        }
        if let Some(budget) = budget {
            engine = engine.budget(budget);
        }
        engine.build()
    };
    // The model may be gone from the configuration since.
    let engine = match engine(sent.prompt.draft.model.as_ref()) {
        Ok(engine) => engine,
        Err(_) => engine(None)?,
    };
    let engine = engine.with_store(Some(store));
    let mut turn = engine.turn(incoming)?;
    if let Some(memory) = &mut turn.memory {
        memory.answering = Some(answered);
    }
    turn.prompt.current.id = Some(answered.to_string());
    turn.prompt.settings.form = sent.prompt.settings.form;
    // The selection that later turns go on with is no part of the question.
    turn.anew = true;
    let made = engine.prompt(turn).await?;
    let (shown, whole) = (made.composed.body_for_people().text, made.composed.body());
    let after = Compared {
        turn: id.to_string(),
        body: &whole,
        tokens: made.composed.assembly.tokens,
        entries: &made.composed.assembly.ledger.entries,
    };
    let refitted = Refitted {
        turn: id.to_string(),
        difference: PromptDifference::between(&(&sent).into(), &after),
        prompt: PromptReport::of(&made.composed, &shown),
    };
    Ok(Json(refitted).into_response())
}
