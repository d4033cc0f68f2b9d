//! Checks the checksum that some tokens have in their last six characters.

/// Returns true if the last six characters are the CRC-32 of the others in base 62. Such a token is
/// genuine, whatever words it seems to contain.
pub(super) fn holds(body: &str) -> bool {
    body.len()
        .checked_sub(SUM)
        .and_then(|at| body.split_at_checked(at))
        .is_some_and(|(random, sum)| base62(crc32(random.as_bytes())) == sum.as_bytes())
}

pub(super) fn base62(mut number: u32) -> [u8; SUM] {
    let mut digits = [b'0'; SUM];
    for digit in digits.iter_mut().rev() {
        let value = (number % 62) as u8;
        *digit = match value {
            0..=9 => b'0' + value,
            10..=35 => b'A' + value - 10,
            _ => b'a' + value - 36,
        };
        number /= 62;
    }
    digits
}

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            // The reversed polynomial of CRC-32, without a table: few tokens are ever checked.
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

const SUM: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_agree_with_the_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(&base62(62 * 62 + 11), b"00010B");
    }
}
