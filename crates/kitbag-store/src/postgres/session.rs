//! A transaction of one tenant, which begins in a single round trip.

use std::pin::pin;
use std::task::{Context, Waker};

use deadpool_postgres::ClientWrapper;

use super::error::{self, failed};
use super::marks::Mark;
use crate::error::Result;
use crate::store::Tenant;

/// The access that a transaction has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    /// Reads only, and sees the store as it is at one moment.
    Read,
}

/// An open transaction, which is undone unless it is committed.
pub(super) struct Session<'c> {
    client: &'c ClientWrapper,
    /// True if the mark was found that was asked for.
    pub(super) is_marked: bool,
    is_open: bool,
}

impl<'c> Session<'c> {
    /// Begins a transaction, takes the role without rights of its own, sets the tenant, and looks for
    /// a mark. No other statement is sent before that has succeeded.
    pub(super) async fn begin(
        client: &'c ClientWrapper,
        tenant: &Tenant,
        access: Access,
        mark: Option<Mark<'_>>,
    ) -> Result<Session<'c>> {
        let begin = match access {
            Access::Write => "START TRANSACTION",
            Access::Read => "START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        // A tenant's name has no character that would end the literal.
        let sql = format!(
            "{begin}; SET LOCAL ROLE kitbag_app; SET LOCAL search_path TO kitbag; \
             SET LOCAL kitbag.tenant TO '{tenant}'{}",
            mark.as_ref()
                .map_or(String::new(), |_| format!("; {}", Mark::QUERY)),
        );
        // Made before the request: a caller that stops waiting leaves a transaction that may have
        // begun, and dropping the session undoes it.
        let mut session = Self {
            client,
            is_marked: false,
            is_open: true,
        };
        let answer = client.simple_query(&sql).await.map_err(failed)?;
        session.is_marked = mark.is_some_and(|mark| mark.is_in(&answer));
        Ok(session)
    }

    pub(super) fn client(&self) -> &'c ClientWrapper {
        self.client
    }

    pub(super) async fn commit(mut self) -> Result<()> {
        // From here on a rollback would be wrong: the commit may have reached the server.
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
        // The rollback is sent but not awaited: the first poll puts it behind all that was sent
        // before and ahead of all that is sent next.
        let undo = pin!(self.client.batch_execute("ROLLBACK"));
        drop(undo.poll(&mut Context::from_waker(Waker::noop())));
    }
}
