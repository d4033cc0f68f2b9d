//! How terms and places are written: numbers of as few bytes as they need, differences where they
//! grow.

use kitbag_core::recall::{Analysis, PassageTerms, Place, Posting};

/// The terms of a message's passages.
pub(crate) fn encode_terms(passages: &[PassageTerms]) -> Vec<u8> {
    let terms = passages.iter().map(|passage| passage.terms.len());
    let mut bytes = Vec::with_capacity(8 + 12 * terms.sum::<usize>());
    for passage in passages {
        number(&mut bytes, passage.words.into());
        number(&mut bytes, passage.terms.len() as u64);
        for (term, count) in &passage.terms {
            number(&mut bytes, term.len() as u64);
            bytes.extend_from_slice(term.as_bytes());
            number(&mut bytes, (*count).into());
        }
    }
    bytes
}

/// A term of a message, as [`encode_terms`] wrote it.
pub(super) struct Term<'a> {
    pub(super) passage: u16,
    pub(super) words: u16,
    pub(super) term: &'a str,
    pub(super) count: u16,
}

impl Term<'_> {
    /// The place of the term in a message.
    pub(super) fn posting(&self, conversation: u32, message: u32, by_person: bool) -> Posting {
        Posting {
            place: Place {
                conversation,
                message,
                passage: self.passage,
            },
            count: self.count,
            words: self.words,
            by_person,
        }
    }
}

/// The terms of a message; nothing when the bytes are damaged.
pub(super) fn decode_terms(bytes: &[u8]) -> Option<Vec<Term<'_>>> {
    let mut rest = bytes;
    let mut terms = Vec::new();
    let mut passage = 0_u16;
    while !rest.is_empty() {
        let words = small(take(&mut rest)?);
        for _ in 0..take(&mut rest)? {
            let length = usize::try_from(take(&mut rest)?).ok()?;
            let (term, after) = rest.split_at_checked(length)?;
            rest = after;
            terms.push(Term {
                passage,
                words,
                term: std::str::from_utf8(term).ok()?,
                count: small(take(&mut rest)?),
            });
        }
        passage = passage.saturating_add(1);
    }
    Some(terms)
}

/// Where each passage of a message begins and ends; nothing for a message that is one passage.
pub(crate) fn cuts(analysis: &Analysis) -> Option<Vec<u8>> {
    if analysis.passages.len() < 2 {
        return None;
    }
    let mut bytes = Vec::new();
    for passage in &analysis.passages {
        number(&mut bytes, passage.start.into());
        number(&mut bytes, passage.end.saturating_sub(passage.start).into());
    }
    Some(bytes)
}

/// The range of one passage.
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

/// Where differences of places begin.
const ORIGIN: Place = Place {
    conversation: 0,
    message: 0,
    passage: 0,
};

/// Postings that are sorted by place.
pub(super) fn encode_places(postings: &[Posting]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(postings.len() * 5);
    let mut before = ORIGIN;
    for posting in postings {
        let Place {
            conversation,
            message,
            passage,
        } = posting.place;
        let same = conversation == before.conversation;
        let from = if same { before.message } else { 0 };
        number(
            &mut bytes,
            conversation.wrapping_sub(before.conversation).into(),
        );
        number(&mut bytes, message.wrapping_sub(from).into());
        number(&mut bytes, passage.into());
        let by_person = u64::from(posting.by_person);
        number(&mut bytes, u64::from(posting.count) << 1 | by_person);
        number(&mut bytes, posting.words.into());
        before = posting.place;
    }
    bytes
}

/// Adds the postings to `found`; nothing when the bytes are damaged.
pub(super) fn decode_places(bytes: &[u8], found: &mut Vec<Posting>) -> Option<()> {
    let mut rest = bytes;
    let mut before = ORIGIN;
    while !rest.is_empty() {
        let conversation = u32::try_from(take(&mut rest)?).ok()?;
        let from = if conversation == 0 { before.message } else { 0 };
        let message = u32::try_from(take(&mut rest)?).ok()?;
        let place = Place {
            conversation: before.conversation.wrapping_add(conversation),
            message: from.wrapping_add(message),
            passage: small(take(&mut rest)?),
        };
        let count = take(&mut rest)?;
        found.push(Posting {
            place,
            count: small(count >> 1),
            words: small(take(&mut rest)?),
            by_person: count & 1 == 1,
        });
        before = place;
    }
    Some(())
}

fn small(number: u64) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn posting() -> impl Strategy<Value = Posting> {
        let place = (any::<u32>(), any::<u32>(), any::<u16>());
        (place, any::<u16>(), any::<u16>(), any::<bool>()).prop_map(
            |((conversation, message, passage), count, words, by_person)| Posting {
                place: Place {
                    conversation,
                    message,
                    passage,
                },
                count,
                words,
                by_person,
            },
        )
    }

    proptest! {
        #[test]
        fn places_come_back(mut postings in prop::collection::vec(posting(), 0..50)) {
            postings.sort_by_key(|posting| posting.place);
            let mut found = Vec::new();
            prop_assert!(decode_places(&encode_places(&postings), &mut found).is_some());
            prop_assert_eq!(found, postings);
        }

        #[test]
        fn damaged_bytes_are_told(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode_places(&bytes, &mut Vec::new());
            drop(decode_terms(&bytes));
            let _ = decode_cuts(&bytes, 3);
        }

        #[test]
        fn terms_come_back(text in any::<String>()) {
            let analysis = kitbag_core::recall::analyse(&text);
            let bytes = encode_terms(&analysis.passages);
            let terms = decode_terms(&bytes).unwrap();
            let expected: Vec<_> = analysis.passages.iter().enumerate().flat_map(|(passage, one)| {
                one.terms.iter().map(move |(term, count)| (passage as u16, term.as_str(), *count))
            }).collect();
            let found: Vec<_> = terms.iter().map(|term| (term.passage, term.term, term.count)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
