//! A server that runs as a program: started, spoken to, and killed with all that it started.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::Stdio;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, Implementation, JsonObject,
    ProtocolVersion, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::ServerLimits;
use super::config::Launch;

/// The variables that a server gets of ours. Keys are not among them: the file names those that a server needs.
const VARIABLES: [&str; 12] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TEMP",
    "TERM",
    "TMPDIR",
    "USER",
    "SYSTEMROOT",
    "USERPROFILE",
];

pub(super) struct ServerProcess {
    server: String,
    limits: ServerLimits,
    peer: Peer<RoleClient>,
    // Its end closes the pipes; then the process is killed.
    _session: RunningService<RoleClient, ClientConfig>,
    _process: Group,
}

impl ServerProcess {
    /// Starts a server, and asks for its tools.
    pub(super) async fn start(
        server: &str,
        launch: &Launch,
        folder: &Path,
        limits: ServerLimits,
    ) -> Result<(Self, Vec<Tool>), String> {
        let cannot = |error: io::Error| format!("`{}` cannot be started: {error}", launch.command);
        let mut process = Group::spawn(launch, folder).map_err(cannot)?;
        let pipes = process.0.stdout.take().zip(process.0.stdin.take());
        let pipes = pipes.ok_or_else(|| "it has no pipes".to_owned())?;
        let begun = async {
            let implementation = Implementation::new("kitbag", env!("CARGO_PKG_VERSION"));
            let mut client = ClientConfig::default();
            client.client_info = implementation;
            let lifecycle = ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::LATEST],
                legacy_version: None,
            };
            let session = serve_client_with_lifecycle(client, pipes, lifecycle).await;
            let session = session.map_err(|error| match error {
                ClientInitializeError::TransportError { .. }
                | ClientInitializeError::ConnectionClosed(_) => {
                    "it ended before it answered".to_owned()
                }
                error => failed("it does not speak MCP", &error),
            })?;
            let tools = session.list_all_tools().await;
            let tools = tools.map_err(|error| failed("it lists no tools", &error))?;
            Ok::<_, String>((session, tools))
        };
        let (session, tools) = match timeout(limits.start, begun).await {
            Ok(begun) => begun?,
            Err(_) => {
                let millis = limits.start.as_millis();
                return Err(format!("it did not start within {millis} ms"));
            }
        };
        let started = Self {
            server: server.to_owned(),
            limits,
            peer: session.peer().clone(),
            _session: session,
            _process: process,
        };
        Ok((started, tools))
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
            Ok(Err(error)) => Err(failed(&format!("the server `{server}` failed"), &error)),
            Err(_) => {
                let millis = self.limits.call.as_millis();
                Err(format!(
                    "the server `{server}` gave no result within {millis} ms"
                ))
            }
        }
    }
}

/// An error of a server, which may be as long as the server likes.
fn failed(what: &str, error: &dyn Display) -> String {
    let error: String = error.to_string().chars().take(300).collect();
    format!("{what}: {error}")
}

/// A program in a process group of its own, which is killed when this is dropped.
struct Group(Child);

impl Group {
    fn spawn(launch: &Launch, folder: &Path) -> io::Result<Self> {
        let mut command = Command::new(&launch.command);
        let inherited = VARIABLES.iter();
        let inherited = inherited.filter_map(|name| Some((name, std::env::var_os(name)?)));
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        command
            .args(&launch.args)
            .env_clear()
            .envs(inherited)
            .envs(&launch.env)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        Ok(Self(command.spawn()?))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            let id = self.0.id().map(u32::cast_signed);
            let group = id.and_then(rustix::process::Pid::from_raw);
            if let Some(group) = group {
                // It may be gone already.
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
        }
    }
}
