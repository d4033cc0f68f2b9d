//! A project: its configuration, agents, layouts and documents, read from files.
//!
//! The configuration of the project overrides the user's. All problems are collected and reported
//! together; whatever can be used is used nevertheless.

mod check;
mod documents;
mod files;
mod root;
mod skills;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kitbag_layout::builtin;
use kitbag_layout::layouts::{LayoutMatch, Layouts, OnUnknown, UnknownLayout};
use kitbag_layout::template::Template;
use kitbag_layout::{Agent, Config, FileProblem, Layout, Map};

pub use documents::ProjectDocuments;
pub(crate) use files::read_text;
#[cfg(all(feature = "providers", feature = "store", feature = "workspace"))]
pub(crate) use root::{Root, RootError};

use crate::skill::Skills;

/// The names of a project's configuration, the first that is there counts.
pub const CONFIG_NAMES: [&str; 4] = ["kitbag.yaml", "kitbag.yml", "crewx.yaml", "crewx.yml"];

/// Folders of a project whose manifests are loaded, besides those that its configuration names.
const LAYOUT_FOLDERS: [&str; 2] = [".kitbag/layouts", ".crewx/layouts"];

/// The templates with which a project may replace the format of conversations.
const CONVERSATIONS: [&str; 2] = [
    ".kitbag/templates/conversation-history-default.hbs",
    ".crewx/templates/conversation-history-default.hbs",
];

/// The places to search for configuration.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProjectPlaces {
    /// The folder to begin at; the search continues in those above it.
    pub folder: PathBuf,
    /// The configuration, if it is named: then no other is searched for.
    pub config: Option<PathBuf>,
    /// The user's configuration, which the project's overrides.
    pub user_config: Option<PathBuf>,
    /// The user's home, which may have skills.
    pub home: Option<PathBuf>,
}

impl ProjectPlaces {
    /// The project that a folder belongs to.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            config: None,
            user_config: None,
            home: None,
        }
    }

    /// The same with a configuration that was named.
    #[must_use]
    pub fn with_config(mut self, config: Option<PathBuf>) -> Self {
        self.config = config;
        self
    }

    /// The same with the user's configuration.
    #[must_use]
    pub fn with_user_config(mut self, config: Option<PathBuf>) -> Self {
        self.user_config = config;
        self
    }

    /// The same with the user's home.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home;
        self
    }
}

/// An error of finding the layout of an agent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// Nothing has that name.
    #[error(transparent)]
    Unknown(#[from] UnknownLayout),
    /// The agent's file has an error in its layout.
    #[error("{0}")]
    Malformed(Box<FileProblem>),
}

impl LayoutError {
    /// Advice for the user.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown(unknown) => Some(unknown.hint()),
            Self::Malformed(problem) => problem.hint.clone(),
        }
    }
}

/// A project as its files define it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Project {
    /// The folder that paths are relative to.
    pub root: PathBuf,
    /// The files that were read, the user's first.
    pub files: Vec<PathBuf>,
    /// The configuration.
    pub config: Config,
    /// Built-in layouts, those of the project's folders, and those of its configuration.
    pub layouts: Layouts,
    /// Pieces that layouts share.
    pub partials: BTreeMap<String, Template>,
    /// The project's template for conversations, if it has one.
    pub conversation: Option<Template>,
    /// The skills of the project and of its user, with their problems.
    pub skills: Skills,
    /// The problems of its other files.
    pub problems: Vec<FileProblem>,
    /// The project's configuration, as messages name it.
    config_name: String,
}

impl Project {
    /// Reads a project. A folder without configuration is one with the built-in layouts.
    #[must_use]
    pub fn open(places: &ProjectPlaces) -> Self {
        let mut project = Self::configured(places);
        project.layouts = builtin::layouts();
        project.partials = builtin::partials();
        project.read_layouts();
        project.read_conversation();
        project.skills = project
            .skill_places(places)
            .read_for(&project.config.skills);
        project
    }

    /// Reads the configuration alone, for programs that need no agent, and returns its problems.
    #[must_use]
    pub fn config(places: &ProjectPlaces) -> (Config, Vec<FileProblem>) {
        let project = Self::configured(places);
        (project.config, project.problems)
    }

    fn configured(places: &ProjectPlaces) -> Self {
        let mut problems = Vec::new();
        let mut files = Vec::new();
        let mut config = Config::default();
        if let Some(user) = places.user_config.as_ref().filter(|file| file.is_file()) {
            config = read_config(user, &user.display().to_string(), &mut problems);
            files.push(user.clone());
        }
        let found = places.config.clone().or_else(|| find(&places.folder));
        let root = found.as_deref().map(folder_of);
        let mut config_name = String::new();
        if let Some(file) = found {
            config_name = match (&places.config, file.file_name()) {
                (None, Some(name)) => name.display().to_string(),
                _ => file.display().to_string(),
            };
            let mut own = read_config(&file, &config_name, &mut problems);
            if places.config.is_none() {
                // A file that was merely found may be anybody's: it may only restrict what the user allows.
                own.found_in_folder(&config);
            }
            config = Config::merge(config, own);
            files.push(file);
        }
        Self {
            layouts: Layouts::new(""),
            partials: BTreeMap::new(),
            conversation: None,
            skills: Skills::default(),
            root: root.unwrap_or_else(|| places.folder.clone()),
            files,
            config,
            problems,
            config_name,
        }
    }

    /// The layout that an agent asks for, or that was asked for instead.
    ///
    /// # Errors
    /// When there is none and none may stand in, or when what the agent asks for is malformed.
    pub fn layout(
        &self,
        agent: Option<&Agent>,
        asked: Option<&str>,
    ) -> Result<LayoutMatch<'_>, LayoutError> {
        // A name that a person typed must be right. An unknown one of an agent may fall back, if the project
        // says so.
        if let Some(id) = asked {
            return Ok(self.layouts.find(id, OnUnknown::Refuse)?);
        }
        if let Some(problem) = agent.and_then(|agent| agent.layout_problem.as_ref()) {
            return Err(LayoutError::Malformed(Box::new(problem.clone())));
        }
        let settings = &self.config.settings;
        let own = agent.and_then(|agent| agent.layout.as_ref());
        let own = own.map(|layout| layout.id.as_str());
        let id = own.or(settings.layout_default.as_deref());
        let id = id.unwrap_or("default");
        Ok(self.layouts.find(id, settings.on_unknown_layout())?)
    }

    /// The language of an agent's prompt, if one is set.
    #[must_use]
    pub fn language(&self, agent: &Agent) -> Option<String> {
        let own = agent.language.as_ref();
        own.or(self.config.settings.language.as_ref()).cloned()
    }

    /// The variables that templates may see: those that the configuration allows, of the agent's own
    /// and of the environment.
    #[must_use]
    pub fn env(&self, agent: &Agent, variable: impl Fn(&str) -> Option<String>) -> Map {
        let names = self.config.env_allow.iter().flatten();
        let value = |name: &String| agent.env.get(name).cloned().or_else(|| variable(name));
        let allowed = names.filter_map(|name| Some((name.clone(), value(name)?.into())));
        allowed.collect()
    }

    /// Manifests of folders come before the layouts of the configuration, which replace them.
    fn read_layouts(&mut self) {
        let named = self.config.settings.layouts_dirs.iter().map(String::as_str);
        let usual = LAYOUT_FOLDERS.map(|folder| self.root.join(folder));
        let usual = usual.into_iter().filter(|folder| folder.exists());
        let folders: Vec<PathBuf> = usual
            .chain(named.map(|folder| self.root.join(folder)))
            .collect();
        for folder in folders {
            let manifests = files::manifests(&folder).unwrap_or_else(|error| {
                self.tell(&folder, format!("cannot read the folder: {error}"));
                Vec::new()
            });
            for file in manifests {
                match read_text(&file) {
                    Ok(text) => {
                        let (layouts, problems) = Layout::read(&self.shown(&file), &text);
                        self.problems.extend(problems);
                        for layout in layouts {
                            self.layouts.add(layout);
                        }
                    }
                    Err(error) => self.tell(&file, error.to_string()),
                }
            }
        }
        for layout in self.config.layouts.values() {
            self.layouts.add(layout.clone());
        }
    }

    fn read_conversation(&mut self) {
        let files = CONVERSATIONS.map(|name| self.root.join(name));
        let Some(file) = files.into_iter().find(|file| file.is_file()) else {
            return;
        };
        let name = self.shown(&file);
        let template = read_text(&file)
            .map_err(|error| error.to_string())
            .and_then(|text| Template::parse(&name, &text).map_err(|error| error.to_string()));
        match template {
            Ok(template) => self.conversation = Some(template),
            Err(error) => self.tell(&file, error),
        }
    }

    /// Adds an error of a file.
    fn tell(&mut self, file: &Path, message: String) {
        let problem = FileProblem::error(&self.shown(file), message);
        self.problems.push(problem);
    }

    /// A file as people name it: below the project's folder.
    fn shown(&self, file: &Path) -> String {
        let below = file.strip_prefix(&self.root).unwrap_or(file);
        below.display().to_string()
    }
}

/// The configuration of the nearest folder that has one.
fn find(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    let mut files = folder
        .ancestors()
        .flat_map(|folder| CONFIG_NAMES.map(|name| folder.join(name)));
    // A broken link counts as found, and is reported, instead of a configuration further up being used.
    files.find(|file| file.symlink_metadata().is_ok())
}

fn read_config(file: &Path, name: &str, problems: &mut Vec<FileProblem>) -> Config {
    match read_text(file) {
        Ok(text) => {
            let (config, found) = Config::read(name, &text);
            problems.extend(found);
            config
        }
        Err(error) => {
            problems.push(FileProblem::error(name, error.to_string()));
            // Not an empty configuration: one that restricts senders must not become one that admits everybody.
            Config::unreadable()
        }
    }
}

fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
