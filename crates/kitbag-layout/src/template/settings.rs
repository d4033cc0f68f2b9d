//! How a template is rendered.

use std::collections::BTreeMap;

use super::Template;

/// How a template is rendered.
#[derive(Debug, Clone, Copy)]
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

static NO_PARTIALS: BTreeMap<String, Template> = BTreeMap::new();

impl Default for RenderSettings<'_> {
    /// Settings that escape for HTML, take what is missing as empty, and know no partials.
    fn default() -> Self {
        Self {
            escape: Escape::default(),
            missing: Missing::default(),
            partials: &NO_PARTIALS,
            conversation: None,
            limits: Limits::default(),
        }
    }
}
