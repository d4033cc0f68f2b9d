//! The headers of a provider that its operator has set: the key, as the API wants it, and others.

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::HttpSettings;
use crate::provider::decode::Api;
use crate::provider::{ProviderError, Secret};

/// The headers that make a request its operator's.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Credentials {
    /// The headers. Their values are marked as sensitive.
    pub headers: HeaderMap,
    /// Their values, to be kept out of everything that is shown.
    pub secrets: Vec<Secret>,
}

impl HttpSettings {
    /// Reads the key and the values of the other headers.
    ///
    /// # Errors
    /// When one of them is missing, or cannot stand in a header.
    pub fn credentials(&self) -> Result<Credentials, ProviderError> {
        let mut own = Credentials::default();
        if let Some(key) = &self.key {
            let key = key.read(&self.name)?;
            match Api::of(self.dialect) {
                Some(Api::Anthropic) => self.add(&mut own, "x-api-key", str::to_owned, key)?,
                _ => self.add(
                    &mut own,
                    "authorization",
                    |key| format!("Bearer {key}"),
                    key,
                )?,
            }
        }
        for (header, value) in &self.headers {
            let value = value.read(&self.name)?;
            self.add(&mut own, header, str::to_owned, value)?;
        }
        Ok(own)
    }

    fn add(
        &self,
        own: &mut Credentials,
        header: &str,
        form: impl Fn(&str) -> String,
        secret: Secret,
    ) -> Result<(), ProviderError> {
        let wrong = |problem| ProviderError::Setting {
            provider: self.name.clone(),
            problem,
        };
        let known = HeaderName::from_bytes(header.as_bytes())
            .map_err(|_| wrong(format!("`{header}` is no name of a header")))?;
        let mut value = HeaderValue::from_str(&form(secret.expose()))
            .map_err(|_| wrong(format!("the value for `{header}` cannot stand in a header")))?;
        value.set_sensitive(true);
        own.headers.insert(known, value);
        own.secrets.push(secret);
        Ok(())
    }
}
