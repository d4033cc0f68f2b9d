//! The Model Context Protocol over HTTP: the tools of `kitbag mcp`, for the tenant of whoever asks.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Extension, Router};
use jiff::Timestamp;
use kitbag::store::{Action, KeyScope, Store};
use kitbag::tokens::{Counter, Vocabulary};
use kitbag::tool::{AnyTool, Effect, ToolCall, ToolError, ToolScope, ToolSpec, Tools, builtin};
use kitbag_mcp::{Server, answer_http};
use serde_json::Value;

use crate::App;
use crate::access::Caller;
use crate::proxy::own_text;
use crate::refusal::Refusal;

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route("/mcp", any(answer))
}

/// The header that names the sender whose memory is used; `user` by default.
const SENDER: &str = "x-kitbag-sender";

async fn answer(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let sender = match own_text(request.headers(), SENDER) {
        Ok(sender) => sender.unwrap_or_else(|| "user".to_owned()),
        Err(name) => {
            return Refusal::invalid(format!("`{name}` is empty, or no text")).into_response();
        }
    };
    let counter = match Counter::for_vocabulary(Vocabulary::O200kBase) {
        Ok(counter) => counter,
        Err(error) => return Refusal::invalid(error.to_string()).into_response(),
    };
    let folder = app.packs.folder(None).ok();
    let mut scope = ToolScope::new(folder.clone().unwrap_or_default(), counter);
    if let Some(folder) = &folder {
        scope.resident = app.packs.resident(folder);
    }
    if let Some(store) = &caller.store {
        scope = scope.with_store(store.clone(), sender);
    }
    scope.exclude.clone_from(&app.project.config.pack.exclude);
    scope.clock = app.clock;
    let tools = tools(&app, &caller, &scope, folder.is_some());
    let server = Server::new(scope, Arc::clone(&app.project)).with_tools(tools);
    let largest = app.project.config.server.largest_body();
    answer_http(server, request, largest).await.map(Body::new)
}

/// The tools that the caller may use.
fn tools(app: &Arc<App>, caller: &Caller, scope: &ToolScope, has_folder: bool) -> Tools {
    let all = builtin(scope);
    let allowed = all.clone().only(|name| {
        let reads = |spec: ToolSpec| spec.effect == Effect::Reads;
        let is_allowed = caller.may(KeyScope::Write) || all.spec(name).is_some_and(reads);
        let has_place = match name {
            "pack" | "explain" | "expand" => has_folder,
            // Checkpoints are files of a folder, which tenants would share.
            "checkpoint" => has_folder && caller.key.is_none(),
            _ => caller.store.is_some(),
        };
        is_allowed && has_place
    });
    let mut tools = allowed.clone();
    for spec in allowed.specs() {
        let action = match spec.effect {
            Effect::Reads if ["pack", "explain"].contains(&&*spec.definition.name) => {
                let tools_in_turn = InTurn {
                    tools: allowed.clone(),
                    spec,
                    app: Arc::clone(app),
                };
                tools.add(Arc::new(tools_in_turn));
                continue;
            }
            Effect::Reads => continue,
            Effect::Destroys => Action::Forget,
            _ => Action::Remember,
        };
        if let Some(store) = &caller.store {
            tools.add(Arc::new(Audited {
                scope: scope.clone(),
                spec,
                action,
                store: store.clone(),
                key: caller.key_id().map(str::to_owned),
                clock: app.clock,
            }));
        }
    }
    tools
}

/// A tool that takes all of a processor for a while.
struct InTurn {
    tools: Tools,
    spec: ToolSpec,
    app: Arc<App>,
}

impl AnyTool for InTurn {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call(&self, arguments: Value) -> ToolCall<'_> {
        let (tools, name) = (self.tools.clone(), self.spec.definition.name.clone());
        let work = async move { tools.call(&name, arguments).await };
        Box::pin(async move {
            let done = self.app.packs.in_turn(work).await;
            done.unwrap_or_else(|error| {
                tracing::error!(event = "pack_panicked", %error);
                Err(ToolError::new("the pack stopped with a bug"))
            })
        })
    }
}

/// A tool that changes something, whose changes are noted.
struct Audited {
    scope: ToolScope,
    spec: ToolSpec,
    action: Action,
    store: Store,
    key: Option<String>,
    clock: fn() -> Timestamp,
}

impl AnyTool for Audited {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call(&self, arguments: Value) -> ToolCall<'_> {
        let now = (self.clock)();
        let store = self
            .store
            .audited(self.key.as_deref(), self.action, None, now);
        let scope = self.scope.clone();
        let sender = scope.sender.clone();
        let tools = builtin(&scope.with_store(store, sender));
        Box::pin(async move { tools.call(&self.spec.definition.name, arguments).await })
    }
}
