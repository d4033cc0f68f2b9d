//! The state that every request is answered from.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use kitbag::project::Project;
use kitbag::store::Store;
use tokio::task::JoinSet;

use crate::access::{Keyring, Limits};
use crate::engines::Engines;
use crate::observe::Metrics;
#[cfg(feature = "otel")]
use crate::otel::Telemetry;
use crate::packs::Packs;
use crate::proxy::Buffer;
use crate::slack::Slack;
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
    pub(crate) keys: Option<Arc<Keyring>>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) packs: Packs,
    pub(crate) engines: Engines,
    /// The Slack app that asks.
    pub(crate) slack: Option<Arc<Slack>>,
    #[cfg(feature = "otel")]
    pub(crate) telemetry: Option<Arc<Telemetry>>,
    /// The room for the requests that wait.
    pub(crate) buffer: Arc<Buffer>,
    /// Work that goes on after its response, such as learning.
    background: Arc<Mutex<JoinSet<()>>>,
    stopping: Arc<AtomicBool>,
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
            limits: Arc::default(),
            metrics: Arc::default(),
            packs: Packs::default(),
            engines: Engines::default(),
            slack: None,
            #[cfg(feature = "otel")]
            telemetry: None,
            buffer: Arc::default(),
            background: Arc::default(),
            stopping: Arc::default(),
        }
    }

    /// The same by another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> Timestamp) -> Self {
        self.clock = clock;
        self
    }

    /// The same for clients that show a key of this store. Its tenant decides about those without one; `has_keys`
    /// says if it has a key now, which holds while the store cannot be asked.
    #[must_use]
    pub fn with_keys(mut self, store: Store, keyless: Keyless, has_keys: bool) -> Self {
        let always = keyless == Keyless::Refused;
        let keys = Keyring::new(store, always, has_keys, Arc::clone(&self.metrics));
        self.keys = Some(Arc::new(keys));
        self
    }

    /// The same with folders that packs are made of; of nothing outside them.
    #[must_use]
    pub fn with_roots(mut self, roots: Vec<PathBuf>) -> Self {
        self.packs = Packs::new(roots);
        self
    }

    /// The same with a Slack app, whose messages are answered from the memory of the server's tenant.
    #[must_use]
    pub fn with_slack(mut self, slack: Slack) -> Self {
        self.slack = Some(Arc::new(slack));
        self
    }

    /// The same server with another configuration, and without folders and Slack app. Its memory, its keys
    /// with what was counted for them, and its unfinished work stay.
    #[must_use]
    pub fn reconfigured(&self, project: Project, upstreams: Upstreams) -> Self {
        Self {
            clock: self.clock,
            keys: self.keys.clone(),
            limits: Arc::clone(&self.limits),
            metrics: Arc::clone(&self.metrics),
            buffer: Arc::clone(&self.buffer),
            background: Arc::clone(&self.background),
            stopping: Arc::clone(&self.stopping),
            #[cfg(feature = "otel")]
            telemetry: self.telemetry.clone(),
            ..Self::new(project, self.store.clone(), upstreams)
        }
    }

    /// The same with a collector to which calls of models are reported.
    #[cfg(feature = "otel")]
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: Telemetry) -> Self {
        self.telemetry = Some(Arc::new(telemetry));
        self
    }

    /// Returns true if something is remembered.
    #[must_use]
    pub const fn has_memory(&self) -> bool {
        self.store.is_some()
    }

    /// Notes that nothing new is to be begun.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Runs work that no request waits for, and returns whether there is room for it.
    pub(crate) fn in_background(&self, work: impl Future<Output = ()> + Send + 'static) -> bool {
        let mut all = self
            .background
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Takes the results of finished work, which would be kept otherwise.
        while all.try_join_next().is_some() {}
        let has_room = all.len() < MOST_WORK;
        if has_room {
            all.spawn(work);
        } else {
            tracing::error!(event = "work_dropped", waiting = all.len());
        }
        has_room
    }

    /// Waits for all work in the background, but not for ever.
    pub(crate) async fn finish(&self) {
        let all = self
            .background
            .lock()
            .map(|mut all| std::mem::take(&mut *all));
        let mut all = all.unwrap_or_default();
        // Answers that were begun are stored, or their turns would look interrupted.
        let ended = async { while all.join_next().await.is_some() {} };
        if tokio::time::timeout(LONGEST_WORK, ended).await.is_err() {
            tracing::warn!(event = "work_broken_off", left = all.len());
        }
    }
}

/// More work than this is not waited for: a store that takes nothing must not fill the memory.
const MOST_WORK: usize = 1_000;
/// Work in the background has so long to end when the server stops.
const LONGEST_WORK: Duration = Duration::from_secs(20);
