//! Reads agents from a project file.

use indexmap::IndexMap;

use super::{Agent, LayoutChoice};
use crate::config::DocumentEntry;
use crate::value::Value;
use crate::yaml::Field;

/// Reads a list of agents. A second agent with the id of an earlier one is an error.
pub(crate) fn read_list(field: &Field<'_>) -> Option<Vec<Agent>> {
    if !field.is_list() {
        return field.refuse("a list of agents");
    }
    let mut agents: IndexMap<String, Agent> = IndexMap::new();
    for item in field.items() {
        let Some(agent) = read(&item) else {
            continue;
        };
        match agents.get(&agent.id) {
            Some(known) => {
                let (id, first, again) = (&agent.id, known.line, agent.line);
                let message = format!("the agent `{id}` of line {first} is there again on {again}");
                let hint = "give one of them another id; the first is kept";
                item.error_with_hint::<()>(message, hint);
            }
            None => {
                agents.insert(agent.id.clone(), agent);
            }
        }
    }
    Some(agents.into_values().collect())
}

fn read(field: &Field<'_>) -> Option<Agent> {
    field.map()?;
    let id = match field.get("id") {
        Some(id) => id.id(),
        None => field.error("an agent needs an `id`"),
    };
    let text = |names: &[&'static str]| field.get_any(names)?.text();
    let mut agent = Agent {
        file: field.problems.file().to_owned(),
        line: field.node.line,
        name: text(&["name"]),
        role: text(&["role"]),
        team: text(&["team"]),
        description: text(&["description"]),
        model: text(&["model"]),
        working_directory: text(&["working_directory", "workingDirectory"]),
        prompt: text(&["prompt"]),
        system_prompt: text(&["system_prompt", "systemPrompt"]),
        language: text(&["language"]),
        capabilities: field.read("capabilities", read_names).unwrap_or_default(),
        specialties: field.read("specialties", read_names).unwrap_or_default(),
        options: field.read("options", |options| read_options(options, 2)),
        skills: field.get("skills").map(|skills| skills.node.to_value()),
        remote: field.read("remote", Field::map_value),
        env: field.read("env", read_env).unwrap_or_default(),
        ..Agent::default()
    };
    agent.read_shared(field);
    field.read("inline", |inline| agent.read_inline(inline));
    field.warn_of_misspelt_keys(&[]);
    // Unread keys are all that nothing above has asked for, so this must come last.
    agent.extra = field.unread();
    // Reading went on to report all problems, but without an id the agent cannot be called.
    Some(Agent { id: id?, ..agent })
}

impl Agent {
    /// Reads the entries that may stand in `inline` or outside of it, unless they are set already.
    fn read_shared(&mut self, field: &Field<'_>) {
        if let Some(provider) = field.get("provider")
            && self.providers.is_empty()
        {
            self.provider_is_list = provider.is_list();
            self.providers = provider.texts().unwrap_or_default();
        }
        if let Some(layout) = field.get("layout") {
            // An agent whose layout is broken must not be run with another one in its place.
            let before = field.problems.count();
            self.layout = read_layout(&layout).or(self.layout.take());
            self.layout_problem = field.problems.error_since(before);
        }
        if let Some(documents) = field.get("documents") {
            self.read_documents(&documents);
        }
    }

    /// Reads `inline`. Its entries win over those outside of it, except for the provider.
    fn read_inline(&mut self, field: &Field<'_>) -> Option<()> {
        field.map()?;
        let text = |names: &[&'static str]| field.get_any(names)?.text();
        self.model = text(&["model"]).or(self.model.take());
        self.prompt = text(&["prompt"]).or(self.prompt.take());
        self.inline_system_prompt = text(&["system_prompt", "systemPrompt"]);
        self.read_shared(field);
        field.warn_of_misspelt_keys(&["type"]);
        let written = |entry: Field<'_>| (entry.name().to_owned(), entry.node.to_value());
        self.inline = field.present().map(written).collect();
        Some(())
    }

    /// Reads names of documents, or a map from names to documents.
    fn read_documents(&mut self, field: &Field<'_>) {
        let names = if field.is_map() {
            let own = DocumentEntry::read_map(field).unwrap_or_default();
            let names = own.keys().cloned().collect();
            self.own_documents.extend(own);
            names
        } else {
            field.texts().unwrap_or_default()
        };
        for name in names {
            // `inline` and the agent itself may name the same document.
            if !self.documents.contains(&name) {
                self.documents.push(name);
            }
        }
    }
}

/// Reads a list of names, a single name, or a map whose `true` entries count.
fn read_names(field: &Field<'_>) -> Option<Vec<String>> {
    if !field.is_map() {
        return field.texts();
    }
    let named = field.entries().filter(|entry| entry.bool() == Some(true));
    Some(named.map(|entry| entry.name().to_owned()).collect())
}

/// Reads the id of a layout, or a map with `id` and `props`.
fn read_layout(field: &Field<'_>) -> Option<LayoutChoice> {
    let line = field.node.line;
    let props = field.read("props", Field::map_value);
    let id = match (field.as_text(), field.get("id")) {
        (Some(id), _) => Some(id.to_owned()),
        (None, Some(id)) => id.text(),
        (None, None) if field.is_map() => {
            field.error("a layout with props needs the `id` of the layout")
        }
        _ => field.refuse("the id of a layout, or a map with `id` and `props`"),
    };
    field.warn_of_misspelt_keys(&[]);
    let id = id?;
    Some(LayoutChoice { id, props, line })
}

/// Reads options for every mode, or by mode, or by mode and provider.
fn read_options(field: &Field<'_>, levels: u8) -> Option<Value> {
    if levels == 0 || !field.is_map() {
        return Some(field.texts()?.into());
    }
    let inner = |entry: Field<'_>| {
        let options = read_options(&entry, levels - 1)?;
        Some((entry.name().to_owned(), options))
    };
    Some(Value::map(field.present().filter_map(inner)))
}

fn read_env(field: &Field<'_>) -> Option<IndexMap<String, String>> {
    // Variables may be numbers or booleans in YAML; programs get texts.
    field.read_entries(|entry| match entry.is_null() {
        true => None,
        false => entry.scalar(),
    })
}
