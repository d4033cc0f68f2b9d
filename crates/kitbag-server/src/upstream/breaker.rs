//! A breaker: an upstream that could not be reached several times in a row is left alone for a while.
//!
//! All callers share it, so no caller alone can open it: a request that makes an upstream hang up says
//! something about that request, a connection that is refused says something about the upstream.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The number of failures in a row that open it.
const FAILURES: u32 = 5;
/// The number of different callers whose requests must have failed before the breaker opens.
const CALLERS: usize = 2;
/// It stays open for so long, then one request tries.
const OPEN: Duration = Duration::from_secs(10);

/// The latest failures of an upstream. A refusal is an answer and no failure.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

/// A failure of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure<'a> {
    /// There was no connection.
    Connect,
    /// The request of this caller was sent, and no answer came.
    NoAnswer(&'a str),
}

#[derive(Debug, Default)]
struct State {
    not_connected: u32,
    not_answered: u32,
    /// Those whose requests were not answered.
    callers: BTreeSet<String>,
    until: Option<Instant>,
}

impl Breaker {
    /// Returns how long the upstream is to be left alone; nothing when it may be asked.
    pub(crate) fn wait(&self, now: Instant) -> Option<Duration> {
        let mut state = self.state();
        let left = state.until?.saturating_duration_since(now);
        if left.is_zero() {
            // One request may try; the others wait for what becomes of it.
            state.until = Some(now + OPEN);
            return None;
        }
        Some(left)
    }

    pub(crate) fn succeeded(&self) {
        *self.state() = State::default();
    }

    /// Notes a failure, and returns true if the breaker is open now.
    pub(crate) fn failed(&self, failure: Failure<'_>, now: Instant) -> bool {
        let mut state = self.state();
        match failure {
            Failure::Connect => state.not_connected = state.not_connected.saturating_add(1),
            Failure::NoAnswer(caller) => {
                state.not_answered = state.not_answered.saturating_add(1);
                // More than are counted need no memory.
                if state.callers.len() < CALLERS {
                    state.callers.insert(caller.to_owned());
                }
            }
        }
        let opens = state.not_connected >= FAILURES
            || (state.not_answered >= FAILURES && state.callers.len() >= CALLERS);
        if opens {
            state.until = Some(now + OPEN);
        }
        opens
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_open_it_until_one_request_succeeds() {
        let breaker = Breaker::default();
        let now = Instant::now();
        let fail = || breaker.failed(Failure::Connect, now);
        (1..FAILURES).for_each(|_| assert!(!fail()));
        breaker.succeeded();
        assert!(!fail());
        assert_eq!(breaker.wait(now), None, "they were not in a row");
        (2..FAILURES).for_each(|_| assert!(!fail()));
        assert!(fail());
        assert_eq!(breaker.wait(now), Some(OPEN));
        assert_eq!(breaker.wait(now + OPEN), None, "one may try");
        assert_eq!(breaker.wait(now + OPEN), Some(OPEN), "and no second one");
        breaker.succeeded();
        assert_eq!(breaker.wait(now), None);
    }

    #[test]
    fn x07_no_caller_alone_opens_it_by_requests_that_are_not_answered() {
        let breaker = Breaker::default();
        let now = Instant::now();
        for _ in 0..100 {
            assert!(!breaker.failed(Failure::NoAnswer("ann"), now));
        }
        assert_eq!(breaker.wait(now), None);
        assert!(breaker.failed(Failure::NoAnswer("bob"), now));
        assert_eq!(breaker.wait(now), Some(OPEN));
    }
}
