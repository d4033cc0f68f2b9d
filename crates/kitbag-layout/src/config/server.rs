//! The settings of `kitbag serve`: its address, where requests go, and what memory adds to them.

use core::net::SocketAddr;
use core::time::Duration;

use indexmap::IndexMap;
use kitbag_core::tokens::Tokens;

use super::hooks::tokens;
use super::provider::{KeySource, time};
use crate::yaml::Field;

/// The settings of a server.
///
/// ```
/// use kitbag_layout::{Config, ProxyMemory};
///
/// let text = "server:\n  memory: read\n  upstreams: {claude-*: anthropic}\n";
/// let (config, problems) = Config::read("kitbag.yaml", text);
/// assert_eq!(config.server.memory(), ProxyMemory::Read);
/// assert_eq!(config.server.upstreams["claude-*"], "anthropic");
/// assert!(problems.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSettings {
    /// The address to listen on.
    pub bind: Option<SocketAddr>,
    /// Names of models, which may hold `*`, and the provider that serves them. The first that fits counts.
    pub upstreams: IndexMap<String, String>,
    /// The budget of a request's history. Without one, no history is shortened.
    pub history_budget: Option<Tokens>,
    /// The folders that may be packed over HTTP, relative to the folder of the configuration.
    pub roots: Vec<String>,
    /// The Slack app that asks.
    pub slack: Option<SlackSettings>,
    /// Set if a file that was merely found in a folder has settings here, which are ignored.
    pub is_ignored: bool,
    cache_breakpoints: Option<bool>,
    memory: Option<ProxyMemory>,
    memory_budget: Option<Tokens>,
    memory_time_limit: Option<Duration>,
    largest_body: Option<usize>,
    drain: Option<Duration>,
}

/// The use that a proxy makes of memory. The greater allows less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ProxyMemory {
    /// It is brought and extended.
    #[default]
    On,
    /// It is brought, and nothing is learned.
    Read,
    /// None is used: requests go on as they come.
    Off,
}

impl ProxyMemory {
    const WORDS: [(&str, Self); 3] = [("on", Self::On), ("read", Self::Read), ("off", Self::Off)];

    /// The mode that a word names.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(known, _)| *known == word)?;
        Some(found.1)
    }

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Read => "read",
            Self::Off => "off",
        }
    }
}

/// The most tokens that are added to one request. They stay in the conversation for good.
const MEMORY_BUDGET: Tokens = Tokens(800);
/// No request waits longer for memory.
const MEMORY_TIME_LIMIT: Duration = Duration::from_millis(500);
/// No larger request is taken: pictures and documents are the largest that clients send.
const LARGEST_BODY: usize = 64 << 20;
/// Balancers ask every few seconds whether a server is ready.
const DRAIN: Duration = Duration::from_secs(5);

impl ServerSettings {
    /// The use of memory; all of it, if nothing is said.
    #[must_use]
    pub fn memory(&self) -> ProxyMemory {
        self.memory.unwrap_or_default()
    }

    /// The use of memory, if that is said.
    #[must_use]
    pub const fn said_memory(&self) -> Option<ProxyMemory> {
        self.memory
    }

    /// Returns true if cache breakpoints are set for clients of Anthropic's API that set none.
    #[must_use]
    pub fn sets_breakpoints(&self) -> bool {
        self.cache_breakpoints.unwrap_or(true)
    }

    /// The most tokens that are added to one request.
    #[must_use]
    pub fn memory_budget(&self) -> Tokens {
        self.memory_budget.unwrap_or(MEMORY_BUDGET)
    }

    /// The longest that a request waits for memory.
    #[must_use]
    pub fn memory_time_limit(&self) -> Duration {
        self.memory_time_limit.unwrap_or(MEMORY_TIME_LIMIT)
    }

    /// The most bytes of a request.
    #[must_use]
    pub fn largest_body(&self) -> usize {
        self.largest_body.unwrap_or(LARGEST_BODY)
    }

    /// The time for which a stopping server still takes requests, while `/readyz` reports that it stops. None on an
    /// address of this machine alone, where no balancer has to notice, unless it is said.
    #[must_use]
    pub fn drain(&self, is_local: bool) -> Duration {
        let usual = if is_local { Duration::ZERO } else { DRAIN };
        self.drain.unwrap_or(usual)
    }

    /// Lays a project's settings over its user's.
    pub(super) fn merge(user: Self, project: Self) -> Self {
        let mut upstreams = project.upstreams;
        // The project's patterns stand first and so win, since the first that fits counts.
        for (models, provider) in user.upstreams {
            upstreams.entry(models).or_insert(provider);
        }
        Self {
            bind: project.bind.or(user.bind),
            upstreams,
            history_budget: project.history_budget.or(user.history_budget),
            is_ignored: project.is_ignored || user.is_ignored,
            roots: match project.roots.is_empty() {
                true => user.roots,
                false => project.roots,
            },
            slack: project.slack.or(user.slack),
            cache_breakpoints: project.cache_breakpoints.or(user.cache_breakpoints),
            memory: project.memory.or(user.memory),
            memory_budget: project.memory_budget.or(user.memory_budget),
            memory_time_limit: project.memory_time_limit.or(user.memory_time_limit),
            largest_body: project.largest_body.or(user.largest_body),
            drain: project.drain.or(user.drain),
        }
    }

    /// Takes everything back: whoever wrote a folder's files does not decide where its visitors' requests
    /// go.
    pub(super) fn found_in_folder(&mut self) {
        // Noted, so that `kitbag serve` can say why the settings have no effect.
        let is_ignored = *self != Self::default();
        *self = Self {
            is_ignored,
            ..Self::default()
        };
    }

    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        let upstreams = field.read("upstreams", |field| field.read_entries(Field::text));
        let settings = Self {
            bind: field.read("bind", address),
            upstreams: upstreams.unwrap_or_default(),
            history_budget: field.read("history_budget", tokens),
            is_ignored: false,
            roots: field.read("roots", Field::texts).unwrap_or_default(),
            slack: field.read("slack", SlackSettings::read),
            cache_breakpoints: field.read("cache_breakpoints", Field::bool),
            memory: field.read("memory", |field| field.word(&ProxyMemory::WORDS)),
            memory_budget: field.read("memory_budget", tokens),
            memory_time_limit: field.read("memory_time_limit", time),
            largest_body: field.read("largest_body", mebibytes),
            drain: field.read("drain", time),
        };
        field.warn_of_misspelt_keys(&[]);
        Some(settings)
    }
}

/// A Slack app: where its secrets are, and the address of Slack's API.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlackSettings {
    /// The secret that Slack signs its requests with.
    pub signing_secret: KeySource,
    /// The token that answers are posted with.
    pub token: KeySource,
    /// The address before the methods of the API.
    pub base_url: String,
}

impl SlackSettings {
    fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        let signing_secret = field.read("signing_secret", KeySource::read);
        let token = field.read("token", KeySource::read);
        let base = field.read("base_url", super::provider::base_url);
        field.warn_of_misspelt_keys(&[]);
        // Half an app could verify requests and not answer them, or the reverse.
        let (Some(signing_secret), Some(token)) = (signing_secret, token) else {
            return field.error_with_hint(
                "a Slack app needs a `signing_secret` and a `token`",
                "both stand in the app's settings; `{env: SLACK_SIGNING_SECRET}` says where it is",
            );
        };
        Some(Self {
            signing_secret,
            token,
            base_url: base.unwrap_or_else(|| "https://slack.com/api".to_owned()),
        })
    }
}

fn address(field: &Field<'_>) -> Option<SocketAddr> {
    let text = field.text()?;
    match text.parse() {
        Ok(address) => Some(address),
        Err(_) => field.error(format!("`{text}` is not an address such as 127.0.0.1:7411")),
    }
}

/// A number of mebibytes, such as `64M`.
fn mebibytes(field: &Field<'_>) -> Option<usize> {
    let text = field.text()?;
    let number = text.strip_suffix('M').and_then(|text| text.parse().ok());
    // Zero would refuse every request, and an overflow would allow any.
    let bytes = number.and_then(|number: usize| number.checked_mul(1 << 20));
    match bytes.filter(|bytes| *bytes > 0) {
        Some(bytes) => Some(bytes),
        None => field.error(format!("`{text}` is not a size such as 64M")),
    }
}
