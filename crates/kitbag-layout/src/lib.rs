//! Agents, layouts and documents: one definition gives every channel the same prompt.
//!
//! Pure: it receives texts and values, and never reads a file, a clock, the environment or a source
//! of randomness.

pub mod agent;
pub mod bands;
pub mod builtin;
pub mod chain;
pub mod channel;
pub mod config;
pub mod context;
pub mod document;
pub mod given;
pub mod key;
pub mod layout;
pub mod layouts;
pub mod manifest;
pub mod nearest;
pub mod payload;
pub mod problem;
pub mod prompt;
pub mod props;
pub mod query;
pub mod reserved;
pub mod skill;
pub mod template;
pub mod value;
mod yaml;

pub use agent::Agent;
pub use channel::{ChannelTurn, Mode, PastMessage, Platform, PlatformError};
pub use config::{
    Channels, Config, ContextRule, Declared, HeaderSource, HookScope, HookSettings, KeySource,
    Learning, MemorySettings, PackSettings, ProviderEntry, ProviderKind, ProviderTimeouts,
    ProxyMemory, Routing, ServerSettings, SkillSettings, SlackSettings, StatedFacts, StoredSecrets,
};
pub use document::{Document, Documents};
pub use key::{SecurityKey, SecurityKeyError};
pub use layouts::Layouts;
pub use manifest::Layout;
pub use problem::{FileProblem, Severity};
pub use prompt::ShownBy;
pub use skill::SkillText;
pub use template::{
    Escape, Limited, Limits, Missing, PathUse, Place, RenderSettings, Template, TemplateError,
    TemplateProblem,
};
pub use value::{Map, Value};
