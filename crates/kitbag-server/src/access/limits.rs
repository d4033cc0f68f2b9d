//! The limits of keys: requests and tokens a minute. Each node of a server counts for itself.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kitbag::store::{Key, KeyScope, Tenant};
use tokio::time::Instant;

/// The use that keys made of their limits lately.
#[derive(Debug, Default)]
pub(crate) struct Limits(Mutex<BTreeMap<(Tenant, String), Used>>);

#[derive(Debug, Default)]
struct Used {
    requests: Bucket,
    tokens: Bucket,
    /// The latest denial for each right.
    denied: BTreeMap<&'static str, Instant>,
}

/// A leaky bucket: use fills it, time empties it. Its level is in millionths of a request or a token.
#[derive(Debug, Default)]
struct Bucket {
    level: u64,
    at: Option<Instant>,
}

const MILLION: u64 = 1_000_000;
const MINUTE: Duration = Duration::from_secs(60);

impl Limits {
    /// Counts a request of a key. Returns how long to wait where it is one too many.
    pub(super) fn take_request(&self, tenant: &Tenant, key: &Key) -> Option<Duration> {
        // Keys without limits leave nothing behind here.
        if key.requests_per_minute.is_none() && key.tokens_per_minute.is_none() {
            return None;
        }
        let now = Instant::now();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let used = all.entry((tenant.clone(), key.id.clone())).or_default();
        // An answer's tokens are known when it has come, so that a bucket may be more than full.
        if let Some(limit) = key.tokens_per_minute
            && let Some(wait) = used.tokens.wait(limit, 1, now)
        {
            return Some(wait);
        }
        let limit = key.requests_per_minute?;
        let wait = used.requests.wait(limit, 1, now);
        if wait.is_none() {
            used.requests.add(1);
        }
        wait
    }

    /// Notes that a key lacks a right, and returns whether that is news: nobody fills the audit log by trying.
    pub(super) fn is_first_denial(&self, tenant: &Tenant, key: &Key, scope: KeyScope) -> bool {
        let now = Instant::now();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let used = all.entry((tenant.clone(), key.id.clone())).or_default();
        let before = used.denied.get(scope.as_str());
        let is_first = before.is_none_or(|at| now.duration_since(*at) >= MINUTE);
        if is_first {
            used.denied.insert(scope.as_str(), now);
        }
        is_first
    }

    /// Counts the tokens of a request that was answered.
    pub(crate) fn spend_tokens(&self, tenant: &Tenant, key: &Key, tokens: u64) {
        let Some(limit) = key.tokens_per_minute else {
            return;
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = &mut all
            .entry((tenant.clone(), key.id.clone()))
            .or_default()
            .tokens;
        // Before adding, or the time before this request would count for it.
        bucket.run_out(limit, Instant::now());
        bucket.add(tokens);
    }
}

impl Bucket {
    /// Lets as much run out as the time since the last look allows.
    fn run_out(&mut self, limit: u32, now: Instant) {
        let since = self.at.replace(now).map(|at| now.duration_since(at));
        let micros = since.map_or(0, |since| {
            u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
        });
        // A limit of N a minute lets N / 60 millionths run out in a microsecond.
        let out = micros.saturating_mul(u64::from(limit)) / 60;
        self.level = self.level.saturating_sub(out);
    }

    /// Returns how long to wait until so much has room.
    fn wait(&mut self, limit: u32, much: u64, now: Instant) -> Option<Duration> {
        self.run_out(limit, now);
        let room = u64::from(limit).saturating_mul(MILLION);
        let over = (self.level.saturating_add(much * MILLION)).checked_sub(room + 1)?;
        Some(Duration::from_micros(
            (over + 1).saturating_mul(60) / u64::from(limit.max(1)),
        ))
    }

    fn add(&mut self, much: u64) {
        self.level = self.level.saturating_add(much.saturating_mul(MILLION));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_bucket_takes_its_limit_and_runs_out_in_a_minute() {
        let mut bucket = Bucket::default();
        for _ in 0..60 {
            assert_eq!(bucket.wait(60, 1, Instant::now()), None);
            bucket.add(1);
        }
        let second = Duration::from_secs(1);
        assert_eq!(bucket.wait(60, 1, Instant::now()), Some(second));
        tokio::time::advance(second).await;
        assert_eq!(bucket.wait(60, 1, Instant::now()), None);
        bucket.add(61);
        assert_eq!(bucket.wait(60, 1, Instant::now()), Some(61 * second));
        tokio::time::advance(120 * second).await;
        assert_eq!(bucket.wait(60, 60, Instant::now()), None);
    }
}
