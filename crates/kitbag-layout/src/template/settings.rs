//! The settings for rendering a template.

use std::collections::BTreeMap;

use super::Template;

/// The settings for rendering a template.
#[derive(Debug, Clone, Copy)]
pub struct RenderSettings<'a> {
    /// The escaping in `{{ }}`.
    pub escape: Escape,
    /// The treatment of a path that leads to nothing.
    pub missing: Missing,
    /// The templates that `{{> name}}` finds.
    pub partials: &'a BTreeMap<String, Template>,
    /// The template by which `{{formatConversation messages platform}}` shows a conversation,
    /// instead of the built-in one.
    pub conversation: Option<&'a Template>,
    pub limits: Limits,
}

/// The escaping in `{{ }}`; `{{{ }}}` and `{{& }}` never escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Escape {
    /// Characters with a meaning in HTML are escaped.
    #[default]
    Html,
    /// Nothing is escaped.
    None,
}

/// The treatment of a path that leads to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// It is empty.
    #[default]
    Empty,
    /// It is an error, unless the value is only tested, as by `if`, `each` or `eq`.
    Refuse,
}

/// The limits of rendering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of output.
    pub output: usize,
    /// Nodes that are rendered, rounds of loops, and values that helpers look at.
    pub steps: u64,
    /// Blocks, partials and sub-expressions within each other. It is never more than 128, so that
    /// no template exhausts the stack.
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
    /// The defaults: they escape for HTML, take missing values as empty, and know no partials.
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
