//! The agent and the layout that a request means.

use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_layout::{Agent, FileProblem, Layout};

use super::{AgentError, AgentRequest, LayoutOverride};
use crate::project::Project;

/// The named agent, the project's only one, or a default without a description.
pub(super) fn agent(project: &Project, request: &AgentRequest) -> Result<Agent, AgentError> {
    let agents = project.config.agents.as_slice();
    let known = || agents.iter().map(|agent| agent.id.clone()).collect();
    match (&request.agent, agents) {
        (Some(id), _) => {
            // `@name` is how other programs and chats call an agent.
            let id = id.strip_prefix('@').unwrap_or(id);
            let agent = project.config.agent(id).cloned();
            agent.ok_or_else(|| AgentError::UnknownAgent {
                id: id.to_owned(),
                known: known(),
            })
        }
        (None, [only]) => Ok(only.clone()),
        // The unreadable file may be the one with the agents: a default would hide that.
        (None, []) if project.problems.iter().any(FileProblem::is_error) => {
            Err(AgentError::NoAgent)
        }
        (None, []) => Ok(Agent::new("assistant")),
        // The layout was chosen for its own sake, so that no agent has to be.
        (None, _) if request.layout.is_some() => Ok(Agent::new("assistant")),
        (None, _) => Err(AgentError::SeveralAgents { known: known() }),
    }
}

/// The layout that the request brings or names, or the agent's, with a problem if it replaces an
/// unknown one.
pub(super) fn layout<'a>(
    project: &'a Project,
    request: &'a AgentRequest,
    agent: &Agent,
) -> Result<(&'a Layout, Option<Problem>), AgentError> {
    let named = match &request.layout {
        Some(LayoutOverride::Given(layout)) => return Ok((layout, None)),
        Some(LayoutOverride::Named(id)) => Some(id.as_str()),
        None => None,
    };
    let found = project.layout(Some(agent), named)?;
    let warning = found.warning.map(|unknown| {
        let message = format!("{unknown}; {} is used instead", found.layout.id);
        Problem::new("layout", ProblemKind::NotFound, message).with_hint(unknown.hint())
    });
    Ok((found.layout, warning))
}
