//! The start of the MCP servers that active skills bring, by whoever can.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use kitbag_core::context::McpServer;
use kitbag_core::problem::{Problem, ProblemKind};

use crate::tool::Tools;

/// The tools of servers that were started, and what did not go as asked.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StartedServers {
    /// The tools. The servers run as long as these are there.
    pub tools: Tools,
    /// Servers that could not be used, and tools that are left out.
    pub problems: Vec<Problem>,
}

impl StartedServers {
    /// Tools, and problems.
    #[must_use]
    pub const fn new(tools: Tools, problems: Vec<Problem>) -> Self {
        Self { tools, problems }
    }
}

/// The problem of a server that is not started, with the reason.
#[must_use]
pub fn not_started(server: &McpServer, reason: &str) -> Problem {
    let source = format!("mcp server `{}`", server.name);
    let message = format!("it is not started, and its tools are missing: {reason}");
    Problem::new(source, ProblemKind::LeftOut, message)
}

type Starting = Pin<Box<dyn Future<Output = StartedServers> + Send>>;

/// Starts servers, those that run already not again.
#[derive(Clone)]
pub(crate) struct ServerStarter(Arc<dyn Fn(Vec<McpServer>) -> Starting + Send + Sync>);

impl ServerStarter {
    pub(crate) fn new<F>(start: impl Fn(Vec<McpServer>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = StartedServers> + Send + 'static,
    {
        Self(Arc::new(move |servers| Box::pin(start(servers))))
    }

    pub(crate) async fn start(&self, servers: Vec<McpServer>) -> StartedServers {
        (self.0)(servers).await
    }
}

impl fmt::Debug for ServerStarter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerStarter")
    }
}
