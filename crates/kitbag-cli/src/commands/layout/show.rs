//! Shows a layout: its description, its props, and its template.

use std::collections::BTreeMap;

use kitbag::layout::props::PropSchema;
use kitbag::layout::{Layout, Value};
use serde::Serialize;

use super::list::Row;
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::project::{ListArgs, layout_failure};

/// Shows a layout: its props and its template
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag layout show kitbag/default
  kitbag layout show kitbag/default --language de")]
pub(crate) struct Args {
    /// The layout's id
    layout: String,
    /// The language of the template, such as en or pt-BR
    #[arg(long, value_name = "TAG")]
    language: Option<String>,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let project = args.list.project.open_and_tell()?;
    let found = project
        .layout(None, Some(&args.layout))
        .map_err(|error| layout_failure(&error))?;
    if args.list.json {
        return Ok(output::print_json(&Report::of(found.layout))?);
    }
    let text = shown(found.layout, args.language.as_deref());
    Ok(output::print(&text)?)
}

fn shown(layout: &Layout, language: Option<&str>) -> String {
    let mut lines = vec![format!(
        "{} {}, from {}",
        one_line(&layout.id),
        one_line(&layout.version),
        one_line(&layout.origin.to_string())
    )];
    if let Some(description) = &layout.description {
        lines.push(one_line(description));
    }
    // A layout in one language has nothing to choose from.
    if layout.templates.len() > 1 {
        let languages: Vec<&str> = layout.templates.keys().map(String::as_str).collect();
        lines.push(format!("languages: {}", one_line(&languages.join(", "))));
    }
    if !layout.props_schema.is_empty() {
        lines.push(String::from("\nprops:"));
        let props = layout.props_schema.props();
        lines.extend(props.map(|(name, prop)| prop_line(name, prop)));
    }
    lines.push(String::from("\ntemplate:"));
    lines.push(layout.template(language).to_owned());
    lines.join("\n")
}

/// A prop on a line: its type, its default, and its description.
fn prop_line(name: &str, prop: &PropSchema) -> String {
    let default = match &prop.default {
        Some(default) => {
            format!(", default {}", one_line(&default.to_string()))
        }
        None if prop.required => String::from(", required"),
        None => String::new(),
    };
    let description = prop
        .description
        .as_ref()
        .map(|text| format!(": {}", one_line(text)));
    let description = description.unwrap_or_default();
    let (name, kind) = (one_line(name), prop.kind.name());
    format!("  {name} ({kind}{default}){description}")
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    props: Vec<Prop<'a>>,
    templates: BTreeMap<&'a str, &'a str>,
}

#[derive(Serialize)]
struct Prop<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    required: bool,
    default: Option<&'a Value>,
    description: Option<&'a str>,
}

impl<'a> Report<'a> {
    fn of(layout: &'a Layout) -> Self {
        let prop = |(name, prop): (&'a str, &'a PropSchema)| Prop {
            name,
            kind: prop.kind.name(),
            required: prop.required,
            default: prop.default.as_ref(),
            description: prop.description.as_deref(),
        };
        let templates = layout.templates.iter();
        Self {
            row: Row::of(layout),
            props: layout.props_schema.props().map(prop).collect(),
            templates: templates
                .map(|(language, text)| (language.as_str(), text.source.as_str()))
                .collect(),
        }
    }
}
