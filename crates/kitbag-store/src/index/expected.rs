//! Compares the index with the messages that it should contain.

use std::collections::VecDeque;

use kitbag_core::role::Role;

use super::block::{Block, read};
use super::words::Words;
use crate::error::{Result, StoreError};
use crate::message::StoredMessage;
use crate::scope::Scope;
use crate::transaction::Tx;

/// A comparison of a scope's blocks with its messages, which come in the order of their arrival. It
/// holds the words of one block at a time.
pub(crate) struct Comparison {
    scope: u32,
    /// The blocks that have not been compared yet, in the order of their messages.
    blocks: VecDeque<Block>,
    /// The words that the first of these should have.
    expected: Words,
    problems: Vec<String>,
}

impl Comparison {
    pub(crate) async fn begin(tx: &mut Tx<'_>, scope: &Scope) -> Result<Self> {
        let sql = "SELECT id, first, last FROM block WHERE tenant = $1 AND scope = $2 \
                   ORDER BY first, id";
        let mut comparison = Self {
            scope: scope.id,
            blocks: tx.query(sql, scope.id).await?.into(),
            expected: Words::default(),
            problems: Vec::new(),
        };
        let sql = "SELECT DISTINCT block FROM posting WHERE tenant = $1 AND scope = $2 \
                   AND NOT EXISTS (SELECT 1 FROM block WHERE block.tenant = $1 \
                   AND block.scope = $2 AND block.id = posting.block) ORDER BY block";
        for block in tx.query::<i64>(sql, scope.id).await? {
            comparison.problems.push(format!(
                "the index of scope {} has words of block {block}, which is not there",
                scope.id
            ));
        }
        Ok(comparison)
    }

    /// Adds the next message with the terms of its text.
    pub(crate) async fn add(
        &mut self,
        tx: &mut Tx<'_>,
        arrival: u32,
        message: &StoredMessage,
        terms: &[u8],
    ) -> Result<()> {
        while self
            .blocks
            .front()
            .is_some_and(|block| block.last < arrival)
        {
            self.compare_next(tx).await?;
        }
        let id = message.id;
        let mut words = Words::default();
        // The blocks before it are done, so only the first one left can hold this message.
        let holds = |block: &Block| block.first <= arrival;
        let is_held = self.blocks.front().is_some_and(holds);
        let to = if is_held {
            &mut self.expected
        } else {
            &mut words
        };
        let place = (id.conversation.number, id.seq);
        let by_person = message.message.role == Role::User;
        let added = to.add_message(place, by_person, terms);
        added.ok_or_else(|| StoreError::failed("the terms of a message are not readable"))?;
        if !words.is_empty() {
            let problem = format!("the words of message {id} are not in the index");
            self.problems.push(problem);
        }
        Ok(())
    }

    /// Compares the remaining blocks, and returns all problems.
    pub(crate) async fn finish(mut self, tx: &mut Tx<'_>) -> Result<Vec<String>> {
        while !self.blocks.is_empty() {
            self.compare_next(tx).await?;
        }
        Ok(self.problems)
    }

    async fn compare_next(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let Some(block) = self.blocks.pop_front() else {
            return Ok(());
        };
        let (scope, id) = (self.scope, block.id);
        let expected = std::mem::take(&mut self.expected);
        let mut found = Words::default();
        if let Err(error) = read(tx, scope, id, &mut found).await {
            self.problems.push(error.to_string());
            return Ok(());
        }
        // An empty `expected` is compared too: a block may hold words of messages that are gone.
        for word in expected.sorted().differences(&found.sorted()) {
            self.problems.push(format!(
                "block {id} of scope {scope} differs from its messages at `{word}`"
            ));
        }
        Ok(())
    }
}
