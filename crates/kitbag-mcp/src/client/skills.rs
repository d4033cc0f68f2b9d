//! The servers of active skills, each started once and kept until the last of its tools is gone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use kitbag::core::context::McpServer;
use kitbag::skill::StartedServers;
use kitbag::tool::Tools;
use tokio::sync::Mutex;

use super::config::{Launch, Route, expand};
use super::{Connected, ServerLimits, problem_with, start};

/// The MCP servers of skills that are active in some turn.
///
/// Give [`start`](Self::start) to an engine as its `skill_servers`. A server that could not be started is not
/// tried again.
#[derive(Debug, Clone, Default)]
pub struct SkillServers {
    limits: ServerLimits,
    known: Arc<Mutex<Vec<StartedServer>>>,
}

/// A server, with what came of starting it.
type StartedServer = (McpServer, Arc<Connected>);

impl SkillServers {
    /// The tools of servers, those that do not run yet started side by side in the folder that the process is
    /// in. Variables in their settings are those of the environment.
    pub async fn start(self, servers: Vec<McpServer>) -> StartedServers {
        let mut known = self.known.lock().await;
        let is_new = |server: &&McpServer| known.iter().all(|(one, _)| one != *server);
        let new: Vec<McpServer> = servers.iter().filter(is_new).cloned().collect();
        let started = new.into_iter().map(|server| {
            let limits = self.limits;
            async move {
                let started = one(&server, limits).await;
                (server, Arc::new(started))
            }
        });
        known.extend(futures_util::future::join_all(started).await);
        let (mut tools, mut problems) = (Tools::default(), Vec::new());
        for server in &servers {
            if let Some((_, connected)) = known.iter().find(|(one, _)| one == server) {
                tools.extend(connected.tools.clone());
                problems.extend(connected.problems.iter().cloned());
            }
        }
        StartedServers::new(tools, problems)
    }
}

async fn one(server: &McpServer, limits: ServerLimits) -> Connected {
    let mut connected = Connected::default();
    let started = match launch(server) {
        Ok(launch) => start(&server.name, Route::Program(launch), Path::new("."), limits).await,
        Err(problem) => Err(problem),
    };
    match started {
        Ok(tools) => connected.add(&server.name, tools),
        Err(problem) => connected.problems.push(problem_with(&server.name, problem)),
    }
    connected
}

pub(super) fn launch(server: &McpServer) -> Result<Launch, String> {
    let here = |text: &String| expand(text, &|name| std::env::var(name).ok());
    let env = server.env.iter();
    let env = env.map(|(name, value)| Ok((name.clone(), here(value)?)));
    Ok(Launch {
        command: here(&server.command)?,
        args: server.args.iter().map(here).collect::<Result<_, _>>()?,
        env: env.collect::<Result<BTreeMap<_, _>, String>>()?,
    })
}
