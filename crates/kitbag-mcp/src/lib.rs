//! Kitbag over the Model Context Protocol: packs and memory as tools, documents and past prompts as
//! resources, layouts as prompts.
//!
//! [`Server`] answers requests of both eras of the protocol, those that begin with `initialize` and those
//! that carry all they need. [`serve_stdio`] runs one until its client goes, [`answer_http`] lets one answer a request
//! over HTTP. [`connect`] is the other side: it
//! starts the servers of a `.mcp.json` and gives their tools to an engine.

mod client;
#[cfg(feature = "conformance")]
mod conformance;
mod http;
mod lines;
mod prompts;
mod reader;
mod resources;
mod server;
mod stdio;
mod tools;

pub use client::{
    Connected, McpConfigError, ServerLimits, ServerSummary, SkillServers, connect, server_of_skill,
    servers_of,
};
pub use http::answer_http;
pub use server::Server;
pub use stdio::{ServeError, serve_stdio};
