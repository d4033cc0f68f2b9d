//! Leases: they admit one turn of a conversation at a time, on any node, without a lock that
//! outlives a transaction.

mod holders;

use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::id::{ConversationId, TurnId};
use crate::store::Store;
use crate::transaction::Tx;
use crate::turn::{StoredTurn, TurnStatus};
use crate::value::from_row;

pub(crate) use holders::{ExclusiveLock, SharedLock};

/// The right to work on a turn. It expires by itself, and each commit of the turn checks that
/// nobody has taken it over.
#[derive(Clone)]
#[non_exhaustive]
pub struct Lease {
    /// The turn.
    pub turn: TurnId,
    /// Its end, unless it is renewed.
    pub until: Timestamp,
    // Grows with each holder: a former holder is recognised by its older number.
    fence: i64,
    /// The lock that shows others that the holder is alive.
    shared: Option<SharedLock>,
}

impl fmt::Debug for Lease {
    /// Leaves the lock out, which has no meaning outside of this process.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("turn", &self.turn)
            .field("until", &self.until)
            .field("fence", &self.fence)
            .finish_non_exhaustive()
    }
}

/// The pause between attempts to get a lease that somebody else holds.
const PAUSE: Duration = Duration::from_millis(20);

impl Store {
    /// Takes the lease of a turn's conversation for `length`.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while another turn of the conversation is under way,
    /// [`StoreError::Missing`] when there is no such turn.
    pub async fn begin(
        &self,
        turn: TurnId,
        length: SignedDuration,
        now: Timestamp,
    ) -> Result<Lease> {
        let (request, shared) = self.lease_request(length, now);
        self.take(request, shared, turn).await
    }

    async fn take(
        &self,
        request: LeaseRequest,
        shared: Option<SharedLock>,
        turn: TurnId,
    ) -> Result<Lease> {
        let lease = self.write(async move |tx| request.take(tx, turn).await);
        Ok(lease.await?.shared_by(shared))
    }

    /// Prepares to take a lease. The lock is shared before anybody can see the lease, and for as
    /// long as it may be used.
    pub(crate) fn lease_request(
        &self,
        length: SignedDuration,
        now: Timestamp,
    ) -> (LeaseRequest, Option<SharedLock>) {
        let shared = holders::share(self);
        let request = LeaseRequest {
            owner: holders::signed(self.owner(), shared.as_ref()),
            length,
            now,
            alone: None,
            answered: Answered::Again,
        };
        (request, shared)
    }

    /// Takes the lease like [`begin`](Self::begin), but waits at most for `patience` while other
    /// turns of the conversation are under way. On SQLite it does not wait for a holder that ended
    /// without releasing its lease.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when they take longer, [`StoreError::Turn`] when the turn itself was answered
    /// meanwhile: somebody else has the same request.
    pub async fn begin_when_free(
        &self,
        turn: TurnId,
        length: SignedDuration,
        patience: Duration,
        clock: impl Fn() -> Timestamp,
    ) -> Result<Lease> {
        let end = clock().checked_add(patience).unwrap_or(Timestamp::MAX);
        loop {
            let now = clock();
            let (request, shared) = self.lease_request(length, now);
            let busy = match self.take(request.unanswered(), shared, turn).await {
                Err(busy @ StoreError::Busy { .. }) => busy,
                other => return other,
            };
            if let Some(lease) = self.begin_after_dead_holder(turn, length, now).await? {
                return Ok(lease);
            }
            if clock() >= end {
                return Err(busy);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Takes the lock that holders of leases share, if none of them is alive.
    pub(crate) fn without_living_holders(&self) -> Option<ExclusiveLock> {
        holders::take_exclusive(self)
    }

    /// Takes the lease from a holder that has ended; none if it may be alive. At first the new lease is held
    /// by time alone: the exclusive lock has to be released before it is shared, and in between others
    /// could take a holder that shares it for dead.
    async fn begin_after_dead_holder(
        &self,
        turn: TurnId,
        length: SignedDuration,
        now: Timestamp,
    ) -> Result<Option<Lease>> {
        let alone = self.without_living_holders();
        if alone.is_none() {
            return Ok(None);
        }
        let request = LeaseRequest {
            owner: self.owner().to_owned(),
            length,
            now,
            alone,
            answered: Answered::Refuse,
        };
        match self
            .write(async move |tx| request.take(tx, turn).await)
            .await
        {
            Err(StoreError::Busy { .. }) => Ok(None),
            Err(error) => Err(error),
            Ok(lease) => self.shared_from_now(lease).await.map(Some),
        }
    }

    /// The same lease, shared from now on, so that nobody waits for it either if this process is killed. Where
    /// the lock cannot be shared at once, the lease ends by time.
    async fn shared_from_now(&self, lease: Lease) -> Result<Lease> {
        let Some(shared) = holders::share(self) else {
            return Ok(lease);
        };
        let owner = holders::signed(self.owner(), Some(&shared));
        let held = lease.clone();
        self.write(async move |tx| {
            held.check(tx).await?;
            write(
                tx,
                held.turn.conversation,
                Some(&owner),
                held.fence,
                held.until,
            )
            .await
        })
        .await?;
        Ok(lease.shared_by(Some(shared)))
    }

    /// Extends a lease to `length` from now.
    ///
    /// # Errors
    /// When somebody else has taken it over.
    pub async fn renew(
        &self,
        lease: &Lease,
        length: SignedDuration,
        now: Timestamp,
    ) -> Result<Lease> {
        let mut lease = lease.clone();
        lease.until = now.checked_add(length).unwrap_or(Timestamp::MAX);
        self.write(async move |tx| {
            lease.check(tx).await?;
            let sql = "UPDATE lease SET until = $2 \
                       WHERE tenant = $1 AND scope = $3 AND conversation = $4";
            let values = (lease.until, lease.turn.conversation);
            tx.execute(sql, values).await?;
            Ok(lease)
        })
        .await
    }
}

impl Lease {
    /// Attaches the lock that the holder shares.
    pub(crate) fn shared_by(mut self, shared: Option<SharedLock>) -> Self {
        self.shared = shared;
        self
    }

    /// Fails if somebody else has taken over. Locks the row until the transaction ends.
    pub(crate) async fn check(&self, tx: &mut Tx<'_>) -> Result<()> {
        if self.is_held(tx).await? {
            return Ok(());
        }
        Err(StoreError::LeaseLost {
            turn: self.turn.to_string(),
        })
    }

    /// Releases the lease, unless somebody else has taken it over.
    pub(crate) async fn release_if_held(&self, tx: &mut Tx<'_>) -> Result<()> {
        if self.is_held(tx).await? {
            self.release(tx).await?;
        }
        Ok(())
    }

    async fn is_held(&self, tx: &mut Tx<'_>) -> Result<bool> {
        let held = row(tx, self.turn.conversation).await?;
        Ok(held.is_some_and(|held| held.fence == self.fence && held.owner.is_some()))
    }

    /// Releases the lease. Its number stays, so that the next one is greater.
    pub(crate) async fn release(&self, tx: &mut Tx<'_>) -> Result<()> {
        write(tx, self.turn.conversation, None, self.fence, Timestamp::MIN).await
    }
}

/// The lease of a conversation as its latest owner left it.
struct LeaseRow {
    owner: Option<String>,
    fence: i64,
    until: Timestamp,
}

impl LeaseRow {
    fn is_held_at(&self, now: Timestamp) -> bool {
        self.owner.is_some() && self.until > now
    }
}

/// Returns true if a turn of the conversation is under way. Holders that share the lock are dead while this process
/// has it `alone`.
pub(crate) async fn is_busy(
    tx: &mut Tx<'_>,
    id: ConversationId,
    now: Timestamp,
    alone: Option<&ExclusiveLock>,
) -> Result<bool> {
    let held = row(tx, id).await?.filter(|held| held.is_held_at(now));
    let owner = held.and_then(|held| held.owner);
    Ok(owner.is_some_and(|owner| alone.is_none() || !holders::shares(&owner)))
}

async fn row(tx: &mut Tx<'_>, id: ConversationId) -> Result<Option<LeaseRow>> {
    let sql = "SELECT owner, fence, until FROM lease \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3";
    tx.lock_one(sql, id).await
}

from_row!(LeaseRow: owner, fence, until);

/// A request for a lease.
#[derive(Clone)]
pub(crate) struct LeaseRequest {
    owner: String,
    length: SignedDuration,
    now: Timestamp,
    /// Proof that nobody who shares the lock is alive. It is held until the lease is written, even
    /// if the caller stops waiting.
    alone: Option<ExclusiveLock>,
    answered: Answered,
}

/// The treatment of a turn that has its answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answered {
    /// It is begun again.
    Again,
    /// It is not: whoever asks twice is answered once.
    Refuse,
}

impl LeaseRequest {
    /// The same for a turn that has no answer yet.
    pub(crate) fn unanswered(mut self) -> Self {
        self.answered = Answered::Refuse;
        self
    }

    pub(crate) async fn take(self, tx: &mut Tx<'_>, turn: TurnId) -> Result<Lease> {
        let now = self.now;
        let id = turn.conversation;
        let stored = StoredTurn::get(tx, turn).await?;
        if self.answered == Answered::Refuse && stored.status == TurnStatus::Learned {
            return Err(StoreError::Turn {
                turn: turn.to_string(),
                problem: "has been answered already".to_owned(),
            });
        }
        // Somebody could forget the conversation at this moment, and the lease would remain without
        // it.
        Conversation::lock(tx, id).await?;
        // A first lease has no row yet that could be locked.
        tx.lock_exclusive(&format!("lease/{id}")).await?;
        let held = row(tx, id).await?;
        let mut fence = 0;
        if let Some(held) = held {
            if held.is_held_at(now) && !self.is_dead(&held) {
                return Err(StoreError::Busy {
                    conversation: id.to_string(),
                    until: held.until,
                });
            }
            fence = held.fence;
        }
        let lease = Lease {
            turn,
            until: now.checked_add(self.length).unwrap_or(Timestamp::MAX),
            fence: fence.saturating_add(1),
            shared: None,
        };
        write(tx, id, Some(&self.owner), lease.fence, lease.until).await?;
        Ok(lease)
    }

    fn is_dead(&self, held: &LeaseRow) -> bool {
        let shares = held.owner.as_deref().is_some_and(holders::shares);
        self.alone.is_some() && shares
    }
}

async fn write(
    tx: &mut Tx<'_>,
    id: ConversationId,
    owner: Option<&str>,
    fence: i64,
    until: Timestamp,
) -> Result<()> {
    let into = "lease (tenant, scope, conversation, owner, fence, until)";
    let or = "ON CONFLICT (tenant, scope, conversation) DO UPDATE \
              SET owner = excluded.owner, fence = excluded.fence, until = excluded.until";
    tx.insert_or(into, or, [(id, owner, fence, until)]).await
}
