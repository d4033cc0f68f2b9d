//! The memory: recalled, listed, kept, forgotten and exported.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Json};
use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use kitbag::command::ForgetPreview;
use kitbag::core::role::Role;
use kitbag::recall::RecallAnswer;
use kitbag::report::export_line;
use kitbag::store::{
    Action, ConversationId, ExportCursor, ExportFilter, Forget, KeyScope, MessageFilter, MessageId,
    RecallRequest, Store, StoreError,
};
use kitbag::tool::{ToolError, ToolScope, builtin};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::input::{Asked, Input, budget, limit, memory, time};
use super::pack::counter;
use super::{Answer, Endpoint, json as json_of};
use crate::App;
use crate::access::Caller;
use crate::refusal::Refusal;

pub(super) fn endpoints() -> [Endpoint; 5] {
    let object = || json_of::<Map<String, Value>>();
    [
        Endpoint::new(
            Method::POST,
            "/api/v1/recall",
            KeyScope::Read,
            json_of::<RecallAnswer>(),
            post(recall),
        )
        .summary("The facts and the past messages that a query is about")
        .body::<RecallInput>(),
        Endpoint::new(
            Method::GET,
            "/api/v1/facts",
            KeyScope::Read,
            object(),
            get(facts),
        )
        .summary("The facts about a sender that hold, or all values that one has had")
        .query::<FactsQuery>(),
        Endpoint::new(
            Method::POST,
            "/api/v1/remember",
            KeyScope::Write,
            object(),
            post(remember),
        )
        .summary("Keeps a note, or a fact under a key")
        .body::<RememberInput>(),
        Endpoint::new(
            Method::POST,
            "/api/v1/forget",
            KeyScope::Write,
            object(),
            post(forget),
        )
        .summary("Forgets for good; without `confirm`, what would go is listed")
        .body::<ForgetInput>(),
        Endpoint::new(
            Method::GET,
            "/api/v1/export",
            KeyScope::Read,
            Answer::Lines,
            get(export),
        )
        .summary("All messages as lines of JSON, which `kitbag memory import` takes back")
        .query::<ExportQuery>(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecallInput {
    /// The subject, in any words and any language
    query: String,
    /// The sender whose memory is meant, `user` unless it is given
    sender: Option<String>,
    /// The most messages, 10 unless it is given, at most 200
    limit: Option<u32>,
    /// As much of it as fits into so many tokens
    budget: Option<u32>,
    /// Only what was said at or after this time, such as 2024-05-01
    since: Option<String>,
    /// Only what was said before this time
    until: Option<String>,
    /// Only what one of them said: user, assistant, system or tool
    #[schemars(with = "Option<String>")]
    role: Option<Role>,
    /// Only what was said in this conversation, by its name or its id
    conversation: Option<String>,
    /// Tells the parts of each score
    #[serde(default)]
    explain: bool,
}

async fn recall(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Input(asked): Input<RecallInput>,
) -> Result<Response, Refusal> {
    let mut filter = MessageFilter::default();
    filter.since = time("since", asked.since.as_deref())?;
    filter.until = time("until", asked.until.as_deref())?;
    filter.roles.extend(asked.role);
    if let Some(named) = &asked.conversation {
        filter = filter.in_conversation(named.as_str());
    }
    let sender = asked.sender.as_deref().unwrap_or("user");
    // A limit for programs: a recall of thousands of messages would hold one connection for long.
    let most = limit(asked.limit, 10, 200)?;
    let most = u16::try_from(most).unwrap_or(u16::MAX);
    let request = RecallRequest::new(sender, &asked.query)
        .limit(most.into())
        .among(filter)
        .at((app.clock)());
    let mut answer = RecallAnswer::of(memory(&caller)?, &request, asked.explain).await?;
    // Counted with the usual vocabulary, since the server does not know which model will read it.
    if let Some(budget) = budget(asked.budget)? {
        answer.cut(budget, &counter(None)?);
    }
    Ok(Json(answer).into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FactsQuery {
    /// About whom, `user` unless it is given
    sender: Option<String>,
    /// All values that this fact has had, oldest first
    key: Option<String>,
    /// The most that are listed, 100 unless it is given, at most 10000
    limit: Option<u32>,
}

async fn facts(
    Extension(caller): Extension<Caller>,
    Asked(asked): Asked<FactsQuery>,
) -> Result<Response, Refusal> {
    let store = memory(&caller)?;
    let sender = asked.sender.as_deref().unwrap_or("user");
    let limit = limit(asked.limit, 100, 10_000)?;
    let facts = match &asked.key {
        Some(key) => store.fact_history(sender, Some(key), limit).await?,
        None => {
            let mut facts = store.facts(sender, limit).await?;
            // The store gives the latest first; a list is easier to compare by key.
            facts.sort_by(|a, b| a.key.cmp(&b.key));
            facts
        }
    };
    Ok(Json(json!({ "facts": facts })).into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RememberInput {
    /// The text to remember, in a sentence that is understood without the conversation
    text: String,
    /// Keeps it as a fact under this key, such as timezone
    key: Option<String>,
    /// About whom, `user` unless it is given
    sender: Option<String>,
    /// The channel that a note is kept on, `http` unless it is given
    channel: Option<String>,
}

async fn remember(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Input(asked): Input<RememberInput>,
) -> Result<Response, Refusal> {
    let store = memory(&caller)?;
    let sender = asked.sender.as_deref().unwrap_or("user");
    let mut scope = ToolScope::new(&app.project.root, counter(None)?);
    scope = scope.with_store(noted(&app, &caller, store, Action::Remember, None), sender);
    scope.channel = asked.channel.unwrap_or_else(|| "http".to_owned());
    scope.clock = app.clock;
    let arguments = json!({"text": asked.text, "key": asked.key});
    // The tool of MCP and chats, so that a note is the same whichever way it comes in.
    let kept = builtin(&scope).call("remember", arguments).await;
    let kept = kept.map_err(|error| match error {
        ToolError::Arguments { .. } | ToolError::Invalid(_) => Refusal::invalid(error.to_string()),
        error => {
            tracing::error!(event = "not_remembered", %error);
            let what = "the memory failed";
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", what)
                .hint("the server's log says why")
        }
    })?;
    Ok(Json(kept.structured).into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForgetInput {
    /// A message, by its id, such as 7.12#3
    message: Option<String>,
    /// A conversation, by its id, such as 7.12
    conversation: Option<String>,
    /// A fact about the sender, by its key, with all values that it has had
    fact: Option<String>,
    /// Messages of the sender that have all of these words
    matching: Option<String>,
    /// About whom, `user` unless it is given; alone, all about this sender
    sender: Option<String>,
    /// Forgets for good. Without it, what would go is listed and nothing changes
    #[serde(default)]
    confirm: bool,
}

async fn forget(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Input(asked): Input<ForgetInput>,
) -> Result<Response, Refusal> {
    let store = memory(&caller)?;
    let (what, subject) = asked.what()?;
    // A program that forgets by mistake cannot take it back, so the first call only lists.
    if !asked.confirm {
        let preview = ForgetPreview::of(store, &what, 20).await?;
        return Ok(Json(preview).into_response());
    }
    let store = noted(&app, &caller, store, Action::Forget, subject.as_deref());
    let gone = store.forget(what).await?;
    Ok(Json(gone).into_response())
}

impl ForgetInput {
    /// The thing that is meant, and its id where it has one. Names of people do not come into the audit log.
    fn what(&self) -> Result<(Forget, Option<String>), Refusal> {
        // Two choices could mean both or either, and a guess would delete too much.
        let several = "give one of `message`, `conversation`, `fact`, `matching` and `sender`";
        let given = [
            &self.message,
            &self.conversation,
            &self.fact,
            &self.matching,
        ];
        let sender = self.sender.as_deref();
        match given.map(Option::as_deref) {
            [Some(id), None, None, None] if sender.is_none() => {
                let id: MessageId = id.parse()?;
                Ok((Forget::Message(id), Some(id.to_string())))
            }
            [None, Some(id), None, None] if sender.is_none() => {
                let id: ConversationId = id.parse()?;
                Ok((Forget::Conversation(id), Some(id.to_string())))
            }
            [None, None, Some(key), None] => {
                let sender = sender.unwrap_or("user").to_owned();
                let key = key.to_owned();
                Ok((Forget::Fact { sender, key }, None))
            }
            [None, None, None, Some(words)] => {
                let filter = MessageFilter::default().with_words(words);
                // Without this check, `matching` of punctuation alone would match every message.
                if filter.words.is_empty() {
                    return Err(Refusal::invalid("`matching` has no words"));
                }
                // Without a name, all senders of the tenant would lose their messages.
                let sender = sender.unwrap_or("user").to_owned();
                let own = ExportFilter::new(Some(sender), None);
                Ok((Forget::Messages(own.among(filter)), None))
            }
            [None, None, None, None] => match sender {
                Some(sender) => Ok((Forget::Sender(sender.to_owned()), None)),
                None => Err(Refusal::invalid("what to forget is not named").hint(several)),
            },
            _ => Err(Refusal::invalid("what to forget is named twice").hint(several)),
        }
    }
}

/// The memory, which notes the next change as done with the caller's key.
fn noted(
    app: &App,
    caller: &Caller,
    store: &Store,
    action: Action,
    subject: Option<&str>,
) -> Store {
    store.audited(caller.key_id(), action, subject, (app.clock)())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExportQuery {
    /// Messages of this sender only
    sender: Option<String>,
    /// Messages on this channel only
    channel: Option<String>,
    /// Only what was said at or after this time, such as 2024-05-01
    since: Option<String>,
    /// Only what was said before this time
    until: Option<String>,
}

/// The number of messages to read at a time.
const PAGE: u32 = 500;

async fn export(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Asked(asked): Asked<ExportQuery>,
) -> Result<Response, Refusal> {
    let mut messages = MessageFilter::default();
    messages.since = time("since", asked.since.as_deref())?;
    messages.until = time("until", asked.until.as_deref())?;
    let filter = ExportFilter::new(asked.sender, asked.channel).among(messages);
    let store = memory(&caller)?.clone();
    let now = (app.clock)();
    store
        .audit(caller.key_id(), Action::Export, None, now)
        .await?;
    let first = page(&store, &filter, None).await?;
    let pages = stream::unfold(Some(Next::Read(first)), move |next| {
        let (store, filter) = (store.clone(), filter.clone());
        async move {
            match next? {
                Next::Read((lines, after)) => Some((Ok(lines), after.map(Next::After))),
                Next::After(after) => match page(&store, &filter, Some(after)).await {
                    Ok((lines, after)) => Some((Ok(lines), after.map(Next::After))),
                    // The connection breaks off, so that nobody takes a part for the whole.
                    Err(error) => {
                        tracing::error!(event = "export_failed", %error);
                        Some((Err(error), None))
                    }
                },
            }
        }
    });
    let kind = [(CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Body::from_stream(pages)).into_response())
}

enum Next {
    Read((Bytes, Option<ExportCursor>)),
    After(ExportCursor),
}

/// The lines of the next messages. One that cannot be read ends the export.
async fn page(
    store: &Store,
    filter: &ExportFilter,
    after: Option<ExportCursor>,
) -> Result<(Bytes, Option<ExportCursor>), StoreError> {
    let (page, next) = store.export(filter, after, PAGE).await?;
    let mut lines = String::new();
    for exported in page {
        if let Some(line) = export_line(exported?) {
            let json = serde_json::to_string(&line);
            let json = json.map_err(|error| StoreError::Failed {
                reason: format!("a message cannot be written as JSON: {error}"),
            })?;
            lines.push_str(&json);
            lines.push('\n');
        }
    }
    Ok((lines.into(), next))
}
