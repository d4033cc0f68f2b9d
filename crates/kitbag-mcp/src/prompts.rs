//! Layouts as prompts of the protocol: an agent of the project, in the layout that the client chooses.

use std::env;

use kitbag::engine::{AgentRequest, LayoutOverride, agent_part};
use kitbag::layout::{ChannelTurn, Layout};
use kitbag::project::Project;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt, PromptArgument,
    PromptMessage, Role,
};
use serde_json::Value;

/// The layouts, by id.
pub(crate) fn list(project: &Project) -> Vec<Prompt> {
    let mut layouts: Vec<&Layout> = project.layouts.iter().collect();
    // Sorted, so that the list is the same each time.
    layouts.sort_by(|a, b| a.id.cmp(&b.id));
    let arguments = || {
        let query = PromptArgument::new("query").with_description("What the agent is asked");
        let agent = PromptArgument::new("agent")
            .with_description("The agent that answers; needed only if the project has several");
        vec![query.with_required(true), agent.with_required(false)]
    };
    let prompt = |layout: &Layout| {
        let description = layout.description.clone();
        Prompt::new(layout.id.as_str(), description, Some(arguments()))
    };
    layouts.into_iter().map(prompt).collect()
}

/// The prompt of an agent in a layout: its identity, and the query in its wrapper.
pub(crate) fn get(
    project: &Project,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let arguments = request.arguments.as_ref();
        let given = arguments.and_then(|arguments| arguments.get(name));
        given.and_then(Value::as_str).map(str::to_owned)
    };
    let Some(query) = argument("query").filter(|query| !query.trim().is_empty()) else {
        return Err(ErrorData::invalid_params("`query` is missing", None));
    };
    let mut turn = ChannelTurn::default();
    turn.query = query;
    turn.platform = "mcp".parse().map_err(failed)?;
    let mut asked = AgentRequest::new(turn);
    asked.agent = argument("agent");
    asked.layout = Some(LayoutOverride::Named(request.name.clone()));
    let variable = |name: &str| env::var(name).ok();
    let part = agent_part(project, &asked, &variable).map_err(|error| {
        let hint = error.hint().map(|hint| format!("; {hint}"));
        ErrorData::invalid_params(format!("{error}{}", hint.unwrap_or_default()), None)
    })?;
    let identity = part.contribution.draft.identity.unwrap_or_default();
    let messages = vec![
        // Prompts of the protocol have no system role.
        PromptMessage::new_text(Role::User, identity),
        PromptMessage::new_text(Role::User, part.current),
    ];
    Ok(GetPromptResult::new(messages).into())
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
