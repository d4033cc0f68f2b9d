//! Pages of browsers: one from elsewhere names its origin, and one that had this machine's address put under
//! its own name asks for that host.

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Uri};

/// The header in which browsers name the origin of the page.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The header by which a page from elsewhere is known. With a key a server may have any name, and pages of
/// that name may ask; without one it is this machine's alone.
pub(super) fn foreign(headers: &HeaderMap, has_key: bool) -> Option<HeaderName> {
    let text = |name: &HeaderName| Some(headers.get(name)?.to_str().unwrap_or_default());
    let host: Option<Authority> = text(&HOST).and_then(|host| host.parse().ok());
    if let Some(origin) = text(&ORIGIN) {
        let origin: Option<Uri> = origin.parse().ok();
        let authority = origin.as_ref().and_then(Uri::authority);
        let is_own = has_key && authority.is_some() && authority == host.as_ref();
        if !is_own && !authority.is_some_and(|authority| is_local(authority.host())) {
            return Some(ORIGIN);
        }
    }
    if has_key {
        return None;
    }
    // A picture or a script has no origin. Its browser says all the same that another page asks for it.
    let site = headers
        .contains_key(ORIGIN)
        .then_some("none")
        .or(text(&SITE));
    if !matches!(site, None | Some("none" | "same-origin")) {
        return Some(SITE);
    }
    // Whoever names no host is no browser.
    text(&HOST)?;
    match host.is_some_and(|host| is_local(host.host())) {
        true => None,
        false => Some(HOST),
    }
}

fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let address: Option<std::net::IpAddr> = address.parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x06_pictures_of_pages_from_elsewhere_are_refused_where_no_key_is_needed() {
        for (site, origin, is_refused) in [
            ("cross-site", "", true),
            ("same-site", "", true),
            ("none", "", false),
            ("same-origin", "", false),
            ("cross-site", "http://localhost:3000", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, "127.0.0.1:7411".parse().unwrap());
            headers.insert(SITE, site.parse().unwrap());
            if !origin.is_empty() {
                headers.insert(ORIGIN, origin.parse().unwrap());
            }
            let refused = foreign(&headers, false);
            assert_eq!(refused, is_refused.then_some(SITE), "{site} {origin}");
            assert_eq!(foreign(&headers, true), None, "a page has no key");
        }
    }

    #[test]
    fn pages_from_elsewhere_are_known_by_their_headers() {
        let foreign = |host: &str, origin: &str, has_key| {
            let mut headers = HeaderMap::new();
            for (name, value) in [(HOST, host), (ORIGIN, origin)] {
                if !value.is_empty() {
                    headers.insert(name, value.parse().unwrap());
                }
            }
            foreign(&headers, has_key).map_or_else(String::new, |name| name.to_string())
        };
        for (host, origin, without, with) in [
            ("127.0.0.1:7411", "", "", ""),
            ("[::1]:7411", "http://localhost:3000", "", ""),
            ("localhost", "http://evil.com", "origin", "origin"),
            ("127.0.0.1", "null", "origin", "origin"),
            ("evil.com", "", "host", ""),
            (
                "kitbag.example:443",
                "https://kitbag.example:443",
                "origin",
                "",
            ),
            ("kitbag.example", "https://evil.com", "origin", "origin"),
        ] {
            assert_eq!(foreign(host, origin, false), without, "{host} {origin}");
            assert_eq!(foreign(host, origin, true), with, "{host} {origin}");
        }
    }
}
