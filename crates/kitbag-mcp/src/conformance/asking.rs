//! Fixtures that talk with the client before they answer.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequests, InputRequiredResult,
    InputResponses, ServerNotification, ServerRequest,
};
use serde_json::{Map, Value, json};

use super::fixtures::{FIXTURES, PromptFixture, Rounds, ToolFixture, complete, filled, read};
use super::{Context, is_of_session};

/// The pause between two notifications that the suites want.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn call(
    tool: &ToolFixture,
    request: &CallToolRequestParams,
    context: &Context,
) -> Result<CallToolResponse, ErrorData> {
    if let Some(needed) = &tool.needs
        && let Some(missing) = missing(needed, context)?
    {
        return Err(ErrorData::missing_required_client_capability(missing));
    }
    for log in tool.logs.iter().filter(|_| wants_logs(context)) {
        let params = json!({"level": "info", "logger": "fixture", "data": log});
        notify(context, "notifications/message", params).await?;
    }
    if let Some(token) = context.meta.get_progress_token() {
        for progress in &tool.progress {
            let params = json!({"progressToken": token, "progress": progress, "total": 100});
            notify(context, "notifications/progress", params).await?;
        }
    }
    if let Some(asked) = &tool.asks {
        let arguments = request.arguments.clone().unwrap_or_default();
        let asked: ServerRequest = read(filled(asked, &arguments))?;
        let answer = context.peer.send_request(asked).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let answer = serde_json::to_string(&answer);
        return text(&answer.unwrap_or_default()).map(CallToolResponse::from);
    }
    let (responses, state) = (&request.input_responses, &request.request_state);
    if let Some(required) = required(&tool.rounds, responses.as_ref(), state.as_deref(), context)? {
        return Ok(required.into());
    }
    match &tool.result {
        Some(result) => {
            read::<CallToolResult>(complete(result.clone())).map(CallToolResponse::from)
        }
        None => text("done").map(CallToolResponse::from),
    }
}

pub(super) fn get(
    prompt: &PromptFixture,
    request: &GetPromptRequestParams,
    context: &Context,
) -> Result<GetPromptResponse, ErrorData> {
    let (responses, state) = (&request.input_responses, &request.request_state);
    let required = required(
        &prompt.rounds,
        responses.as_ref(),
        state.as_deref(),
        context,
    )?;
    if let Some(required) = required {
        return Ok(required.into());
    }
    let arguments: Map<String, Value> = request.arguments.clone().unwrap_or_default();
    let messages = filled(&prompt.messages, &arguments);
    read::<GetPromptResult>(complete(json!({ "messages": messages }))).map(GetPromptResponse::from)
}

/// The next questions to the client, until it has answered those of the last round.
fn required(
    rounds: &Rounds,
    responses: Option<&InputResponses>,
    state: Option<&str>,
    context: &Context,
) -> Result<Option<InputRequiredResult>, ErrorData> {
    let state_of = |round: usize| format!("round {round}");
    let asked_before = match state {
        None => 0,
        // Compared whole, so that a state that the client has changed is none.
        Some(state) => (0..rounds.rounds.len())
            .find(|round| state == state_of(*round))
            .ok_or_else(|| ErrorData::invalid_params("`requestState` is not ours", None))?,
    };
    let is_answered = |name: &String| {
        let answer = responses.and_then(|responses| responses.get(name));
        answer.is_some_and(Value::is_object)
    };
    let mut left = rounds.rounds.iter().enumerate().skip(asked_before);
    let Some((round, questions)) = left.find(|(_, questions)| !questions.keys().all(is_answered))
    else {
        return Ok(None);
    };
    let mut requests = InputRequests::new();
    for (name, kind) in questions {
        let needed = json!({ kind: {} });
        if missing(&needed, context)?.is_none() {
            let question = FIXTURES.input.get(kind).cloned();
            requests.insert(name.clone(), read(question.unwrap_or_default())?);
        }
    }
    let state = rounds.has_state.then(|| state_of(round));
    Ok(Some(InputRequiredResult::new(Some(requests), state)))
}

/// The capabilities, unless the client has declared them all.
fn missing(needed: &Value, context: &Context) -> Result<Option<ClientCapabilities>, ErrorData> {
    let declared = context.meta.client_capabilities().unwrap_or_default();
    let declared = serde_json::to_value(declared).unwrap_or_default();
    let names = needed.as_object().into_iter().flat_map(Map::keys);
    let mut lacking = names.filter(|name| declared.get(name.as_str()).is_none());
    match lacking.next() {
        Some(_) => read(needed.clone()).map(Some),
        None => Ok(None),
    }
}

/// The newer era sends logs to a client that asks for them, the older one to everybody.
fn wants_logs(context: &Context) -> bool {
    is_of_session(context) || context.meta.log_level().is_some()
}

async fn notify(context: &Context, method: &str, params: Value) -> Result<(), ErrorData> {
    let notification: ServerNotification = read(json!({"method": method, "params": params}))?;
    let sent = context.peer.send_notification(notification).await;
    sent.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    tokio::time::sleep(PAUSE).await;
    Ok(())
}

fn text(text: &str) -> Result<CallToolResult, ErrorData> {
    read(complete(
        json!({"content": [{"type": "text", "text": text}]}),
    ))
}
