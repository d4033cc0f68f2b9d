//! A transaction of one tenant, begun in a single round trip.

use std::pin::pin;
use std::task::{Context, Waker};

use tokio_postgres::Client;

use super::error::{self, failed};
use crate::error::Result;
use crate::store::Tenant;

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    /// Reads, and sees the store as it is at one moment.
    Read,
}

/// An open transaction, which is undone unless it is committed.
pub(super) struct Session<'c> {
    client: &'c Client,
    is_open: bool,
}

impl<'c> Session<'c> {
    /// Begins a transaction, takes the role without rights of its own and sets the tenant. Nothing else is
    /// sent before all of that has been done.
    pub(super) async fn begin(
        client: &'c Client,
        tenant: &Tenant,
        access: Access,
    ) -> Result<Session<'c>> {
        let begin = match access {
            Access::Write => "START TRANSACTION",
            Access::Read => "START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        // A tenant's name has no character that would end the literal.
        let sql = format!(
            "{begin}; SET LOCAL ROLE kitbag_app; SET LOCAL search_path TO kitbag; \
             SET LOCAL kitbag.tenant TO '{tenant}'",
        );
        // Whoever stops waiting leaves a transaction that may have begun.
        let session = Self {
            client,
            is_open: true,
        };
        client.batch_execute(&sql).await.map_err(failed)?;
        Ok(session)
    }

    pub(super) fn client(&self) -> &'c Client {
        self.client
    }

    pub(super) async fn commit(mut self) -> Result<()> {
        self.is_open = false;
        let committed = self.client.batch_execute("COMMIT").await;
        committed.map_err(error::commit)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        // The end is told to the server and not waited for: the first poll sends it, behind whatever was
        // sent before and ahead of whatever is sent next.
        let undo = pin!(self.client.batch_execute("ROLLBACK"));
        drop(undo.poll(&mut Context::from_waker(Waker::noop())));
    }
}
