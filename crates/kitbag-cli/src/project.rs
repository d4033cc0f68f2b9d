//! The options that say which project is meant, and reading it.

use std::env;
use std::path::PathBuf;

use etcetera::BaseStrategy as _;
use kitbag::layout::{Agent, Problem};
use kitbag::project::{Project, ProjectPlaces};

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
pub(crate) fn say_problems(problems: &[Problem]) {
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

/// Says what is wrong and does not keep the command from its work.
pub(crate) fn say_warnings(problems: &[Problem]) {
    for problem in problems {
        let line = one_line(&problem.to_string());
        output::say(format_args!("warning: {line}"));
    }
}

/// The agent of this id, or what to do about it.
pub(crate) fn find_agent<'a>(project: &'a Project, id: &str) -> Result<&'a Agent, Failure> {
    // A mention is how agents are called elsewhere.
    let id = id.strip_prefix('@').unwrap_or(id);
    project.config.agent(id).ok_or_else(|| {
        let known: Vec<&str> = project
            .config
            .agents
            .iter()
            .map(|agent| agent.id.as_str())
            .collect();
        let failure = Failure::new(format_args!("there is no agent `{}`", one_line(id)));
        match known.as_slice() {
            [] => failure.hint("no configuration with agents was found; `kitbag init` writes one"),
            known => failure.hint(format_args!(
                "the agents are {}",
                one_line(&known.join(", "))
            )),
        }
    })
}
