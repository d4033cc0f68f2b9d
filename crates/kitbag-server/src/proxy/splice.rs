//! Changes of a request's bytes, which leave all others as they are.

use std::ops::Range;

use bytes::Bytes;

/// Bytes that stand in the place of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    at: Range<usize>,
    text: String,
}

impl Splice {
    pub(super) const fn insert(at: usize, text: String) -> Self {
        Self::replace(at..at, text)
    }

    pub(super) const fn replace(at: Range<usize>, text: String) -> Self {
        Self { at, text }
    }

    /// Returns whether it puts something in at a byte.
    pub(super) fn inserts_at(&self, at: usize) -> bool {
        self.at == (at..at)
    }
}

/// The bytes with all changes, none of which may overlap another.
pub(super) fn spliced(body: &Bytes, mut splices: Vec<Splice>) -> Bytes {
    if splices.is_empty() {
        return body.clone();
    }
    splices.sort_by_key(|splice| (splice.at.start, splice.at.end));
    let more: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut whole = Vec::with_capacity(body.len() + more);
    let mut from = 0;
    for Splice { at, text } in splices {
        whole.extend_from_slice(body.get(from..at.start).unwrap_or_default());
        whole.extend_from_slice(text.as_bytes());
        from = at.end;
    }
    whole.extend_from_slice(body.get(from..).unwrap_or_default());
    Bytes::from(whole)
}
