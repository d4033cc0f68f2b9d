//! The settings, and where each value came from: a flag or a variable, the project's file, the user's, or
//! nowhere.

mod configured;

use std::env;

use kitbag::layout::Config;
use kitbag::workspace::cache::default_folder;

use super::Setting;
use crate::project::{ConfigSource, ProjectArgs};
use crate::store::StoreArgs;

use configured::CONFIGURED;

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
    let configured = CONFIGURED.iter().map(|one| {
        // The value that holds, and the file that says the same.
        let (value, from) = match (one.value)(merged) {
            Some(held) => {
                // The first file with the same value is the one that holds: sources come in the order of
                // precedence.
                let says =
                    |source: &&ConfigSource| (one.value)(&source.config).as_ref() == Some(&held);
                let file = sources.iter().find(says);
                let file = file.map_or("several files", |source| source.name.as_str());
                (held, file.to_owned())
            }
            None => (one.usual.to_owned(), DEFAULT.to_owned()),
        };
        setting(one.name, value, from)
    });
    settings.extend(configured);
    // Last of all, since it wins over every file.
    if let Some(model) = env::var(MODEL).ok().filter(|model| !model.is_empty()) {
        settings.push(setting(
            "model of `ask` and `chat`",
            model,
            MODEL.to_owned(),
        ));
    }
    settings
}

const DEFAULT: &str = "default";

/// The variable that names a model.
const MODEL: &str = "KITBAG_MODEL";

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
