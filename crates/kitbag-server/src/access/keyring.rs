//! The keys that were looked up lately, so that not every request asks the store, and a store that does not answer
//! does not hold up clients that were let in before. A key that was never looked up is never let in.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use kitbag::store::{Key, Store, StoreError};
use tokio::time::{Instant, timeout};

use crate::observe::{Event, Metrics};

/// A key is looked up again after so long: a revoked one opens nothing any more.
const FRESH: Duration = Duration::from_secs(5);
/// While the store cannot be asked, an earlier answer is used for at most this long.
const STALE: Duration = Duration::from_secs(600);
/// A request for which nothing was found before can only be refused without the store, so it waits longer.
const LONGEST: Duration = Duration::from_secs(5);
/// The pause after a lookup that failed: requests with a fallback do not wait for a store that is down.
const REST: Duration = Duration::from_secs(3);
/// The most keys to keep in memory.
const MOST: usize = 10_000;

/// The keys of a store.
#[derive(Debug)]
pub(crate) struct Keyring {
    /// The store as the tenant of the server sees it.
    store: Store,
    /// Set where clients need a key although the tenant of the server has none.
    always: bool,
    found: Mutex<BTreeMap<[u8; 32], Found>>,
    needed: Mutex<Option<(bool, Instant)>>,
    /// The end of the time for which the store is not asked about what was found before.
    rests: Mutex<Option<Instant>>,
    metrics: Arc<Metrics>,
}

/// The store could not be asked in time. The log says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotAsked;

#[derive(Debug, Clone)]
struct Found {
    store: Store,
    key: Arc<Key>,
    at: Instant,
}

impl Keyring {
    /// The keys of a store whose tenant has some or none at the moment.
    pub(crate) fn new(store: Store, always: bool, has_keys: bool, metrics: Arc<Metrics>) -> Self {
        Self {
            store,
            always,
            found: Mutex::default(),
            needed: Mutex::new(Some((has_keys, Instant::now()))),
            rests: Mutex::default(),
            metrics,
        }
    }

    /// The key that a client shows, with the memory of its tenant. `limit` is the time for looking it up again.
    pub(super) async fn find(
        &self,
        shown: &str,
        now: Timestamp,
        limit: Duration,
    ) -> Result<Option<(Store, Arc<Key>)>, NotAsked> {
        // Of a key only the hash is kept, here as in the store.
        let hash = *blake3::hash(shown.as_bytes()).as_bytes();
        let known = lock(&self.found).get(&hash).cloned();
        if let Some(known) = known.as_ref().filter(|known| known.at.elapsed() < FRESH) {
            return Ok(valid(known, now));
        }
        let known = known.filter(|known| known.at.elapsed() < STALE);
        let asking = self.store.authenticate(shown, now);
        match self.ask(asking, limit, known.is_some()).await {
            Ok(Some((store, key))) => {
                let key = Arc::new(key);
                let found = Found {
                    store: store.clone(),
                    key: Arc::clone(&key),
                    at: Instant::now(),
                };
                let mut all = lock(&self.found);
                if all.len() >= MOST {
                    all.retain(|_, found| found.at.elapsed() < FRESH);
                }
                all.insert(hash, found);
                Ok(Some((store, key)))
            }
            Ok(None) => {
                lock(&self.found).remove(&hash);
                Ok(None)
            }
            Err(NotAsked) => match known {
                Some(known) => Ok(valid(&known, now)),
                None => Err(NotAsked),
            },
        }
    }

    /// Returns whether clients need a key. `limit` is the time for asking that again.
    pub(super) async fn are_needed(&self, limit: Duration) -> Result<bool, NotAsked> {
        let known = *lock(&self.needed);
        match known {
            _ if self.always => return Ok(true),
            // Whoever had a key once does not go back to none by itself.
            Some((true, _)) => return Ok(true),
            Some((false, at)) if at.elapsed() < FRESH => return Ok(false),
            _ => {}
        }
        let had_none = known.filter(|(_, at)| at.elapsed() < STALE);
        let asking = self.store.has_keys();
        match self.ask(asking, limit, had_none.is_some()).await {
            Ok(has_keys) => {
                *lock(&self.needed) = Some((has_keys, Instant::now()));
                Ok(has_keys)
            }
            // Only programs of this machine come this far.
            Err(NotAsked) => had_none.map(|(had, _)| had).ok_or(NotAsked),
        }
    }

    /// Asks the store. Whoever has something to fall back on waits no longer than `limit`, and not while it rests.
    async fn ask<T>(
        &self,
        asking: impl Future<Output = Result<T, StoreError>>,
        limit: Duration,
        has_fallback: bool,
    ) -> Result<T, NotAsked> {
        let rests = || lock(&self.rests).is_some_and(|until| Instant::now() < until);
        let limit = match has_fallback {
            true if rests() => return Err(NotAsked),
            true => limit,
            false => limit.max(LONGEST),
        };
        let (problem, is_away) = match timeout(limit, asking).await {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(error)) => (error.to_string(), is_away(&error)),
            Err(_) => (format!("no answer within {} ms", limit.as_millis()), true),
        };
        tracing::error!(event = "keys_not_looked_up", problem);
        self.metrics.note(Event::MemoryFailed, "keys");
        // One damaged row says nothing about the keys of others.
        if is_away {
            *lock(&self.rests) = Some(Instant::now() + REST);
        }
        Err(NotAsked)
    }
}

/// Tells whether the store would answer nobody else either.
const fn is_away(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Connect { .. }
            | StoreError::Unreachable { .. }
            | StoreError::Unavailable { .. }
            | StoreError::Exhausted { .. }
            | StoreError::Disconnected { .. }
            | StoreError::Locked { .. }
    )
}

fn valid(found: &Found, now: Timestamp) -> Option<(Store, Arc<Key>)> {
    let Found { store, key, .. } = found;
    key.is_valid_at(now)
        .then(|| (store.clone(), Arc::clone(key)))
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
