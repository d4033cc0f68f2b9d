//! A queue of work for several threads.
//!
//! A channel of the standard library has one receiver. Threads that share it behind a lock wake
//! each other for every piece of work; here only the thread that takes it wakes.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Work that waits.
pub(super) struct Queue<W> {
    state: Mutex<State<W>>,
    changed: Condvar,
}

struct State<W> {
    waiting: VecDeque<W>,
    is_closed: bool,
}

impl<W> Queue<W> {
    pub(super) fn new() -> Self {
        let state = State {
            waiting: VecDeque::new(),
            is_closed: false,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Adds work, or drops it once the queue is closed.
    pub(super) fn push(&self, work: W) {
        let mut state = self.state();
        if !state.is_closed {
            state.waiting.push_back(work);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Waits for work. Returns none once the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<W> {
        let wait = |state: &mut State<W>| state.waiting.is_empty() && !state.is_closed;
        let state = self.changed.wait_while(self.state(), wait);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.waiting.pop_front()
    }

    /// Lets the threads end once the queue is empty.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// Locks the state. A poisoned lock is harmless: no caller panics between two changes of the
    /// state.
    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
