//! Fits chunks into a token budget.
