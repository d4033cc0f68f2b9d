//! The name of a cached value: one hash of everything that it depends on.

/// The name of a value: a hash of all that it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; blake3::OUT_LEN]);

impl Key {
    /// Makes a key from what kind of value it is, with its version, and from everything else that
    /// goes into it: the content's hash, the tokenizer's name.
    ///
    /// The limits of the parts count: `["ab", "c"]` and `["a", "bc"]` make different keys.
    #[must_use]
    pub fn new(kind: &str, parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in std::iter::once(kind.as_bytes()).chain(parts.iter().copied()) {
            // The length in front marks the limits of the parts.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// The bytes of the hash.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; blake3::OUT_LEN] {
        &self.0
    }

    pub(super) fn from_bytes(bytes: [u8; blake3::OUT_LEN]) -> Self {
        Self(bytes)
    }
}
