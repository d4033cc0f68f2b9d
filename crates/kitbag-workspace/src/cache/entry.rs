//! A value as bytes: a checksum that is bound to its key, then the value.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Key;

/// Writes a value; none for one that has no encoding or is too large to be worth keeping.
pub(super) fn encode<T: Serialize + ?Sized>(key: &Key, value: &T) -> Option<Vec<u8>> {
    // Room for the checksum is left in front, so the value is encoded into its final place.
    let mut bytes = postcard::to_extend(value, vec![0; blake3::OUT_LEN]).ok()?;
    let (sum, payload) = bytes.split_at_mut_checked(blake3::OUT_LEN)?;
    sum.copy_from_slice(checksum(key, payload).as_bytes());
    (bytes.len() <= LARGEST).then_some(bytes)
}

/// Reads a value; none unless every byte is as it was written under this key.
pub(super) fn decode<T: DeserializeOwned>(key: &Key, bytes: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(payload(key, bytes)?).ok()? {
        // Bytes that are left over mean a value of another type under the same kind.
        (value, []) => Some(value),
        _ => None,
    }
}

/// The bytes behind the checksum, if that holds.
pub(super) fn payload<'b>(key: &Key, bytes: &'b [u8]) -> Option<&'b [u8]> {
    let (sum, payload) = bytes.split_at_checked(blake3::OUT_LEN)?;
    (sum == checksum(key, payload).as_bytes()).then_some(payload)
}

/// Parsed and counted files have a few kilobytes each.
const LARGEST: usize = 16 * 1024 * 1024;

fn checksum(key: &Key, payload: &[u8]) -> blake3::Hash {
    // Keyed, so the bytes of one key are never taken for the value of another.
    blake3::keyed_hash(key.as_bytes(), payload)
}
