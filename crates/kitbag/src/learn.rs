//! Learning: what is made of a conversation when it has ended, or when its older part no longer fits.
//!
//! It happens after the reply. [`learn_after`](crate::Engine::learn_after) is called with what
//! [`after`](crate::Engine::after) says of a turn that has ended, on whatever task the program likes: it
//! summarises the conversation before, if that ended by silence and nobody has learned from it, and compacts the one at hand, if the
//! next prompt would leave messages out. [`learn_from`](crate::Engine::learn_from) is for a conversation
//! that was closed. Both ask the model with one-shot prompts, without history, memory or agent, in which
//! the conversation is data.
//!
//! Rules come first: a conversation is closed with a summary by rules, and a model's takes its place.
//! A provider that fails, takes too long, refuses or talks nonsense loses nothing, is not asked again,
//! and is a [`Problem`] in the [`Lessons`]. [`Learning`] says how much of this is done.
//!
//! ```
//! use std::fs;
//!
//! use kitbag::Engine;
//! use kitbag::provider::ScriptProvider;
//! use kitbag::store::{Incoming, Location, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let script = folder.path().join("answers.jsonl");
//! let facts = r#"{"facts": [{"key": "boat", "value": "red dinghy", "message": 1, "quote": "I sail a red dinghy"}]}"#;
//! let facts = serde_json::json!({"when": "lasting facts", "text": facts});
//! fs::write(&script, format!("{facts}\n{}\n", r#"{"text": "Nice."}"#))?;
//! let store = Store::open(&Location::Sqlite(folder.path().join("memory.db"))).await?;
//! let engine = Engine::builder()
//!     .store(store)
//!     .provider(ScriptProvider::new("demo", script))
//!     .build()?;
//!
//! let mut incoming = Incoming::new("cli", "ann", "I sail a red dinghy.");
//! engine.ask(incoming.clone()).await?;
//! if let kitbag::command::Ended::Closed(id) = engine.end_conversation(&mut incoming).await? {
//!     let lessons = engine.learn_from(id).await;
//!     assert_eq!(lessons.facts[0].value, "red dinghy");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod after;
mod compaction;
mod conversation;
mod facts;
mod layers;
mod layers_by_model;
mod material;
mod model;
mod summary;

use std::time::Instant;

use kitbag_core::problem::Problem;
use kitbag_core::record::{InferenceRecord, StageRecord, TurnRecord, total_cost_micros};
use kitbag_core::tokens::Tokens;
use kitbag_store::{ConversationId, NewFact, StoreError};

pub use after::AfterTurn;
pub use kitbag_layout::Learning;
pub(crate) use layers::{ClosedLayers, layers_after};

/// The most tokens of the summary that stands for a conversation.
pub(crate) const SUMMARY: Tokens = Tokens(200);

/// The outcome of learning: the lessons, their cost, and the problems.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Lessons {
    /// A conversation that had ended by silence and was closed.
    pub closed: Option<ConversationId>,
    /// The model's summary of a conversation that has ended.
    pub summary: Option<String>,
    /// The facts that were learned, each with its message.
    pub facts: Vec<NewFact>,
    /// The number of messages that are summarised now, where the conversation was compacted.
    pub compacted: Option<u32>,
    /// The summaries of a turn's end that a model made: of an answer, of older turns.
    pub layers: u32,
    /// The prompts that were sent.
    pub inferences: Vec<InferenceRecord>,
    /// The problems that came up. Nothing is lost by them.
    pub problems: Vec<Problem>,
}

impl Lessons {
    /// Returns whether nothing happened at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let did = self.closed.is_some() || self.compacted.is_some() || self.summary.is_some();
        let did = did || self.layers > 0;
        !did && self.facts.is_empty() && self.inferences.is_empty() && self.problems.is_empty()
    }

    /// The cost at list prices, in millionths of a US dollar; none where nothing was asked, or where a
    /// price or a usage is not known.
    #[must_use]
    pub fn cost_micros(&self) -> Option<u64> {
        total_cost_micros(&self.inferences)
    }

    /// Takes a failure of the store as a problem: what was said is kept, and the reply is out.
    fn or_tell<T>(&mut self, result: Result<T, StoreError>) -> Option<T> {
        let told = |error| self.problems.push(Problem::failed("learning", error));
        result.map_err(told).ok()
    }

    /// The record of what was learned since a moment.
    fn record(&self, begun: Instant) -> TurnRecord {
        let mut done = Vec::new();
        if self.summary.is_some() {
            done.push("summary by a model".to_owned());
        }
        if !self.facts.is_empty() {
            done.push(format!("{} facts", self.facts.len()));
        }
        done.extend(
            self.compacted
                .map(|count| format!("{count} messages summarised")),
        );
        if self.layers > 0 {
            done.push(format!("{} summaries of the turn by a model", self.layers));
        }
        done.extend(self.problems.iter().map(ToString::to_string));
        let micros = begun.elapsed().as_micros();
        let micros = u64::try_from(micros).unwrap_or(u64::MAX);
        let mut record = TurnRecord::default();
        record.stages = vec![StageRecord::new("learn", done.join("; "), micros)];
        record.inferences.clone_from(&self.inferences);
        record
    }
}
