//! Kitbag over HTTP: the endpoints of model providers, with memory, for clients that know nothing of it.
//!
//! An [`App`] is what a server answers from: a project, its memory, and the [`Upstreams`] that requests go
//! to. [`serve`] answers on a socket until it is told to stop; [`router`] is the same for a program that has
//! a server of its own. A [`Live`] server takes another configuration while it runs.

mod access;
mod api;
mod app;
mod mcp;
mod observe;
#[cfg(feature = "otel")]
mod otel;
#[cfg(not(feature = "otel"))]
#[path = "without_otel.rs"]
mod otel;
mod packs;
mod proxy;
mod refusal;
mod serve;
mod slack;
mod upstream;

pub use access::{BindError, check_bind};
pub use app::{App, Keyless};
#[cfg(feature = "otel")]
pub use otel::{Telemetry, TelemetryError};
pub use serve::{Live, router, serve};
pub use slack::Slack;
pub use upstream::{UpstreamError, Upstreams};
