//! The pure core of Kitbag: what a model sees, decided without I/O.
//!
//! `no_std` with `alloc`, so that the compiler forbids files, clocks, environment and randomly
//! seeded maps here: time, ids and token counts arrive as arguments. Reading a workspace, keeping
//! a store, counting with a vocabulary and talking to a provider live in other crates.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

// First, since a macro is known only to the modules behind it.
#[macro_use]
mod names;

pub mod assembly;
pub mod band;
pub mod budget;
pub mod calibration;
pub mod chunk;
pub mod compact;
pub mod content;
pub mod context;
pub mod conversation;
pub mod entity;
pub mod envelope;
pub mod fit;
pub mod flat;
pub mod history;
pub mod inject;
pub mod message;
pub mod neutral;
pub mod problem;
pub mod rank;
pub mod reasoning;
pub mod recall;
pub mod record;
pub mod role;
pub mod statement;
pub mod stored;
pub mod summarize;
pub mod text;
pub mod time;
pub mod tokens;
pub mod view;
