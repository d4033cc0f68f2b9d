//! `kitbag agent`: the agents of the project.

use clap::Subcommand;
use kitbag::layout::chain::own_prompt;
use kitbag::layout::{Agent, FileProblem, Value};
use kitbag::project::{LayoutError, Project};

use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::project::{ListArgs, find_agent};

/// Lists and shows the agents of the project
#[derive(Subcommand)]
#[command(after_help = "Examples:
  kitbag agent list
  kitbag agent show reviewer")]
pub(crate) enum Command {
    /// Lists the agents
    #[command(after_help = "Example: kitbag agent list --json")]
    List(ListArgs),
    /// Shows an agent: its settings, its prompt, and where the prompt comes from
    #[command(after_help = "Example: kitbag agent show reviewer")]
    Show {
        /// The agent's id
        agent: String,
        #[command(flatten)]
        args: ListArgs,
    },
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::List(args) => list(&args.project.open_and_tell()?, args.json),
        Command::Show { agent, args } => show(&args.project.open_and_tell()?, agent, args.json),
    }
}

/// Lists the agents. Fails if the project has errors, which were reported when it was opened.
fn list(project: &Project, json: bool) -> Result<(), Failure> {
    let agents = &project.config.agents;
    let is_usable = !project.problems.iter().any(FileProblem::is_error);
    if json {
        let agents: Vec<Value> = agents.iter().map(|agent| agent.to_context()).collect();
        output::print_json(&agents)?;
    } else if agents.is_empty() && is_usable {
        // Only without errors: otherwise the file with the agents may be the unreadable one.
        output::say("there are no agents; `kitbag init` writes a configuration with one");
    } else {
        let row = |agent: &Agent| {
            [
                one_line(&agent.id),
                one_line(agent.name.as_deref().unwrap_or_default()),
                one_line(&agent.providers.join(", ")),
                one_line(&layout_id(project, agent)),
                one_line(agent.description.as_deref().unwrap_or_default()),
            ]
        };
        let header = ["agent", "name", "provider", "layout", "description"];
        output::print(&output::grid(&header, agents.iter().map(row)))?;
    }
    match is_usable {
        true => Ok(()),
        false => Err(Failure::reported()),
    }
}

fn show(project: &Project, id: &str, json: bool) -> Result<(), Failure> {
    let agent = find_agent(project, id)?;
    if json {
        return Ok(output::print_json(&agent.to_context())?);
    }
    let (source, prompt) = own_prompt(agent);
    let mut text = String::new();
    for (label, value) in [
        ("agent", Some(agent.id.clone())),
        ("name", agent.name.clone()),
        ("role", agent.role.clone()),
        ("team", agent.team.clone()),
        ("about", agent.description.clone()),
        ("provider", Some(agent.providers.join(", "))),
        ("model", agent.model.clone()),
        ("folder", agent.working_directory.clone()),
        ("layout", Some(layout_id(project, agent))),
        ("good at", Some(agent.specialties.join(", "))),
        ("can", Some(agent.capabilities.join(", "))),
        ("documents", Some(agent.documents.join(", "))),
    ] {
        // Only what the agent sets: a list of empty labels would hide the rest.
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text.push_str(&format!("{label:<10} {}\n", one_line(&value)));
        }
    }
    let source = source.describe();
    Ok(output::print(&format!(
        "{text}prompt     from {source}:\n\n{prompt}"
    ))?)
}

/// The layout of the agent, or the reason why it has none.
fn layout_id(project: &Project, agent: &Agent) -> String {
    match project.layout(Some(agent), None) {
        Ok(found) => found.layout.id.clone(),
        Err(LayoutError::Unknown(unknown)) => format!("{} (unknown)", unknown.id),
        Err(_) => "(malformed)".to_owned(),
    }
}
