//! Turns: their stages and bills, and the prompts that were sent.

use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Json};
use http::Method;
use http::header::CONTENT_TYPE;
use kitbag::engine::{ReplayedPrompt, replay as replay_prompt};
use kitbag::report::{ReplayReport, TurnReport};
use kitbag::store::{KeyScope, TurnId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::difference::PromptDifference;
use super::input::{Asked, Named, memory};
use super::{Answer, Endpoint, json};
use crate::access::Caller;
use crate::refusal::Refusal;

pub(super) fn endpoints() -> [Endpoint; 5] {
    let endpoint =
        |path, answer, handler| Endpoint::new(Method::GET, path, KeyScope::Read, answer, handler);
    [
        endpoint(
            "/api/v1/turns/{id}",
            json::<TurnReport<'static>>(),
            get(turn),
        )
        .summary("How far a turn came, its stages with their times, and what it was billed"),
        endpoint(
            "/api/v1/turns/{id}/replay",
            json::<ReplayReport<'static>>(),
            get(replay),
        )
        .summary("A prompt that was sent, made again, with its figures and its ledger")
        .query::<PromptQuery>(),
        endpoint("/api/v1/turns/{id}/prompt", Answer::Prompt, get(prompt))
            .summary("A prompt that was sent, byte for byte")
            .query::<PromptQuery>(),
        endpoint(
            "/api/v1/turns/{id}/ledger",
            json::<Map<String, Value>>(),
            get(ledger),
        )
        .summary("Everything that was considered for a prompt, in or out, and why")
        .query::<PromptQuery>(),
        endpoint(
            "/api/v1/turns/{id}/difference",
            json::<PromptDifference>(),
            get(difference),
        )
        .summary("How the prompt of a turn differs from that of another one")
        .query::<DifferenceQuery>(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PromptQuery {
    /// The number of the prompt in the turn, from 0; the last unless it is given
    inference: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DifferenceQuery {
    /// The other turn, by its id, such as 7.12.2
    with: String,
}

async fn turn(
    Extension(caller): Extension<Caller>,
    Named(id): Named<TurnId>,
) -> Result<Response, Refusal> {
    let turn = memory(&caller)?.turn(id).await?;
    Ok(Json(TurnReport::of(&turn)).into_response())
}

async fn replay(
    Extension(caller): Extension<Caller>,
    Named(id): Named<TurnId>,
    Asked(asked): Asked<PromptQuery>,
) -> Result<Response, Refusal> {
    let replayed = replayed(&caller, id, asked.inference).await?;
    // Internal messages are for the model alone, whatever the key may do.
    let body = replayed.body_for_people().text;
    Ok(Json(ReplayReport::of(&replayed, &body)).into_response())
}

async fn prompt(
    Extension(caller): Extension<Caller>,
    Named(id): Named<TurnId>,
    Asked(asked): Asked<PromptQuery>,
) -> Result<Response, Refusal> {
    let replayed = replayed(&caller, id, asked.inference).await?;
    // So that a client need not guess from the bytes.
    let kind = match replayed.prompt.settings.form.is_text() {
        true => "text/plain; charset=utf-8",
        false => "application/json",
    };
    let body = replayed.body_for_people().text.into_owned();
    Ok(([(CONTENT_TYPE, kind)], body).into_response())
}

async fn ledger(
    Extension(caller): Extension<Caller>,
    Named(id): Named<TurnId>,
    Asked(asked): Asked<PromptQuery>,
) -> Result<Response, Refusal> {
    let replayed = replayed(&caller, id, asked.inference).await?;
    Ok(Json(&replayed.prompt.ledger).into_response())
}

async fn difference(
    Extension(caller): Extension<Caller>,
    Named(id): Named<TurnId>,
    Asked(asked): Asked<DifferenceQuery>,
) -> Result<Json<PromptDifference>, Refusal> {
    let other: TurnId = asked.with.parse()?;
    // The last prompt of each turn: it holds all of that turn's steps.
    let before = replayed(&caller, other, None).await?;
    let after = replayed(&caller, id, None).await?;
    Ok(Json(PromptDifference::between(
        &(&before).into(),
        &(&after).into(),
    )))
}

pub(super) async fn replayed(
    caller: &Caller,
    id: TurnId,
    inference: Option<u32>,
) -> Result<ReplayedPrompt, Refusal> {
    Ok(replay_prompt(memory(caller)?, id, inference).await?)
}
