//! The limits of a turn that calls tools.

use std::time::Duration;

use kitbag_core::tokens::Tokens;

/// The limits of a turn that calls tools. When one is reached, the results of further calls say so, and the
/// model answers with what it has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolLimits {
    /// The steps: answers that call tools, each with all its results. Of the default 12, most turns need
    /// two or three.
    pub steps: u32,
    /// The time from the first prompt on, in which tools may be called.
    pub time: Duration,
    /// The time of one call.
    pub call_time: Duration,
    /// The tokens of all prompts of the turn together.
    pub tokens: u64,
    /// The tokens of one result, though never more than a third of the budget. A longer one keeps its
    /// beginning and its end.
    pub result: Tokens,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            steps: 12,
            time: Duration::from_secs(5 * 60),
            call_time: Duration::from_secs(60),
            tokens: 500_000,
            result: Tokens(8_000),
        }
    }
}

impl ToolLimits {
    /// The same with another number of steps.
    #[must_use]
    pub const fn with_steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }

    /// The same with another time, and with no more than that for each call.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = time;
        // One call must not outlast the turn.
        self.call_time = self.call_time.min(time);
        self
    }

    /// The same with another number of tokens for all prompts of a turn.
    #[must_use]
    pub const fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }
}
