//! A session with a server over any transport: its beginning, its tools, and its calls.

use std::fmt::Display;
use std::path::Path;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, Implementation, JsonObject,
    ProtocolVersion, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::IntoTransport;
use tokio::time::timeout;

use super::ServerLimits;
use super::config::Route;
use super::http::HttpServer;
use super::process::Group;

pub(super) struct Session {
    server: String,
    limits: ServerLimits,
    peer: Peer<RoleClient>,
    // Dropped before `kind`: it closes the pipes or the connection, and then the process is killed.
    _running: RunningService<RoleClient, ClientConfig>,
    kind: Kind,
}

enum Kind {
    Program { _process: Box<Group> },
    Http(HttpServer),
}

impl Session {
    /// Begins a session, and asks for the tools of the server.
    pub(super) async fn start(
        server: &str,
        route: Route,
        folder: &Path,
        limits: ServerLimits,
    ) -> Result<(Self, Vec<Tool>), String> {
        let (begun, kind) = match route {
            Route::Program(launch) => {
                let (process, pipes) = Group::start(&launch, folder)?;
                let begun = timeout(limits.start, begin(pipes)).await;
                let _process = Box::new(process);
                (begun, Kind::Program { _process })
            }
            Route::Http(endpoint) => {
                let http = HttpServer::new(endpoint, limits.call)?;
                let begun = timeout(limits.start, begin(http.transport())).await;
                (begun, Kind::Http(http))
            }
        };
        let (running, tools) = match begun {
            Ok(begun) => begun.map_err(|problem| kind.problem().unwrap_or(problem))?,
            Err(_) => {
                let millis = limits.start.as_millis();
                return Err(format!("it did not start within {millis} ms"));
            }
        };
        let session = Self {
            server: server.to_owned(),
            limits,
            peer: running.peer().clone(),
            _running: running,
            kind,
        };
        Ok((session, tools))
    }

    /// Calls a tool.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
    ) -> Result<CallToolResult, String> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let server = &self.server;
        match timeout(self.limits.call, self.peer.call_tool(request)).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(ServiceError::McpError(error))) => Err(error.message.into_owned()),
            Ok(Err(error)) => {
                let what = format!("the server `{server}` failed");
                Err(match self.kind.problem() {
                    Some(problem) => format!("{what}: {problem}"),
                    None => failed(&what, &error),
                })
            }
            Err(_) => {
                let millis = self.limits.call.as_millis();
                Err(format!(
                    "the server `{server}` gave no result within {millis} ms"
                ))
            }
        }
    }
}

impl Kind {
    /// The reason of a failure, if the transport knows a better one than the protocol.
    fn problem(&self) -> Option<String> {
        match self {
            Self::Program { .. } => None,
            Self::Http(http) => http.problem(),
        }
    }
}

type Running = RunningService<RoleClient, ClientConfig>;

async fn begin<T, E, A>(transport: T) -> Result<(Running, Vec<Tool>), String>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let mut client = ClientConfig::default();
    client.client_info = Implementation::new("kitbag", env!("CARGO_PKG_VERSION"));
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        // Both eras of the protocol: `Auto` asks in the newer way first.
        legacy_version: None,
    };
    let running = serve_client_with_lifecycle(client, transport, lifecycle).await;
    let running = running.map_err(|error| match error {
        ClientInitializeError::TransportError { .. }
        | ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
        error => failed("it does not speak MCP", &error),
    })?;
    let tools = running.list_all_tools().await;
    let tools = tools.map_err(|error| failed("it lists no tools", &error))?;
    Ok((running, tools))
}

/// An error of a server, shortened: a server may send one of any length.
fn failed(what: &str, error: &dyn Display) -> String {
    let error: String = error.to_string().chars().take(300).collect();
    format!("{what}: {error}")
}
