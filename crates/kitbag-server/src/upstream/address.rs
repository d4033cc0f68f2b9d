//! The address of an upstream, and the one of a request there.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use kitbag::wire::Dialect;

/// The address that the paths of the API are appended to.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    scheme: Scheme,
    authority: Authority,
    /// The path before those of the API, without a slash at its end.
    path: String,
    /// Set where that path holds the `/v1` of the requests already, as addresses of OpenAI do.
    has_version: bool,
}

impl Address {
    /// The address of a provider's configuration.
    pub(crate) fn new(base: &Uri, dialect: Dialect) -> Result<Self, String> {
        let (Some(scheme), Some(authority)) = (base.scheme(), base.authority()) else {
            return Err(format!("`{base}` has no scheme or no host"));
        };
        Ok(Self {
            scheme: scheme.clone(),
            authority: authority.clone(),
            path: base.path().trim_end_matches('/').to_owned(),
            has_version: dialect != Dialect::Anthropic,
        })
    }

    /// The host, and the port where one is named.
    pub(crate) fn place(&self) -> (&str, Option<u16>) {
        (self.authority.host(), self.authority.port_u16())
    }

    /// Tells whether it is that of a socket on this machine.
    pub(crate) fn is_at(&self, socket: SocketAddr) -> bool {
        let host = self.authority.host();
        let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        // Names are not resolved: this only catches the usual slip.
        let is_here = host == "localhost" || ip == Some(socket.ip());
        is_here && self.authority.port_u16() == Some(socket.port())
    }

    /// The address of a request, with its query as it came.
    pub(crate) fn of_request(&self, request: &Uri) -> Option<Uri> {
        let path = request.path();
        let path = match self.has_version {
            // Clients of OpenAI have it in their base address, and so have the addresses of upstreams.
            true => path.strip_prefix("/v1").unwrap_or(path),
            false => path,
        };
        let query = request.query().map(|query| format!("?{query}"));
        let whole = format!("{}{path}{}", self.path, query.unwrap_or_default());
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(PathAndQuery::try_from(whole).ok()?)
            .build()
            .ok()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(base: &str, dialect: Dialect, request: &str) -> String {
        let address = Address::new(&base.parse().unwrap(), dialect).unwrap();
        let request = address.of_request(&request.parse().unwrap());
        request.unwrap().to_string()
    }

    #[test]
    fn each_api_has_its_way_with_the_version() {
        let messages = "/v1/messages?beta=true";
        assert_eq!(
            address("https://api.anthropic.com", Dialect::Anthropic, messages),
            "https://api.anthropic.com/v1/messages?beta=true"
        );
        let chat = "/v1/chat/completions";
        assert_eq!(
            address("https://openrouter.ai/api/v1/", Dialect::OpenAi, chat),
            "https://openrouter.ai/api/v1/chat/completions"
        );
        assert_eq!(
            address("http://localhost:1/x", Dialect::Responses, "/v1/responses"),
            "http://localhost:1/x/responses"
        );
    }
}
