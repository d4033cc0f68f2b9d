//! The engine over a real store, through its public door.

#![cfg(feature = "sqlite")]
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod flat;
mod nodes;

use std::sync::LazyLock;

use kitbag::tokens::{Counter, Vocabulary};

static COUNTER: LazyLock<Counter> =
    LazyLock::new(|| Counter::for_vocabulary(Vocabulary::O200kBase).unwrap());
