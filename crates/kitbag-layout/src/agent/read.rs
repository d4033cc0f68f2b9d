//! Reading agents from a project file.

use indexmap::IndexMap;

use super::{Agent, LayoutChoice, ModeOptions, Options};
use crate::config::DocumentEntry;
use crate::problem::Problems;
use crate::value::Map;
use crate::yaml::{Field, NodeKind};

const KEYS: &[&str] = &[
    "id",
    "name",
    "role",
    "team",
    "description",
    "provider",
    "model",
    "working_directory",
    "workingDirectory",
    "capabilities",
    "specialties",
    "options",
    "inline",
    "prompt",
    "system_prompt",
    "systemPrompt",
    "layout",
    "documents",
    "skills",
    "remote",
    "env",
    "language",
];

const INLINE_KEYS: &[&str] = &[
    "type",
    "provider",
    "model",
    "prompt",
    "system_prompt",
    "systemPrompt",
    "layout",
    "documents",
];

/// Reads a list of agents. One that is called as another before it is an error.
pub(crate) fn read_list(field: &Field<'_>, problems: &mut Problems) -> Vec<Agent> {
    if !matches!(field.node.kind, NodeKind::List(_)) {
        return field
            .refuse(problems, "a list of agents")
            .unwrap_or_default();
    }
    let mut agents: IndexMap<String, Agent> = IndexMap::new();
    for item in field.items() {
        let Some(agent) = read(&item, problems) else {
            continue;
        };
        match agents.get(&agent.id) {
            Some(known) => {
                let (id, first, again) = (&agent.id, known.line, agent.line);
                let message = format!("the agent `{id}` of line {first} is there again on {again}");
                let hint = "give one of them another id; the first is kept";
                problems.error_with_hint(&item, message, hint);
            }
            None => {
                agents.insert(agent.id.clone(), agent);
            }
        }
    }
    agents.into_values().collect()
}

fn read(field: &Field<'_>, problems: &mut Problems) -> Option<Agent> {
    field.map(problems)?;
    let id = match field.get("id") {
        Some(id) => read_id(&id, problems),
        None => {
            problems.error(field, "an agent needs an `id`");
            None
        }
    };
    problems.warn_of_misspelt_keys(field, KEYS);
    let mut agent = Agent {
        file: problems.file().to_owned(),
        line: field.node.line,
        ..Agent::new(id.clone().unwrap_or_default())
    };
    let mut text = |names: &[&str]| field.get_any(names)?.text(problems);
    agent.name = text(&["name"]);
    agent.role = text(&["role"]);
    agent.team = text(&["team"]);
    agent.description = text(&["description"]);
    agent.model = text(&["model"]);
    agent.working_directory = text(&["working_directory", "workingDirectory"]);
    agent.prompt = text(&["prompt"]);
    agent.system_prompt = text(&["system_prompt", "systemPrompt"]);
    agent.language = text(&["language"]);
    agent.capabilities = read_names(field, "capabilities", problems);
    agent.specialties = read_names(field, "specialties", problems);
    if let Some(options) = field.get("options") {
        agent.options = read_options(&options, problems);
    }
    agent.skills = field.get("skills").map(|skills| skills.node.to_value());
    agent.remote = field
        .get("remote")
        .and_then(|remote| Some(remote.map(problems)?.node.to_value()));
    if let Some(env) = field.get("env") {
        agent.env = read_env(&env, problems);
    }
    agent.read_shared(field, problems);
    if let Some(inline) = field.get("inline")
        && inline.map(problems).is_some()
    {
        agent.read_inline(&inline, problems);
    }
    agent.extra = field
        .entries()
        .filter(|entry| !KEYS.contains(&entry.name()))
        .map(|entry| (entry.name().to_owned(), entry.node.to_value()))
        .collect();
    // All its problems are reported; without a name it cannot be called.
    id.map(|_| agent)
}

impl Agent {
    /// Reads what may stand in `inline` or beside it, unless it has been read.
    fn read_shared(&mut self, field: &Field<'_>, problems: &mut Problems) {
        if self.providers.is_empty()
            && let Some(provider) = field.get("provider")
        {
            self.provider_is_list = matches!(provider.node.kind, NodeKind::List(_));
            self.providers = provider.texts(problems).unwrap_or_default();
        }
        if let Some(layout) = field.get("layout") {
            let before = problems.count();
            self.layout = read_layout(&layout, problems).or(self.layout.take());
            self.layout_problem = problems.error_since(before).cloned();
        }
        if let Some(documents) = field.get("documents") {
            self.read_documents(&documents, problems);
        }
    }

    /// What stands in `inline` counts more than the same beside it, but for the provider.
    fn read_inline(&mut self, field: &Field<'_>, problems: &mut Problems) {
        problems.warn_of_misspelt_keys(field, INLINE_KEYS);
        let mut text = |names: &[&str]| field.get_any(names)?.text(problems);
        self.model = text(&["model"]).or(self.model.take());
        self.prompt = text(&["prompt"]).or(self.prompt.take());
        self.inline_system_prompt = text(&["system_prompt", "systemPrompt"]);
        self.read_shared(field, problems);
        self.inline = field
            .entries()
            .filter(|entry| entry.node.kind != NodeKind::Null)
            .map(|entry| (entry.name().to_owned(), entry.node.to_value()))
            .collect::<Map>();
    }

    /// Names of documents, or a map of names to what they are.
    fn read_documents(&mut self, field: &Field<'_>, problems: &mut Problems) {
        let names = if field.is_map() {
            let own = DocumentEntry::read_map(field, problems);
            let names = own.keys().cloned().collect();
            self.own_documents.extend(own);
            names
        } else {
            field.texts(problems).unwrap_or_default()
        };
        let new: Vec<_> = names
            .into_iter()
            .filter(|name| !self.documents.contains(name))
            .collect();
        self.documents.extend(new);
    }
}

fn read_id(field: &Field<'_>, problems: &mut Problems) -> Option<String> {
    let id = field.text(problems)?;
    if id.is_empty() || id.chars().any(char::is_whitespace) {
        problems.error(field, format!("expected an id without blanks, got `{id}`"));
        return None;
    }
    Some(id)
}

/// A list of names, one name, or a map of names of which those count that are true.
fn read_names(field: &Field<'_>, key: &str, problems: &mut Problems) -> Vec<String> {
    let Some(field) = field.get(key) else {
        return Vec::new();
    };
    if !field.is_map() {
        return field.texts(problems).unwrap_or_default();
    }
    field
        .entries()
        .filter(|entry| entry.bool(problems) == Some(true))
        .map(|entry| entry.name().to_owned())
        .collect()
}

/// A layout's id, or a map with its `id` and its `props`.
fn read_layout(field: &Field<'_>, problems: &mut Problems) -> Option<LayoutChoice> {
    let line = field.node.line;
    if let Some(id) = field.as_text() {
        let id = id.to_owned();
        let props = None;
        return Some(LayoutChoice { id, props, line });
    }
    if !field.is_map() {
        return field.refuse(
            problems,
            "the id of a layout, or a map with `id` and `props`",
        );
    }
    problems.warn_of_misspelt_keys(field, &["id", "props"]);
    let props = field
        .get("props")
        .and_then(|props| Some(props.map(problems)?.node.to_value()));
    let Some(id) = field.get("id") else {
        problems.error(field, "a layout with props needs the `id` of the layout");
        return None;
    };
    let id = id.text(problems)?;
    Some(LayoutChoice { id, props, line })
}

fn read_options(field: &Field<'_>, problems: &mut Problems) -> Options {
    if !field.is_map() {
        return field
            .texts(problems)
            .map_or(Options::Unset, Options::Always);
    }
    let modes = present(field).filter_map(|mode| {
        let options = if mode.is_map() {
            let providers = present(&mode).filter_map(|provider| {
                let list = provider.texts(problems)?;
                Some((provider.name().to_owned(), list))
            });
            ModeOptions::ByProvider(providers.collect())
        } else {
            ModeOptions::Always(mode.texts(problems)?)
        };
        Some((mode.name().to_owned(), options))
    });
    Options::ByMode(modes.collect())
}

fn read_env(field: &Field<'_>, problems: &mut Problems) -> IndexMap<String, String> {
    if field.map(problems).is_none() {
        return IndexMap::new();
    }
    present(field)
        .filter_map(|entry| Some((entry.name().to_owned(), entry.scalar(problems)?)))
        .collect()
}

fn present<'a>(field: &Field<'a>) -> impl Iterator<Item = Field<'a>> {
    field
        .entries()
        .filter(|entry| entry.node.kind != NodeKind::Null)
}
