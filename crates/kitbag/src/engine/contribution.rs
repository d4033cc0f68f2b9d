//! The contributions of sources to a prompt. Nothing else enters one.

use std::collections::BTreeMap;

use kitbag_core::chunk::{ChunkId, ChunkType};
#[cfg(feature = "layouts")]
use kitbag_core::chunk::{Detail, Level};
use kitbag_core::compact::Compaction;
use kitbag_core::envelope::ToolDefinition;
use kitbag_core::inject::{ContextMessage, Held};
use kitbag_core::message::Message;
use kitbag_core::problem::Problem;
use kitbag_core::rank::RankedChunk;

use super::admit::{Redaction, clean_chunk};

/// The contribution of one source.
///
/// ```
/// use kitbag::core::chunk::{ChunkType, ContextChunk};
/// use kitbag::engine::Contribution;
///
/// let mut contribution = Contribution::default();
/// contribution.add(ContextChunk::new(ChunkType::Fact, "fact/home", "The user lives in Lisbon."));
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Contribution {
    /// The parts that must be in the prompt.
    pub draft: DraftParts,
    /// The chunks that may be in. Only [`add`](Self::add) puts something here: it is the door.
    pub(super) chunks: Vec<RankedChunk>,
    /// The secrets that were replaced in the chunks.
    pub redacted: Vec<Redaction>,
    /// The problems of the source; a source that fails never stops a prompt.
    pub problems: Vec<Problem>,
}

impl Contribution {
    /// Adds a chunk, whose secrets are replaced.
    pub fn add(&mut self, chunk: impl Into<RankedChunk>) {
        let mut ranked = chunk.into();
        self.redacted.extend(clean_chunk(&mut ranked.chunk));
        self.chunks.push(ranked);
    }

    /// Adds a chunk that was made of a [`Clean`](super::Clean) text: looking for secrets in each of
    /// its levels again would take as long as making them.
    #[cfg(any(feature = "layouts", feature = "workspace"))]
    pub(crate) fn add_clean(&mut self, chunk: RankedChunk, redacted: Vec<Redaction>) {
        self.redacted.extend(redacted);
        self.chunks.push(chunk);
    }

    /// The chunks, in the order in which they were added.
    #[must_use]
    pub fn chunks(&self) -> &[RankedChunk] {
        &self.chunks
    }

    /// Changes the texts that stand without a fence around them, where marks could be taken for
    /// those of the operator. Fenced text is shown as it is.
    #[cfg(feature = "layouts")]
    pub(super) fn change_loose_texts(&mut self, change: impl Fn(&str) -> String) {
        for ranked in &mut self.chunks {
            let is_loose = matches!(
                ranked.chunk.chunk_type,
                ChunkType::Fact
                    | ChunkType::Turn
                    | ChunkType::Summary
                    | ChunkType::Entity
                    | ChunkType::Step
                    | ChunkType::Reminder
            );
            // A name alone is an item of a list, whatever it names.
            let is_name = |level: &Level| matches!(level.level, Detail::Line | Detail::Handle);
            let levels = ranked.chunk.levels.iter_mut();
            for level in levels.filter(|level| is_loose || is_name(level)) {
                level.content = change(&level.content);
            }
        }
    }

    /// The texts of the chunks, at every level, and those of context messages.
    #[cfg(feature = "layouts")]
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let levels = self.chunks.iter().flat_map(|ranked| &ranked.chunk.levels);
        let levels = levels.map(|level| level.content.as_str());
        let injected = self.draft.injected.iter();
        levels.chain(injected.map(|one| one.content.as_str()))
    }

    /// Gives a file the id of the document that it is: one of the two then stands for both, and the
    /// ledger says so. Files with the same text are different files.
    pub(super) fn merge_twins(&mut self) {
        let chunks = self.chunks.iter().map(|ranked| &ranked.chunk);
        let documents = chunks.filter(|chunk| chunk.chunk_type == ChunkType::Document);
        let mut ids: BTreeMap<String, ChunkId> = BTreeMap::new();
        for chunk in documents.filter(|chunk| !chunk.content().trim().is_empty()) {
            let id = ids.entry(chunk.content().to_owned());
            let id = id.or_insert_with(|| chunk.id.clone());
            *id = chunk.id.clone().min(id.clone());
        }
        let chunks = self.chunks.iter_mut().map(|ranked| &mut ranked.chunk);
        for chunk in chunks.filter(|chunk| chunk.chunk_type == ChunkType::File) {
            if let Some(id) = ids.get(chunk.content()) {
                chunk.id.clone_from(id);
            }
        }
    }

    /// Puts contributions together, in their order.
    pub(super) fn join(contributions: Vec<Self>) -> Self {
        let mut all = Self::default();
        for one in contributions {
            all.draft.extend(one.draft);
            all.chunks.extend(one.chunks);
            all.redacted.extend(one.redacted);
            all.problems.extend(one.problems);
        }
        all
    }
}

/// The parts of a [`Draft`](kitbag_core::assembly::Draft) that sources bring.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct DraftParts {
    /// The base prompt; of several sources the last one's.
    pub identity: Option<String>,
    /// The key that marks instructions in that base prompt.
    pub key: Option<String>,
    /// The tools on offer.
    pub tools: Vec<ToolDefinition>,
    /// The messages to inject.
    pub injected: Vec<ContextMessage>,
    /// Context messages that are not due yet; the ledger says so.
    pub held: Vec<Held>,
    /// The earlier messages, oldest first.
    pub history: Vec<Message>,
    /// The number of messages before those.
    pub unread: usize,
    /// The summary of the messages before those.
    pub compaction: Option<Compaction>,
    /// The tool steps of this turn.
    pub steps: Vec<Message>,
    /// Chunks that must not be shown any more.
    pub retracted: Vec<ChunkId>,
    /// True where the prompt is a node's.
    pub(super) is_for_node: bool,
}

impl DraftParts {
    pub(super) fn extend(&mut self, other: Self) {
        self.identity = other.identity.or(self.identity.take());
        self.key = other.key.or(self.key.take());
        self.tools.extend(other.tools);
        self.injected.extend(other.injected);
        self.held.extend(other.held);
        self.unread = self.unread.saturating_add(other.unread);
        self.compaction = other.compaction.or(self.compaction.take());
        self.history.extend(other.history);
        self.steps.extend(other.steps);
        self.retracted.extend(other.retracted);
        self.is_for_node |= other.is_for_node;
    }
}
