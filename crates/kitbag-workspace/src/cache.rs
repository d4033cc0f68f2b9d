//! Keeps what was parsed and counted, by content.
