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

    /// Returns whether all that it changes lies within some bytes.
    pub(super) fn is_within(&self, at: &Range<usize>) -> bool {
        at.start <= self.at.start && self.at.end <= at.end
    }

    /// Returns whether it puts something in at a byte.
    pub(super) fn inserts_at(&self, at: usize) -> bool {
        self.at == (at..at)
    }
}

/// The bytes with all changes. If two overlapped, or one lay outside, the bytes stay as they are: a request that passes
/// unchanged is better than one with a piece missing.
pub(super) fn spliced(body: &Bytes, mut splices: Vec<Splice>) -> Bytes {
    if splices.is_empty() {
        return body.clone();
    }
    splices.sort_by_key(|splice| (splice.at.start, splice.at.end));
    let more: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut whole = Vec::with_capacity(body.len() + more);
    let mut from = 0;
    for Splice { at, text } in splices {
        let Some(kept) = body.get(from..at.start) else {
            return unchanged(body);
        };
        whole.extend_from_slice(kept);
        whole.extend_from_slice(text.as_bytes());
        from = at.end;
    }
    match body.get(from..) {
        Some(rest) => whole.extend_from_slice(rest),
        None => return unchanged(body),
    }
    Bytes::from(whole)
}

fn unchanged(body: &Bytes) -> Bytes {
    tracing::error!(event = "splices_overlap");
    body.clone()
}
