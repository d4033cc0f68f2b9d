//! A breaker: an upstream that could not be reached several times in a row is left alone for a while.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many failures in a row open it.
const FAILURES: u32 = 5;
/// It stays open for so long, then one request tries.
const OPEN: Duration = Duration::from_secs(10);

/// The latest failures of an upstream. A refusal is an answer and no failure.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
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

    pub(crate) fn failed(&self, now: Instant) {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES {
            state.until = Some(now + OPEN);
        }
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
        (1..FAILURES).for_each(|_| breaker.failed(now));
        breaker.succeeded();
        breaker.failed(now);
        assert_eq!(breaker.wait(now), None, "they were not in a row");
        (1..FAILURES).for_each(|_| breaker.failed(now));
        assert_eq!(breaker.wait(now), Some(OPEN));
        assert_eq!(breaker.wait(now + OPEN), None, "one may try");
        assert_eq!(breaker.wait(now + OPEN), Some(OPEN), "and no second one");
        breaker.succeeded();
        assert_eq!(breaker.wait(now), None);
    }
}
