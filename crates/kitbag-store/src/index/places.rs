//! The places of a term: differences, in numbers of as few bytes as they need.

use kitbag_core::recall::{Place, Posting};

use super::number::{put, small, take, take_small};

/// The place that the first difference is relative to.
const ORIGIN: Place = Place {
    conversation: 0,
    message: 0,
    passage: 0,
};

/// Flags of a posting, kept as bits of its count.
const BY_PERSON: u64 = 1;
const LATER_PASSAGE: u64 = 2;

/// Writes postings that are sorted by place, in pieces of about `length` bytes that are each read by
/// themselves.
pub(super) fn encode_places(postings: &[Posting], length: usize) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    let mut bytes = Vec::with_capacity(length.min(postings.len() * 5));
    let mut before = ORIGIN;
    for posting in postings {
        if bytes.len() >= length {
            pieces.push(std::mem::take(&mut bytes));
            before = ORIGIN;
        }
        encode(posting, before, &mut bytes);
        before = posting.place;
    }
    pieces.push(bytes);
    pieces
}

fn encode(posting: &Posting, before: Place, bytes: &mut Vec<u8>) {
    let Place {
        conversation,
        message,
        passage,
    } = posting.place;
    // The lowest bit tells that another conversation begins.
    let step = u64::from(conversation.wrapping_sub(before.conversation));
    if step == 0 {
        put(bytes, u64::from(message.wrapping_sub(before.message)) << 1);
    } else {
        put(bytes, step << 1 | 1);
        put(bytes, message);
    }
    let mut flags = u64::from(posting.count) << 2;
    if posting.by_person {
        flags |= BY_PERSON;
    }
    if passage > 0 {
        flags |= LATER_PASSAGE;
    }
    put(bytes, flags);
    if passage > 0 {
        put(bytes, passage);
    }
    put(bytes, posting.words);
}

/// Adds the postings of a piece to `found`; nothing when the bytes are damaged.
pub(super) fn decode_places(bytes: &[u8], found: &mut Vec<Posting>) -> Option<()> {
    let mut rest = bytes;
    let mut before = ORIGIN;
    while !rest.is_empty() {
        let first = take(&mut rest)?;
        let step = u32::try_from(first >> 1).ok()?;
        let (conversation, message) = if first & 1 == 0 {
            (before.conversation, before.message.wrapping_add(step))
        } else {
            let message = u32::try_from(take(&mut rest)?).ok()?;
            (before.conversation.wrapping_add(step), message)
        };
        let flags = take(&mut rest)?;
        let passage = if flags & LATER_PASSAGE == 0 {
            0
        } else {
            take_small(&mut rest)?
        };
        let place = Place {
            conversation,
            message,
            passage,
        };
        found.push(Posting {
            place,
            count: small(flags >> 2),
            words: take_small(&mut rest)?,
            by_person: flags & BY_PERSON != 0,
        });
        before = place;
    }
    Some(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Postings in the order of their places, each place once.
    pub(crate) fn postings() -> impl Strategy<Value = Vec<Posting>> {
        let number = || prop_oneof![0_u32..300, any::<u32>()];
        let passage = prop_oneof![Just(0_u16), any::<u16>()];
        let rest = (any::<u16>(), any::<u16>(), any::<bool>());
        let posting = ((number(), number(), passage), rest);
        prop::collection::btree_map(posting.0, posting.1, 1..60).prop_map(|postings| {
            let posting = |((conversation, message, passage), (count, words, by_person))| Posting {
                place: Place {
                    conversation,
                    message,
                    passage,
                },
                count,
                words,
                by_person,
            };
            postings.into_iter().map(posting).collect()
        })
    }

    proptest! {
        #[test]
        fn places_come_back(postings in postings(), length in 1_usize..200) {
            let mut found = Vec::new();
            for piece in encode_places(&postings, length) {
                prop_assert!(decode_places(&piece, &mut found).is_some());
            }
            prop_assert_eq!(found, postings);
        }

        #[test]
        fn damaged_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode_places(&bytes, &mut Vec::new());
        }
    }
}
