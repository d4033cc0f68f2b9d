//! The difference between the prompts of two turns: how much of the beginning is the same, and which chunks
//! came, left or changed.

use std::collections::BTreeMap;

use kitbag::core::assembly::LedgerEntry;
use kitbag::core::tokens::Tokens;
use kitbag::engine::ReplayedPrompt;
use schemars::JsonSchema;
use serde::Serialize;

/// The difference of a later prompt from an earlier one.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PromptDifference {
    /// The earlier turn.
    before: String,
    /// The later turn.
    after: String,
    /// The bytes of the beginning that both have.
    shared_bytes: usize,
    /// The bytes of each.
    bytes: [usize; 2],
    /// The tokens of each.
    tokens: [u32; 2],
    /// Chunks that only the later one shows.
    entered: Vec<ChunkChange>,
    /// Chunks that only the earlier one shows.
    left: Vec<ChunkChange>,
    /// Chunks that both show, at another level or with other tokens.
    changed: Vec<ChunkChange>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ChunkChange {
    /// The chunk.
    id: String,
    /// Its source.
    source: String,
    /// Its level in the earlier prompt.
    before: Option<String>,
    /// Its level in the later prompt.
    after: Option<String>,
    /// The tokens that it takes in the later prompt more than in the earlier one.
    tokens: i64,
}

/// A prompt that is compared.
pub(super) struct Compared<'a> {
    /// The turn.
    pub(super) turn: String,
    pub(super) body: &'a str,
    pub(super) tokens: Tokens,
    pub(super) entries: &'a [LedgerEntry],
}

impl<'a> From<&'a ReplayedPrompt> for Compared<'a> {
    fn from(replayed: &'a ReplayedPrompt) -> Self {
        Self {
            turn: replayed.prompt.turn.to_string(),
            body: &replayed.body,
            tokens: replayed.prompt.tokens,
            entries: &replayed.prompt.ledger.entries,
        }
    }
}

impl PromptDifference {
    pub(super) fn between(before: &Compared<'_>, after: &Compared<'_>) -> Self {
        let mut chunks: BTreeMap<String, [Option<&LedgerEntry>; 2]> = BTreeMap::new();
        for entry in before.entries {
            chunks.entry(entry.id.to_string()).or_default()[0] = Some(entry);
        }
        for entry in after.entries {
            chunks.entry(entry.id.to_string()).or_default()[1] = Some(entry);
        }
        let (mut entered, mut left, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for (id, sides) in chunks {
            // Entries without a level were considered and not shown: to a reader they are absent.
            let [was, is] = sides.map(|entry| entry.filter(|entry| entry.level.is_some()));
            let list = match (was, is) {
                (None, Some(_)) => &mut entered,
                (Some(_), None) => &mut left,
                (Some(was), Some(is)) if (was.level, was.tokens) != (is.level, is.tokens) => {
                    &mut changed
                }
                _ => continue,
            };
            let level = |entry: &LedgerEntry| entry.level.map(|level| level.as_str().to_owned());
            let tokens =
                |entry: Option<&LedgerEntry>| entry.map_or(0, |one| i64::from(one.tokens.0));
            // The later name counts if a source was renamed.
            let source = is.or(was).map_or("", |entry| entry.source.as_str());
            list.push(ChunkChange {
                id,
                source: source.to_owned(),
                before: was.and_then(level),
                after: is.and_then(level),
                tokens: tokens(is) - tokens(was),
            });
        }
        // By bytes, since caches of providers compare bytes.
        let shared = before.body.bytes().zip(after.body.bytes());
        Self {
            before: before.turn.clone(),
            after: after.turn.clone(),
            shared_bytes: shared.take_while(|(one, other)| one == other).count(),
            bytes: [before.body.len(), after.body.len()],
            tokens: [before.tokens.0, after.tokens.0],
            entered,
            left,
            changed,
        }
    }
}
