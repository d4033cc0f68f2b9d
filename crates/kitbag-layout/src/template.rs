//! Handlebars templates, which render as Handlebars.js 4.7 renders them.
//!
//! Values are data: no text in them is ever parsed as a template. Rendering is bounded in output, work
//! and depth, and the same input gives the same bytes. What is chosen to differ from Handlebars.js is
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

/// A parsed template.
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
    /// Parses a template; the name is that of the layout or file, for errors.
    ///
    /// # Errors
    ///
    /// [`TemplateProblem::Syntax`] or [`TemplateProblem::Unbalanced`] where the source is not a template,
    /// [`TemplateProblem::Limit`] where it is larger than 4 MiB or nested deeper than 64 levels.
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

    /// The paths that it looks up, in the order in which they are written.
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

    /// The names of the partials that it includes, as far as they are written in it.
    pub fn partials(&self) -> impl Iterator<Item = &str> {
        Collector::of(&self.program).partials.into_iter()
    }

    /// Those of its partials that it neither defines itself nor has a stand-in for.
    pub fn required_partials(&self) -> impl Iterator<Item = &str> {
        let Collector {
            partials, optional, ..
        } = Collector::of(&self.program);
        let is_required = move |name: &&str| !optional.contains(name) && !name.starts_with('@');
        partials.into_iter().filter(is_required)
    }

    /// Renders it with a context.
    ///
    /// # Errors
    ///
    /// Where it calls what does not exist or in a wrong way, where a path leads to nothing and that is
    /// refused, or where a limit is reached.
    pub fn render(
        &self,
        context: &Value,
        settings: &RenderSettings<'_>,
    ) -> Result<String, TemplateError> {
        Ok(self.trace(context, settings, &[])?.text)
    }

    /// Renders it, and records which of the watched values it used.
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
