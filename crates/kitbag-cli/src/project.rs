//! The options that say which project is meant, and reading it.

use std::env;
use std::path::PathBuf;

use etcetera::BaseStrategy as _;
use kitbag::engine::{AgentError, Redaction, TurnError};
use kitbag::layout::{Agent, FileProblem};
use kitbag::project::{LayoutError, Project, ProjectPlaces};

use crate::failure::Failure;
use crate::output::{self, one_line};

/// Which project is meant.
#[derive(clap::Args)]
pub(crate) struct ProjectArgs {
    /// The project's configuration; what KITBAG_CONFIG says, or kitbag.yaml or crewx.yaml of this
    /// folder or of the nearest one above, unless it is given
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ProjectArgs {
    /// Reads the project. What is wrong with it is left to the caller to say; only a configuration
    /// that was named must be there.
    pub(crate) fn open(&self) -> Result<Project, Failure> {
        // The second is the name of older projects.
        let set = ["KITBAG_CONFIG", "CREWX_CONFIG"]
            .into_iter()
            .filter_map(env::var_os)
            .find(|file| !file.is_empty());
        let config = self.config.clone().or(set.map(PathBuf::from));
        if let Some(file) = config.as_ref().filter(|file| !file.exists()) {
            return Err(Failure::new(format_args!(
                "there is no file {}",
                file.display()
            )));
        }
        let user = etcetera::choose_base_strategy()
            .ok()
            .map(|folders| folders.config_dir().join("kitbag").join("kitbag.yaml"));
        let places = ProjectPlaces::new(".")
            .with_config(config)
            .with_user_config(user);
        Ok(Project::open(&places))
    }

    /// Reads the project, and says what is wrong with it; what can be used is used all the same.
    pub(crate) fn open_and_tell(&self) -> Result<Project, Failure> {
        let project = self.open()?;
        say_problems(&project.problems);
        Ok(project)
    }
}

/// Says what is wrong, each on a line.
pub(crate) fn say_problems(problems: &[FileProblem]) {
    let mut last_hint = None;
    for problem in problems {
        let line = one_line(&problem.to_string());
        // The same advice again and again only hides the problems.
        let hint = problem
            .hint
            .as_deref()
            .filter(|hint| last_hint != Some(*hint));
        match problem.is_error() {
            true => output::say_error(&line, hint),
            false => output::say(format_args!("warning: {line}")),
        }
        last_hint = problem.hint.as_deref();
    }
}

/// Says which secrets were replaced.
pub(crate) fn say_redactions(redactions: &[Redaction]) {
    for redaction in redactions {
        let (source, kind) = (one_line(&redaction.source), &redaction.kind);
        output::say(format_args!(
            "{source}:{}: a {kind} is not shown",
            redaction.line
        ));
    }
}

/// Why an agent has no prompt, and which option helps.
pub(crate) fn agent_failure(error: &AgentError) -> Failure {
    match error {
        AgentError::SeveralAgents { known } => Failure::usage(one_line(&error.to_string())).hint(
            format_args!("choose one with --agent: {}", one_line(&known.join(", "))),
        ),
        AgentError::UnknownAgent { id, known } => unknown_agent(id, known),
        AgentError::Layout(error) => layout_failure(error),
        // What is wrong with the files was said when they were read.
        AgentError::NoAgent => Failure::reported(),
        _ => with_hint(Failure::new(one_line(&error.to_string())), error.hint()),
    }
}

/// Why there is no prompt, and which option helps.
pub(crate) fn turn_failure(error: &TurnError) -> Failure {
    match error {
        TurnError::Agent(error) => agent_failure(error),
        _ => with_hint(Failure::new(one_line(&error.to_string())), error.hint()),
    }
}

/// Why an agent has no layout.
pub(crate) fn layout_failure(error: &LayoutError) -> Failure {
    let failure = Failure::new(one_line(&error.to_string()));
    match error {
        LayoutError::Unknown(unknown) => failure.hint(one_line(&format!(
            "{}; `kitbag layout list` shows all",
            unknown.hint()
        ))),
        _ => with_hint(failure, error.hint()),
    }
}

fn with_hint(failure: Failure, hint: Option<String>) -> Failure {
    match hint {
        Some(hint) => failure.hint(one_line(&hint)),
        None => failure,
    }
}

fn unknown_agent(id: &str, known: &[String]) -> Failure {
    let failure = Failure::new(format_args!("there is no agent `{}`", one_line(id)));
    match known {
        [] => failure.hint("no configuration with agents was found; `kitbag init` writes one"),
        known => failure.hint(format_args!(
            "the agents are {}",
            one_line(&known.join(", "))
        )),
    }
}

/// The agent of this id, or what to do about it.
pub(crate) fn find_agent<'a>(project: &'a Project, id: &str) -> Result<&'a Agent, Failure> {
    // A mention is how agents are called elsewhere.
    let id = id.strip_prefix('@').unwrap_or(id);
    project.config.agent(id).ok_or_else(|| {
        let agents = project.config.agents.iter();
        let known: Vec<String> = agents.map(|agent| agent.id.clone()).collect();
        unknown_agent(id, &known)
    })
}
