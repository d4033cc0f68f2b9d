//! What is found, what is left alone, and what always holds.

use super::*;

#[test]
fn every_format_compiles() {
    for token in vendors::TOKENS {
        assert!(token.compiles(), "{}", token.kind);
    }
}
