//! Rendering a layout with a context.
//!
//! The context is the caller's, and is not neutralised here.

use std::collections::BTreeMap;

use kitbag_core::problem::{Problem, ProblemKind};

use crate::context::watched;
use crate::manifest::Layout;
use crate::props::{PropError, PropsMode};
use crate::template::{Missing, RenderSettings, Template, TemplateError, Traced};
use crate::value::Value;

/// A layout whose templates were parsed, in one language.
#[derive(Debug, Clone)]
pub struct ParsedLayout<'a> {
    layout: &'a Layout,
    /// Its template.
    pub(crate) template: Template,
    /// The pieces that it can include: its own, and the shared ones.
    pub(crate) partials: BTreeMap<String, Template>,
}

/// Why a layout cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutFailure {
    /// A template is wrong, or cannot be rendered with this context.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A prop is not as the layout's schema asks, and the layout is strict.
    #[error(transparent)]
    Prop(#[from] PropError),
}

/// The props of a layout, and what was wrong with those that were given.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LayoutProps {
    /// The props to use.
    pub props: Value,
    /// What was replaced by its default, or has no effect.
    pub problems: Vec<Problem>,
}

impl<'a> ParsedLayout<'a> {
    /// Parses a layout, with pieces that several layouts share.
    ///
    /// # Errors
    /// When a template is no Handlebars.
    pub fn new(
        layout: &'a Layout,
        language: Option<&str>,
        shared: &BTreeMap<String, Template>,
    ) -> Result<Self, LayoutFailure> {
        let template = Template::parse(&layout.id, layout.template(language))?;
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

    /// The props as the layout's schema has them.
    ///
    /// # Errors
    /// When the layout is strict and a prop is not as the schema asks.
    pub fn props(&self, given: Option<&Value>) -> Result<LayoutProps, LayoutFailure> {
        let layout = self.layout;
        let defaults = layout.default_props.as_ref();
        // A prop that nobody knows does no harm: it is told, and no reason to lose the layout.
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

    /// Renders the layout, and records which parts of the turn it used.
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

    /// Renders the layout. Texts in the context are data.
    ///
    /// # Errors
    /// When the template cannot be rendered with this context, or not within its limits.
    pub fn render(
        &self,
        context: &Value,
        conversation: Option<&Template>,
    ) -> Result<String, LayoutFailure> {
        Ok(self.trace(context, conversation)?.text)
    }
}
