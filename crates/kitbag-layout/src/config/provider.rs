//! Providers of models: the declaration of their address and of the place of their key.
//!
//! Nothing is connected to and no key is read here.

use core::time::Duration;

use indexmap::IndexMap;

use crate::value::Map;
use crate::yaml::Field;

/// A provider as a project declares it.
///
/// ```
/// use kitbag_layout::{Config, KeySource, ProviderKind};
///
/// let text = "providers:\n  local:\n    kind: openai\n    base_url: http://localhost:8000/v1\n    key: {env: LOCAL_KEY}\n";
/// let (config, problems) = Config::read("kitbag.yaml", text);
/// let local = &config.providers["local"];
/// assert_eq!(local.kind, ProviderKind::OpenAi);
/// assert_eq!(local.key, Some(KeySource::Env("LOCAL_KEY".into())));
/// assert!(problems.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProviderEntry {
    /// The API that it speaks.
    pub kind: ProviderKind,
    /// The address in front of the API's paths; by default the API's public one.
    pub base_url: Option<String>,
    /// The place of the key. Without it, requests to an address other than the public one carry no
    /// key: a default key must not go to whatever address a file names.
    pub key: Option<KeySource>,
    /// The model of requests that name none.
    pub model: Option<String>,
    /// Headers that are sent with each request, besides those of the API.
    pub headers: IndexMap<String, HeaderSource>,
    /// Fields that are set in each request, as written.
    pub fields: Map,
    /// The times after which the provider is given up.
    pub timeouts: ProviderTimeouts,
    /// The file with the answers of a script.
    pub answers: Option<String>,
    /// The program that answers, and its first arguments.
    pub command: Vec<String>,
    /// The tools of its own that the program may use.
    pub tools: Vec<String>,
    /// MCP servers for the program, in the form of `mcpServers` in a `.mcp.json`.
    pub mcp_servers: Map,
    /// The author of the declaration.
    pub declared: Declared,
}

/// The API that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderKind {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, and everything compatible with it.
    OpenAi,
    /// OpenAI Responses.
    Responses,
    /// The program of Claude Code.
    ClaudeCode,
    /// Answers from a file.
    Script,
}

impl ProviderKind {
    const ALL: [Self; 5] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::Responses,
        Self::ClaudeCode,
        Self::Script,
    ];

    /// The kind as configurations name it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::ClaudeCode => "claude-code",
            Self::Script => "script",
        }
    }
}

/// The author of a declaration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Declared {
    /// A configuration that the user wrote or named.
    #[default]
    ByUser,
    /// A configuration that was found in a folder, so that anybody may have written it.
    InFolder,
}

/// The place of a key. The key itself is never part of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySource {
    /// A variable of the environment.
    Env(String),
    /// The first line of a file.
    File(String),
    /// The output of a program: its name and its arguments.
    Command(Vec<String>),
}

/// The value of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderSource {
    /// The value itself.
    Text(String),
    /// The place of a secret value.
    Secret(KeySource),
}

/// The times after which a provider is given up; if missing, the defaults apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderTimeouts {
    /// From the request for a connection until there is one.
    pub connect: Option<Duration>,
    /// From the request to the first byte of the answer.
    pub first_byte: Option<Duration>,
    /// Between two pieces of the answer.
    pub idle: Option<Duration>,
}

impl ProviderEntry {
    /// Makes a provider of the API at its public address.
    #[must_use]
    pub fn new(kind: ProviderKind) -> Self {
        Self {
            kind,
            base_url: None,
            key: None,
            model: None,
            headers: IndexMap::new(),
            fields: Map::default(),
            timeouts: ProviderTimeouts::default(),
            answers: None,
            command: Vec::new(),
            tools: Vec::new(),
            mcp_servers: Map::default(),
            declared: Declared::ByUser,
        }
    }

    /// Reads a map of names to providers.
    pub(super) fn read_map(field: &Field<'_>) -> Option<IndexMap<String, Self>> {
        field.read_entries(Self::read)
    }

    fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        let kinds = ProviderKind::ALL.map(|kind| (kind.as_str(), kind));
        let kind = match field.get("kind") {
            Some(kind) => kind.word(&kinds),
            None => field.error_with_hint(
                "a provider needs a `kind`",
                "the kinds are anthropic, openai, responses, claude-code and script",
            ),
        };
        let headers = field.read("headers", |field| field.read_entries(HeaderSource::read));
        let fields = field.read("request", Field::map_value);
        let mcp_servers = field.read("mcp_servers", Field::map_value);
        let entry = Self {
            base_url: field.read("base_url", base_url),
            key: field.read("key", KeySource::read),
            model: field.read("model", Field::text),
            headers: headers.unwrap_or_default(),
            fields: fields.unwrap_or_default().into_map(),
            timeouts: field.read("timeouts", read_timeouts).unwrap_or_default(),
            answers: field.read("answers", Field::text),
            command: field.read("command", Field::texts).unwrap_or_default(),
            tools: field.read("tools", Field::texts).unwrap_or_default(),
            mcp_servers: mcp_servers.unwrap_or_default().into_map(),
            // Here and not above: all other fields are read first, so that all problems are reported at once.
            ..Self::new(kind?)
        };
        field.warn_of_misspelt_keys(&[]);
        let is_script = entry.kind == ProviderKind::Script;
        // Found when the file is read and not when the first message is answered.
        if is_script && entry.answers.is_none() {
            return field.error("a script needs `answers`, the file that they are in");
        }
        Some(entry)
    }
}

impl KeySource {
    /// Reads the place of a key. A key that is written out is not repeated in the message.
    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        let hint =
            "say where it is: `{env: NAME}`, `{file: PATH}` or `{command: [PROGRAM, ARGUMENT]}`";
        if !field.is_map() {
            // Files of a project are committed and shared.
            let what = "a key does not belong into a configuration";
            return field.error_with_hint(what, hint);
        }
        let env = field.read("env", Field::id).map(Self::Env);
        let file = field.read("file", Field::text).map(Self::File);
        let command = field.read("command", Field::texts);
        let command = command.filter(|words| !words.is_empty()).map(Self::Command);
        field.warn_of_misspelt_keys(&[]);
        // Two places would leave open which of the keys is sent.
        match (env, file, command) {
            (Some(one), None, None) | (None, Some(one), None) | (None, None, Some(one)) => {
                Some(one)
            }
            _ => field.error_with_hint("expected one place of a key", hint),
        }
    }
}

impl HeaderSource {
    fn read(field: &Field<'_>) -> Option<Self> {
        match field.is_map() {
            true => KeySource::read(field).map(Self::Secret),
            false => field.scalar().map(Self::Text),
        }
    }
}

fn read_timeouts(field: &Field<'_>) -> Option<ProviderTimeouts> {
    field.map()?;
    let timeouts = ProviderTimeouts {
        connect: field.read("connect", time),
        first_byte: field.read("first_byte", time),
        idle: field.read("idle", time),
    };
    field.warn_of_misspelt_keys(&[]);
    Some(timeouts)
}

pub(super) fn base_url(field: &Field<'_>) -> Option<String> {
    let text = field.text()?;
    let is_web = ["http://", "https://"]
        .iter()
        .any(|it| text.starts_with(it));
    if !is_web {
        return field.error(format!(
            "`{text}` is not an address such as https://host/v1"
        ));
    }
    // The part in front of the `@` may be a password, so none of it is repeated.
    if text.contains('@') {
        let what = "an address with a name or a password in it is not taken";
        return field.error_with_hint(
            what,
            "give the key under `key`, or a header under `headers`",
        );
    }
    // The paths of the API begin with a slash.
    Some(text.trim_end_matches('/').to_owned())
}

/// Reads a number with a unit: milliseconds, seconds or minutes.
pub(super) fn time(field: &Field<'_>) -> Option<Duration> {
    let text = field.text()?;
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000)];
    let read = |(unit, length): (&str, u64)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        // A time of zero would give up every request at once.
        number.checked_mul(length).filter(|time| *time > 0)
    };
    match units.into_iter().find_map(read) {
        Some(time) => Some(Duration::from_millis(time)),
        None => field.error(format!("`{text}` is not a time such as 30s, 500ms or 2m")),
    }
}
