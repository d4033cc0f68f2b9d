//! The limits of a turn of the loop.

/// The most that a turn of the loop does. [`ToolLimits`](crate::tool::ToolLimits) hold besides, for all of
/// its nodes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeLimits {
    /// The steps of a plan that are executed. The rest is left out, and the reply gets a note about it.
    pub steps: u32,
}

impl Default for NodeLimits {
    fn default() -> Self {
        Self { steps: 6 }
    }
}

impl NodeLimits {
    /// The same with another number of steps.
    #[must_use]
    pub const fn with_steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }
}
