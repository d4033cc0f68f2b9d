//! Conversations, and the messages of one.

use axum::routing::get;
use axum::{Extension, Json};
use http::Method;
use kitbag::report::{ConversationReport, MessagesReport};
use kitbag::store::{ConversationId, ExportFilter, KeyScope, MessageFilter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::{Asked, Named, limit, memory, time};
use super::{Endpoint, json};
use crate::access::Caller;
use crate::refusal::Refusal;

pub(super) fn endpoints() -> [Endpoint; 2] {
    [
        Endpoint::new(
            Method::GET,
            "/api/v1/conversations",
            KeyScope::Read,
            json::<Conversations>(),
            get(list),
        )
        .summary("Conversations, the latest first")
        .query::<ListQuery>(),
        Endpoint::new(
            Method::GET,
            "/api/v1/conversations/{id}",
            KeyScope::Read,
            json::<MessagesReport>(),
            get(messages),
        )
        .summary("What was said in a conversation, without what is for the model alone")
        .query::<MessagesQuery>(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// Of this sender only
    sender: Option<String>,
    /// On this channel only
    channel: Option<String>,
    /// Active at or after this time, such as 2024-05-01
    since: Option<String>,
    /// Active before this time
    until: Option<String>,
    /// The most that are listed, 50 unless it is given, at most 1000
    limit: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Conversations {
    conversations: Vec<ConversationReport>,
}

async fn list(
    Extension(caller): Extension<Caller>,
    Asked(asked): Asked<ListQuery>,
) -> Result<Json<Conversations>, Refusal> {
    let mut times = MessageFilter::default();
    times.since = time("since", asked.since.as_deref())?;
    times.until = time("until", asked.until.as_deref())?;
    let filter = ExportFilter::new(asked.sender, asked.channel).among(times);
    let limit = limit(asked.limit, 50, 1_000)?;
    let latest = memory(&caller)?.latest_conversations(&filter, limit);
    let conversations = latest.await?.into_iter().map(Into::into).collect();
    Ok(Json(Conversations { conversations }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MessagesQuery {
    /// The most that are listed, the latest ones; 50 unless it is given, at most 10000
    limit: Option<u32>,
}

async fn messages(
    Extension(caller): Extension<Caller>,
    Named(id): Named<ConversationId>,
    Asked(asked): Asked<MessagesQuery>,
) -> Result<Json<MessagesReport>, Refusal> {
    let limit = limit(asked.limit, 50, 10_000)?;
    let messages = memory(&caller)?.visible_messages(id, limit).await?;
    Ok(Json(MessagesReport::of(id, messages)))
}
