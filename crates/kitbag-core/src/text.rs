//! Text for retrieval: words, stems, stop words, and the weight of shared words.
//!
//! Pure and the same on every machine: logarithms come from a portable library, not from the
//! platform's. The caller decides which texts are compared, and with what. There are two readings:
//! [`words`] for tasks and code, [`tokens`] for people's words in any language.

mod bm25;
mod fold;
mod language;
mod script;
mod stem;
mod stem_cache;
mod stop;
mod terms;
mod tokens;
mod unspaced;
mod word_list;
mod word_table;
mod words;

pub use bm25::{Bm25, inverse_frequency};
pub use fold::fold;
pub(crate) use fold::folded;
pub use language::Language;
pub use script::Script;
pub use stem::stem;
pub(crate) use stem_cache::StemCache;
pub use stop::is_stop_word;
pub(crate) use terms::{index_terms, query_terms};
pub use tokens::{Token, tokens};
pub(crate) use word_list::{is_listed, word_list};
pub(crate) use word_table::WordTable;
pub(crate) use words::runs;
pub use words::{Word, identifiers, sub_words, words};
