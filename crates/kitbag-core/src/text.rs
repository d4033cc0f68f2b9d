//! Text as retrieval sees it: words, stems, stop words, and how much a shared word tells.
//!
//! Pure and the same on every machine: logarithms come from a portable library, not from the
//! platform's. Which texts are compared, and with what, is the caller's business.

mod bm25;
mod stem;
mod stop;
mod words;

pub use bm25::{Bm25, inverse_frequency};
pub use stem::stem;
pub use stop::is_stop_word;
pub use words::{Word, identifiers, is_compound, sub_words, words};
