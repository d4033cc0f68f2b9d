//! A counter that counts each text once: an assembly lays its parts out several times.

use alloc::collections::BTreeMap;
use core::cell::RefCell;

use crate::tokens::{Exactness, TokenCounter, Tokens};

/// Remembers the counts of another counter, by the hash of the text.
pub(super) struct Memo<'a> {
    counter: &'a dyn TokenCounter,
    counts: RefCell<BTreeMap<[u8; 32], Tokens>>,
}

impl<'a> Memo<'a> {
    pub(super) fn new(counter: &'a dyn TokenCounter) -> Self {
        Self {
            counter,
            counts: RefCell::default(),
        }
    }
}

impl TokenCounter for Memo<'_> {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> Tokens {
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        if let Some(&known) = self.counts.borrow().get(&hash) {
            return known;
        }
        let count = self.counter.count(text);
        self.counts.borrow_mut().insert(hash, count);
        count
    }

    fn exactness(&self) -> Exactness {
        self.counter.exactness()
    }
}
