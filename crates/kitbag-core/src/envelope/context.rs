//! The context of a task: the chunks of its prompt, with the figures of the choice.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::assembly::Reason;
use crate::chunk::ContextChunk;
use crate::tokens::Tokens;

/// The chosen chunks, with the figures of the choice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, into = "ContextJson")]
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
    /// The sources that are left out, and why.
    pub excluded: Vec<ExcludedChunk>,
}

impl CompressedContext {
    /// Returns the share of the budget that is used, in thousandths.
    #[must_use]
    pub fn utilization_permille(&self) -> u32 {
        let used = u64::from(self.tokens_used.0) * 1_000;
        let share = used.checked_div(u64::from(self.budget.0)).unwrap_or(0);
        u32::try_from(share).unwrap_or(u32::MAX)
    }
}

/// A chunk that is not in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedChunk {
    pub source: String,
    pub reason: Reason,
}

/// The JSON of a compressed context, which also states what can be derived.
#[derive(Serialize)]
struct ContextJson {
    chunks: Vec<ContextChunk>,
    chunks_in: usize,
    chunks_included: usize,
    tokens_used: Tokens,
    budget: Tokens,
    utilization: f64,
    excluded: Vec<ExcludedChunk>,
}

impl From<CompressedContext> for ContextJson {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p07_utilization_is_used_over_budget() {
        let context = CompressedContext {
            tokens_used: Tokens(3_500),
            budget: Tokens(4_000),
            ..CompressedContext::default()
        };
        let json = serde_json::to_value(&context).unwrap();
        assert_eq!(json["utilization"], 0.875);
        assert_eq!(json["chunks_included"], 0);
        assert_eq!(
            serde_json::from_value::<CompressedContext>(json).unwrap(),
            context
        );
    }
}
