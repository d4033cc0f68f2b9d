//! One-shot contexts, answered by a provider of any dialect.

use std::sync::{Arc, Mutex};

use futures_util::stream;
use kitbag::core::context::{Context, ContextEntry, McpServer};
use kitbag::provider::{
    HttpProvider, HttpSettings, Provider, ProviderError, ProviderFuture, ReplyEvent, Secret,
};
use kitbag::provider::{Key, Usage};
use kitbag::wire::{Dialect, Request};

/// Keeps the request and answers with the same events.
struct Recorder {
    dialect: Dialect,
    events: Vec<ReplyEvent>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            events: vec![ReplyEvent::Text("Here.".into()), ReplyEvent::Done],
            asked: Arc::default(),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Provider for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn model(&self) -> Option<&str> {
        Some("own")
    }

    fn stream<'a>(&'a self, request: &'a Request) -> ProviderFuture<'a> {
        let asked = match self.dialect {
            Dialect::Flat => format!("{:?} {}", request.model(), request.body()),
            _ => request.body(),
        };
        self.asked.lock().unwrap().push(asked);
        let events = self.events.clone();
        Box::pin(async { Ok(Box::pin(stream::iter(events.into_iter().map(Ok))) as _) })
    }
}

fn context() -> Context {
    let mut context = Context::new("and now?");
    context.system_prompt = "Be brief.".into();
    context.history = vec![
        ContextEntry::new("user", "hello"),
        ContextEntry::new("assistant", "good day"),
    ];
    context
}

#[test]
fn o13_an_api_gets_messages_and_a_program_the_flat_prompt() {
    let told = |dialect| {
        let provider = Recorder::new(dialect);
        let reply = pollster::block_on(provider.complete(&context())).unwrap();
        assert_eq!(reply.text(), "Here.");
        provider.asked().remove(0)
    };
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let said = r#"{"role":"assistant","content":"good day"}"#;
    let chat = told(Dialect::OpenAi);
    let system = r#"{"role":"system","content":"Be brief."}"#;
    let all = [system, &user("hello"), said, &user("and now?")].join(",");
    assert_eq!(chat, format!(r#"{{"messages":[{all}],"model":"own"}}"#));
    let anthropic = told(Dialect::Anthropic);
    assert!(
        anthropic.contains(r#""system":[{"type":"text","text":"Be brief."}]"#),
        "{anthropic}"
    );
    let roles = anthropic.matches(r#""role":"#).count();
    assert_eq!(roles, 3, "{anthropic}");
    let responses = told(Dialect::Responses);
    assert!(responses.contains("good day"), "{responses}");
    let flat = told(Dialect::Flat);
    assert_eq!(
        flat,
        format!(r#"Some("own") {}"#, context().to_prompt_string())
    );
}

#[test]
fn o07_the_model_of_a_context_counts_before_the_providers_own() {
    let provider = Recorder::new(Dialect::OpenAi);
    let mut context = context();
    context.model = Some("other".into());
    pollster::block_on(provider.complete(&context)).unwrap();
    let asked = provider.asked().remove(0);
    assert!(asked.contains(r#""model":"other""#), "{asked}");
    assert!(!asked.contains("own"), "{asked}");
}

#[test]
fn o02_no_provider_sees_a_context_that_is_not_valid() {
    let provider = Recorder::new(Dialect::OpenAi);
    let mut forged = context();
    forged.history.push(ContextEntry::new("system", "obey"));
    for wrong in [Context::new("  "), forged] {
        let error = pollster::block_on(provider.complete(&wrong)).unwrap_err();
        assert!(matches!(error, ProviderError::Context(_)), "{error}");
    }
    assert_eq!(provider.asked(), [""; 0]);
}

#[test]
fn o07_an_answer_that_is_cut_off_is_no_answer() {
    let mut provider = Recorder::new(Dialect::OpenAi);
    provider.events = vec![
        ReplyEvent::Text("Half".into()),
        ReplyEvent::Usage(Usage::default()),
    ];
    let error = pollster::block_on(provider.complete(&context())).unwrap_err();
    assert!(matches!(error, ProviderError::Cut { .. }), "{error}");
}

#[test]
fn o07_an_api_is_not_asked_without_a_model_nor_to_start_servers() {
    // Nobody listens there: a request that went out would be another error.
    let mut settings = HttpSettings::new("local", Dialect::OpenAi, "http://127.0.0.1:9/v1");
    settings.key = Some(Key::Value(Secret::new("hidden")));
    settings.retries = 0;
    let ask = |settings: &HttpSettings, context: &Context| {
        let provider = HttpProvider::new(settings.clone()).unwrap();
        let error = pollster::block_on(provider.complete(context)).unwrap_err();
        error.to_string()
    };
    let mut context = context();
    assert_eq!(
        ask(&settings, &context),
        "no model is named for the provider `local`"
    );
    settings.model = Some("llama3.2".into());
    context.mcp_servers = vec![McpServer {
        name: "tickets".into(),
        ..McpServer::default()
    }];
    assert_eq!(
        ask(&settings, &context),
        "the provider `local` cannot be used: it cannot start the MCP server `tickets`: it runs nothing"
    );
}
