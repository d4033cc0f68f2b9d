//! The keys that were looked up lately, so that not every request asks the store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use kitbag::store::{Key, Store, StoreError};
use tokio::time::Instant;

/// A key is looked up again after so long: a revoked one opens nothing any more.
const FRESH: Duration = Duration::from_secs(5);
/// While the store cannot be asked, a key that was valid stays so for so long.
const STALE: Duration = Duration::from_secs(600);
/// So many keys are kept.
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
}

#[derive(Debug, Clone)]
struct Found {
    store: Store,
    key: Arc<Key>,
    at: Instant,
}

impl Keyring {
    pub(crate) fn new(store: Store, always: bool) -> Self {
        Self {
            store,
            always,
            found: Mutex::default(),
            needed: Mutex::default(),
        }
    }

    /// The key that a client shows, with the memory of its tenant.
    pub(super) async fn find(
        &self,
        shown: &str,
        now: Timestamp,
    ) -> Result<Option<(Store, Arc<Key>)>, StoreError> {
        // Of a key only the hash is kept, here as in the store.
        let hash = *blake3::hash(shown.as_bytes()).as_bytes();
        let known = lock(&self.found).get(&hash).cloned();
        if let Some(known) = known.as_ref().filter(|known| known.at.elapsed() < FRESH) {
            return Ok(valid(known, now));
        }
        match self.store.authenticate(shown, now).await {
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
            Err(error) => match known.filter(|known| known.at.elapsed() < STALE) {
                Some(known) => {
                    tracing::warn!(event = "key_not_looked_up", %error);
                    Ok(valid(&known, now))
                }
                None => Err(error),
            },
        }
    }

    /// Returns whether clients need a key.
    pub(super) async fn are_needed(&self) -> Result<bool, StoreError> {
        let known = *lock(&self.needed);
        match known {
            _ if self.always => return Ok(true),
            // Whoever had a key once does not go back to none by itself.
            Some((true, _)) => return Ok(true),
            Some((false, at)) if at.elapsed() < FRESH => return Ok(false),
            _ => {}
        }
        let has_keys = self.store.has_keys().await?;
        *lock(&self.needed) = Some((has_keys, Instant::now()));
        Ok(has_keys)
    }
}

fn valid(found: &Found, now: Timestamp) -> Option<(Store, Arc<Key>)> {
    let Found { store, key, .. } = found;
    key.is_valid_at(now)
        .then(|| (store.clone(), Arc::clone(key)))
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
