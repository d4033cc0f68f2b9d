//! The state that every request is answered from.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use kitbag::project::Project;
use kitbag::store::Store;

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
}

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
}
