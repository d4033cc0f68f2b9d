//! Packs the terms of one message into one piece of memory: a large batch has many.

use kitbag_core::recall::{PassageTerms, Place, Posting};

use super::number::{put, take, take_bytes, take_small};

/// The terms of a message's passages.
pub(crate) fn encode_terms(passages: &[PassageTerms]) -> Vec<u8> {
    let terms = passages.iter().map(|passage| passage.terms.len());
    // An estimate: 12 bytes for each term with its count.
    let mut bytes = Vec::with_capacity(8 + 12 * terms.sum::<usize>());
    for passage in passages {
        put(&mut bytes, passage.words);
        put(&mut bytes, passage.terms.len() as u64);
        for (term, count) in &passage.terms {
            put(&mut bytes, term.len() as u64);
            bytes.extend_from_slice(term.as_bytes());
            put(&mut bytes, *count);
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

/// Passes each term of a message to `to`. Returns none if the bytes did not come from
/// [`encode_terms`].
pub(super) fn each_term<'b>(bytes: &'b [u8], mut to: impl FnMut(Term<'b>)) -> Option<()> {
    let mut rest = bytes;
    let mut passage = 0_u16;
    while !rest.is_empty() {
        let words = take_small(&mut rest)?;
        for _ in 0..take(&mut rest)? {
            to(Term {
                passage,
                words,
                term: std::str::from_utf8(take_bytes(&mut rest)?).ok()?,
                count: take_small(&mut rest)?,
            });
        }
        passage = passage.saturating_add(1);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn terms_come_back(text in any::<String>()) {
            let analysis = kitbag_core::recall::analyse(&text);
            let bytes = encode_terms(&analysis.passages);
            let mut found = Vec::new();
            each_term(&bytes, |term| found.push((term.passage, term.term, term.count))).unwrap();
            let expected: Vec<_> = analysis.passages.iter().enumerate().flat_map(|(passage, one)| {
                one.terms.iter().map(move |(term, count)| (passage as u16, term.as_str(), *count))
            }).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
