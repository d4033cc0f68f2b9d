//! The library that people depend on: packing a workspace, checkpoints, token counters and imports
//! of conversations, over the pure core.
//!
//! [`core`] decides what a model sees; this crate brings what that needs from the world. With the
//! feature `sqlite` or `postgres` it has a `store` of memories, with `providers` it asks models.

#[cfg(all(feature = "providers", feature = "store"))]
pub mod answer;
pub mod checkpoint;
#[cfg(all(feature = "providers", feature = "store"))]
pub mod command;
pub mod engine;
#[cfg(all(feature = "providers", feature = "store"))]
pub mod extension;
#[cfg(feature = "layouts")]
pub mod gather;
#[cfg(feature = "store")]
pub mod hook;
#[cfg(all(feature = "providers", feature = "store"))]
pub mod learn;
pub mod memory;
#[cfg(all(feature = "providers", feature = "store"))]
mod one_shot;
#[cfg(feature = "workspace")]
pub mod pack;
#[cfg(feature = "layouts")]
pub mod project;
#[cfg(feature = "providers")]
pub mod provider;
#[cfg(feature = "store")]
pub mod recall;
#[cfg(feature = "layouts")]
pub mod receive;
#[cfg(feature = "layouts")]
pub mod report;
#[cfg(all(feature = "providers", feature = "store"))]
pub mod route;
mod shorten;
#[cfg(feature = "layouts")]
pub mod skill;
pub mod tokens;
#[cfg(feature = "layouts")]
pub mod tool;
pub mod wire;
pub mod words;

#[cfg(feature = "layouts")]
pub use engine::Engine;
pub use kitbag_core as core;
#[cfg(feature = "layouts")]
pub use kitbag_layout as layout;
pub use kitbag_secrets as secrets;
#[cfg(feature = "store")]
pub use kitbag_store as store;
pub use kitbag_text as text;
#[cfg(feature = "workspace")]
pub use kitbag_workspace as workspace;

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The example of the page about channels, built as a test.
#[cfg(all(doctest, feature = "sqlite", feature = "providers"))]
#[doc = include_str!("../../../docs/channels.md")]
struct ChannelsGuide;

/// The examples of the guide, run as tests.
#[cfg(all(doctest, feature = "sqlite", feature = "providers"))]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryGuide;

/// The examples of the guide to extensions, run as tests.
#[cfg(all(doctest, feature = "sqlite", feature = "providers"))]
#[doc = include_str!("../../../docs/extensions.md")]
struct ExtensionGuide;
