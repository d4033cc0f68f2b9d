//! How a template is rendered.

use std::collections::BTreeMap;

use super::Template;
use super::trace::Watched;

/// How a template is rendered.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RenderSettings<'a> {
    /// Whether `{{ }}` escapes.
    pub escape: Escape,
    /// What becomes of a path that leads to nothing.
    pub missing: Missing,
    /// The templates that `{{> name}}` finds.
    pub partials: &'a BTreeMap<String, Template>,
    /// What `{{formatConversation messages platform}}` shows a conversation with, if not with the
    /// template that is built in.
    pub conversation: Option<&'a Template>,
    /// How much may be rendered.
    pub limits: Limits,
    /// The values whose use is recorded.
    pub(crate) watched: &'a [Watched<'a>],
}

/// Whether `{{ }}` escapes; `{{{ }}}` and `{{& }}` never do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Escape {
    /// Escapes what has a meaning in HTML.
    #[default]
    Html,
    /// Escapes nothing.
    None,
}

/// What becomes of a path that leads to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// It is empty.
    #[default]
    Empty,
    /// It is an error, except where it is only asked about, as by `if`, `each` or `eq`.
    Refuse,
}

/// How much may be rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of output.
    pub output: usize,
    /// Nodes that are rendered, rounds of loops, and values that helpers look at.
    pub steps: u64,
    /// Blocks, partials and sub-expressions within each other; never more than 128 whatever is set,
    /// so that no template exhausts the stack.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            output: 16 << 20,
            steps: 2_000_000,
            depth: 64,
        }
    }
}

impl Limits {
    /// Sets how many bytes may be rendered.
    #[must_use]
    pub fn with_output(mut self, bytes: usize) -> Self {
        self.output = bytes;
        self
    }

    /// Sets how many steps rendering may take.
    #[must_use]
    pub fn with_steps(mut self, steps: u64) -> Self {
        self.steps = steps;
        self
    }

    /// Sets how many blocks, partials and sub-expressions may be within each other.
    #[must_use]
    pub fn with_depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }
}

static NO_PARTIALS: BTreeMap<String, Template> = BTreeMap::new();

impl Default for RenderSettings<'_> {
    fn default() -> Self {
        Self {
            escape: Escape::default(),
            missing: Missing::default(),
            partials: &NO_PARTIALS,
            conversation: None,
            limits: Limits::default(),
            watched: &[],
        }
    }
}

impl<'a> RenderSettings<'a> {
    /// Settings that escape for HTML, take what is missing as empty, and know no partials.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether `{{ }}` escapes.
    #[must_use]
    pub fn with_escape(mut self, escape: Escape) -> Self {
        self.escape = escape;
        self
    }

    /// Sets what becomes of a path that leads to nothing.
    #[must_use]
    pub fn with_missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// Sets the templates that `{{> name}}` finds.
    #[must_use]
    pub fn with_partials(mut self, partials: &'a BTreeMap<String, Template>) -> Self {
        self.partials = partials;
        self
    }

    /// Sets what a conversation is shown with.
    #[must_use]
    pub fn with_conversation(mut self, conversation: Option<&'a Template>) -> Self {
        self.conversation = conversation;
        self
    }

    /// Sets how much may be rendered.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}
