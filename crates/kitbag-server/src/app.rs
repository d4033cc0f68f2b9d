//! The state that every request is answered from.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use kitbag::project::Project;
use kitbag::store::Store;
use tokio::task::JoinSet;

use crate::upstream::Upstreams;

/// A project, its memory, and the places that requests go to.
#[derive(Debug)]
pub struct App {
    pub(crate) project: Project,
    /// The memory; nothing where none is used.
    pub(crate) store: Option<Store>,
    pub(crate) upstreams: Upstreams,
    pub(crate) clock: fn() -> Timestamp,
    stopping: AtomicBool,
    background: Mutex<JoinSet<()>>,
}

/// More work than this is not waited for: a store that takes nothing must not fill the memory.
const MOST_WORK: usize = 1_000;

impl App {
    /// The state of a server by the system's clock.
    #[must_use]
    pub fn new(project: Project, store: Option<Store>, upstreams: Upstreams) -> Self {
        Self {
            project,
            store,
            upstreams,
            clock: Timestamp::now,
            stopping: AtomicBool::new(false),
            background: Mutex::default(),
        }
    }

    /// The same by another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> Timestamp) -> Self {
        self.clock = clock;
        self
    }

    /// Notes that nothing new is to be begun.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Runs work that no request waits for.
    pub(crate) fn in_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut all = self
            .background
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        while all.try_join_next().is_some() {}
        if all.len() < MOST_WORK {
            all.spawn(work);
        } else {
            tracing::warn!(event = "work_dropped", waiting = all.len());
        }
    }

    /// Waits for all work in the background.
    pub(crate) async fn finish(&self) {
        let all = self.background.lock();
        let mut all = std::mem::take(&mut *all.unwrap_or_else(PoisonError::into_inner));
        while all.join_next().await.is_some() {}
    }
}
