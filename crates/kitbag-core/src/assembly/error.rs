//! Failures of an assembly, with advice.

use alloc::string::String;

use super::form::OutputForm;
use crate::band::Band;
use crate::chunk::ChunkId;
use crate::tokens::Tokens;

/// A reason why no prompt could be assembled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// There is nothing to answer.
    #[error("the current message is empty: the form `{}` has nothing to end in", .form.as_str())]
    EmptyMessage { form: OutputForm },
    /// The parts that are never cut do not fit.
    #[error("the prompt needs {fixed} tokens before any chunk is chosen, but the budget is {budget}; most of them, {largest_tokens}, are in the band `{}`", .largest.as_str())]
    FixedOverBudget {
        /// The tokens of everything but the chunks.
        fixed: Tokens,
        budget: Tokens,
        /// The largest band.
        largest: Band,
        largest_tokens: Tokens,
    },
    /// The critical chunks do not fit, even each at its cheapest level.
    #[error("the critical chunks need at least {needed} tokens, but only {room} are left for chunks; the largest is `{}`", .largest.as_ref().map_or("", ChunkId::as_str))]
    CriticalOverBudget {
        /// The sum of their cheapest levels.
        needed: Tokens,
        /// The tokens left for chunks.
        room: Tokens,
        /// The chunk that needs the most.
        largest: Option<ChunkId>,
    },
    /// A critical chunk has no levels.
    #[error("the critical chunk `{}` has no levels", .id.as_ref().map_or("", ChunkId::as_str))]
    CriticalWithoutLevels {
        /// The chunk.
        id: Option<ChunkId>,
    },
    /// The counter gives the whole more tokens than its parts.
    #[error(
        "the tokenizer `{tokenizer}` counts {whole} tokens for a prompt whose parts have {parts}, which is over the budget of {budget}"
    )]
    CountsDoNotAddUp {
        tokenizer: String,
        /// The count of the whole.
        whole: Tokens,
        /// The sum over the parts.
        parts: Tokens,
        budget: Tokens,
    },
}

impl AssembleError {
    /// Returns advice on how to resolve it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::EmptyMessage { .. } => "give a message",
            Self::FixedOverBudget { .. } => {
                "raise the budget, or shorten the message, the instructions or the history"
            }
            Self::CriticalOverBudget { .. } => {
                "raise the budget, give the largest chunk a shorter level, or lower its priority to HIGH"
            }
            Self::CriticalWithoutLevels { .. } => {
                "give the chunk some content, or lower its priority"
            }
            Self::CountsDoNotAddUp { .. } => {
                "a counter must not count more for a text than for its parts where one ends in a newline and the next begins with a letter or a mark"
            }
        }
    }
}
