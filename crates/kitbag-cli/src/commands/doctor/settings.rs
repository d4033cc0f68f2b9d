//! The settings, and where each value came from: a flag or a variable, the project's file, the user's, or
//! nowhere.

use std::env;

use kitbag::layout::{Config, HookScope, Learning, StatedFacts, StoredSecrets};
use kitbag::workspace::cache::default_folder;

use super::Setting;
use crate::project::{ConfigSource, ProjectArgs};
use crate::store::StoreArgs;

/// Every setting of this folder and this user.
pub(super) fn all(project: &ProjectArgs, merged: &Config, place: &StoreArgs) -> Vec<Setting> {
    let mut settings = Vec::new();
    if let Ok(location) = place.location() {
        let from = given("--store", "KITBAG_STORE", place.is_named());
        settings.push(setting("store", location.to_string(), from));
    }
    if let Ok(tenant) = place.named_tenant() {
        let from = given("--tenant", "KITBAG_TENANT", tenant.is_some());
        let tenant = tenant.unwrap_or_default();
        settings.push(setting("tenant", tenant.as_str().to_owned(), from));
    }
    if let Some(cache) = default_folder() {
        let is_set = env::var_os("KITBAG_CACHE_DIR").is_some_and(|folder| !folder.is_empty());
        let from = given("KITBAG_CACHE_DIR", "KITBAG_CACHE_DIR", is_set);
        settings.push(setting("cache", cache.display().to_string(), from));
    }
    // Each file by itself, since the merged configuration no longer knows where a value came from.
    let sources = project.sources();
    let mut configured = |name: &'static str, value: fn(&Config) -> Option<String>, usual: &str| {
        // The value that holds, and the file that says the same.
        let (value, from) = match value(merged) {
            Some(held) => {
                // The first file with the same value is the one that holds: sources come in the order of
                // precedence.
                let says = |source: &&ConfigSource| value(&source.config).as_ref() == Some(&held);
                let file = sources.iter().find(says);
                let file = file.map_or("several files", |source| source.name.as_str());
                (held.clone(), file.to_owned())
            }
            None => (usual.to_owned(), DEFAULT.to_owned()),
        };
        settings.push(setting(name, value, from));
    };
    configured(
        "settings.model",
        |config| config.settings.model.clone(),
        "the provider's own",
    );
    configured(
        "settings.model of the folder, if its provider is yours",
        |config| config.settings.folder_model.clone(),
        "none",
    );
    configured(
        "settings.learning_model",
        |config| config.settings.learning_model.clone(),
        "the one that answers",
    );
    configured(
        "settings.layout_default",
        |config| config.settings.layout_default.clone(),
        "default",
    );
    configured(
        "settings.language",
        |config| config.settings.language.clone(),
        "the layout's own",
    );
    configured(
        "memory.learning",
        |config| config.memory.learning.map(learning),
        "model",
    );
    configured(
        "memory.secrets",
        |config| config.memory.secrets.map(secrets),
        "mask",
    );
    configured(
        "memory.facts",
        |config| config.memory.facts.map(facts),
        "draw",
    );
    configured(
        "memory.retention",
        |config| {
            let retention = config.memory.retention?;
            Some(format!("{} days", retention.as_secs() / (24 * 60 * 60)))
        },
        "for good",
    );
    configured(
        "agents",
        |config| listed(config.agents.iter().map(|agent| agent.id.as_str())),
        "none",
    );
    configured(
        "providers",
        |config| listed(config.providers.keys().map(String::as_str)),
        "built-in ones",
    );
    configured(
        "server.memory",
        |config| config.server.said_memory().map(|it| it.as_str().to_owned()),
        "on",
    );
    configured(
        "routing",
        |config| {
            let routing = config.routing.as_ref()?;
            let models = routing.rules.iter().map(|rule| rule.model.as_str());
            let classes = routing.classes.values().map(|class| class.model.as_str());
            listed(models.chain(classes))
        },
        "the model above answers",
    );
    configured(
        "rules",
        |config| listed(config.rules.iter().map(|rule| rule.message.key.as_str())),
        "none",
    );
    configured(
        "hooks.scope",
        |config| config.hooks.said_scope().map(scope),
        "project",
    );
    settings
}

const DEFAULT: &str = "default";

fn setting(name: &'static str, value: String, from: String) -> Setting {
    Setting { name, value, from }
}

/// Returns true if a flag or a variable gave a value. clap does not tell them apart, so that the variable is taken
/// to have given it where it is set.
fn given(flag: &str, variable: &str, is_given: bool) -> String {
    let is_set = env::var_os(variable).is_some_and(|value| !value.is_empty());
    match (is_given, is_set) {
        (false, _) => DEFAULT.to_owned(),
        (true, true) => variable.to_owned(),
        (true, false) => flag.to_owned(),
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn learning(learning: Learning) -> String {
    let learning = match learning {
        Learning::Rules => "rules",
        Learning::Off => "off",
        _ => "model",
    };
    learning.to_owned()
}

fn secrets(secrets: StoredSecrets) -> String {
    let secrets = match secrets {
        StoredSecrets::Keep => "keep",
        _ => "mask",
    };
    secrets.to_owned()
}

fn scope(scope: HookScope) -> String {
    let scope = match scope {
        HookScope::User => "user",
        HookScope::Off => "off",
        _ => "project",
    };
    scope.to_owned()
}

fn facts(facts: StatedFacts) -> String {
    let facts = match facts {
        StatedFacts::Off => "off",
        _ => "draw",
    };
    facts.to_owned()
}
