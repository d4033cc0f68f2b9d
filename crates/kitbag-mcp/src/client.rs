//! Servers of other people, which a `.mcp.json` names: programs, or addresses to ask over HTTP. Their tools become
//! the engine's.
//!
//! A server is a guest. A program gets a few variables of the environment and those that the file gives it, has a
//! time to start and a time for each call, and is killed with everything it started when the last of its
//! tools is gone. One that fails is a problem; the others are used.

mod config;
mod http;
mod process;
mod session;
mod skills;
mod summary;
mod tool;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kitbag::core::problem::{Problem, ProblemKind};
use kitbag::tool::Tools;
use tokio::task::JoinSet;

use config::{Entry, Route};
use session::Session;
use tool::McpTool;

pub use config::McpConfigError;
pub use skills::SkillServers;
pub use summary::{ServerSummary, server_of_skill, servers_of};

/// The tools of servers that were started.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Connected {
    /// The tools, named `mcp__server__tool`. The servers run until these are dropped.
    pub tools: Tools,
    /// Servers that could not be used, and tools that are left out.
    pub problems: Vec<Problem>,
}

/// The time that servers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    start: Duration,
    call: Duration,
}

impl ServerLimits {
    /// A time to start and to list tools, and a time for one call.
    #[must_use]
    pub const fn new(start: Duration, call: Duration) -> Self {
        Self { start, call }
    }
}

impl Default for ServerLimits {
    /// A program that is fetched and run by another, such as `npx`, takes long to start, and one of the
    /// older era may spend ten seconds of it on not answering the newer one's first question.
    fn default() -> Self {
        Self::new(Duration::from_secs(30), Duration::from_secs(60))
    }
}

/// More tools of one server are left out: their definitions stand in every prompt.
const MOST_TOOLS: usize = 128;

/// Starts or reaches the servers of a file such as `.mcp.json`, side by side. Whoever calls this has decided
/// that the file may start programs and that its headers may be sent. `variable` reads the variables that the file mentions.
///
/// # Errors
/// When the file cannot be read.
pub async fn connect(
    file: &Path,
    limits: &ServerLimits,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Connected, McpConfigError> {
    let entries = config::read(file, variable)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    // Each in a task of its own, so that one that floods takes no time from the others.
    let mut starting = JoinSet::new();
    for Entry { server, route } in entries {
        let (folder, limits) = (folder.to_owned(), *limits);
        starting.spawn(async move {
            let started = match route {
                Ok(route) => start(&server, route, &folder, limits).await,
                Err(problem) => Err(problem),
            };
            (server, started)
        });
    }
    let mut started = starting.join_all().await;
    // They come in the order in which they started; prompts need the same order each time.
    started.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut connected = Connected::default();
    for (server, started) in started {
        match started {
            Ok(tools) => connected.add(&server, tools),
            Err(problem) => connected.problems.push(problem_with(&server, problem)),
        }
    }
    Ok(connected)
}

async fn start(
    server: &str,
    route: Route,
    folder: &Path,
    limits: ServerLimits,
) -> Result<Vec<McpTool>, String> {
    let (session, listed) = Session::start(server, route, folder, limits).await?;
    let session = Arc::new(session);
    let tools = listed.into_iter();
    let tools = tools.map(|tool| McpTool::new(server, tool, Arc::clone(&session)));
    Ok(tools.collect())
}

impl Connected {
    fn add(&mut self, server: &str, tools: Vec<McpTool>) {
        let mut left_out = Vec::new();
        for (place, tool) in tools.into_iter().enumerate() {
            let name = tool.name().to_owned();
            let reason = if place >= MOST_TOOLS {
                format!("a server has at most {MOST_TOOLS} tools")
            } else if name.len() > LONGEST_NAME {
                format!("its name has more than {LONGEST_NAME} characters")
            // The first of two keeps the name: a later server must not replace a tool that the user knows.
            } else if self.tools.spec(&name).is_some() {
                "another has the same name".to_owned()
            } else {
                self.tools.add(Arc::new(tool));
                continue;
            };
            left_out.push((name, reason));
        }
        // One problem for all of them: a server with hundreds of tools would flood the terminal.
        let Some((first, reason)) = left_out.first() else {
            return;
        };
        let message = match left_out.len() {
            1 => format!("the tool `{first}` is left out: {reason}"),
            more => format!("{more} tools are left out, such as `{first}`: {reason}"),
        };
        let problem = Problem::new(source(server), ProblemKind::LeftOut, message);
        self.problems.push(problem);
    }
}

/// The longest name that all APIs take.
const LONGEST_NAME: usize = 64;

fn problem_with(server: &str, problem: String) -> Problem {
    Problem::new(source(server), ProblemKind::Failed, problem)
}

fn source(server: &str) -> String {
    format!("mcp server `{server}`")
}
