//! The counts of texts that a process counts again and again: the messages of a conversation, in every turn.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The most texts to keep; with more, all are dropped. They take some 400 KB.
const MOST: usize = 8_192;

/// Counting a shorter text takes no longer than looking it up.
const SHORTEST: usize = 64;

#[derive(Debug, Default)]
pub(super) struct KnownTexts(Mutex<HashMap<blake3::Hash, usize>>);

impl KnownTexts {
    /// The count of a text, which is counted only if it is not known.
    pub(super) fn count(&self, text: &str, count: impl FnOnce() -> usize) -> usize {
        if text.len() < SHORTEST {
            return count();
        }
        let hash = blake3::hash(text.as_bytes());
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&hash) {
            return *known;
        }
        // Not under the lock: a long text must not keep other threads waiting.
        let counted = count();
        let mut known = known();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(hash, counted);
        counted
    }
}
