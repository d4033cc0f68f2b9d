//! Prompts, answers, turns and conversations as programs read them: the shapes behind `--json` and a server's
//! responses, with their schemas.
//!
//! Each is made of what the engine or the store gave. Parts that explain a prompt, such as its ledger, are
//! objects whose fields the types of [`core`](crate::core) describe.

#[cfg(all(feature = "providers", feature = "store"))]
mod answer;
#[cfg(feature = "store")]
mod conversation;
mod prompt;
#[cfg(feature = "store")]
mod replay;
#[cfg(feature = "store")]
mod turn;

#[cfg(all(feature = "providers", feature = "store"))]
pub use answer::AnswerReport;
#[cfg(feature = "store")]
pub use conversation::{
    ConversationReport, MessageReport, MessagesReport, VersionReport, export_line,
};
pub use prompt::PromptReport;
#[cfg(feature = "store")]
pub use replay::ReplayReport;
#[cfg(feature = "store")]
pub use turn::TurnReport;
