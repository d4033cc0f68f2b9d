//! Templates render as Handlebars.js renders them, and nothing in them does harm.
//!
//! What is expected is not written down: the real Handlebars.js says it, when the tests run.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod cases;
mod deviations;
mod generated;
mod limits;
mod reference;
mod soup;

use std::collections::BTreeMap;

use kitbag_layout::{RenderSettings, Template, TemplateError, Value};
use serde::{Deserialize, Serialize};

/// One template with all that it is rendered with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    template: String,
    #[serde(default)]
    context: Value,
    #[serde(default)]
    partials: BTreeMap<String, String>,
}

impl Case {
    fn render(&self) -> Result<String, TemplateError> {
        let template = Template::parse("case", &self.template)?;
        // Handlebars.js parses a partial only when it is called, and fails only then.
        let partials = self.partials.iter().map(|(name, source)| {
            let parsed = Template::parse(name, source);
            let parsed = parsed.or_else(|_| Template::parse(name, "{{broken partial}}"));
            (name.clone(), parsed.unwrap())
        });
        let partials = partials.collect();
        template.render(
            &self.context,
            &RenderSettings {
                partials: &partials,
                ..RenderSettings::default()
            },
        )
    }
}
