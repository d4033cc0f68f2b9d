//! Handlebars templates that render like Handlebars.js 4.7.
//!
//! Values are data: no text in them is ever parsed as a template. Output, work and depth are
//! bounded, and the same input gives the same bytes. Deliberate differences from Handlebars.js are
//! listed in the tests that compare with it.

mod ast;
mod error;
mod helper;
mod js;
mod parse;
mod paths;
mod render;
mod scan;
mod settings;
mod trace;
mod whitespace;

use std::sync::Arc;

use crate::value::Value;
use paths::Collector;

pub(crate) use helper::file_size;

pub use error::{Limited, Place, TemplateError, TemplateProblem};
pub use paths::PathUse;
pub use settings::{Escape, Limits, Missing, RenderSettings};
pub(crate) use trace::{Root, Traced, Watched};

/// A parsed template. Cheap to clone.
///
/// ```
/// use kitbag_layout::{RenderSettings, Template, Value};
///
/// let template = Template::parse("greeting", "Hello{{#each names}} {{this}}{{/each}}!")?;
/// let context: Value = serde_json::from_str(r#"{"names": ["Ann", "Bob"]}"#)?;
/// assert_eq!(template.render(&context, &RenderSettings::default())?, "Hello Ann Bob!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Template {
    name: Arc<str>,
    source: Arc<str>,
    program: Arc<ast::Program>,
}

impl Template {
    /// Parses a template. The name, of a layout or a file, is for errors.
    ///
    /// # Errors
    ///
    /// [`TemplateProblem::Syntax`] or [`TemplateProblem::Unbalanced`] if the source is no template,
    /// [`TemplateProblem::Limit`] if it is larger than 4 MiB or nested deeper than 64 levels.
    pub fn parse(name: &str, source: &str) -> Result<Self, TemplateError> {
        let program = parse::parse(name, source)?;
        Ok(Self {
            name: name.into(),
            source: source.into(),
            program: Arc::new(program),
        })
    }

    /// The name that it was parsed under.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The paths that it looks up, in the order of the source.
    ///
    /// ```
    /// use kitbag_layout::Template;
    ///
    /// let template = Template::parse("t", "{{#if (eq a.b 1)}}{{{documents.my-doc.content}}}{{/if}}")?;
    /// let paths: Vec<String> = template.paths().map(|path| path.parts.join(".")).collect();
    /// assert_eq!(paths, ["a.b", "documents.my-doc.content"]);
    /// # Ok::<(), kitbag_layout::TemplateError>(())
    /// ```
    pub fn paths(&self) -> impl Iterator<Item = PathUse<'_>> {
        Collector::of(&self.program).paths.into_iter()
    }

    /// The names of the partials that it includes; those computed while rendering are unknown.
    pub fn partials(&self) -> impl Iterator<Item = &str> {
        Collector::of(&self.program).partials.into_iter()
    }

    /// The names of partials that must be supplied: it neither defines them itself nor has a
    /// fallback for them.
    pub fn required_partials(&self) -> impl Iterator<Item = &str> {
        let Collector {
            partials, optional, ..
        } = Collector::of(&self.program);
        // `@partial-block` is the block of the caller.
        let is_required = move |name: &&str| !optional.contains(name) && !name.starts_with('@');
        partials.into_iter().filter(is_required)
    }

    /// Renders the template with a context.
    ///
    /// # Errors
    ///
    /// When it calls a helper that does not exist or calls one wrongly, when a path leads to
    /// nothing and the settings refuse that, or when a limit is reached.
    pub fn render(
        &self,
        context: &Value,
        settings: &RenderSettings<'_>,
    ) -> Result<String, TemplateError> {
        Ok(self.trace(context, settings, &[])?.text)
    }

    /// Renders the template, and records which of the watched values it uses.
    pub(crate) fn trace(
        &self,
        context: &Value,
        settings: &RenderSettings<'_>,
        watched: &[Watched<'_>],
    ) -> Result<Traced, TemplateError> {
        render::render(self, context, settings, watched)
    }
}

#[cfg(test)]
mod tests;
