//! Keeps what Kitbag remembers, on SQLite or PostgreSQL: conversations, facts, summaries, the three
//! layers of an agent's context, injected messages and every prompt. Recall needs no model; the
//! feature `embeddings` lets one from a local folder help.
//!
//! This crate keeps tenants apart and decides nothing about prompts: relevance, rendering and the
//! moment to inject a message again are the business of `kitbag-core`. All methods are
//! asynchronous. PostgreSQL needs a Tokio runtime, and so does waiting for a lease.

#[cfg(not(any(feature = "sqlite", feature = "postgres")))]
compile_error!("a store needs a database: enable the feature `sqlite` or `postgres`");

mod append;
mod audit;
mod calibration;
mod check;
mod closing;
mod compacting;
mod conversation;
mod copy;
mod edit;
#[cfg(feature = "embeddings")]
mod embedding;
mod error;
mod export;
mod extension;
mod fact;
mod filter;
mod forget;
mod history;
mod id;
mod import;
mod index;
mod key;
mod lease;
mod location;
mod maintain;
mod memories;
mod message;
mod names;
#[cfg(feature = "postgres")]
mod postgres;
mod prompt;
mod recall;
mod refusal;
mod repair;
mod result;
mod schema;
mod scope;
mod secrets;
mod sender;
mod splice;
#[cfg(feature = "sqlite")]
mod sqlite;
mod state;
mod store;
mod summary;
mod tenants;
mod transaction;
mod turn;
mod value;

pub use audit::{Action, AuditEntry};
pub use closing::{CloseOutcome, Closing};
pub use compacting::{CompactOutcome, Compacting};
pub use conversation::{Conversation, ConversationChoice, IDLE, LatestConversation};
pub use copy::Copied;
#[cfg(feature = "sqlite")]
pub use copy::{Backup, Existing};
pub use edit::MessageVersion;
#[cfg(feature = "embeddings")]
pub use embedding::{Embedder, EmbeddingError};
pub use error::{StoreError, TlsProblem};
pub use export::{ExportCursor, ExportFilter, Exported};
pub use extension::{ExtensionChange, ExtensionState, ExtensionValues, KeptFor};
pub use fact::{Fact, NewFact};
pub use filter::{ConversationKey, MessageFilter};
pub use forget::{Forget, Forgotten};
pub use id::{ConversationId, MessageId, TurnId};
pub use import::{Import, ImportBatch, ImportBatches, Imported};
pub use key::{KEY_RANDOMNESS, Key, KeyScope, KeyScopes, KeySecret, NewKey};
pub use lease::Lease;
pub use location::Location;
pub use maintain::Stats;
pub use memories::{ConversationMemory, MemoryRequest, Recollections};
pub use message::{MessageTime, NewMessage, StoredMessage};
pub use prompt::{Pruned, Replayed, RequestField, SentPrompt};
pub use recall::{Later, RecallRequest, Recalled, RecalledFact};
pub use refusal::Refusal;
pub use repair::{DamagedRow, Remedy, Repaired};
pub use result::ResultId;
pub use secrets::Secrets;
pub use sender::Sender;
pub use splice::Splice;
pub use state::ConversationState;
pub use store::{FactsFromTalk, Store, Tenant};
pub use summary::{NewSummary, Summary, SummaryMaker};
pub use tenants::TenantStats;
pub use turn::{Incoming, Learned, StoredTurn, TurnStatus};
