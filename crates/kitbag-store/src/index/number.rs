//! Numbers in as few bytes as they need: seven bits in each byte, and a bit that says if another
//! follows.

pub(super) fn put(bytes: &mut Vec<u8>, number: impl Into<u64>) {
    let mut number = number.into();
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off the front. Returns none if the bytes are damaged.
pub(super) fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Takes a length and as many bytes.
pub(super) fn take_bytes<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = usize::try_from(take(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

/// Takes a number of at most 16 bits; a greater one is cut to the maximum. Counts of that size are
/// stored whole, but a posting has 16 bits for each.
pub(super) fn take_small(rest: &mut &[u8]) -> Option<u16> {
    let number = take(rest)?;
    Some(u16::try_from(number).unwrap_or(u16::MAX))
}
