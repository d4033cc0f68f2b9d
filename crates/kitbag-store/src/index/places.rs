//! Packs the places of a term as differences, in numbers of as few bytes as they need.

use kitbag_core::recall::{Place, Posting};

use super::number::{put, take, take_small};

/// The place that the first difference refers to.
const ORIGIN: Place = Place {
    conversation: 0,
    message: 0,
    passage: 0,
};

/// Flags of a posting, in the low bits of the difference to the place before it.
const OTHER_CONVERSATION: u64 = 1;
const BY_PERSON: u64 = 2;
/// The count and the passage follow. Most words occur once in a message with a single passage, so
/// both are usually left out.
const HAS_MORE: u64 = 4;
const FLAGS: u32 = 3;

/// Packs postings that are sorted by place into pieces of about `length` bytes. Each piece can be
/// read alone.
pub(super) fn encode_places(
    postings: impl ExactSizeIterator<Item = Posting>,
    length: usize,
) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    let mut bytes = Vec::with_capacity(length.min(postings.len() * 4));
    let mut before = ORIGIN;
    for posting in postings {
        if bytes.len() >= length {
            pieces.push(std::mem::take(&mut bytes));
            before = ORIGIN;
        }
        encode(&posting, before, &mut bytes);
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
    let has_more = posting.count != 1 || passage > 0;
    let mut flags = 0;
    for (flag, holds) in [(BY_PERSON, posting.by_person), (HAS_MORE, has_more)] {
        if holds {
            flags |= flag;
        }
    }
    // Places are sorted, so a step is never negative. Wrapping keeps damaged input from panicking.
    let step = u64::from(conversation.wrapping_sub(before.conversation));
    if step == 0 {
        let step = u64::from(message.wrapping_sub(before.message));
        put(bytes, step << FLAGS | flags);
    } else {
        put(bytes, step << FLAGS | flags | OTHER_CONVERSATION);
        put(bytes, message);
    }
    if has_more {
        put(bytes, posting.count);
        put(bytes, passage);
    }
    put(bytes, posting.words);
}

/// Adds the postings of a piece to `found`. Returns none if the bytes are damaged.
pub(super) fn decode_places(bytes: &[u8], found: &mut Vec<Posting>) -> Option<()> {
    let mut rest = bytes;
    let mut before = ORIGIN;
    while !rest.is_empty() {
        let first = take(&mut rest)?;
        let step = u32::try_from(first >> FLAGS).ok()?;
        let (conversation, message) = if first & OTHER_CONVERSATION == 0 {
            (before.conversation, before.message.wrapping_add(step))
        } else {
            let message = u32::try_from(take(&mut rest)?).ok()?;
            (before.conversation.wrapping_add(step), message)
        };
        let (count, passage) = match first & HAS_MORE {
            0 => (1, 0),
            _ => (take_small(&mut rest)?, take_small(&mut rest)?),
        };
        let place = Place {
            conversation,
            message,
            passage,
        };
        found.push(Posting {
            place,
            count,
            words: take_small(&mut rest)?,
            by_person: first & BY_PERSON != 0,
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
            for piece in encode_places(postings.iter().copied(), length) {
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
