//! What Kitbag remembers: conversations, facts, summaries, the three layers, injected messages and
//! every prompt, on SQLite or PostgreSQL, and recall without a model, or, with the feature
//! `embeddings`, helped by one that lies in a folder.
//!
//! What is relevant, how a prompt is rendered and when a message is injected again is decided in
//! `kitbag-core`; this crate keeps what that needs, and keeps tenants apart. Methods are asynchronous;
//! with PostgreSQL, and where a lease is waited for, they need a Tokio runtime.

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
pub use fact::{Fact, NewFact};
pub use filter::{ConversationKey, MessageFilter};
pub use forget::{Forget, Forgotten};
pub use id::{ConversationId, MessageId, TurnId};
pub use import::{Import, ImportBatch, Imported};
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
pub use secrets::Secrets;
pub use sender::Sender;
pub use splice::Splice;
pub use state::ConversationState;
pub use store::{FactsFromTalk, Store, Tenant};
pub use summary::{NewSummary, Summary, SummaryMaker};
pub use tenants::TenantStats;
pub use turn::{Incoming, Learned, StoredTurn, TurnStatus};
