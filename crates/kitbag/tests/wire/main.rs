//! Wire formats: the requests that prompts become, and requests that came in.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod passing;
mod random;
mod received;
#[cfg(feature = "sqlite")]
mod replayed;
mod requests;

use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::chunk::{ChunkBand, ChunkType, ContextChunk};
use kitbag::core::content::RawJson;
use kitbag::core::envelope::ToolDefinition;
use kitbag::core::inject::ContextMessage;
use kitbag::core::message::{Message, ToolCall};
use kitbag::core::tokens::{Characters, Tokens};
use kitbag::engine::{Composed, Contribution, PromptRequest, compose};
use serde_json::json;

const FORMS: [OutputForm; 3] = [
    OutputForm::Anthropic,
    OutputForm::OpenAi,
    OutputForm::Responses,
];

fn message(json: &str) -> Message {
    serde_json::from_str(json).unwrap()
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "read".to_owned(),
        arguments: RawJson::from_text(arguments.to_owned()).unwrap(),
    }
}

/// Something in every band.
fn everything() -> Contribution {
    let mut all = Contribution::default();
    all.draft.identity = Some("You review web services.".to_owned());
    all.draft.tools = vec![
        ToolDefinition::new("search", "Searches.", json!({"type": "object"})),
        ToolDefinition::new("read", "Reads a file.", json!({"type": "object"})),
    ];
    all.draft.injected = vec![
        ContextMessage::system("style", "Answer in English."),
        ContextMessage::session("git", "branch: main"),
        ContextMessage::conversation_user("remember the staging host"),
        ContextMessage::system_reminder("two files are open"),
        ContextMessage::suffix_system("tail", "Cite lines."),
    ];
    let picture = r#"{"role":"user","name":"ann","content":[{"type":"text","text":"see this"},
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}"#;
    all.draft.history = vec![
        message(picture),
        Message::assistant("looking").with_tool_calls(vec![call("c0", r#"{"path":"a.rs"}"#)]),
        Message::tool("c0", "fn a() {}"),
        Message::assistant("a loop, it seems"),
    ];
    all.draft.steps = vec![
        Message::assistant("").with_tool_calls(vec![call("c1", r#"{"path":"auth.rs"}"#)]),
        Message::tool("c1", "fn login() {}"),
    ];
    let file = ContextChunk::new(ChunkType::File, "src/auth.rs", "fn login() {}\n");
    let fact = ContextChunk::new(ChunkType::Fact, "fact/host", "staging runs behind a proxy");
    all.add(file);
    all.add(fact.with_band(ChunkBand::Volatile));
    all
}

fn settings(form: OutputForm) -> AssemblySettings {
    AssemblySettings::new(form, Tokens(100_000))
}

fn composed(settings: AssemblySettings, contribution: Contribution) -> Composed {
    let mut request = PromptRequest::new("why does the redirect loop?", settings);
    request.model = Some("some-model".to_owned());
    compose(&request, vec![contribution], &Characters, None).unwrap()
}

/// The request of a history and a question, without cache markers.
fn body(form: OutputForm, history: Vec<Message>) -> String {
    let mut contribution = Contribution::default();
    contribution.draft.history = history;
    let mut settings = settings(form);
    settings.traits.cache.max_breakpoints = 0;
    composed(settings, contribution).body().into_owned()
}

/// The JSON as it is, with a line for each message, item, block and tool.
fn lines(json: &str) -> String {
    let mut text = json.to_owned();
    for start in [
        r#"{"role":"#,
        r#"{"type":"message""#,
        r#"{"arguments":"#,
        r#"{"call_id":"#,
    ] {
        text = text.replace(start, &format!("\n{start}"));
    }
    for start in [
        r#"{"type":"text""#,
        r#"{"description":"#,
        r#"{"image_url":"#,
        r#"{"text":"#,
        r#"{"content":"#,
        r#"{"id":"#,
        r#"{"source":"#,
        r#"{"prompt_cache"#,
        r#"{"function":"#,
        r#"{"cache_control":{"type":"ephemeral"},"#,
    ] {
        text = text.replace(start, &format!("\n  {start}"));
    }
    text = text.replace("{\"function\":\n  {", "{\"function\":{");
    text.replace("{\"function\":\n{", "{\"function\":{")
}
