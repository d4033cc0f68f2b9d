//! Keeps messages in batches, and knows at any time exactly which are kept.

use std::mem;

use jiff::Timestamp;
use kitbag::store::{Import, Store};

use crate::failure::Failure;
use crate::output::grouped;
use crate::progress::Progress;
use crate::store;

/// How many messages go into one transaction.
const BATCH: usize = 4_000;
/// How much text, so that long messages do not fill the memory.
const BATCH_BYTES: usize = 16 << 20;

/// Takes messages one by one.
pub(super) struct Keeper {
    store: Store,
    is_atomic: bool,
    waiting: Vec<Import>,
    bytes: usize,
    kept: Kept,
    progress: Progress,
}

/// What became of the messages.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kept {
    pub(super) messages: u64,
    pub(super) known: u64,
}

impl Keeper {
    pub(super) fn new(store: Store, is_atomic: bool) -> Self {
        Self {
            store,
            is_atomic,
            waiting: Vec::new(),
            bytes: 0,
            kept: Kept::default(),
            progress: Progress::start("importing"),
        }
    }

    /// Takes a message that was checked, which is kept with its batch.
    pub(super) async fn take(&mut self, message: Import) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(message.message.text.len());
        self.waiting.push(message);
        let is_full = self.waiting.len() >= BATCH || self.bytes >= BATCH_BYTES;
        if is_full && !self.is_atomic {
            self.keep().await?;
        }
        Ok(())
    }

    /// Keeps the rest.
    pub(super) async fn end(mut self) -> Result<Kept, Failure> {
        self.keep().await?;
        Ok(self.kept)
    }

    /// Keeps what came before a line that cannot be read, unless it is all or nothing.
    pub(super) async fn end_early(mut self, failure: Failure) -> Failure {
        if !self.is_atomic
            && let Err(earlier) = self.keep().await
        {
            return earlier;
        }
        self.told(failure)
    }

    async fn keep(&mut self) -> Result<(), Failure> {
        self.bytes = 0;
        let batch = mem::take(&mut self.waiting);
        if batch.is_empty() {
            return Ok(());
        }
        let imported = match self.store.import(batch, Timestamp::now()).await {
            Ok(imported) => imported,
            Err(error) => return Err(self.told(store::failure(error))),
        };
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.kept.messages += number(imported.messages);
        self.kept.known += number(imported.known);
        let count = grouped(self.kept.messages.saturating_add(self.kept.known));
        self.progress.stage(format!("importing, {count} messages"));
        Ok(())
    }

    /// The failure, with what is kept nevertheless.
    fn told(&self, failure: Failure) -> Failure {
        if self.is_atomic {
            return failure.and("nothing was imported");
        }
        let kept = grouped(self.kept.messages);
        let known = match self.kept.known {
            0 => String::new(),
            known => format!(" and {} were known already", grouped(known)),
        };
        failure.and(format_args!(
            "{kept} messages before it were imported{known}"
        ))
    }
}
