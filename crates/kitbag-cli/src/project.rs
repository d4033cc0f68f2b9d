//! The options that say which project is meant, and reading it.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use kitbag::engine::{AgentError, TurnError};
use kitbag::layout::{Agent, Config, FileProblem, MemorySettings};
use kitbag::project::{LayoutError, Project, ProjectPlaces};

use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store;

/// Which project is meant.
#[derive(clap::Args, Default)]
pub(crate) struct ProjectArgs {
    /// Configuration to read [default: KITBAG_CONFIG, else kitbag.yaml or crewx.yaml of this
    /// folder or of the nearest one above]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

// Which project is meant, and how it is told; each command says itself what it lists.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A configuration, and the name of the file that it was read from.
pub(crate) struct ConfigSource {
    pub(crate) name: String,
    pub(crate) config: Config,
}

impl ProjectArgs {
    /// Reads the project. What is wrong with it is left to the caller to say; only a configuration
    /// that was named must be there.
    pub(crate) fn open(&self) -> Result<Project, Failure> {
        self.open_in(Path::new("."))
    }

    /// The same for the project that another folder belongs to.
    pub(crate) fn open_in(&self, folder: &Path) -> Result<Project, Failure> {
        let config = self.config.clone().or_else(config_of_environment);
        if let Some(file) = config.as_ref().filter(|file| !file.exists()) {
            let file = file.display();
            return Err(Failure::new(format_args!("there is no file {file}")));
        }
        let mut places = places(config);
        places.folder = folder.to_owned();
        Ok(Project::open(&places))
    }

    /// The configurations that count, the one that stands over the others first, each as its own file has it.
    pub(crate) fn sources(&self) -> Vec<ConfigSource> {
        let named = self.config.clone().or_else(config_of_environment);
        let mut user = places(named.clone());
        let project = user.clone().with_user_config(None);
        // What is above no folder is nobody's.
        user.folder = PathBuf::new();
        user.config = user.user_config.take().filter(|file| file.is_file());
        let of = |places: &ProjectPlaces| {
            let project = Project::open(places);
            let file = project.files.first()?;
            Some(ConfigSource {
                name: file.display().to_string(),
                config: project.config,
            })
        };
        let user = user.config.is_some().then(|| of(&user)).flatten();
        of(&project).into_iter().chain(user).collect()
    }

    /// Reads the project, and says what is wrong with it; what can be used is used all the same.
    pub(crate) fn open_and_tell(&self) -> Result<Project, Failure> {
        let project = self.open()?;
        say_problems(&project.problems);
        Ok(project)
    }
}

/// Reads what the configuration of this folder and of the user says about memory. Mistakes in it are for
/// commands that open the project to tell, and for those that write memory by it.
pub(crate) fn memory_settings() -> MemorySettings {
    config().0.memory
}

/// The configuration of this folder and of the user, and what is wrong with it.
pub(crate) fn config() -> (Config, Vec<FileProblem>) {
    config_in(Path::new("."))
}

/// The same of another folder.
pub(crate) fn config_in(folder: &Path) -> (Config, Vec<FileProblem>) {
    let mut places = places(config_of_environment());
    places.folder = folder.to_owned();
    Project::config(&places)
}

/// Fails if the configuration has errors: what it says of secrets and facts would not be followed.
pub(crate) fn refuse_broken_config(consequence: &str) -> Result<(), Failure> {
    let (_, problems) = config();
    if !problems.iter().any(FileProblem::is_error) {
        return Ok(());
    }
    say_problems(&problems);
    let what = format_args!("{consequence}: the configuration has errors");
    Err(Failure::new(what))
}

fn config_of_environment() -> Option<PathBuf> {
    // The second is the name of older projects.
    let set = ["KITBAG_CONFIG", "CREWX_CONFIG"].into_iter();
    let mut set = set.filter_map(env::var_os).filter(|file| !file.is_empty());
    set.next().map(PathBuf::from)
}

fn places(config: Option<PathBuf>) -> ProjectPlaces {
    let user = etcetera::choose_base_strategy()
        .ok()
        .map(|folders| folders.config_dir().join("kitbag").join("kitbag.yaml"));
    ProjectPlaces::new(".")
        .with_config(config)
        .with_user_config(user)
        .with_home(etcetera::home_dir().ok())
}

/// Says what is wrong, each on a line.
pub(crate) fn say_problems(problems: &[FileProblem]) {
    let mut last_hint = None;
    for problem in problems {
        let line = one_line(&problem.to_string());
        // The same advice again and again only hides the problems.
        let hint = problem.hint.as_deref();
        match problem.is_error() {
            true => output::say_error(&line, hint.filter(|_| hint != last_hint)),
            false => output::say(format_args!("warning: {line}")),
        }
        last_hint = hint;
    }
}

impl From<AgentError> for Failure {
    /// Says why an agent has no prompt, and which option helps.
    fn from(error: AgentError) -> Self {
        match &error {
            AgentError::SeveralAgents { known } => {
                let known = one_line(&known.join(", "));
                Self::usage(one_line(&error.to_string()))
                    .hint(format_args!("choose one with --agent: {known}"))
            }
            AgentError::UnknownAgent { id, known } => unknown_agent(id, known),
            AgentError::Layout(error) => layout_failure(error),
            // What is wrong with the files was said when they were read.
            AgentError::NoAgent => Self::reported(),
            _ => one_line_failure(&error, error.hint()),
        }
    }
}

impl From<TurnError> for Failure {
    /// Says why there is no prompt, and which option helps.
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Agent(error) => error.into(),
            TurnError::Store(error) => store::wrong(error),
            TurnError::Channel(error) => Self::usage(error),
            _ => one_line_failure(&error, error.hint()),
        }
    }
}

/// Says why an agent has no layout.
pub(crate) fn layout_failure(error: &LayoutError) -> Failure {
    let hint = match error {
        LayoutError::Unknown(unknown) => {
            let hint = unknown.hint();
            Some(format!("{hint}; `kitbag layout list` shows all"))
        }
        _ => error.hint(),
    };
    one_line_failure(error, hint)
}

fn one_line_failure(error: &dyn Error, hint: Option<String>) -> Failure {
    Failure::new(one_line(&error.to_string())).hint_if(hint.as_deref().map(one_line))
}

fn unknown_agent(id: &str, known: &[String]) -> Failure {
    let failure = Failure::new(format_args!("there is no agent `{}`", one_line(id)));
    if known.is_empty() {
        return failure.hint("no configuration with agents was found; `kitbag init` writes one");
    }
    let known = one_line(&known.join(", "));
    failure.hint(format_args!("the agents are {known}"))
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
