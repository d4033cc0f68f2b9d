//! The pure core of Kitbag: what a model sees, decided without I/O.
//!
//! `no_std` with `alloc`, so that the compiler forbids files, clocks, environment and randomly
//! seeded maps here: time, ids and token counts arrive as arguments. Reading a workspace, keeping
//! a store, counting with a vocabulary and talking to a provider live in other crates.

#![no_std]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod fit;
pub mod tokens;
