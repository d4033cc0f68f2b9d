//! The settings that files have, each with the way to read it.

use std::time::Duration;

use kitbag::core::tokens::Tokens;
use kitbag::layout::{
    Channels, Config, HookScope, HookSettings, Learning, ServerSettings, StatedFacts, StoredSecrets,
};
use kitbag::words::grouped;

/// A setting of a file.
pub(super) struct Configured {
    pub(super) name: &'static str,
    /// Its value, where a file says something else than the usual.
    pub(super) value: fn(&Config) -> Option<String>,
    /// The value that holds where no file says anything.
    pub(super) usual: &'static str,
}

pub(super) const CONFIGURED: &[Configured] = &[
    Configured {
        name: "settings.model",
        value: |config| config.settings.model.clone(),
        usual: "the provider's own",
    },
    Configured {
        name: "settings.model of the folder, if its provider is yours",
        value: |config| config.settings.folder_model.clone(),
        usual: "none",
    },
    Configured {
        name: "settings.learning_model",
        value: |config| config.settings.learning_model.clone(),
        usual: "the one that answers",
    },
    Configured {
        name: "settings.layout_default",
        value: |config| config.settings.layout_default.clone(),
        usual: "default",
    },
    Configured {
        name: "settings.language",
        value: |config| config.settings.language.clone(),
        usual: "the layout's own",
    },
    Configured {
        name: "memory.learning",
        value: |config| config.memory.learning.map(learning),
        usual: "model",
    },
    Configured {
        name: "memory.secrets",
        value: |config| config.memory.secrets.map(secrets),
        usual: "mask",
    },
    Configured {
        name: "memory.facts",
        value: |config| config.memory.facts.map(facts),
        usual: "draw",
    },
    Configured {
        name: "memory.retention",
        value: |config| {
            let retention = config.memory.retention?;
            Some(format!("{} days", retention.as_secs() / (24 * 60 * 60)))
        },
        usual: "for good",
    },
    Configured {
        name: "agents",
        value: |config| listed(config.agents.iter().map(|agent| agent.id.as_str())),
        usual: "none",
    },
    Configured {
        name: "providers",
        value: |config| listed(config.providers.keys().map(String::as_str)),
        usual: "built-in ones",
    },
    Configured {
        name: "server.memory",
        value: |config| config.server.said_memory().map(|it| it.as_str().to_owned()),
        usual: "on",
    },
    Configured {
        name: "server.bind",
        value: |config| Some(config.server.bind?.to_string()),
        usual: "a free port of this machine",
    },
    Configured {
        name: "server.memory_budget",
        value: |config| {
            unusual(
                config.server.memory_budget(),
                server().memory_budget(),
                tokens,
            )
        },
        usual: "800 tokens",
    },
    Configured {
        name: "server.memory_time_limit",
        value: |config| {
            unusual(
                config.server.memory_time_limit(),
                server().memory_time_limit(),
                time,
            )
        },
        usual: "500ms",
    },
    Configured {
        name: "server.history_budget",
        value: |config| config.server.history_budget.map(tokens),
        usual: "no history is shortened",
    },
    Configured {
        name: "server.cache_breakpoints",
        value: |config| {
            unusual(
                config.server.sets_breakpoints(),
                server().sets_breakpoints(),
                |it| it.to_string(),
            )
        },
        usual: "true",
    },
    Configured {
        name: "server.largest_body",
        value: |config| {
            unusual(
                config.server.largest_body(),
                server().largest_body(),
                |it| format!("{it} bytes"),
            )
        },
        usual: "64 MiB",
    },
    Configured {
        name: "server.roots",
        value: |config| listed(config.server.roots.iter().map(String::as_str)),
        usual: "none",
    },
    Configured {
        name: "server.upstreams",
        value: |config| listed(config.server.upstreams.keys().map(String::as_str)),
        usual: "the providers' own models",
    },
    Configured {
        name: "server.slack",
        value: |config| Some(config.server.slack.as_ref()?.base_url.clone()),
        usual: "none",
    },
    Configured {
        name: "routing",
        value: |config| {
            let routing = config.routing.as_ref()?;
            let models = routing.rules.iter().map(|rule| rule.model.as_str());
            let classes = routing.classes.values().map(|class| class.model.as_str());
            listed(models.chain(classes))
        },
        usual: "the model above answers",
    },
    Configured {
        name: "rules",
        value: |config| listed(config.rules.iter().map(|rule| rule.message.key.as_str())),
        usual: "none",
    },
    Configured {
        name: "hooks.scope",
        value: |config| config.hooks.said_scope().map(scope),
        usual: "project",
    },
    Configured {
        name: "hooks.budget",
        value: |config| unusual(config.hooks.budget(), hooks().budget(), tokens),
        usual: "800 tokens",
    },
    Configured {
        name: "hooks.time_limit",
        value: |config| unusual(config.hooks.time_limit(), hooks().time_limit(), time),
        usual: "2s",
    },
    Configured {
        name: "skills.paths",
        value: |config| listed(config.skills.paths.iter().map(|it| it.path.as_str())),
        usual: "the usual folders",
    },
    Configured {
        name: "skills.allow",
        value: |config| listed(config.skills.allow.iter().map(|it| it.path.as_str())),
        usual: "none",
    },
    Configured {
        name: "skills.disabled",
        value: |config| listed(config.skills.disabled.iter().map(String::as_str)),
        usual: "none",
    },
    Configured {
        name: "skills.budget",
        value: |config| config.skills.budget.map(|it| tokens(Tokens(it))),
        usual: "1000 tokens",
    },
    Configured {
        name: "pack.budget",
        value: |config| config.pack.budget.map(tokens),
        usual: "the command's own",
    },
    Configured {
        name: "pack.exclude",
        value: |config| listed(config.pack.exclude.iter().map(String::as_str)),
        usual: "none",
    },
    Configured {
        name: "pack.pin",
        value: |config| listed(config.pack.pins.iter().map(String::as_str)),
        usual: "none",
    },
    Configured {
        name: "pack.instructions",
        value: |config| config.pack.instructions.clone(),
        usual: "none",
    },
    Configured {
        name: "channels",
        value: |config| restricted(&config.channels),
        usual: "everybody may send on all",
    },
];

fn hooks() -> HookSettings {
    HookSettings::default()
}

fn server() -> ServerSettings {
    ServerSettings::default()
}

fn unusual<T: PartialEq>(value: T, usual: T, shown: impl Fn(T) -> String) -> Option<String> {
    (value != usual).then(|| shown(value))
}

fn tokens(tokens: Tokens) -> String {
    format!("{} tokens", grouped(tokens.0))
}

fn time(time: Duration) -> String {
    match time.subsec_millis() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_millis()),
    }
}

fn restricted(channels: &Channels) -> Option<String> {
    let channels = channels.restricted();
    let channels = channels.map(|(channel, senders)| {
        let senders: Vec<&str> = senders.iter().map(String::as_str).collect();
        format!("{channel}: {}", senders.join(" "))
    });
    let channels: Vec<String> = channels.collect();
    listed(channels.iter().map(String::as_str))
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
