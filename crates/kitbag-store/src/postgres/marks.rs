//! Tells a connection that keeps its session on the server from one behind a pooler, which may give each
//! transaction another session.
//!
//! A connection leaves a mark of its own in the session that it finds itself in, and each later transaction
//! looks for it. A transaction without it has shown that there is a pooler: prepared statements would
//! be missing there, or worse, somebody else's would have their names. A session that is marked keeps
//! its mark, so that two who share it behind a pooler both find out.

use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::{ClientWrapper, Object};
use tokio_postgres::SimpleQueryMessage;

use super::error::failed;
use crate::error::{Result, StoreError};

/// The marks of a pool's connections.
pub(super) struct Marks {
    /// A random number, by which two pools differ.
    pool: String,
    /// True once a transaction was in another session than that of its connection.
    pub(super) met_pooler: AtomicBool,
}

impl Marks {
    pub(super) fn new() -> Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| {
            StoreError::failed(format!("the system gives no random bytes: {error}"))
        })?;
        Ok(Self {
            pool: u128::from_le_bytes(random).to_string(),
            met_pooler: AtomicBool::new(false),
        })
    }

    /// Ends the marking: from now on no transaction of the pool prepares statements.
    pub(super) fn meet_pooler(&self) {
        self.met_pooler.store(true, Ordering::Relaxed);
    }

    /// The mark of a connection; none once there is known to be a pooler.
    pub(super) fn of(&self, connection: &Object) -> Option<Mark<'_>> {
        let is_needed = !self.met_pooler.load(Ordering::Relaxed);
        is_needed.then(|| Mark {
            name: format!("{} {:?}", self.pool, Object::id(connection)),
            marks: self,
        })
    }
}

/// The mark of one connection.
pub(super) struct Mark<'m> {
    name: String,
    marks: &'m Marks,
}

impl Mark<'_> {
    /// The query for the mark of a session.
    pub(super) const QUERY: &'static str = "SELECT current_setting('kitbag.session', true)";

    /// Marks the session of a connection, unless another connection has.
    pub(super) async fn leave(&self, client: &ClientWrapper) -> Result<()> {
        // Outside of any transaction: a setting is undone with the transaction that made it.
        let sql = format!(
            "SELECT set_config('kitbag.session', '{}', false) \
             WHERE coalesce(current_setting('kitbag.session', true), '') = ''",
            self.name
        );
        client.batch_execute(&sql).await.map_err(failed)
    }

    /// Looks for the mark in the answer to [`QUERY`](Self::QUERY). Returns false, now and for all later
    /// transactions of the pool, if this is another session.
    pub(super) fn is_in(&self, answer: &[SimpleQueryMessage]) -> bool {
        let found = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        let is_here = found == Some(self.name.as_str());
        if !is_here {
            self.marks.meet_pooler();
        }
        is_here
    }
}
