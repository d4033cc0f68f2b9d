//! The choice of the provider for a model: `provider/model`, or the one that the catalogue names.

mod summary;

pub use summary::{KeySummary, ProviderSummary};

use std::fmt;
use std::path::{Path, PathBuf};

use http::Uri;
use indexmap::IndexMap;
use kitbag_core::content::RawJson;
use kitbag_layout::{
    Config, Declared, HeaderSource, KeySource, Map, ProviderEntry, ProviderKind, ProviderTimeouts,
};

use super::{
    ClaudeCode, ClaudeCodeSettings, HttpProvider, HttpSettings, Key, Provider, ProviderError,
    ScriptProvider, Secret, Timeouts,
};
use crate::tokens::ModelProfile;
use crate::wire::Dialect;

/// Providers that need no configuration.
const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn {
        name: "anthropic",
        kind: ProviderKind::Anthropic,
        base_url: "https://api.anthropic.com",
        base_variable: Some("ANTHROPIC_BASE_URL"),
        key_variable: Some("ANTHROPIC_API_KEY"),
    },
    BuiltIn {
        name: "openai",
        kind: ProviderKind::OpenAi,
        base_url: "https://api.openai.com/v1",
        base_variable: Some("OPENAI_BASE_URL"),
        key_variable: Some("OPENAI_API_KEY"),
    },
    BuiltIn {
        name: "openrouter",
        kind: ProviderKind::OpenAi,
        base_url: "https://openrouter.ai/api/v1",
        base_variable: None,
        key_variable: Some("OPENROUTER_API_KEY"),
    },
    BuiltIn {
        name: "ollama",
        kind: ProviderKind::OpenAi,
        base_url: "http://localhost:11434/v1",
        base_variable: None,
        key_variable: None,
    },
    BuiltIn {
        name: "claude-code",
        kind: ProviderKind::ClaudeCode,
        base_url: "",
        base_variable: None,
        key_variable: None,
    },
];

/// The variables with the keys of Claude Code, which it might print.
const CLAUDE_CODE_KEYS: [&str; 3] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
];

struct BuiltIn {
    name: &'static str,
    kind: ProviderKind,
    /// The public address; empty where a program knows its own.
    base_url: &'static str,
    /// The variable that names another address, as the provider's own clients read it.
    base_variable: Option<&'static str>,
    key_variable: Option<&'static str>,
}

impl BuiltIn {
    /// The model of requests that name none.
    fn model(&self) -> Option<&'static str> {
        ModelProfile::default_of(self.name)
    }
}

fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|one| one.name == name)
}

/// The providers of a project, besides those that need no configuration.
pub struct Providers<'a> {
    config: &'a Config,
    root: PathBuf,
    variables: &'a dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for Providers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A provider, and the model that it is asked for.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChosenProvider {
    pub provider: Box<dyn Provider>,
    /// The model, as the provider names it; a script has none.
    pub model: Option<String>,
}

impl ChosenProvider {
    fn tell(&self, because: &'static str) {
        tracing::debug!(
            event = "provider_chosen",
            provider = self.provider.name(),
            model = self.model,
            because,
        );
    }
}

/// The names of a provider and of a model of it, and the reason for them.
struct Choice<'m> {
    provider: &'m str,
    model: Option<&'m str>,
    because: &'static str,
}

impl<'m> Choice<'m> {
    const fn new(provider: &'m str, model: Option<&'m str>, because: &'static str) -> Self {
        Self {
            provider,
            model,
            because,
        }
    }
}

impl<'a> Providers<'a> {
    /// The providers of a configuration. Its files are relative to `root`; `variables` looks into the
    /// environment.
    #[must_use]
    pub fn new(
        config: &'a Config,
        root: impl Into<PathBuf>,
        variables: &'a dyn Fn(&str) -> Option<String>,
    ) -> Self {
        Self {
            config,
            root: root.into(),
            variables,
        }
    }

    /// The provider for a model, or for the one that the configuration names, or for the first of the
    /// usual ones for which there is a key. No key is asked for: a request can be looked at without.
    ///
    /// # Errors
    /// When no provider is known for the model, or when its settings cannot be used.
    pub fn choose(&self, model: Option<&str>) -> Result<ChosenProvider, ProviderError> {
        let settings = &self.config.settings;
        // A model that the user names leaves no choice to a file of the folder.
        let of_folder = settings.folder_model.as_deref();
        if let (None, Some(model)) = (model, of_folder) {
            return self.choose_for_folder(model, None);
        }
        // Two are asked for, to tell a single provider from several.
        let mut all = self.config.providers.keys();
        let choice = match (model, &settings.model, all.next(), all.next()) {
            (None, None, Some(only), None) => Choice::new(only, None, "the only one"),
            _ => self.of_user(model)?,
        };
        self.open_choice(&choice)
    }

    /// Returns true unless a model is one of a provider that nobody chose here: it is neither declared by the user, nor
    /// the one that is asked where no model is named. An unknown model belongs to no provider.
    #[must_use]
    pub fn is_chosen_by_user(&self, model: &str) -> bool {
        let Ok(choice) = self.for_model(model, "named") else {
            return true;
        };
        let declared = self.config.providers.get(choice.provider);
        let is_declared = declared.is_some_and(|entry| entry.declared == Declared::ByUser);
        let usual = || self.of_user(None);
        is_declared || usual().is_ok_and(|usual| usual.provider == choice.provider)
    }

    /// The provider for a model that a file of the folder names, which may be anybody's. Such a file may
    /// choose among the models of the provider that its user would ask anyway, given `named`; of other
    /// providers only those that it could declare itself.
    ///
    /// # Errors
    /// As [`choose`](Self::choose), and when the file may not choose the provider.
    pub(crate) fn choose_for_folder(
        &self,
        model: &str,
        named: Option<&str>,
    ) -> Result<ChosenProvider, ProviderError> {
        let choice = self.for_model(model, "a folder's file")?;
        let provider = choice.provider;
        // What the user would ask without the file is allowed: the file only picks among its models.
        let is_of_user = self
            .of_user(named)
            .is_ok_and(|own| own.provider == provider);
        let entry = self.entry(provider).filter(|_| !is_of_user);
        if let Some(problem) = entry.as_ref().and_then(effect) {
            return Err(ProviderError::UntrustedModel {
                model: model.to_owned(),
                provider: provider.to_owned(),
                problem,
            });
        }
        self.open_choice(&choice)
    }

    /// The choice of whoever asks: the model that they name, else that of their own configuration, else
    /// the only provider there, else the first of the usual ones for which there is a key.
    fn of_user<'m>(&'m self, named: Option<&'m str>) -> Result<Choice<'m>, ProviderError> {
        if let Some(model) = named {
            return self.for_model(model, "named");
        }
        if let Some(model) = &self.config.settings.model {
            return self.for_model(model, "configured");
        }
        let own = self.config.providers.iter();
        let mut own = own.filter(|(_, entry)| entry.declared == Declared::ByUser);
        if let (Some((only, _)), None) = (own.next(), own.next()) {
            return Ok(Choice::new(only, None, "the only one"));
        }
        let is_set = |name: &str| (self.variables)(name).is_some_and(|value| !value.is_empty());
        // A provider without a default model, such as a local server, cannot be the usual one.
        let with_model = || BUILT_IN.iter().filter(|one| one.model().is_some());
        let mut ready = with_model().filter(|one| one.key_variable.is_some_and(is_set));
        let (usual, because) = match ready.next() {
            Some(ready) => (Some(ready), "its key is set"),
            // Without a key the request can still be shown; sending it fails with the name of the missing
            // variable.
            None => (with_model().next(), "the first of the usual ones"),
        };
        match usual {
            Some(usual) => Ok(Choice::new(usual.name, usual.model(), because)),
            None => Err(self.unknown("")),
        }
    }

    fn for_model<'m>(
        &self,
        model: &'m str,
        because: &'static str,
    ) -> Result<Choice<'m>, ProviderError> {
        // Only a known name is a provider: OpenRouter's models have slashes of their own.
        if let Some((name, rest)) = model.split_once('/')
            && self.is_known(name)
        {
            let rest = Some(rest).filter(|rest| !rest.is_empty());
            return Ok(Choice::new(name, rest, because));
        }
        // `ollama` alone asks for the provider's own model.
        if self.is_known(model) {
            return Ok(Choice::new(model, None, because));
        }
        let profile = ModelProfile::find(model).ok();
        match profile.and_then(|profile| profile.provider.as_deref()) {
            Some(name) => Ok(Choice::new(name, Some(model), because)),
            None => Err(self.unknown(model)),
        }
    }

    fn open_choice(&self, choice: &Choice<'_>) -> Result<ChosenProvider, ProviderError> {
        self.open(choice.provider, choice.model)
            .inspect(|one| one.tell(choice.because))
    }

    fn unknown(&self, model: &str) -> ProviderError {
        ProviderError::UnknownModel {
            model: model.to_owned(),
            known: self.names().map(str::to_owned).collect(),
        }
    }

    fn is_known(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// The names of all providers, the project's own first.
    fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.config.providers.keys().map(String::as_str);
        let others = BUILT_IN.iter().map(|one| one.name);
        // A provider of the project may have the name of a built-in one, and then stands for it.
        let others = others.filter(|name| !self.config.providers.contains_key(*name));
        own.chain(others)
    }

    /// The provider of that name as its configuration declares it, or as it is built in.
    fn entry(&self, name: &str) -> Option<ProviderEntry> {
        let own = self.config.providers.get(name).cloned();
        own.or_else(|| Some(self.entry_of(built_in(name)?)))
    }

    /// The settings of a provider over HTTP by its name, for whoever sends requests that somebody else made.
    /// One that is not configured has no key.
    ///
    /// # Errors
    /// When there is none of that name, when it is not over HTTP, or when its configuration may not be
    /// followed.
    pub fn over_http(&self, name: &str) -> Result<HttpSettings, ProviderError> {
        let entry = self.entry(name).ok_or_else(|| self.unknown(name))?;
        trusted(name, &entry)?;
        if matches!(entry.kind, ProviderKind::Script | ProviderKind::ClaudeCode) {
            return Err(ProviderError::Setting {
                provider: name.to_owned(),
                problem: format!("`{}` is not served over HTTP", entry.kind.as_str()),
            });
        }
        let mut settings = self.settings(name, &entry);
        // The key of the environment is the user's own; a proxied request brings the key of its sender.
        if !self.config.providers.contains_key(name) {
            settings.key = None;
        }
        Ok(settings)
    }

    fn open(&self, name: &str, model: Option<&str>) -> Result<ChosenProvider, ProviderError> {
        let built_in = built_in(name);
        let entry = self.entry(name).ok_or_else(|| self.unknown(name))?;
        trusted(name, &entry)?;
        let of_entry = entry.model.clone();
        let model = model.map(str::to_owned).or(of_entry);
        if entry.kind == ProviderKind::Script {
            let answers = self.root.join(entry.answers.unwrap_or_default());
            let provider = Box::new(ScriptProvider::new(name, answers));
            // So that the record of a turn names something.
            let model = model.or_else(|| provider.model().map(str::to_owned));
            return Ok(ChosenProvider { provider, model });
        }
        if entry.kind == ProviderKind::ClaudeCode {
            let mut settings = self.claude_code(name, &entry);
            // No default: the program then asks with the model that it is configured for.
            settings.model.clone_from(&model);
            let provider = Box::new(ClaudeCode::new(settings));
            return Ok(ChosenProvider { provider, model });
        }
        // Only over HTTP must a request name its model.
        let model = model.or_else(|| built_in?.model().map(str::to_owned));
        let Some(model) = model else {
            let provider = name.to_owned();
            return Err(ProviderError::NoModel { provider });
        };
        let mut settings = self.settings(name, &entry);
        settings.model = Some(model.clone());
        Ok(ChosenProvider {
            provider: Box::new(HttpProvider::new(settings)?),
            model: Some(model),
        })
    }

    /// A built-in provider as an entry, at the address that the environment names for it.
    fn entry_of(&self, built_in: &BuiltIn) -> ProviderEntry {
        let mut entry = ProviderEntry::new(built_in.kind);
        let named = built_in.base_variable.and_then(self.variables);
        // An empty variable is how shells unset one for a single command.
        let named = named.filter(|address| !address.is_empty());
        let address = named.unwrap_or_else(|| built_in.base_url.to_owned());
        entry.base_url = Some(address).filter(|address| !address.is_empty());
        let variable = built_in.key_variable.map(str::to_owned);
        entry.key = variable.map(KeySource::Env);
        entry
    }

    fn settings(&self, name: &str, entry: &ProviderEntry) -> HttpSettings {
        let (dialect, usual) = match entry.kind {
            ProviderKind::Anthropic => (Dialect::Anthropic, "anthropic"),
            // Another API of the same service, with the same key and address.
            ProviderKind::Responses => (Dialect::Responses, "openai"),
            _ => (Dialect::OpenAi, "openai"),
        };
        let usual = built_in(usual);
        let base_url = entry.base_url.clone();
        // The usual key is for the usual address alone.
        let usual_key = usual.filter(|_| base_url.is_none());
        let usual_key = usual_key.and_then(|usual| usual.key_variable);
        let usual_key = usual_key.map(|name| KeySource::Env(name.to_owned()));
        let base_url = base_url.or(usual.map(|usual| usual.base_url.to_owned()));
        let mut settings = HttpSettings::new(name, dialect, base_url.unwrap_or_default());
        let key = entry.key.clone().or(usual_key);
        settings.key = key.and_then(|source| self.key(&source));
        let header = |(name, source): (&String, &HeaderSource)| {
            let value = match source {
                // Written out or not: header values are never printed.
                HeaderSource::Text(text) => Some(Key::Value(Secret::new(text))),
                HeaderSource::Secret(source) => self.key(source),
                _ => None,
            };
            Some((name.clone(), value?))
        };
        settings.headers = entry.headers.iter().filter_map(header).collect();
        settings.fields = json_fields(&entry.fields);
        settings.timeouts = timeouts(entry.timeouts);
        settings
    }

    fn claude_code(&self, name: &str, entry: &ProviderEntry) -> ClaudeCodeSettings {
        let mut settings = ClaudeCodeSettings::new(name);
        settings.command.clone_from(&entry.command);
        settings.tools.clone_from(&entry.tools);
        settings.mcp_servers = json_fields(&entry.mcp_servers);
        settings.base_url.clone_from(&entry.base_url);
        settings.key = entry.key.as_ref().and_then(|source| self.key(source));
        // Its errors may quote its environment, so these values are taken out of them.
        let hidden = CLAUDE_CODE_KEYS.into_iter().filter_map(self.variables);
        settings.hidden = hidden.map(Secret::new).collect();
        settings.timeouts = timeouts(entry.timeouts);
        settings
    }

    fn key(&self, source: &KeySource) -> Option<Key> {
        Key::of(source, Path::new(&self.root), self.variables)
    }
}

fn json_fields(fields: &Map) -> IndexMap<String, RawJson> {
    let field = |(name, value)| Some((String::clone(name), RawJson::from_value(value).ok()?));
    fields.iter().filter_map(field).collect()
}

fn timeouts(said: ProviderTimeouts) -> Timeouts {
    let usual = Timeouts::default();
    Timeouts {
        connect: said.connect.unwrap_or(usual.connect),
        first_byte: said.first_byte.unwrap_or(usual.first_byte),
        idle: said.idle.unwrap_or(usual.idle),
    }
}

/// Refuses what a file that was merely found would cause.
fn trusted(name: &str, entry: &ProviderEntry) -> Result<(), ProviderError> {
    let of_folder = Some(entry).filter(|entry| entry.declared != Declared::ByUser);
    match of_folder.and_then(effect) {
        Some(problem) => Err(ProviderError::Untrusted {
            provider: name.to_owned(),
            problem,
        }),
        None => Ok(()),
    }
}

/// The effect of a provider that is not a folder's to cause: what it runs, does with a key or sends off
/// the machine. Whoever wrote the folder's files would get at the keys and the memory of whoever works in
/// it.
fn effect(entry: &ProviderEntry) -> Option<&'static str> {
    let secret_header = |header: &HeaderSource| matches!(header, HeaderSource::Secret(_));
    match entry.kind {
        ProviderKind::Script => None,
        ProviderKind::ClaudeCode => Some("runs a program"),
        _ if entry.key.is_some() || entry.headers.values().any(secret_header) => {
            Some("wants a key to be read")
        }
        // Last: an address off the machine is the mildest of the three, so the others are named first.
        _ if !is_local(entry.base_url.as_deref()) => Some("sends what is asked off this machine"),
        _ => None,
    }
}

fn is_local(address: Option<&str>) -> bool {
    let address: Option<Uri> = address.and_then(|address| address.parse().ok());
    let host = address.as_ref().and_then(Uri::host).unwrap_or_default();
    // Names are not resolved: whoever controls a name server could let any name point here and later elsewhere.
    matches!(host, "localhost" | "127.0.0.1" | "[::1]" | "::1")
}
