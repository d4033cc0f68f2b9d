//! Keeps messages in batches, and knows at any time exactly which are kept.

use std::fmt;
use std::mem;

use jiff::Timestamp;
use kitbag::store::{Import, Location, Store, StoreError};

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
    waiting: Vec<(Import, Place)>,
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

/// Where a message is.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) reference: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        match &self.reference {
            Some(reference) => write!(f, " (`{}`)", reference.escape_debug()),
            None => Ok(()),
        }
    }
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

    /// Takes a message, which is kept with its batch.
    pub(super) async fn take(&mut self, message: Import, place: Place) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(message.message.text.len());
        self.waiting.push((message, place));
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
        match add(&self.store, &batch, &mut self.kept).await {
            Ok(()) => {
                let count = grouped(self.kept.messages.saturating_add(self.kept.known));
                self.progress.stage(format!("importing, {count} messages"));
                Ok(())
            }
            Err(error @ StoreError::Invalid { .. }) => Err(self.refused(&batch, error).await),
            Err(error) => Err(self.told(store::failure(error))),
        }
    }

    /// One message of the batch is none: keeps those before it, and says which it is. If nothing may
    /// be kept, a store that is thrown away tells which it is.
    async fn refused(&mut self, batch: &[(Import, Place)], error: StoreError) -> Failure {
        let found = if self.is_atomic {
            find_in_scratch(batch).await
        } else {
            add_until_refused(&self.store, batch, &mut self.kept).await
        };
        match found {
            Ok(Some((place, error))) => self.told(Failure::new(format_args!("{place}: {error}"))),
            Ok(None) => self.told(store::failure(error)),
            Err(other) => self.told(store::failure(other)),
        }
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

async fn add(store: &Store, batch: &[(Import, Place)], kept: &mut Kept) -> Result<(), StoreError> {
    let messages = batch.iter().map(|(message, _)| message.clone()).collect();
    let imported = store.import(messages, Timestamp::now()).await?;
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    kept.messages += number(imported.messages);
    kept.known += number(imported.known);
    Ok(())
}

/// Adds the messages before the first that is refused, and tells which that is.
///
/// The store takes all of some messages or none, so that halving leads to the one.
async fn add_until_refused(
    store: &Store,
    batch: &[(Import, Place)],
    kept: &mut Kept,
) -> Result<Option<(Place, StoreError)>, StoreError> {
    let mut rest = batch;
    while let Some((_, first)) = rest.first() {
        let (some, others) = rest.split_at((rest.len() / 2).max(1));
        match add(store, some, kept).await {
            Ok(()) => rest = others,
            Err(error @ StoreError::Invalid { .. }) if some.len() == 1 => {
                return Ok(Some((first.clone(), error)));
            }
            Err(StoreError::Invalid { .. }) => rest = some,
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

async fn find_in_scratch(
    batch: &[(Import, Place)],
) -> Result<Option<(Place, StoreError)>, StoreError> {
    let Ok(folder) = tempfile::tempdir() else {
        return Ok(None);
    };
    let scratch = Store::open(&Location::Sqlite(folder.path().join("scratch.db"))).await?;
    add_until_refused(&scratch, batch, &mut Kept::default()).await
}
