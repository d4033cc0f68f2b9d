//! Counts each text once: an assembly lays its parts out several times.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::cell::RefCell;

use super::segment::Segment;
use crate::tokens::{TokenCounter, Tokens};

/// Remembers the counts of a counter. Comparing texts costs less than hashing them.
pub(super) struct Memo<'a> {
    pub(super) counter: &'a dyn TokenCounter,
    // In a cell, since counting changes nothing that a caller could see.
    counts: RefCell<BTreeMap<String, Tokens>>,
}

impl<'a> Memo<'a> {
    pub(super) fn new(counter: &'a dyn TokenCounter) -> Self {
        Self {
            counter,
            counts: RefCell::default(),
        }
    }

    pub(super) fn count(&self, text: &str) -> Tokens {
        if let Some(&known) = self.counts.borrow().get(text) {
            return known;
        }
        let count = self.counter.count(text);
        self.counts.borrow_mut().insert(text.into(), count);
        count
    }

    pub(super) fn count_segment(&self, segment: &Segment) -> Tokens {
        let text = self.count(&segment.text);
        text.saturating_add(Tokens(segment.overhead))
    }

    pub(super) fn count_segments(&self, segments: &[Segment]) -> Tokens {
        let counts = segments.iter().map(|segment| self.count_segment(segment));
        counts.sum()
    }
}
