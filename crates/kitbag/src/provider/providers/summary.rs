//! Summaries of providers for people: their host, and the place of their key.

use http::Uri;
use kitbag_layout::ProviderKind;
use serde::Serialize;

use super::{Providers, built_in, trusted};
use crate::provider::Key;

/// A summary of a provider for people. Nothing in it is secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProviderSummary {
    pub name: String,
    /// The API that it speaks, as configurations name it.
    pub kind: &'static str,
    /// The host that requests go to, with its port where the address names one. A script has
    /// none, and neither has a program that knows its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The model of requests that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The place of its key, where it takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<KeySummary>,
    /// Set when the configuration declares it; other providers are built in.
    pub is_configured: bool,
    /// The reason why it is not used, if its configuration is not trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// The place of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeySummary {
    /// The name of a variable, or of a file or a program in words.
    pub place: String,
    /// Set when that place holds something. Unknown for a program, which is not run to find out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_set: Option<bool>,
}

impl Providers<'_> {
    /// All providers, the project's own first. No key is read, and no program is run.
    #[must_use]
    pub fn summaries(&self) -> Vec<ProviderSummary> {
        self.names().filter_map(|name| self.summary(name)).collect()
    }

    fn summary(&self, name: &str) -> Option<ProviderSummary> {
        let entry = self.entry(name)?;
        let (address, key) = match entry.kind {
            ProviderKind::Script => (None, None),
            // Its program has an address and a login of its own, unless the entry names others.
            ProviderKind::ClaudeCode => {
                let key = entry.key.as_ref().and_then(|source| self.key(source));
                (entry.base_url.clone(), key)
            }
            _ => {
                let settings = self.settings(name, &entry);
                (Some(settings.base_url), settings.key)
            }
        };
        // An entry of the configuration that has the name of a built-in provider inherits its model.
        let usual = built_in(name).and_then(|one| one.model().map(str::to_owned));
        Some(ProviderSummary {
            name: name.to_owned(),
            kind: entry.kind.as_str(),
            host: address.as_deref().and_then(host),
            model: entry.model.clone().or(usual),
            key: key.and_then(summary_of),
            is_configured: self.config.providers.contains_key(name),
            refused: trusted(name, &entry).err().map(|error| error.to_string()),
        })
    }
}

/// The host alone: an address may hold a password.
fn host(address: &str) -> Option<String> {
    let address: Uri = address.parse().ok()?;
    let host = address.host()?;
    Some(match address.port_u16() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

fn summary_of(key: Key) -> Option<KeySummary> {
    let (place, is_set) = match key {
        Key::Variable(name, value) => (name, Some(value.is_some())),
        Key::File(path) => (format!("file {}", path.display()), Some(path.is_file())),
        Key::Command(words) => (format!("program {}", words.first()?), None),
        Key::Value(_) => return None,
    };
    Some(KeySummary { place, is_set })
}
