//! The state that every request is answered from.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use kitbag::project::Project;
use kitbag::store::Store;
use tokio::task::JoinSet;

use crate::access::{Keyring, Limits};
use crate::observe::Metrics;
use crate::packs::Packs;
use crate::upstream::Upstreams;

/// A project, its memory, and the places that requests go to.
#[derive(Debug)]
pub struct App {
    pub(crate) project: Arc<Project>,
    /// The memory; nothing where none is used.
    pub(crate) store: Option<Store>,
    pub(crate) upstreams: Upstreams,
    pub(crate) clock: fn() -> Timestamp,
    /// The keys of clients; nothing where there can be none.
    pub(crate) keys: Option<Keyring>,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) packs: Packs,
    /// Work that goes on after its response, such as learning.
    background: Mutex<JoinSet<()>>,
    stopping: AtomicBool,
}

/// Clients that have no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyless {
    /// They are answered as long as the tenant of the server has no key: only this machine reaches it.
    Local,
    /// They are refused.
    Refused,
}

impl App {
    /// The state of a server by the system's clock.
    #[must_use]
    pub fn new(project: Project, store: Option<Store>, upstreams: Upstreams) -> Self {
        Self {
            project: Arc::new(project),
            store,
            upstreams,
            clock: Timestamp::now,
            keys: None,
            limits: Limits::default(),
            metrics: Metrics::default(),
            packs: Packs::default(),
            background: Mutex::default(),
            stopping: AtomicBool::new(false),
        }
    }

    /// The same by another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> Timestamp) -> Self {
        self.clock = clock;
        self
    }

    /// The same for clients that show a key of this store. Its tenant decides about those without one.
    #[must_use]
    pub fn with_keys(mut self, store: Store, keyless: Keyless) -> Self {
        self.keys = Some(Keyring::new(store, keyless == Keyless::Refused));
        self
    }

    /// The same with folders that packs are made of; of nothing outside them.
    #[must_use]
    pub fn with_roots(mut self, roots: Vec<PathBuf>) -> Self {
        self.packs = Packs::new(roots);
        self
    }

    /// Lets some work go on that no response waits for. A server that stops waits for it.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut background = self
            .background
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Those that have ended take no room.
        while background.try_join_next().is_some() {}
        background.spawn(work);
    }

    /// Takes the work that still goes on.
    pub(crate) fn take_background(&self) -> JoinSet<()> {
        let mut background = self
            .background
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *background)
    }

    /// Notes that nothing new is to be begun.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
