//! An answer that came as one JSON object: some servers never stream.
//!
//! It is turned into the events of a stream, so that each API has one reader.

use kitbag_core::content::RawJson;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Api, Decoder, broke_off, json as parsed, text};
use crate::provider::sse::SseEvent;
use crate::provider::{ProviderError, ReplyEvent};

/// The events of a whole answer.
pub(in super::super) fn read(api: Api, body: &str) -> Result<Vec<ReplyEvent>, ProviderError> {
    let answer = parsed(body)?;
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        return Err(broke_off(error));
    }
    let told = match api {
        Api::Anthropic => anthropic(&answer, &raw_list(body)?),
        Api::Chat => chat(answer),
        Api::Responses => responses(&answer, &raw_list(body)?),
    };
    let mut decoder = Decoder::new(api);
    let mut events = Vec::new();
    for data in told {
        let name = String::new();
        events.extend(decoder.read(&SseEvent { name, data })?);
    }
    Ok(events)
}

fn anthropic(answer: &Value, blocks: &[RawJson]) -> Vec<String> {
    let mut told = vec![json!({ "type": "message_start", "message": answer }).to_string()];
    for (index, block) in (0..).zip(blocks) {
        let block = block.as_str();
        // Put together as text, so that the block keeps its bytes: a signature covers them.
        told.push(format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#
        ));
        told.push(json!({ "type": "content_block_stop", "index": index }).to_string());
    }
    told.push(json!({ "type": "message_delta", "delta": answer }).to_string());
    told.push(json!({ "type": "message_stop" }).to_string());
    told
}

/// The events of a chat completion: a message has the same fields as the deltas of a stream.
fn chat(mut answer: Value) -> Vec<String> {
    if let Some(choice) = answer
        .pointer_mut("/choices/0")
        .and_then(Value::as_object_mut)
        && let Some(message) = choice.remove("message")
    {
        choice.insert("delta".to_owned(), message);
    }
    vec![answer.to_string(), "[DONE]".to_owned()]
}

fn responses(answer: &Value, raw_items: &[RawJson]) -> Vec<String> {
    let mut told = Vec::new();
    let items = answer.get("output").and_then(Value::as_array);
    for (item, raw) in items.into_iter().flatten().zip(raw_items) {
        let parts = item.get("content").and_then(Value::as_array);
        let parts = parts.filter(|_| text(item, "type") == "message");
        for part in parts.into_iter().flatten() {
            let said = format!("{}{}", text(part, "text"), text(part, "refusal"));
            told.push(json!({ "type": "response.output_text.delta", "delta": said }).to_string());
        }
        let item = raw.as_str();
        told.push(format!(
            r#"{{"type":"response.output_item.done","item":{item}}}"#
        ));
    }
    let kind = match text(answer, "status") {
        "incomplete" => "response.incomplete",
        _ => "response.completed",
    };
    told.push(json!({ "type": kind, "response": answer }).to_string());
    told
}

/// The blocks or items of an answer, byte for byte.
fn raw_list(body: &str) -> Result<Vec<RawJson>, ProviderError> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(default, alias = "output")]
        content: Vec<RawJson>,
    }
    let answer: Result<Answer, _> = serde_json::from_str(body);
    match answer {
        Ok(answer) => Ok(answer.content),
        Err(error) => Err(ProviderError::Malformed {
            problem: format!("it has no list of parts ({error})"),
        }),
    }
}
