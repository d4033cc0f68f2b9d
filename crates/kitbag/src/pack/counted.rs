//! Counts the pieces of chunks side by side, before they are assembled one by one.

use std::collections::HashMap;

use kitbag_core::assembly::{OutputForm, render_piece};
use kitbag_core::rank::RankedChunk;
use kitbag_core::tokens::{Exactness, TokenCounter, Tokens};
use rayon::prelude::*;

/// A counter that already knows the pieces of chunks.
pub(super) struct Counted<'a> {
    counter: &'a dyn TokenCounter,
    known: HashMap<[u8; 32], Tokens>,
}

impl<'a> Counted<'a> {
    /// Counts every level of the chunks as it stands in `form`.
    pub(super) fn new(
        counter: &'a dyn TokenCounter,
        chunks: &[RankedChunk],
        form: OutputForm,
    ) -> Self {
        let known = chunks
            .par_iter()
            .with_max_len(1)
            .flat_map_iter(|ranked| {
                ranked.chunk.levels.iter().map(|level| {
                    let piece = render_piece(&ranked.chunk, level, form);
                    (hash(&piece), counter.count(&piece))
                })
            })
            .collect();
        Self { counter, known }
    }
}

impl TokenCounter for Counted<'_> {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> Tokens {
        let known = self.known.get(&hash(text)).copied();
        known.unwrap_or_else(|| self.counter.count(text))
    }

    fn exactness(&self) -> Exactness {
        self.counter.exactness()
    }
}

fn hash(text: &str) -> [u8; 32] {
    *blake3::hash(text.as_bytes()).as_bytes()
}
