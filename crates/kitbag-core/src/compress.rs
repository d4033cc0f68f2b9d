//! Fits ranked chunks into a budget, and makes the six-part prompt of the result.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::assembly::{
    self, AssembleError, AssemblySettings, Draft, FitStrategy, OutputForm, Reason, assemble,
    render_piece,
};
use crate::chunk::{ChunkId, ContextChunk};
use crate::envelope::TaskEnvelope;
use crate::rank::RankedChunk;
use crate::tokens::{TokenCounter, Tokens};

/// Chooses what fits into `budget`, each chunk at the level that was chosen for it.
///
/// Costs are those of the prompt that [`build_prompt`] makes, its header included.
///
/// # Errors
/// When the critical chunks do not fit.
pub fn compress(
    ranked: Vec<RankedChunk>,
    budget: Tokens,
    strategy: FitStrategy,
    counter: &dyn TokenCounter,
) -> Result<CompressedContext, AssembleError> {
    compress_into(&Draft::new(""), ranked, budget, strategy, counter)
}

fn compress_into(
    draft: &Draft,
    ranked: Vec<RankedChunk>,
    budget: Tokens,
    strategy: FitStrategy,
    counter: &dyn TokenCounter,
) -> Result<CompressedContext, AssembleError> {
    let mut by_text: BTreeMap<(ChunkId, String), ContextChunk> = BTreeMap::new();
    for chunk in ranked.iter().map(|ranked| &ranked.chunk) {
        let mut bare = chunk.clone();
        bare.levels.clear();
        for level in &chunk.levels {
            let mut shown = bare.clone();
            shown.levels = alloc::vec![level.clone()];
            let text = render_piece(chunk, level, OutputForm::Pack);
            // Where ids collide, they name their contents.
            let told_apart = chunk.id.with_content(chunk.content());
            by_text.insert((told_apart, text.clone()), shown.clone());
            by_text.insert((chunk.id.clone(), text), shown);
        }
    }
    let chunks_in = ranked.len();
    let settings = AssemblySettings::new(OutputForm::Pack, budget).with_strategy(strategy);
    let assembly = assemble(draft, ranked, &settings, counter, None)?;
    let kept = assembly.kept.iter();
    let out = assembly.ledger.entries.into_iter();
    Ok(CompressedContext {
        chunks: kept
            .filter_map(|kept| by_text.remove(&(kept.id.clone(), kept.text.clone())))
            .collect(),
        chunks_in,
        tokens_used: assembly.tokens,
        budget,
        excluded: out
            .filter(|entry| entry.level.is_none())
            .map(|entry| Excluded {
                source: entry.source,
                reason: entry.reason,
            })
            .collect(),
    })
}

/// Chooses the context of an envelope so that its whole prompt fits into its budget's input.
///
/// # Errors
/// When the request or the critical chunks do not fit.
pub fn compress_for(
    envelope: &mut TaskEnvelope,
    ranked: Vec<RankedChunk>,
    strategy: FitStrategy,
    counter: &dyn TokenCounter,
) -> Result<(), AssembleError> {
    let budget = envelope.token_budget.input();
    envelope.context = compress_into(&draft_of(envelope), ranked, budget, strategy, counter)?;
    Ok(())
}

/// What was chosen, with the figures of the choice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, into = "Shown")]
#[non_exhaustive]
pub struct CompressedContext {
    /// The chunks, each at one level, the best first.
    pub chunks: Vec<ContextChunk>,
    /// The number of chunks to choose from.
    pub chunks_in: usize,
    /// The tokens of the prompt that they make.
    pub tokens_used: Tokens,
    /// The tokens that they may have.
    pub budget: Tokens,
    /// What is out, and why.
    pub excluded: Vec<Excluded>,
}

impl CompressedContext {
    /// The share of the budget that is used, in thousandths.
    #[must_use]
    pub fn utilization_permille(&self) -> u32 {
        let used = u64::from(self.tokens_used.0) * 1_000;
        let share = used.checked_div(u64::from(self.budget.0)).unwrap_or(0);
        u32::try_from(share).unwrap_or(u32::MAX)
    }
}

/// A chunk that is not in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    /// Where it comes from.
    pub source: String,
    /// Why.
    pub reason: Reason,
}

/// The JSON of a compressed context, which also states what can be derived.
#[derive(Serialize)]
struct Shown {
    chunks: Vec<ContextChunk>,
    chunks_in: usize,
    chunks_included: usize,
    tokens_used: Tokens,
    budget: Tokens,
    utilization: f64,
    excluded: Vec<Excluded>,
}

impl From<CompressedContext> for Shown {
    fn from(context: CompressedContext) -> Self {
        Self {
            chunks_included: context.chunks.len(),
            utilization: f64::from(context.utilization_permille()) / 1_000.0,
            chunks: context.chunks,
            chunks_in: context.chunks_in,
            tokens_used: context.tokens_used,
            budget: context.budget,
            excluded: context.excluded,
        }
    }
}

/// The prompt of an envelope: header, structure, files, further context, request, instructions.
#[must_use]
pub fn build_prompt(envelope: &TaskEnvelope) -> String {
    let draft = draft_of(envelope);
    assembly::render_all(&draft, &envelope.context.chunks, OutputForm::Pack)
}

fn draft_of(envelope: &TaskEnvelope) -> Draft {
    let mut draft = Draft::new(envelope.user_request.as_str());
    draft.task_type = Some(envelope.task_type);
    draft
}

#[cfg(test)]
mod tests;
