//! What the index should hold, to compare with what it holds.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::recall::Posting;
use kitbag_core::role::Role;

use super::codec::{decode_places, decode_terms};
use crate::error::Result;
use crate::message::StoredMessage;
use crate::scope::Scope;
use crate::transaction::Tx;

/// The places of all words of a scope's messages.
#[derive(Default)]
pub(crate) struct Expected {
    postings: BTreeMap<String, Vec<Posting>>,
}

impl Expected {
    /// Adds the words of a message, as it would carry them.
    pub(crate) fn add(&mut self, message: &StoredMessage, terms: Option<&[u8]>) {
        let id = message.id;
        let by_person = message.message.role == Role::User;
        for term in terms.and_then(decode_terms).into_iter().flatten() {
            let posting = term.posting(id.conversation.number, id.seq, by_person);
            let postings = self.postings.entry(term.term.to_owned()).or_default();
            postings.push(posting);
        }
    }

    /// Compares with the blocks, and tells of each word that differs.
    pub(crate) async fn compare(mut self, tx: &mut Tx<'_>, scope: &Scope) -> Result<Vec<String>> {
        let id = scope.id;
        let mut problems = Vec::new();
        let mut found: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        let sql = "SELECT term, places FROM posting WHERE tenant = $1 AND scope = $2";
        for (term, places) in tx.query::<(String, Vec<u8>)>(sql, id).await? {
            if decode_places(&places, found.entry(term.clone()).or_default()).is_none() {
                problems.push(format!("the index of scope {id} is damaged at `{term}`"));
            }
        }
        for postings in self.postings.values_mut().chain(found.values_mut()) {
            postings.sort();
        }
        let names: BTreeSet<&String> = self.postings.keys().chain(found.keys()).collect();
        for term in names {
            if self.postings.get(term) != found.get(term) {
                problems.push(format!(
                    "the index of scope {id} differs from its messages at `{term}`"
                ));
            }
        }
        Ok(problems)
    }
}
