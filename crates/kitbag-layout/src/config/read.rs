//! Reads a project file.

use super::{
    Channels, Config, ContextRule, DocumentEntry, HookSettings, MemorySettings, ProviderEntry,
    Routing, ServerSettings, Settings, SkillSettings, nodes,
};
use crate::agent;
use crate::layouts::OnUnknown;
use crate::manifest;
use crate::problem::{FileProblem, Problems};
use crate::yaml::Field;

impl Config {
    /// Reads a project file, and reports all problems with it.
    ///
    /// ```
    /// use kitbag_layout::Config;
    ///
    /// let (config, problems) = Config::read("kitbag.yaml", "agents:\n  - id: ann\n    role: 7\n");
    /// assert_eq!(config.agents[0].id, "ann");
    /// assert_eq!(
    ///     problems[0].to_string(),
    ///     "kitbag.yaml:3:11: agents[0].role: expected a text, got a number"
    /// );
    /// ```
    #[must_use]
    pub fn read(file: &str, text: &str) -> (Self, Vec<FileProblem>) {
        let read = |root: &Field<'_>| Some(read_root(root));
        let (config, problems) = Problems::reading(file, text, read);
        let is_broken = problems.iter().any(FileProblem::is_error);
        // An empty file is none too, but without an error: it restricts nobody.
        let mut config = match config {
            None if is_broken => Self::unreadable(),
            config => config.unwrap_or_default(),
        };
        config.settings.unknown_layout_default = unknown_layout_default(file);
        (config, problems)
    }
}

fn read_root(root: &Field<'_>) -> Option<Config> {
    if root.is_null() {
        return None;
    }
    root.map()?;
    let documents = root.read("documents", DocumentEntry::read_map);
    let vars = root.read("vars", Field::map_value);
    let is_list = |field: &Field<'_>| field.name() == "providers" && field.is_list();
    let providers = match root.entries().any(|entry| is_list(&entry)) {
        true => None, // Another program's, which is left as it is.
        false => root.read("providers", ProviderEntry::read_map),
    };
    let config = Config {
        agents: root.read("agents", agent::read_list).unwrap_or_default(),
        layouts: root.read("layouts", manifest::read_map).unwrap_or_default(),
        documents: documents.unwrap_or_default(),
        nodes: root.read("nodes", nodes::read_map).unwrap_or_default(),
        skills: root.read("skills", SkillSettings::read).unwrap_or_default(),
        vars: vars.unwrap_or_default().into_map(),
        env_allow: root.read("env", read_env),
        settings: root.read("settings", read_settings).unwrap_or_default(),
        memory: root
            .read("memory", MemorySettings::read)
            .unwrap_or_default(),
        hooks: root.read("hooks", HookSettings::read).unwrap_or_default(),
        server: root
            .read("server", ServerSettings::read)
            .unwrap_or_default(),
        providers: providers.unwrap_or_default(),
        routing: root.read("routing", Routing::read),
        rules: root
            .read("rules", ContextRule::read_list)
            .unwrap_or_default(),
        channels: root.read("channels", Channels::read).unwrap_or_default(),
        // Must be last: these are the entries that nothing above has asked for.
        extra: root.unread(),
    };
    root.warn_of_misspelt_keys(&["providers"]);
    Some(config)
}

/// Reads a list of names, or a map with such a list under `allow`.
fn read_env(field: &Field<'_>) -> Option<Vec<String>> {
    if !field.is_map() {
        return field.texts();
    }
    match field.get("allow") {
        Some(allow) => allow.texts(),
        None => {
            let message = "expected a list of names, or a map with such a list under `allow`";
            let hint = "name the variables of the environment that templates may see; values of \
                        your own belong under `vars`";
            field.error_with_hint(message, hint)
        }
    }
}

fn read_settings(field: &Field<'_>) -> Option<Settings> {
    field.map()?;
    let on_unknown = [
        ("refuse", OnUnknown::Refuse),
        ("fallback", OnUnknown::Fallback),
    ];
    let settings = Settings {
        unknown_layout: field.read("unknown_layout", |field| field.word(&on_unknown)),
        layout_default: field.read("layout_default", Field::text),
        language: field.read("language", Field::text),
        model: field.read("model", Field::text),
        learning_model: field.read("learning_model", Field::text),
        layouts_dirs: field.read("layouts_dir", Field::texts).unwrap_or_default(),
        documents_root: field.read("documents_root", Field::text),
        // Must be last: these are the entries that nothing above has asked for.
        extra: field.unread(),
        ..Settings::default()
    };
    field.warn_of_misspelt_keys(&[]);
    Some(settings)
}

fn unknown_layout_default(file: &str) -> OnUnknown {
    // Projects of this name were written for a program that falls back to its default layout.
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    if name.starts_with("crewx") {
        OnUnknown::Fallback
    } else {
        OnUnknown::Refuse
    }
}
