//! What the index should hold, to compare with what it holds.

use std::collections::BTreeMap;

use kitbag_core::recall::{Analysis, Place, Posting};

use super::codec::decode_places;
use crate::error::StoreError;
use crate::id::MessageId;
use crate::scope::Scope;
use crate::transaction::Tx;

/// The places of all words of a scope's messages.
#[derive(Default)]
pub(crate) struct Expected {
    postings: BTreeMap<String, Vec<Posting>>,
}

impl Expected {
    /// Adds the words of a message.
    pub(crate) fn add(&mut self, id: MessageId, analysis: Option<&Analysis>) {
        let passages = analysis.into_iter().flat_map(|one| &one.passages);
        for (number, passage) in passages.enumerate() {
            let small = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
            for (term, count) in &passage.terms {
                self.postings
                    .entry(term.clone())
                    .or_default()
                    .push(Posting {
                        place: Place {
                            conversation: id.conversation.number,
                            message: id.seq,
                            passage: u16::try_from(number).unwrap_or(u16::MAX),
                        },
                        count: *count,
                        words: small(passage.words),
                    });
            }
        }
    }

    /// Compares with the blocks, and tells of each word that differs.
    pub(crate) async fn compare(
        mut self,
        tx: &mut Tx<'_>,
        scope: &Scope,
    ) -> Result<Vec<String>, StoreError> {
        let mut problems = Vec::new();
        let mut found: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        let rows = tx
            .query(
                "SELECT term, places FROM posting WHERE tenant = $1 AND scope = $2",
                [scope.id.into()],
            )
            .await?;
        for mut row in rows {
            let (term, places) = (row.text()?, row.blob()?);
            if decode_places(&places, found.entry(term.clone()).or_default()).is_none() {
                problems.push(format!(
                    "the index of scope {} is damaged at `{term}`",
                    scope.id
                ));
            }
        }
        for postings in self.postings.values_mut().chain(found.values_mut()) {
            postings.sort();
        }
        let names: std::collections::BTreeSet<&String> =
            self.postings.keys().chain(found.keys()).collect();
        for term in names {
            if self.postings.get(term) != found.get(term) {
                let id = scope.id;
                problems.push(format!(
                    "the index of scope {id} differs from its messages at `{term}`"
                ));
            }
        }
        Ok(problems)
    }
}
