//! Retries: the errors that may pass by themselves, and the pause before the next attempt.

use std::time::Duration;

use http::HeaderMap;
use jiff::fmt::rfc2822;

use crate::provider::{ProviderError, Stage};

/// The first pause, doubled with each attempt.
const FIRST: Duration = Duration::from_millis(500);

/// The longest pause. If a provider asks for more, a person decides.
const LONGEST: Duration = Duration::from_secs(60);

/// The pause before the next attempt, or `None` if another would not help. `random` spreads the attempts
/// of many clients.
pub(super) fn pause(error: &ProviderError, attempt: u32, random: u32) -> Option<Duration> {
    let asked = match error {
        ProviderError::Connect { .. }
        | ProviderError::Timeout {
            stage: Stage::Connect,
            ..
        } => None,
        ProviderError::Status {
            // 529 is Anthropic's status for an overloaded server.
            status: 408 | 409 | 429 | 500 | 502 | 503 | 504 | 529,
            retry_after,
            ..
        } => *retry_after,
        _ => return None,
    };
    match asked {
        Some(asked) => (asked <= LONGEST).then_some(asked),
        None => {
            let whole = FIRST.saturating_mul(1 << attempt.min(6));
            // Between half of it and the whole, so that clients that failed together do not return together.
            let share = whole.as_millis() * u128::from(random) / u128::from(u32::MAX) / 2;
            Some(whole / 2 + Duration::from_millis(u64::try_from(share).unwrap_or_default()))
        }
    }
}

/// The pause that a header asks for: milliseconds, seconds, or a date by the server's own clock.
pub(super) fn after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let after = text("retry-after")?;
    if let Ok(seconds) = after.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text: &str| Some(rfc2822::parse(text).ok()?.timestamp());
    // Relative to the server's `date`: our clock may differ.
    let wait = date(after)?.duration_since(date(text("date")?)?);
    Duration::try_from(wait).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, retry_after: Option<u64>) -> ProviderError {
        ProviderError::Status {
            address: String::new(),
            status,
            message: String::new(),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    #[test]
    fn pauses_grow_and_are_spread() {
        let pause = |attempt, random| pause(&status(503, None), attempt, random).unwrap();
        assert_eq!(pause(0, 0), Duration::from_millis(250));
        assert_eq!(pause(0, u32::MAX), Duration::from_millis(500));
        assert_eq!(pause(2, u32::MAX), Duration::from_secs(2));
    }

    #[test]
    fn the_provider_s_word_counts_within_reason() {
        assert_eq!(
            pause(&status(429, Some(7)), 0, 0),
            Some(Duration::from_secs(7))
        );
        assert_eq!(pause(&status(429, Some(3_600)), 0, 0), None);
        assert_eq!(pause(&status(401, Some(1)), 0, 0), None);
    }

    #[test]
    fn a_header_tells_when_to_come_back() {
        let read = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            after(&headers)
        };
        assert_eq!(read("retry-after", "3"), Some(Duration::from_secs(3)));
        assert_eq!(
            read("retry-after-ms", "40"),
            Some(Duration::from_millis(40))
        );
        assert_eq!(read("retry-after", "soon"), None);
        let mut dated = HeaderMap::new();
        for (name, at) in [("date", "07:28:00"), ("retry-after", "07:28:05")] {
            let date = format!("Wed, 21 Oct 2026 {at} GMT");
            dated.insert(name, date.parse().unwrap());
        }
        assert_eq!(after(&dated), Some(Duration::from_secs(5)));
    }
}
