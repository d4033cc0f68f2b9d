//! Reading a project file.

use super::{Config, DocumentEntry, Settings, nodes};
use crate::agent;
use crate::layouts::OnUnknown;
use crate::manifest;
use crate::problem::{FileProblem, Problems};
use crate::value::Map;
use crate::yaml::{Field, NodeKind};

const KEYS: &[&str] = &[
    "agents",
    "layouts",
    "documents",
    "nodes",
    "skills",
    "vars",
    "env",
    "settings",
];

const SETTINGS: &[&str] = &[
    "unknown_layout",
    "layout_default",
    "language",
    "layouts_dir",
    "documents_root",
];

pub(super) fn read(file: &str, text: &str) -> (Config, Vec<FileProblem>) {
    let mut problems = Problems::new(file);
    let mut config = problems
        .read(text)
        .map(|node| read_root(&Field::root(&node), &mut problems))
        .unwrap_or_default();
    config.settings.unknown_layout_unsaid = unknown_layout_unsaid(file);
    (config, problems.into_vec())
}

fn read_root(root: &Field<'_>, problems: &mut Problems) -> Config {
    let mut config = Config::default();
    if root.node.kind == NodeKind::Null || root.map(problems).is_none() {
        return config;
    }
    let known: Vec<_> = KEYS.iter().copied().chain(["providers"]).collect();
    problems.warn_of_misspelt_keys(root, &known);
    if let Some(agents) = root.get("agents") {
        config.agents = agent::read_list(&agents, problems);
    }
    if let Some(layouts) = root.get("layouts") {
        config.layouts = manifest::read_map(&layouts, problems)
            .into_iter()
            .map(|layout| (layout.id.clone(), layout))
            .collect();
    }
    if let Some(documents) = root.get("documents") {
        config.documents = DocumentEntry::read_map(&documents, problems);
    }
    if let Some(nodes) = root.get("nodes") {
        config.nodes = nodes::read_map(&nodes, problems);
    }
    config.skills = root.get("skills").map(|skills| skills.node.to_value());
    if let Some(vars) = root.get("vars")
        && vars.map(problems).is_some()
    {
        config.vars = values(&vars, &[]);
    }
    if let Some(env) = root.get("env") {
        config.env_allow = read_env(&env, problems);
    }
    if let Some(settings) = root.get("settings")
        && settings.map(problems).is_some()
    {
        config.settings = read_settings(&settings, problems);
    }
    config.extra = values(root, KEYS);
    config
}

/// A list of names, or a map with such a list under `allow`.
fn read_env(field: &Field<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    if !field.is_map() {
        return field.texts(problems);
    }
    match field.get("allow") {
        Some(allow) => allow.texts(problems),
        None => {
            let message = "expected a list of names, or a map with such a list under `allow`";
            let hint = "name the variables of the environment that templates may see; values of \
                        your own belong under `vars`";
            problems.error_with_hint(field, message, hint);
            None
        }
    }
}

fn read_settings(field: &Field<'_>, problems: &mut Problems) -> Settings {
    problems.warn_of_misspelt_keys(field, SETTINGS);
    let mut text = |name| {
        let field = field.get(name)?;
        field.text(problems)
    };
    let (layout_default, language) = (text("layout_default"), text("language"));
    let documents_root = text("documents_root");
    let layouts_dirs = field
        .get("layouts_dir")
        .and_then(|dirs| dirs.texts(problems))
        .unwrap_or_default();
    let unknown_layout = field
        .get("unknown_layout")
        .and_then(|field| match field.as_text() {
            Some("refuse") => Some(OnUnknown::Refuse),
            Some("fallback") => Some(OnUnknown::Fallback),
            other => {
                let got = other.unwrap_or(field.node.describe());
                let message = format!("expected `refuse` or `fallback`, got {got}");
                problems.error(&field, message);
                None
            }
        });
    Settings {
        unknown_layout,
        layout_default,
        language,
        layouts_dirs,
        documents_root,
        extra: values(field, SETTINGS),
        ..Settings::default()
    }
}

fn unknown_layout_unsaid(file: &str) -> OnUnknown {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    if name.starts_with("crewx") {
        OnUnknown::Fallback
    } else {
        OnUnknown::Refuse
    }
}

fn values(field: &Field<'_>, except: &[&str]) -> Map {
    field
        .entries()
        .filter(|entry| !except.contains(&entry.name()))
        .map(|entry| (entry.name().to_owned(), entry.node.to_value()))
        .collect()
}
