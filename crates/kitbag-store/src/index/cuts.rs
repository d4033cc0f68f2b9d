//! Packs the ranges of a message's passages.

use kitbag_core::recall::Analysis;

use super::number::{put, take};

/// Packs the range of each passage, or returns none for a message with a single passage.
pub(crate) fn cuts(analysis: &Analysis) -> Option<Vec<u8>> {
    if analysis.passages.len() < 2 {
        return None;
    }
    let mut bytes = Vec::new();
    for passage in &analysis.passages {
        put(&mut bytes, passage.start);
        // The length and not the end: small numbers take fewer bytes.
        put(&mut bytes, passage.end.saturating_sub(passage.start));
    }
    Some(bytes)
}

/// The range of one passage. Ranges have variable lengths, so those before it are skipped one by
/// one.
pub(crate) fn decode_cuts(bytes: &[u8], passage: u16) -> Option<(usize, usize)> {
    let mut rest = bytes;
    for _ in 0..passage {
        take(&mut rest)?;
        take(&mut rest)?;
    }
    let start = usize::try_from(take(&mut rest)?).ok()?;
    let length = usize::try_from(take(&mut rest)?).ok()?;
    Some((start, start.checked_add(length)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn passages_come_back(text in "([a-z]{1,8}[ .]){0,300}") {
            let analysis = kitbag_core::recall::analyse(&text);
            let Some(bytes) = cuts(&analysis) else {
                prop_assert_eq!(analysis.passages.len(), 1);
                return Ok(());
            };
            for (number, passage) in (0..).zip(&analysis.passages) {
                let cut = decode_cuts(&bytes, number);
                prop_assert_eq!(cut, Some((passage.start as usize, passage.end as usize)));
            }
        }

        #[test]
        fn damaged_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode_cuts(&bytes, 3);
        }
    }
}
