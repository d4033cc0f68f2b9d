//! Stores messages in batches, and knows at any time how many are stored.

use std::sync::Arc;

use jiff::Timestamp;
use kitbag::store::{ImportBatch, Store};
use serde::Serialize;
use tokio::sync::Mutex;

use super::interrupt;
use crate::failure::Failure;
use crate::output::{counted, grouped};
use crate::progress::Progress;

/// The least messages of an import that may end with compacting the store; fewer leave little to gain.
const WORTH_COMPACTING: u64 = 10_000;

/// Takes batches one by one.
pub(super) struct Keeper {
    store: Store,
    unit: Unit,
    restore: Option<RestoreForgotten>,
    /// Held while a batch is being kept.
    kept: Arc<Mutex<ImportCounts>>,
    /// True if a batch has written a little to each of several senders, into the middle of the tables.
    is_scattered: bool,
    progress: Progress,
}

/// Records that are kept together, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// As many messages as go into a transaction.
    Batch,
    /// All messages, which wait in memory until the end.
    All,
}

/// Asks for messages that were forgotten.
#[derive(Debug, Clone, Copy)]
pub(super) struct RestoreForgotten;

/// Counts of messages by their fate.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct ImportCounts {
    pub(super) messages: u64,
    pub(super) known: u64,
    /// Those that were there with another text.
    pub(super) changed: u64,
    /// Those that were forgotten earlier, and stay away.
    pub(super) forgotten: u64,
    /// Those without a reference among the messages: they would be kept again.
    #[serde(rename = "without_ref")]
    pub(super) nameless: u64,
    /// Facts that came along, without those that were known.
    pub(super) facts: u64,
    /// Summaries that came along, without those that were known.
    pub(super) summaries: u64,
}

impl ImportCounts {
    /// The number of stored messages, as the end of a sentence.
    pub(super) fn in_words(self, of: &str) -> String {
        let known = match self.known {
            0 => String::new(),
            known => format!(", {} already known", grouped(known)),
        };
        let one = format!("message{of} was imported");
        let several = format!("messages{of} were imported");
        format!("{}{known}", counted(self.messages, &one, &several))
    }
}

impl Keeper {
    pub(super) fn new(store: Store, unit: Unit, restore: Option<RestoreForgotten>) -> Self {
        let kept = Arc::default();
        interrupt::watch(&kept, unit);
        Self {
            store,
            unit,
            restore,
            kept,
            is_scattered: false,
            progress: Progress::start("importing"),
        }
    }

    /// Ends the import, and returns the counts of all messages.
    pub(super) async fn end(self) -> ImportCounts {
        let kept = *self.kept.lock().await;
        if kept.messages >= WORTH_COMPACTING {
            self.compact(kept.messages).await;
        }
        kept
    }

    /// Compacts the file, unless most of it was there before, of whatever tenant, or it is of one
    /// sender, and so was written from its beginning to its end.
    async fn compact(&self, imported: u64) {
        let is_file = self
            .store
            .stats()
            .await
            .map(|stats| stats.file_bytes.is_some());
        if !is_file.unwrap_or(false) {
            return; // A server gives space back by itself.
        }
        let Ok(tenants) = self.store.tenants().await else {
            return;
        };
        let all: u64 = tenants.iter().map(|tenant| tenant.messages).sum();
        let is_scattered = self.is_scattered || all > imported;
        // Compacting rewrites the whole file: for a small part of it that would cost more than it gives.
        if is_scattered && imported >= all / 2 {
            self.progress.stage("compacting");
            // An error is ignored: the messages are stored, and the file only stays larger.
            drop(self.store.vacuum().await);
        }
    }

    /// Stores a batch.
    pub(super) async fn keep(&mut self, batch: ImportBatch) -> Result<(), Failure> {
        let batch = match self.restore {
            Some(RestoreForgotten) => batch.restoring_forgotten(),
            None => batch,
        };
        let nameless = batch.without_reference();
        self.is_scattered |= batch.senders() > 1;
        // Held until the counts are added: an interrupt reports either the batch and its count, or neither.
        let mut kept = self.kept.lock().await;
        let imported = match self.store.import_batch(batch, Timestamp::now()).await {
            Ok(imported) => imported,
            Err(error) => {
                // `with_counts` takes the lock itself.
                drop(kept);
                return Err(self.with_counts(error.into()).await);
            }
        };
        kept.messages += imported.messages as u64;
        kept.known += imported.known as u64;
        kept.changed += imported.changed as u64;
        kept.forgotten += imported.forgotten as u64;
        kept.facts += imported.facts as u64;
        kept.summaries += imported.summaries as u64;
        // A message without a reference is never recognised as known.
        kept.nameless += nameless as u64;
        let count = grouped(kept.messages.saturating_add(kept.known));
        self.progress.stage(format!("importing, {count} messages"));
        Ok(())
    }

    /// The failure, with the number of messages that are stored nevertheless.
    pub(super) async fn with_counts(&self, failure: Failure) -> Failure {
        let kept = self.kept.lock().await;
        match self.unit {
            Unit::Batch if kept.messages + kept.known > 0 => {
                failure.and(kept.in_words(" before it"))
            }
            Unit::Batch | Unit::All => failure.and("nothing was imported"),
        }
    }
}
