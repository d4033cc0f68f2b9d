//! The binary as a person or a script meets it.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod api;
mod ask;
mod bills;
mod chat;
mod checkpoint;
mod clipboard;
mod commands;
mod context;
mod doctor;
mod expand;
mod explain;
mod fit;
mod four_nodes;
mod help;
mod hook;
mod init;
mod layout;
mod learning;
mod logs;
mod manual;
mod mcp;
mod memory;
mod models;
mod pack;
mod pipe;
mod readme;
mod receive;
mod remind;
mod routing;
mod rules;
mod run;
mod serve;
mod skill;
mod tokens;
mod tools;
