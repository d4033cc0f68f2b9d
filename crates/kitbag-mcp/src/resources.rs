//! Documents of the project and prompts that were sent, as resources.

use kitbag::engine::replay;
use kitbag::store::{ExportFilter, MessageFilter, Store, StoreError, TurnId};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{
    CacheScope, ErrorData, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};

use crate::Server;
use crate::tools::LARGEST;

const DOCUMENT: &str = "kitbag://document/";
const PROMPT: &str = "kitbag://prompt/";

/// The number of the latest prompts to list; the others can still be read by their address.
const LISTED: u32 = 20;

/// Documents by name, then the latest prompts of the latest conversations.
pub(crate) async fn list(server: &Server) -> Result<Vec<Resource>, ErrorData> {
    let documents = server.project.config.documents.iter();
    let mut resources: Vec<Resource> = documents
        .map(|(name, entry)| {
            let encoded = utf8_percent_encode(name, NON_ALPHANUMERIC);
            let resource = Resource::new(format!("{DOCUMENT}{encoded}"), name.as_str());
            let resource = resource.with_mime_type("text/plain");
            match &entry.summary {
                Some(summary) => resource.with_description(summary.as_str()),
                None => resource,
            }
        })
        .collect();
    resources.sort_by(|a, b| a.uri.cmp(&b.uri));
    // Documents are there also where memory is not.
    if let Ok(store) = &server.scope.store {
        let prompts = prompts(server, store).await;
        resources.extend(prompts.map_err(|error| failed(server, error))?);
    }
    Ok(resources)
}

async fn prompts(server: &Server, store: &Store) -> Result<Vec<Resource>, StoreError> {
    let own = ExportFilter::new(Some(server.scope.sender.clone()), None);
    let mut resources = Vec::new();
    for one in store.latest_conversations(&own, LISTED).await? {
        let id = one.conversation.id;
        let Some(turn) = store.last_turn(id).await? else {
            continue;
        };
        if turn.inferences == 0 {
            continue;
        }
        let name = one.conversation.name.unwrap_or_else(|| id.to_string());
        let resource = Resource::new(format!("{PROMPT}{}", turn.id), turn.id.to_string());
        let described = format!("The latest prompt of conversation {name}, as it was sent");
        resources.push(resource.with_description(described));
    }
    Ok(resources)
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let document = ResourceTemplate::new(format!("{DOCUMENT}{{name}}"), "document");
    let prompt = ResourceTemplate::new(format!("{PROMPT}{{turn}}"), "prompt");
    vec![
        document.with_description("A document of the project, by its name"),
        prompt.with_description("The last prompt of a turn, such as 7.12.3, as it was sent"),
    ]
}

pub(crate) async fn read(server: &Server, uri: &str) -> Result<ReadResourceResponse, ErrorData> {
    let unknown = || {
        let named = serde_json::json!({ "uri": uri });
        ErrorData::resource_not_found(format!("there is no resource `{uri}`"), Some(named))
    };
    let text = if let Some(name) = uri.strip_prefix(DOCUMENT) {
        let name = percent_decode_str(name).decode_utf8();
        let name = name.map_err(|_| unknown())?;
        document(server, &name).ok_or_else(unknown)??
    } else if let Some(turn) = uri.strip_prefix(PROMPT) {
        let turn = turn.parse().map_err(|_| unknown())?;
        prompt(server, turn).await?.ok_or_else(unknown)?
    } else {
        return Err(unknown());
    };
    if text.len() > LARGEST {
        let bytes = text.len();
        let problem = format!("`{uri}` has {bytes} bytes, and a client gets at most {LARGEST}");
        return Err(ErrorData::internal_error(problem, None));
    }
    let contents = vec![ResourceContents::text(text, uri)];
    // One tenant's, whoever stands between.
    let read = ReadResourceResult::new(contents).with_cache_scope(CacheScope::Private);
    Ok(read.into())
}

/// The text of a document, without its secrets.
fn document(server: &Server, name: &str) -> Option<Result<String, ErrorData>> {
    // Read each time: a document may change while the server runs.
    let read = server.project.document(name)?;
    let text = read.map(|document| document.content);
    Some(text.map_err(|problem| {
        let hint = problem.hint.map(|hint| format!("; {hint}"));
        let problem = format!("{}{}", problem.message, hint.unwrap_or_default());
        ErrorData::internal_error(problem, None)
    }))
}

/// A prompt of the sender's as it was sent, without messages that are for the model alone.
async fn prompt(server: &Server, turn: TurnId) -> Result<Option<String>, ErrorData> {
    let Ok(store) = &server.scope.store else {
        return Ok(None);
    };
    let conversation = MessageFilter::default().in_conversation(turn.conversation());
    let own = ExportFilter::new(Some(server.scope.sender.clone()), None).among(conversation);
    let found = store.latest_conversations(&own, 1).await;
    let found = found.map_err(|error| failed(server, error))?;
    if found.is_empty() {
        return Ok(None);
    }
    match replay(store, turn, None).await {
        Ok(replayed) => Ok(Some(replayed.body_for_people().text.into_owned())),
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(failed(server, error)),
    }
}

fn failed(server: &Server, error: StoreError) -> ErrorData {
    let words = match error.is_of_database() {
        true => server.causes.words(&error),
        false => error.to_string(),
    };
    ErrorData::internal_error(words, None)
}
