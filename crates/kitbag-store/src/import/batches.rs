//! Reads and analyses the messages of an import ahead of the transactions that keep them.

use std::thread::{self, JoinHandle};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::batch::Analysers;
use super::{Import, ImportBatch};
use crate::error::{Result, StoreError};
use crate::secrets::Secrets;

/// The most messages of a transaction. With many senders each gets a part of it, and small parts
/// are merged again and again.
const MESSAGES: usize = 16_384;
/// The most bytes of text of a transaction, so that long messages do not fill the memory.
const BYTES: usize = 16 << 20;

/// Batches of messages in their order. Each is read and analysed on another thread while the one
/// before it is written.
///
/// ```
/// use kitbag_store::{Import, ImportBatches, NewMessage, Secrets};
///
/// # let messages = vec![Import::new("import", "ann", None, NewMessage::from("hello"))];
/// # tokio_test(async {
/// let mut batches = ImportBatches::of(messages.into_iter(), Secrets::Mask)?;
/// while let Some(batch) = batches.next().await {
///     let batch = batch?; // for `Store::import_batch`
///     assert_eq!(batch.without_reference(), 1);
/// }
/// # Ok::<(), kitbag_store::StoreError>(())
/// # });
/// # fn tokio_test(work: impl Future<Output = Result<(), kitbag_store::StoreError>>) {
/// #     pollster::block_on(work).unwrap();
/// # }
/// ```
pub struct ImportBatches<M> {
    made: Receiver<Result<ImportBatch>>,
    thread: JoinHandle<M>,
}

impl<M> ImportBatches<M>
where
    M: Iterator<Item = Import> + Send + 'static,
{
    /// Makes batches of a limited size.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn of(messages: M, secrets: Secrets) -> Result<Self> {
        Self::limited(messages, secrets, MESSAGES, BYTES)
    }

    fn limited(messages: M, secrets: Secrets, most: usize, bytes: usize) -> Result<Self> {
        // One batch waits while one is written and the next is made: three are in memory.
        let (sender, made) = channel(1);
        let make = move || make(messages, secrets, (most, bytes), &sender);
        let thread = thread::Builder::new().name("kitbag-import".into());
        let thread = thread
            .spawn(make)
            .map_err(|error| StoreError::failed(format!("the system gives no thread: {error}")))?;
        Ok(Self { made, thread })
    }

    /// Returns the next batch, or the error of a message that is invalid.
    pub async fn next(&mut self) -> Option<Result<ImportBatch>> {
        self.made.recv().await
    }

    /// Returns the source of the messages after the last batch.
    ///
    /// # Errors
    /// When the source panicked.
    pub fn into_source(self) -> Result<M> {
        // Without a receiver the thread ends at its next batch.
        drop(self.made);
        let panicked = |_| StoreError::failed("the messages could not be read to their end");
        self.thread.join().map_err(panicked)
    }
}

/// Makes batches until there are no more messages, one of them is invalid, or nobody takes them.
fn make<M: Iterator<Item = Import>>(
    mut messages: M,
    secrets: Secrets,
    (most, most_bytes): (usize, usize),
    to: &Sender<Result<ImportBatch>>,
) -> M {
    let analysers = Analysers::default();
    let mut is_over = false;
    while !is_over {
        let (mut waiting, mut bytes) = (Vec::new(), 0_usize);
        while waiting.len() < most && bytes < most_bytes {
            let Some(message) = messages.next() else {
                is_over = true;
                break;
            };
            bytes = bytes.saturating_add(message.message.text().len());
            waiting.push(message);
        }
        if waiting.is_empty() {
            break;
        }
        let batch = ImportBatch::analysed(waiting, secrets, &analysers);
        // The error of an invalid message ends the import: batches behind it would be made for nobody.
        is_over |= batch.is_err();
        if to.blocking_send(batch).is_err() {
            break;
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::NewMessage;

    fn said(count: usize) -> impl Iterator<Item = Import> + Send {
        let said = |number| NewMessage::from(format!("message {number}"));
        (0..count).map(move |number| Import::new("cli", "ann", None, said(number)))
    }

    async fn sizes<M>(mut batches: ImportBatches<M>) -> Vec<usize>
    where
        M: Iterator<Item = Import> + Send + 'static,
    {
        let mut sizes = Vec::new();
        while let Some(batch) = batches.next().await {
            sizes.push(batch.unwrap().without_reference());
        }
        assert!(batches.into_source().unwrap().next().is_none());
        sizes
    }

    #[tokio::test]
    async fn batches_are_cut_by_messages_and_by_bytes() {
        let cut = |most, bytes| ImportBatches::limited(said(7), Secrets::Mask, most, bytes);
        assert_eq!(sizes(cut(3, 1_000).unwrap()).await, [3, 3, 1]);
        assert_eq!(sizes(cut(7, 1_000).unwrap()).await, [7]);
        assert_eq!(sizes(cut(7, 11).unwrap()).await, [2, 2, 2, 1]);
    }

    #[tokio::test]
    async fn an_invalid_message_is_the_end() {
        let invalid = Import::new("", "ann", None, NewMessage::from("of no channel"));
        let all = said(1).chain([invalid]).chain(said(5));
        let mut batches = ImportBatches::limited(all, Secrets::Mask, 1, 1_000).unwrap();
        assert!(batches.next().await.unwrap().is_ok());
        assert!(batches.next().await.unwrap().is_err());
        assert!(batches.next().await.is_none());
        assert_eq!(batches.into_source().unwrap().count(), 5);
    }

    #[tokio::test]
    async fn batches_that_nobody_takes_are_not_made() {
        let mut batches = ImportBatches::limited(said(1_000), Secrets::Mask, 1, 1).unwrap();
        assert!(batches.next().await.is_some());
        let left = batches.into_source().unwrap().count();
        assert!(left > 900, "{left}");
    }
}
