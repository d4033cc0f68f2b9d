//! The text of a key: `kitbag_TENANT_` with 72 hexadecimal digits, of which the first eight are its id.

use std::fmt;

use crate::store::Tenant;

/// The random bytes of a key: four for its id, and 32 that are secret.
pub const KEY_RANDOMNESS: usize = ID + 32;
const ID: usize = 4;

const PREFIX: &str = "kitbag_";

/// A key as its owner has it. It has no debug output, and is shown by [`expose`](Self::expose) alone.
#[derive(Clone)]
pub struct KeySecret {
    text: String,
    tenant: Tenant,
    id: String,
}

impl KeySecret {
    /// A key of a tenant, made of random bytes.
    #[must_use]
    pub fn new(tenant: Tenant, random: [u8; KEY_RANDOMNESS]) -> Self {
        let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            text: format!("{PREFIX}{tenant}_{digits}"),
            id: digits.chars().take(2 * ID).collect(),
            tenant,
        }
    }

    /// Reads a key; none where the text cannot be one.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (tenant, digits) = text.strip_prefix(PREFIX)?.rsplit_once('_')?;
        let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        if digits.len() != 2 * KEY_RANDOMNESS || !digits.chars().all(is_digit) {
            return None;
        }
        Some(Self {
            text: text.to_owned(),
            tenant: tenant.parse().ok()?,
            id: digits.chars().take(2 * ID).collect(),
        })
    }

    /// The text, to be shown to its owner and to nobody else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }

    pub(super) fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn hash(&self) -> blake3::Hash {
        blake3::hash(self.text.as_bytes())
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySecret")
            .field("tenant", &self.tenant)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
