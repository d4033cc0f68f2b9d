//! Agents, layouts and documents: one definition gives every channel the same prompt.
//!
//! Pure: it is handed texts and values, and never reads a file, a clock, the environment or a
//! source of randomness.

pub mod key;
pub mod query;
pub mod reserved;
pub mod value;

pub use key::{SecurityKey, SecurityKeyError};
pub use value::{Map, Value};
