//! Changes and looks that a person asks for in the middle of a conversation, without a model.

mod conversation;

pub use conversation::Ended;
