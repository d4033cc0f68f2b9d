//! The address of an upstream, and the one of a request there.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

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
        // It would stand in logs and process lists, and clients would see it in errors.
        if authority.as_str().contains('@') {
            return Err(
                "its address holds a user name or a password, which belong into the `key` or the `headers` \
                 of a provider"
                    .to_owned(),
            );
        }
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
        let ip = ip.or((host == "localhost").then_some(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        let is_here = ip.is_some_and(|ip| {
            // A socket of all addresses has those of this machine, whatever name it was given.
            let every = ip.is_unspecified() || socket.ip().is_unspecified();
            ip == socket.ip() || (every && (ip.is_loopback() || ip.is_unspecified()))
        }) || (host == "localhost" && socket.ip().is_loopback());
        let usual = if self.scheme == Scheme::HTTPS {
            443
        } else {
            80
        };
        is_here && self.authority.port_u16().unwrap_or(usual) == socket.port()
    }

    /// The address of a request, with its query as it came. Steps up the path are none of the API's: they could lead to
    /// another part of the host.
    pub(crate) fn of_request(&self, request: &Uri) -> Option<Uri> {
        let path = request.path();
        if path.split(['/', '\\']).any(is_step) {
            return None;
        }
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

/// Returns whether a part of a path is `.` or `..`, also where its dots or a slash behind them are encoded.
fn is_step(part: &str) -> bool {
    let part = part.to_ascii_lowercase().replace("%2e", ".");
    let part = part.replace("%2f", "/").replace("%5c", "/");
    part.split('/').any(|part| matches!(part, "." | ".."))
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
    fn x07_a_request_does_not_leave_the_api_of_its_upstream() {
        let base = "https://host/api/v1".parse().unwrap();
        let address = Address::new(&base, Dialect::OpenAi).unwrap();
        for path in [
            "/v1/../x",
            "/v1/./x",
            "/v1/%2E%2e/x",
            "/v1/a%2f..%2fx",
            "/v1/..",
        ] {
            assert_eq!(address.of_request(&path.parse().unwrap()), None, "{path}");
        }
        for path in ["/v1/files/a%2Fb", "/v1/models/m..x", "/v1/models/v1.5"] {
            assert!(
                address.of_request(&path.parse().unwrap()).is_some(),
                "{path}"
            );
        }
    }

    #[test]
    fn x06_a_socket_of_this_machine_is_known_by_any_of_its_names() {
        let is_at = |base: &str, socket: &str| {
            let address = Address::new(&base.parse().unwrap(), Dialect::OpenAi).unwrap();
            address.is_at(socket.parse().unwrap())
        };
        for base in [
            "http://127.0.0.1:7411",
            "http://localhost:7411",
            "http://0.0.0.0:7411",
        ] {
            assert!(is_at(base, "127.0.0.1:7411"), "{base}");
            assert!(is_at(base, "0.0.0.0:7411"), "{base}");
            assert!(!is_at(base, "0.0.0.0:7412"), "{base}");
        }
        assert!(is_at("http://localhost", "127.0.0.1:80"));
        assert!(is_at("http://localhost:1", "[::1]:1") && is_at("http://[::1]:1", "[::]:1"));
        assert!(!is_at("https://api.example:7411", "0.0.0.0:7411"));
    }

    #[test]
    fn x07_an_address_with_a_password_is_refused_without_quoting_it() {
        let base = "http://op:s3cret@host/v1".parse().unwrap();
        let problem = Address::new(&base, Dialect::OpenAi).unwrap_err();
        assert!(
            !problem.contains("s3cret") && !problem.contains("op:"),
            "{problem}"
        );
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
