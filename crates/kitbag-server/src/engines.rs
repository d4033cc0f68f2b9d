//! The engines that answered lately, each with the connections of its provider: making one reads the system's
//! certificates, and its first request needs a new TLS handshake.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use kitbag::Engine;

/// Engines without a store, by the choices of requests.
#[derive(Debug, Default)]
pub(crate) struct Engines(Mutex<BTreeMap<Choices, Engine>>);

/// The choices of a request that make its engine another one.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Choices {
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) budget: Option<u32>,
}

/// The most engines to keep: clients choose freely, but use few at a time.
const MOST: usize = 64;

impl Engines {
    /// The engine for some choices, which is built the first time.
    pub(crate) fn get<E>(
        &self,
        choices: Choices,
        build: impl FnOnce() -> Result<Engine, E>,
    ) -> Result<Engine, E> {
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all().get(&choices).cloned();
        if let Some(engine) = known {
            return Ok(engine);
        }
        let engine = build()?;
        let mut all = all();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(choices, engine.clone());
        Ok(engine)
    }
}
