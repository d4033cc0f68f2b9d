//! Leases: they end, are renewed, taken over, and waited for.

use std::cell::Cell;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kitbag_store::{Incoming, Learned, Lease, Store, StoreError, TurnId};
use tokio::sync::Notify;

use crate::place::second;
use crate::{on_both, on_two};

on_both! {
    a_lease_that_was_renewed_lasts_longer
    waiting_ends_when_the_lease_is_given_back
    waiting_ends_when_the_lease_runs_out
    waiting_ends_with_patience
}

on_two! {
    a_lease_that_was_taken_over_cannot_be_renewed
}

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// A clock that is so many seconds further each time it is read.
fn clock(step: i64) -> impl Fn() -> Timestamp {
    let next = Cell::new(0);
    move || second(next.replace(next.get() + step))
}

/// Two turns of one conversation.
async fn two_turns(store: &Store) -> (TurnId, TurnId) {
    let accept = async |text: &str| {
        let incoming = Incoming::new("cli", "ann", text);
        store.accept(&incoming, second(0)).await.unwrap().id
    };
    (accept("one").await, accept("two").await)
}

async fn end(store: &Store, lease: &Lease, at: i64) -> Result<(), StoreError> {
    let learned = Learned::reply("ok", second(at));
    store.learned(lease, learned, second(at)).await.map(drop)
}

async fn a_lease_that_was_renewed_lasts_longer(store: Store) {
    let (first, other) = two_turns(&store).await;
    let lease = store.begin(first, MINUTE, second(0)).await.unwrap();
    let longer = store.renew(&lease, MINUTE, second(50)).await.unwrap();
    assert_eq!(longer.until, second(110));
    let busy = store.begin(other, MINUTE, second(109)).await.unwrap_err();
    assert!(
        matches!(busy, StoreError::Busy { until, .. } if until == second(110)),
        "{busy}"
    );
    // One that has run out can be renewed as long as nobody has taken it.
    let late = store.renew(&longer, MINUTE, second(200)).await.unwrap();
    assert!(store.begin(other, MINUTE, second(259)).await.is_err());
    // The first name of the lease is as good as the last: it is the same lease.
    end(&store, &lease, 259).await.unwrap();
    let lost = store.renew(&late, MINUTE, second(260)).await.unwrap_err();
    assert!(matches!(lost, StoreError::LeaseLost { .. }), "{lost}");
}

async fn a_lease_that_was_taken_over_cannot_be_renewed(first: Store, other: Store) {
    let (one, two) = two_turns(&first).await;
    let lease = first.begin(one, MINUTE, second(0)).await.unwrap();
    assert!(other.begin(two, MINUTE, second(59)).await.is_err());
    let taken = other.begin(two, MINUTE, second(60)).await.unwrap();
    let lost = first.renew(&lease, MINUTE, second(61)).await.unwrap_err();
    assert!(matches!(lost, StoreError::LeaseLost { .. }), "{lost}");
    assert!(end(&first, &lease, 61).await.is_err());
    // Whoever lost it has not made it longer or shorter for the one who has it.
    assert!(first.begin(one, MINUTE, second(119)).await.is_err());
    end(&other, &taken, 119).await.unwrap();
    first.begin(one, MINUTE, second(119)).await.unwrap();
}

async fn waiting_ends_when_the_lease_is_given_back(store: Store) {
    let (first, other) = two_turns(&store).await;
    let lease = store.begin(first, MINUTE, second(0)).await.unwrap();
    // The clock is read before each attempt, and again when that has failed.
    let (reads, has_failed) = (Cell::new(0), Notify::new());
    let clock = || {
        reads.set(reads.get() + 1);
        if reads.get() == 3 {
            has_failed.notify_one();
        }
        second(5)
    };
    let waiting = store.begin_when_free(other, MINUTE, Duration::from_secs(50), clock);
    let giving_back = async {
        has_failed.notified().await;
        end(&store, &lease, 5).await.unwrap();
    };
    let (begun, ()) = tokio::join!(waiting, giving_back);
    let begun = begun.unwrap();
    assert_eq!((begun.turn, begun.until), (other, second(65)));
    assert!(store.begin(first, MINUTE, second(64)).await.is_err());
}

async fn waiting_ends_when_the_lease_runs_out(store: Store) {
    let (first, other) = two_turns(&store).await;
    let lease = store.begin(first, MINUTE, second(0)).await.unwrap();
    let patience = Duration::from_secs(500);
    let begun = store.begin_when_free(other, MINUTE, patience, clock(25));
    let begun = begun.await.unwrap();
    // Attempts at 25 and at 75: between them the lease ended.
    assert_eq!(begun.until, second(135));
    let lost = end(&store, &lease, 76).await;
    assert!(
        matches!(lost, Err(StoreError::LeaseLost { .. })),
        "{lost:?}"
    );
}

async fn waiting_ends_with_patience(store: Store) {
    let (first, other) = two_turns(&store).await;
    let lease = store.begin(first, MINUTE, second(0)).await.unwrap();
    let patience = Duration::from_secs(30);
    let clock = clock(10);
    let waited = store.begin_when_free(other, MINUTE, patience, &clock);
    let busy = waited.await.unwrap_err();
    assert!(
        matches!(busy, StoreError::Busy { until, .. } if until == lease.until),
        "{busy}"
    );
    // Attempts at 10 and at 30, after which the half minute was over.
    assert_eq!(clock(), second(50));
    store.renew(&lease, MINUTE, second(50)).await.unwrap();
    // What is not there is not waited for.
    let nowhere = "7.7.7".parse().unwrap();
    let missing = store.begin_when_free(nowhere, MINUTE, patience, &clock);
    let missing = missing.await.unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
    assert_eq!(clock(), second(80));
}
