//! The threads that own the connections, and the way that work reaches them.
//!
//! One thread writes. All work that waits when it becomes free is committed together, each piece in
//! a savepoint of its own: one wait for the disk acknowledges them all. A piece that is alone gets
//! no savepoint, for which SQLite would copy every changed page.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::{io, iter, mem};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::error::failed;
use super::named::NamedFile;
use super::queue::Queue;
use crate::error::{Result, StoreError};
use crate::store::{Operation, Tenant};
use crate::transaction::Tx;

/// The most pieces of work that one commit holds. It bounds how long the first of them waits.
const BATCH_LIMIT: usize = 64;

/// The threads of an open file, which end when this is dropped.
pub(crate) struct Sqlite {
    writing: Option<Sender<Write>>,
    reading: Arc<Queue<Alone>>,
    writer: Option<JoinHandle<()>>,
    readers: Vec<JoinHandle<()>>,
    path: PathBuf,
}

/// Work for the writing thread.
enum Write {
    Together(Work),
    Alone(Alone),
}

/// Work within the open transaction, or with the reason why there is none. It leaves an answer that
/// is given once the transaction has ended.
type Work = Box<dyn FnOnce(Result<&mut Connection>, Company) -> (End, Answer) + Send>;
type Answer = Box<dyn FnOnce(Result<()>) + Send>;
/// Work outside of a transaction, which answers by itself.
type Alone = Box<dyn FnOnce(&mut Connection) + Send>;

/// The other work in a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Company {
    /// None: a failure undoes the transaction.
    None,
    /// Some: a failure undoes the piece alone.
    Others,
}

/// The end that a piece of work demands for its transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Commit,
    /// The work failed and cannot be undone alone, or the database has undone the whole
    /// transaction.
    Undo,
}

impl Sqlite {
    pub(super) fn start(
        file: NamedFile,
        writer: Connection,
        readers: Vec<Connection>,
    ) -> io::Result<Self> {
        let (writing, writes) = channel();
        let path = file.path().to_owned();
        let reading = Arc::new(Queue::new());
        let thread = |name: &str| thread::Builder::new().name(name.to_owned());
        let writer = thread("kitbag-write").spawn(move || write_all(&file, writer, &writes))?;
        let mut store = Self {
            writing: Some(writing),
            reading: Arc::clone(&reading),
            writer: Some(writer),
            readers: Vec::new(),
            path,
        };
        for reader in readers {
            let reads = Arc::clone(&reading);
            let reader = thread("kitbag-read").spawn(move || read_all(reader, &reads))?;
            store.readers.push(reader);
        }
        Ok(store)
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs an operation that changes rows, and answers when they are on the disk.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        tenant: Tenant,
        operation: impl Operation<T>,
    ) -> Result<T> {
        ask(self.writing.as_ref(), |answer| {
            Write::Together(Box::new(move |connection, company| {
                let (end, result) = match (connection, company) {
                    (Err(error), _) => (End::Undo, Err(error)),
                    (Ok(connection), Company::None) => alone(connection, &tenant, operation),
                    (Ok(connection), Company::Others) => {
                        in_savepoint(connection, &tenant, operation)
                    }
                };
                let answer = Box::new(move |committed: Result<()>| {
                    let result = result.and_then(|value| committed.map(|()| value));
                    // The caller may have stopped waiting; the rows stay all the same.
                    drop(answer.send(result));
                });
                (end, answer as Answer)
            }))
        })
        .await
    }

    /// Runs an operation that only reads, on a view of the store at one moment.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        tenant: Tenant,
        operation: impl Operation<T>,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.reading.push(Box::new(move |connection| {
            drop(answer.send(run_read(connection, &tenant, operation)));
        }));
        answered.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Runs statements that no transaction may surround, such as a checkpoint or `VACUUM`.
    pub(crate) async fn outside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        ask(self.writing.as_ref(), |answer| {
            Write::Alone(Box::new(move |connection| {
                drop(answer.send(work(connection).map_err(failed)));
            }))
        })
        .await
    }
}

impl Drop for Sqlite {
    /// Waits until everything is written and the file is closed.
    ///
    /// The writer closes last and alone: connections that close at once see each other, and none of
    /// them removes the log.
    fn drop(&mut self) {
        self.reading.close();
        for reader in self.readers.drain(..) {
            // A thread that panicked has nothing left to finish.
            drop(reader.join());
        }
        self.writing.take();
        drop(self.writer.take().map(JoinHandle::join));
    }
}

/// Sends work to a thread and waits for its answer.
async fn ask<W, T>(
    channel: Option<&Sender<W>>,
    work: impl FnOnce(oneshot::Sender<Result<T>>) -> W,
) -> Result<T> {
    let (answer, answered) = oneshot::channel();
    let sent = channel.map(|channel| channel.send(work(answer)));
    match sent {
        Some(Ok(())) => answered.await.unwrap_or(Err(StoreError::Closed)),
        _ => Err(StoreError::Closed),
    }
}

fn write_all(file: &NamedFile, mut connection: Connection, writes: &Receiver<Write>) {
    while let Ok(first) = writes.recv() {
        let mut together = Vec::new();
        for write in iter::once(first).chain(writes.try_iter().take(BATCH_LIMIT - 1)) {
            match write {
                Write::Together(work) => together.push(work),
                Write::Alone(work) => {
                    // What arrived before is committed first: this work expects to find it in the
                    // file.
                    commit_together(file, &mut connection, mem::take(&mut together));
                    work(&mut connection);
                }
            }
        }
        commit_together(file, &mut connection, together);
    }
}

/// Does the work in one transaction. When that fails as a whole, nothing of it is kept and every
/// caller gets the error.
fn commit_together(file: &NamedFile, connection: &mut Connection, waiting: Vec<Work>) {
    if waiting.is_empty() {
        return;
    }
    let begin = |()| {
        // A transaction whose rollback failed is still open.
        undo(connection)?;
        // Immediate: a transaction that began by reading could not become a writer once another
        // process has written.
        connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)
    };
    let begun = file.check().and_then(begin);
    let company = match waiting.len() {
        1 => Company::None,
        _ => Company::Others,
    };
    let mut answers = Vec::with_capacity(waiting.len());
    let mut end = End::Commit;
    for work in waiting {
        // After a transaction that the database undid, a statement would commit by itself.
        let open = begun.clone().and_then(|()| still_open(connection));
        let (allowed, answer) = work(open.map(|()| &mut *connection), company);
        if allowed == End::Undo {
            end = End::Undo;
        }
        answers.push(answer);
    }
    let ended = begun.and_then(|()| match end {
        End::Commit => commit(connection),
        End::Undo => undo(connection).and_then(|()| still_open(connection)),
    });
    for answer in answers {
        answer(ended.clone());
    }
}

/// Fails when the transaction has ended by itself: a full or broken disk makes SQLite undo all of
/// it, whatever the statement was.
fn still_open(connection: &Connection) -> Result<()> {
    if connection.is_autocommit() {
        return Err(StoreError::Write {
            reason: "the database has undone the transaction".to_owned(),
        });
    }
    Ok(())
}

/// Does the only work of a transaction, which is undone if that fails.
fn alone<T>(
    connection: &mut Connection,
    tenant: &Tenant,
    operation: impl Operation<T>,
) -> (End, Result<T>) {
    let result = pollster::block_on(operation(&mut Tx::sqlite(tenant.as_str(), connection)));
    match result.and_then(|value| still_open(connection).map(|()| value)) {
        Ok(value) => (End::Commit, Ok(value)),
        Err(error) => (End::Undo, Err(error)),
    }
}

/// Does one of several pieces of work, and undoes it alone if it fails.
fn in_savepoint<T>(
    connection: &mut Connection,
    tenant: &Tenant,
    operation: impl Operation<T>,
) -> (End, Result<T>) {
    if let Err(error) = connection.execute_batch("SAVEPOINT work") {
        // Nothing was changed, so the others need not be undone.
        return (End::Commit, Err(failed(error)));
    }
    let result = pollster::block_on(operation(&mut Tx::sqlite(tenant.as_str(), connection)));
    let end = match result {
        Ok(_) => "RELEASE work",
        Err(_) => "ROLLBACK TO work; RELEASE work",
    };
    let ended = still_open(connection);
    match ended.and_then(|()| connection.execute_batch(end).map_err(failed)) {
        Ok(()) => (End::Commit, result),
        // An undo that fails for one piece undoes the whole transaction.
        Err(error) => (End::Undo, result.and(Err(error))),
    }
}

fn commit(connection: &Connection) -> Result<()> {
    still_open(connection)?;
    let committed = connection.execute_batch("COMMIT").map_err(failed);
    if committed.is_err() {
        // The error of the commit is the one to report; `commit_together` tries the undo again.
        drop(undo(connection));
    }
    committed
}

/// Undoes the open transaction, if there is one.
fn undo(connection: &Connection) -> Result<()> {
    match connection.is_autocommit() {
        true => Ok(()),
        false => connection.execute_batch("ROLLBACK").map_err(failed),
    }
}

fn read_all(mut connection: Connection, reads: &Queue<Alone>) {
    while let Some(work) = reads.pop() {
        work(&mut connection);
    }
}

fn run_read<T>(
    connection: &mut Connection,
    tenant: &Tenant,
    operation: impl Operation<T>,
) -> Result<T> {
    // The statements are cached: compiling `BEGIN` and `COMMIT` would be a good part of a short
    // read.
    let run = |sql, connection: &Connection| connection.prepare_cached(sql)?.execute([]);
    run("BEGIN", connection).map_err(failed)?;
    let result = pollster::block_on(operation(&mut Tx::sqlite(tenant.as_str(), connection)));
    // An error of the database may have ended the transaction already.
    if !connection.is_autocommit() {
        drop(run("COMMIT", connection));
    }
    result
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rusqlite::hooks::{AuthAction, AuthContext, Authorization, TransactionOperation};

    use super::*;

    async fn insert(store: &Sqlite, number: i64, result: Result<()>) -> Result<()> {
        let insert = async move |tx: &mut Tx<'_>| {
            tx.insert("said (tenant, number)", [number]).await?;
            result
        };
        store.write(Tenant::default(), insert).await
    }

    async fn numbers(store: &Sqlite) -> i64 {
        let sql = "SELECT coalesce(sum(number), 0) FROM said WHERE tenant = $1";
        let read = async move |tx: &mut Tx<'_>| tx.query_one::<i64>(sql, ()).await;
        let sum = store.read(Tenant::default(), read).await.unwrap();
        sum.unwrap()
    }

    /// A system without memory left keeps SQLite from undoing, as the hook does here.
    #[tokio::test]
    async fn failed_work_that_cannot_be_undone_is_never_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let (mut writer, reader) = (
            Connection::open(&path).unwrap(),
            Connection::open(&path).unwrap(),
        );
        let make = "PRAGMA journal_mode = WAL; CREATE TABLE said (tenant TEXT, number INTEGER)";
        writer.execute_batch(make).unwrap();
        let is_stuck = Arc::new(AtomicBool::new(true));
        let stuck = Arc::clone(&is_stuck);
        let hook = move |context: AuthContext<'_>| match context.action {
            AuthAction::Transaction {
                operation: TransactionOperation::Rollback,
            } if stuck.load(Ordering::Relaxed) => Authorization::Deny,
            _ => Authorization::Allow,
        };
        writer.authorizer(Some(hook)).unwrap();
        let file = NamedFile::new(&path).unwrap();
        let store = Sqlite::start(file, writer, vec![reader]).unwrap();

        let failed = insert(&store, 1, Err(StoreError::Closed)).await;
        assert!(matches!(failed, Err(StoreError::Closed)), "{failed:?}");
        assert_eq!(numbers(&store).await, 0);
        // Nothing goes into the transaction that is still open.
        insert(&store, 2, Ok(())).await.unwrap_err();
        is_stuck.store(false, Ordering::Relaxed);
        insert(&store, 4, Ok(())).await.unwrap();
        assert_eq!(numbers(&store).await, 4);
    }
}
