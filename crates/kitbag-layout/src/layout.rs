//! Renders a layout with a context.
//!
//! The context is the caller's, and is not neutralised here.

use std::collections::BTreeMap;

use kitbag_core::problem::{Problem, ProblemKind};

use crate::context::watched;
use crate::manifest::Layout;
use crate::props::{PropError, PropsMode};
use crate::template::{Missing, RenderSettings, Template, TemplateError, Traced};
use crate::value::Value;

/// A layout with parsed templates, in one language.
#[derive(Debug, Clone)]
pub struct ParsedLayout<'a> {
    layout: &'a Layout,
    pub(crate) template: Template,
    /// The partials that it can include: its own and the shared ones.
    pub(crate) partials: BTreeMap<String, Template>,
}

/// Reasons why a layout cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutFailure {
    /// A template is malformed, or cannot be rendered with this context.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A prop violates the layout's schema, and the layout is strict.
    #[error(transparent)]
    Prop(#[from] PropError),
}

/// The props of a layout, and the problems with the given ones.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LayoutProps {
    /// The props to use.
    pub props: Value,
    /// Props that were replaced by their default, or that have no effect.
    pub problems: Vec<Problem>,
}

impl<'a> ParsedLayout<'a> {
    /// Parses a layout, with partials that several layouts share.
    ///
    /// # Errors
    /// When a template is no valid Handlebars.
    pub fn new(
        layout: &'a Layout,
        language: Option<&str>,
        shared: &BTreeMap<String, Template>,
    ) -> Result<Self, LayoutFailure> {
        let template = Template::parse(&layout.id, layout.template(language))?;
        // The layout's own partials replace shared ones of the same name.
        let mut partials = shared.clone();
        for (name, text) in &layout.partials {
            let full_name = format!("{}, partial {name}", layout.id);
            partials.insert(name.clone(), Template::parse(&full_name, &text.source)?);
        }
        Ok(Self {
            layout,
            template,
            partials,
        })
    }

    /// The props after checking them against the layout's schema.
    ///
    /// # Errors
    /// When the layout is strict and a prop violates the schema.
    pub fn props(&self, given: Option<&Value>) -> Result<LayoutProps, LayoutFailure> {
        let layout = self.layout;
        let defaults = layout.default_props.as_ref();
        // An unknown prop does no harm: it is reported, but does not cost the layout.
        let checked = layout
            .props_schema
            .check(given, defaults, PropsMode::Lenient);
        if let (Missing::Refuse, Some(first)) = (layout.missing, checked.errors.first()) {
            return Err(first.clone().into());
        }
        let source = format!("layout {}", layout.id);
        let problem =
            |error: PropError| Problem::new(&source, ProblemKind::Ignored, error.to_string());
        Ok(LayoutProps {
            props: checked.props,
            problems: checked
                .errors
                .into_iter()
                .chain(checked.warnings)
                .map(problem)
                .collect(),
        })
    }

    /// Renders the layout, and records which parts of the turn it uses.
    pub(crate) fn trace(
        &self,
        context: &Value,
        conversation: Option<&Template>,
    ) -> Result<Traced, LayoutFailure> {
        let settings = RenderSettings {
            escape: self.layout.escape,
            missing: self.layout.missing,
            partials: &self.partials,
            conversation,
            ..RenderSettings::default()
        };
        Ok(self.template.trace(context, &settings, &watched(context))?)
    }

    /// Renders the layout. Texts in the context are data and are never parsed.
    ///
    /// # Errors
    /// When the template cannot be rendered with this context, or exceeds its limits.
    pub fn render(
        &self,
        context: &Value,
        conversation: Option<&Template>,
    ) -> Result<String, LayoutFailure> {
        Ok(self.trace(context, conversation)?.text)
    }
}
