//! The providers that requests go to, chosen by the model that a request names.

mod address;
mod breaker;
mod send;

use std::net::SocketAddr;
use std::sync::Arc;

use http::{HeaderMap, Uri};
use kitbag::layout::config::NamePattern;
use kitbag::layout::{Config, ServerSettings};
use kitbag::provider::{Credentials, HttpClient, HttpSettings, ProviderError, Providers, Timeouts};
use kitbag::wire::Dialect;
use serde::Deserialize;

use crate::access::CREDENTIALS;
use address::Address;
use breaker::Breaker;
pub(crate) use send::SendFailure;

/// The providers of a server.
#[derive(Debug)]
pub struct Upstreams {
    /// Patterns of models' names, the first that fits counts.
    by_model: Vec<(NamePattern, Arc<Upstream>)>,
    anthropic: Arc<Upstream>,
    openai: Arc<Upstream>,
}

/// A provider that requests are sent on to.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) name: String,
    address: Address,
    client: HttpClient,
    /// The operator's key and headers, which replace the client's.
    own: Credentials,
    pub(crate) timeouts: Timeouts,
    retries: u32,
    breaker: Breaker,
}

/// The name of an upstream that was given as an address.
const UNNAMED: &str = "default";

/// An upstream that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// Its provider cannot be used.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// No provider has its name.
    #[error("there is no provider `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// Its address cannot be used.
    #[error("the upstream `{name}` cannot be used: {problem}")]
    Address {
        /// Its name, `default` for an address without one.
        name: String,
        /// The problem.
        problem: String,
    },
}

impl UpstreamError {
    /// Advice for whoever named it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Provider(error) => error.hint(),
            Self::Unknown { known, .. } => Some(format!(
                "give an address such as https://api.anthropic.com, or one of {}; `providers:` in your own \
                 kitbag.yaml defines more",
                known.join(", ")
            )),
            Self::Address { .. } => Some(
                "give the name of a provider, or an address such as https://api.anthropic.com"
                    .to_owned(),
            ),
        }
    }
}

impl Upstreams {
    /// The upstreams of a configuration: those that `server: {upstreams: …}` names for some models, and for
    /// all others `rest`, the name of a provider or an address. Without it they go to Anthropic or to
    /// OpenAI, whichever API a client speaks. Keys are read here.
    ///
    /// # Errors
    /// When a provider cannot be used, or its key cannot be read.
    pub fn open(
        config: &Config,
        providers: &Providers<'_>,
        rest: Option<&str>,
    ) -> Result<Self, UpstreamError> {
        let ServerSettings { upstreams, .. } = &config.server;
        let mut by_model = Vec::new();
        for (pattern, provider) in upstreams {
            // All are opened at the start, so that a missing key is found before the first request.
            let upstream = Upstream::named(provider, providers)?;
            by_model.push((NamePattern::new(pattern), Arc::new(upstream)));
        }
        let (anthropic, openai) = match rest {
            Some(rest) => {
                // No provider's name holds this sign.
                let rest = Arc::new(match rest.contains("://") {
                    true => Upstream::at(rest)?,
                    false => Upstream::named(rest, providers)?,
                });
                // One upstream for both dialects: gateways speak several APIs at one address.
                (Arc::clone(&rest), rest)
            }
            None => (
                Arc::new(Upstream::named("anthropic", providers)?),
                Arc::new(Upstream::named("openai", providers)?),
            ),
        };
        Ok(Self {
            by_model,
            anthropic,
            openai,
        })
    }

    /// The upstream for the model that a request names, in a dialect. A request is read only where several
    /// may be meant.
    pub(crate) fn choose(&self, body: &[u8], dialect: Dialect) -> &Arc<Upstream> {
        // Parsing a body of megabytes for its model costs more than all else that is done to it.
        let model = match self.by_model.is_empty() {
            true => None,
            false => model(body),
        };
        self.of_model(model.as_deref(), dialect)
    }

    /// The upstream for a model, in a dialect.
    pub(crate) fn of_model(&self, model: Option<&str>, dialect: Dialect) -> &Arc<Upstream> {
        let fits = |pattern: &NamePattern| model.is_some_and(|model| pattern.is_of(model));
        let named = self.by_model.iter().find(|(pattern, _)| fits(pattern));
        match (named, dialect) {
            (Some((_, upstream)), _) => upstream,
            (None, Dialect::Anthropic) => &self.anthropic,
            (None, _) => &self.openai,
        }
    }

    /// The upstreams that only some models go to, each once.
    pub(crate) fn of_some_models(&self) -> Vec<Arc<Upstream>> {
        let mut all: Vec<Arc<Upstream>> = Vec::new();
        for (_, upstream) in &self.by_model {
            if all.iter().all(|other| other.name != upstream.name) {
                all.push(Arc::clone(upstream));
            }
        }
        all
    }

    /// Tells whether requests would come back to the server that listens on an address: a client's variable for the
    /// base URL is read by the server, too.
    #[must_use]
    pub fn lead_to(&self, own: SocketAddr) -> bool {
        let named = self.by_model.iter().map(|(_, upstream)| upstream);
        let mut all = named.chain([&self.anthropic, &self.openai]);
        all.any(|upstream| upstream.address.is_at(own))
    }

    /// The addresses of all upstreams, each once, as people may see them.
    pub fn addresses(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let named = self.by_model.iter().map(|(_, upstream)| upstream);
        for upstream in named.chain([&self.anthropic, &self.openai]) {
            let address = upstream.address.to_string();
            if !all.contains(&address) {
                all.push(address);
            }
        }
        all
    }
}

impl Upstream {
    /// The upstream of a provider.
    fn named(name: &str, providers: &Providers<'_>) -> Result<Self, UpstreamError> {
        let settings = providers.over_http(name).map_err(|error| match error {
            ProviderError::UnknownModel { model: name, known } => {
                UpstreamError::Unknown { name, known }
            }
            other => other.into(),
        })?;
        let own = settings.credentials()?;
        Self::new(&settings, own)
    }

    /// The upstream at an address, whichever API it speaks, with the client's own key.
    fn at(address: &str) -> Result<Self, UpstreamError> {
        let dialect = match address.trim_end_matches('/').ends_with("/v1") {
            true => Dialect::OpenAi,
            false => Dialect::Anthropic,
        };
        // Clients see the name in errors, and not where the operator's network has what.
        let settings = HttpSettings::new(UNNAMED, dialect, address);
        Self::new(&settings, Credentials::default())
    }

    fn new(settings: &HttpSettings, own: Credentials) -> Result<Self, UpstreamError> {
        let wrong = |problem: String| UpstreamError::Address {
            name: settings.name.clone(),
            problem,
        };
        let base: Uri = settings.base_url.parse().map_err(|_| {
            let base = &settings.base_url;
            // What stands before the sign may be a password.
            let base = base
                .rsplit_once('@')
                .map_or(base.as_str(), |(_, host)| host);
            wrong(format!("`{base}` is no address"))
        })?;
        let client = HttpClient::new(&base, settings.timeouts.connect).map_err(wrong)?;
        let address = Address::new(&base, settings.dialect).map_err(wrong)?;
        Ok(Self {
            name: settings.name.clone(),
            address,
            client,
            own,
            timeouts: settings.timeouts,
            retries: settings.retries,
            breaker: Breaker::default(),
        })
    }

    /// Returns whether requests are sent with the operator's key.
    pub(crate) const fn has_key(&self) -> bool {
        !self.own.secrets.is_empty()
    }

    /// The host and the port that requests go to.
    pub(crate) fn place(&self) -> (&str, Option<u16>) {
        self.address.place()
    }

    /// Puts the operator's key and headers into the place of the client's.
    fn add_own(&self, headers: &mut HeaderMap) {
        if self.own.headers.is_empty() {
            return;
        }
        let is_key = |name: &str| CREDENTIALS.contains(&name);
        // All are removed: an API that gets two credentials may use the client's.
        if self.own.headers.keys().any(|name| is_key(name.as_str())) {
            for credential in CREDENTIALS {
                headers.remove(credential);
            }
        }
        for (name, value) in &self.own.headers {
            headers.insert(name.clone(), value.clone());
        }
    }

    /// The text without any of the operator's keys.
    pub(crate) fn scrubbed(&self, text: String) -> String {
        let secrets = self.own.secrets.iter();
        secrets.fold(text, |text, secret| secret.scrubbed(text))
    }
}

/// The model that a request names, whatever else it says.
fn model(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        model: String,
    }
    let read: Result<Named, _> = serde_json::from_slice(body);
    read.ok().map(|named| named.model)
}
