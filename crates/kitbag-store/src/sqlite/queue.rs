//! A queue that several threads take work from.
//!
//! A channel of the standard library has one receiver. Threads that share it behind a lock wake each
//! other for every piece of work; here only the one that takes it wakes.

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

    /// Adds work; gives it to nobody once the queue is closed.
    pub(super) fn push(&self, work: W) {
        let mut state = self.state();
        if !state.is_closed {
            state.waiting.push_back(work);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Waits for work. None once the queue is closed and nothing waits in it.
    pub(super) fn pop(&self) -> Option<W> {
        let wait = |state: &mut State<W>| state.waiting.is_empty() && !state.is_closed;
        let state = self.changed.wait_while(self.state(), wait);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.waiting.pop_front()
    }

    /// Lets those that take work leave when they are through.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// Nothing can be half done when a thread panics: what runs under the lock cannot.
    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
