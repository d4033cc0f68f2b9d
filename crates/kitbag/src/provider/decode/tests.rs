//! Recorded shapes of the three APIs, whole, odd and broken.

use kitbag_core::content::Content;
use proptest::prelude::*;

use super::*;
use crate::provider::sse::SseReader;
use crate::provider::{Reply, StopReason};

fn decode(api: Api, stream: &str) -> (Reply, Option<ProviderError>) {
    let mut reply = Reply::default();
    let mut decoder = Decoder::new(api);
    let events = SseReader::default().read(stream.as_bytes()).unwrap();
    for event in events {
        match decoder.read(&event) {
            Ok(events) => events.into_iter().for_each(|event| reply.add(event)),
            Err(error) => return (reply, Some(error)),
        }
        if reply.is_whole {
            return (reply, None);
        }
    }
    match decoder.end() {
        Ok(events) => events.into_iter().for_each(|event| reply.add(event)),
        Err(error) => return (reply, Some(error)),
    }
    (reply, None)
}

fn stream(events: &[&str]) -> String {
    events
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}

const ANTHROPIC: [&str; 17] = [
    r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":300,"cache_creation_input_tokens":20,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"","new_field":1.0}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Bees "}}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"sting."}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln=="}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"In Por"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"to."}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"map","input":{}}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"Porto\"}"}}"#,
    r#"{"type":"content_block_stop","index":2}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":25}}"#,
    r#"{"type":"message_stop"}"#,
];

#[test]
fn anthropic_events_become_an_answer_with_its_thinking_unchanged() {
    let (reply, error) = decode(Api::Anthropic, &stream(&ANTHROPIC));
    assert_eq!(error, None);
    assert_eq!(reply.text(), "In Porto.");
    assert_eq!(reply.thinking, "Bees sting.");
    let thinking = reply.blocks[0].as_raw().unwrap().as_str();
    assert_eq!(
        thinking,
        r#"{"type":"thinking","thinking":"Bees sting.","signature":"c2ln==","new_field":1.0}"#
    );
    assert!(matches!(reply.content(), Content::Blocks(blocks) if blocks.len() == 2));
    assert_eq!(
        reply.tool_calls[0].arguments.as_str(),
        r#"{"city":"Porto"}"#
    );
    let usage = reply.usage.unwrap();
    assert_eq!(
        (
            usage.input,
            usage.cache_read,
            usage.cache_write,
            usage.output
        ),
        (330, 300, 20, 25)
    );
    assert_eq!(reply.stop, Some(StopReason::ToolUse));
}

#[test]
fn chat_events_become_an_answer() {
    let (reply, error) = decode(
        Api::Chat,
        &stream(&[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"reasoning_content":"Hm."}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"In "}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"Porto."}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"map","arguments":"{\"a\""}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}}}"#,
            "[DONE]",
        ]),
    );
    assert_eq!(error, None);
    assert_eq!(reply.text(), "In Porto.");
    assert_eq!(reply.thinking, "Hm.");
    assert_eq!(reply.tool_calls[0].name, "map");
    assert_eq!(reply.tool_calls[0].arguments.as_str(), r#"{"a":1}"#);
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (90, 64, 7));
    assert_eq!(reply.content(), Content::Text("In Porto.".into()));
}

#[test]
fn responses_events_become_an_answer_with_its_reasoning_unchanged() {
    let reasoning =
        r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA=","x":1.0}"#;
    let item = format!(r#"{{"type":"response.output_item.done","item":{reasoning}}}"#);
    let (reply, error) = decode(
        Api::Responses,
        &stream(&[
            r#"{"type":"response.created","response":{}}"#,
            r#"{"type":"response.reasoning_summary_text.delta","delta":"Hm."}"#,
            &item,
            r#"{"type":"response.output_text.delta","delta":"In Porto."}"#,
            r#"{"type":"response.output_item.done","item":{"type":"message","content":[]}}"#,
            r#"{"type":"response.completed","response":{"usage":{"input_tokens":90,"output_tokens":7,"input_tokens_details":{"cached_tokens":64,"cache_write_tokens":8}}}}"#,
        ]),
    );
    assert_eq!(error, None);
    assert_eq!(
        (reply.text().as_str(), reply.thinking.as_str()),
        ("In Porto.", "Hm.")
    );
    assert_eq!(reply.blocks[0].as_raw().unwrap().as_str(), reasoning);
    let usage = reply.usage.unwrap();
    assert_eq!((usage.cache_read, usage.cache_write), (64, 8));
    assert_eq!(reply.stop, Some(StopReason::End));
}

#[test]
fn a_stream_that_ends_early_is_cut_and_keeps_what_came() {
    let (reply, error) = decode(Api::Anthropic, &stream(&ANTHROPIC[..9]));
    assert!(
        matches!(error, Some(ProviderError::Cut { .. })),
        "{error:?}"
    );
    assert_eq!(reply.text(), "In Por");
    assert_eq!(reply.usage.unwrap().input, 330);
    let begun = stream(&[r#"{"choices":[{"delta":{"content":"In "}}]}"#]);
    let (reply, error) = decode(Api::Chat, &begun);
    assert!(
        matches!(error, Some(ProviderError::Cut { .. })),
        "{error:?}"
    );
    assert_eq!(reply.text(), "In ");
}

#[test]
fn a_chat_that_gives_its_reason_needs_no_mark_of_the_end() {
    let ended = stream(&[r#"{"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}"#]);
    let (reply, error) = decode(Api::Chat, &ended);
    assert_eq!(error, None);
    assert!(reply.is_whole);
}

#[test]
fn errors_inside_a_stream_are_told_in_the_provider_s_words() {
    let said = |api, event: &str| decode(api, &stream(&[event])).1.unwrap().to_string();
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let told = "the provider broke off: overloaded_error: Overloaded";
    assert_eq!(said(Api::Anthropic, overloaded), told);
    let told = "the provider broke off: out of memory";
    assert_eq!(said(Api::Chat, r#"{"error":"out of memory"}"#), told);
    let failed = r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"Sorry"}}}"#;
    let told = "the provider broke off: server_error: Sorry";
    assert_eq!(said(Api::Responses, failed), told);
    let odd = said(Api::Chat, "<html>");
    assert!(
        odd.starts_with("the answer cannot be read: an event is not JSON"),
        "{odd}"
    );
}

proptest! {
    #[test]
    fn any_json_is_read_or_refused_without_a_panic(
        kinds in prop::collection::vec(0..ANTHROPIC.len(), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut events: Vec<String> = kinds.iter().map(|&at| ANTHROPIC[at].to_owned()).collect();
        if let Some(last) = events.last_mut() {
            last.truncate(cut.index(last.len() + 1));
        }
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        for api in [Api::Anthropic, Api::Chat, Api::Responses] {
            decode(api, &stream(&events));
        }
    }
}
