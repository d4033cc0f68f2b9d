//! The options that choose a project, and reading it.

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

/// The options that choose the project.
#[derive(clap::Args, Default)]
pub(crate) struct ProjectArgs {
    /// Configuration to read [default: KITBAG_CONFIG, else kitbag.yaml or crewx.yaml in the current folder
    /// or the nearest one above]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

// No doc comment: clap would show it as the help of each command that lists something.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A configuration with the name of its file.
pub(crate) struct ConfigSource {
    pub(crate) name: String,
    pub(crate) config: Config,
}

impl ProjectArgs {
    /// Reads the project. The caller reports its problems; only a named configuration must exist.
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

    /// The configurations in effect, the one that overrides the others first, each with its own values.
    pub(crate) fn sources(&self) -> Vec<ConfigSource> {
        let named = self.config.clone().or_else(config_of_environment);
        let mut user = places(named.clone());
        let project = user.clone().with_user_config(None);
        // An empty path has no folders above it, so that no project's file is found.
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
        // Without a file of the user, the search would find the project's once more.
        let user = user.config.is_some().then(|| of(&user)).flatten();
        of(&project).into_iter().chain(user).collect()
    }

    /// Reads the project, and reports its problems; whatever can be used is used nevertheless.
    pub(crate) fn open_and_tell(&self) -> Result<Project, Failure> {
        let project = self.open()?;
        say_problems(&project.problems);
        Ok(project)
    }
}

/// Reads the settings of memory of this folder and of the user. Errors in them are reported by commands
/// that open the project or write memory.
pub(crate) fn memory_settings() -> MemorySettings {
    config().0.memory
}

/// The configuration of this folder and of the user, with its problems.
pub(crate) fn config() -> (Config, Vec<FileProblem>) {
    config_in(Path::new("."))
}

/// The same of another folder.
pub(crate) fn config_in(folder: &Path) -> (Config, Vec<FileProblem>) {
    let mut places = places(config_of_environment());
    places.folder = folder.to_owned();
    Project::config(&places)
}

/// Fails if the configuration has errors: its settings of secrets and facts might not be followed, and
/// stored memory cannot be taken back.
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
    // The second name is that of older projects.
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

/// Reports problems, one a line.
pub(crate) fn say_problems(problems: &[FileProblem]) {
    let mut last_hint = None;
    for problem in problems {
        let line = one_line(&problem.to_string());
        // Repeating the same hint would only hide the problems.
        let hint = problem.hint.as_deref();
        match problem.is_error() {
            true => output::say_error(&line, hint.filter(|_| hint != last_hint)),
            false => output::say(format_args!("warning: {line}")),
        }
        last_hint = hint;
    }
}

impl From<AgentError> for Failure {
    /// The reason why an agent has no prompt, with the option that helps.
    fn from(error: AgentError) -> Self {
        match &error {
            AgentError::SeveralAgents { known } => {
                let known = one_line(&known.join(", "));
                Self::usage(one_line(&error.to_string()))
                    .hint(format_args!("choose one with --agent: {known}"))
            }
            AgentError::UnknownAgent { id, known } => unknown_agent(id, known),
            AgentError::Layout(error) => layout_failure(error),
            // The errors of the files were reported when they were read.
            AgentError::NoAgent => Self::reported(),
            _ => one_line_failure(&error, error.hint()),
        }
    }
}

impl From<TurnError> for Failure {
    /// The reason why there is no prompt, with the option that helps.
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Agent(error) => error.into(),
            TurnError::Store(error) => store::wrong(error),
            TurnError::Channel(error) => Self::usage(error),
            _ => one_line_failure(&error, error.hint()),
        }
    }
}

/// The reason why an agent has no layout.
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

/// The agent of this id, or a failure with a hint.
pub(crate) fn find_agent<'a>(project: &'a Project, id: &str) -> Result<&'a Agent, Failure> {
    // `@name` is how other programs and chats call an agent.
    let id = id.strip_prefix('@').unwrap_or(id);
    project.config.agent(id).ok_or_else(|| {
        let agents = project.config.agents.iter();
        let known: Vec<String> = agents.map(|agent| agent.id.clone()).collect();
        unknown_agent(id, &known)
    })
}
