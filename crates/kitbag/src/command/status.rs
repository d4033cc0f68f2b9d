//! `/status`: the conversation, who answers, and what the last turn took.

use std::fmt::Write as _;

use kitbag_core::record::{InferenceRecord, TurnRecord};
use kitbag_store::StoredTurn;

use super::settings::{answers, routing};
use super::{CommandCall, CommandError, CommandReply};
use crate::tokens::dollars;
use crate::words::{beginning, counted, grouped};

pub(super) async fn status(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    asked.takes_nothing()?;
    let engine = asked.engine;
    let open = engine.conversation(asked.incoming).await?;
    let conversation = match (&engine.store, open) {
        (None, _) => "nothing of this conversation is remembered".to_owned(),
        (Some(_), None) => "a new conversation begins with the next message".to_owned(),
        (Some(_), Some((id, messages))) => {
            let messages = counted(messages.into(), "message", "messages");
            format!("conversation {id} with {messages}")
        }
    };
    let (answers, budget) = (answers(engine), grouped(engine.budget().0));
    let mut text = format!("{conversation}\n{answers}, with at most {budget} tokens in a prompt");
    if let Some(routing) = routing(engine) {
        let _ = write!(text, "\n{routing}");
    }
    let extensions: Vec<&str> = engine.extensions().collect();
    if !extensions.is_empty() {
        let _ = write!(text, "\nextensions: {}", extensions.join(", "));
    }
    let rules = engine.project().map(|project| &project.config.rules);
    let rules: Vec<&str> = rules
        .into_iter()
        .flatten()
        .map(|rule| rule.message.key.as_str())
        .collect();
    if !rules.is_empty() {
        let _ = write!(text, "\nrules: {}", rules.join(", "));
    }
    if let (Some(store), Some((id, _))) = (&engine.store, open)
        && let Some(turn) = store.last_turn(id).await?
    {
        text.push_str("\nlast turn ");
        text.push_str(&describe_turn(&turn));
    }
    Ok(text.into())
}

/// A turn for people: how far it came, what it was billed, and its stages with their times.
#[must_use]
pub fn describe_turn(turn: &StoredTurn) -> String {
    let mut text = format!("{}: {}", turn.id, turn.status.as_str());
    if let Some(problem) = &turn.problem {
        let _ = write!(text, ", {}", beginning(problem, 200));
    }
    let TurnRecord {
        stages,
        inferences,
        route,
        ..
    } = &turn.record;
    if let Some(route) = route {
        let _ = write!(text, "\n  route: {}", beginning(&route.to_string(), 200));
    }
    for inference in inferences {
        let _ = write!(text, "\n  {}", describe_inference(inference));
    }
    let width = stages.iter().map(|one| one.stage.chars().count()).max();
    let width = width.unwrap_or_default();
    for one in stages {
        let time = format!("{}.{:02} ms", one.micros / 1_000, one.micros % 1_000 / 10);
        let result = beginning(&one.result, 80);
        let _ = write!(text, "\n  {:<width$} {time:>12}  {result}", one.stage);
    }
    text
}

fn describe_inference(inference: &InferenceRecord) -> String {
    let model = inference.model.as_deref().unwrap_or("the usual model");
    // The answer itself needs no word for what it is.
    let purpose = inference.purpose.as_deref();
    let purpose = purpose
        .map(|purpose| format!("{purpose}: "))
        .unwrap_or_default();
    let mut parts = vec![format!("{purpose}{model} ({})", inference.provider)];
    match inference.usage {
        Some(usage) => {
            parts.push(format!("{} tokens in", grouped(usage.input)));
            if usage.cache_read > 0 {
                parts.push(format!("{} cached", grouped(usage.cache_read)));
            }
            parts.push(format!("{} out", grouped(usage.output)));
        }
        None => parts.push(format!(
            "{} tokens in, as counted here",
            grouped(inference.counted)
        )),
    }
    parts.extend(inference.cost_micros.map(dollars));
    parts.join(", ")
}
