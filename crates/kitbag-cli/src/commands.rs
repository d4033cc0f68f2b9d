//! One file for each command, named as it is typed.

pub(crate) mod agent;
pub(crate) mod ask;
pub(crate) mod chat;
pub(crate) mod checkpoint;
pub(crate) mod completions;
pub(crate) mod context;
pub(crate) mod doctor;
pub(crate) mod expand;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod key;
pub(crate) mod layout;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod pack;
pub(crate) mod remind;
pub(crate) mod replay;
#[cfg(feature = "server")]
pub(crate) mod serve;
pub(crate) mod skill;
pub(crate) mod tokens;
