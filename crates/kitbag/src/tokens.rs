//! Token counters.
