//! Lists the layouts that agents can use.

use kitbag::layout::Layout;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::project::ListArgs;

pub(super) fn run(args: &ListArgs) -> Result<(), Failure> {
    // A layout with errors is missing from the list, so the problems come with it.
    let project = args.project.open_and_tell()?;
    let layouts = project.layouts.iter();
    if args.json {
        let rows: Vec<Row<'_>> = layouts.map(Row::of).collect();
        return Ok(output::print_json(&rows)?);
    }
    let header = ["layout", "version", "from", "description"];
    let rows = layouts.map(|layout| {
        [
            one_line(&layout.id),
            one_line(&layout.version),
            one_line(&layout.origin.to_string()),
            one_line(layout.description.as_deref().unwrap_or_default()),
        ]
    });
    Ok(output::print(&output::grid(&header, rows))?)
}

/// A layout without its contents.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    id: &'a str,
    version: &'a str,
    origin: String,
    description: Option<&'a str>,
}

impl<'a> Row<'a> {
    pub(super) fn of(layout: &'a Layout) -> Self {
        Self {
            id: &layout.id,
            version: &layout.version,
            origin: layout.origin.to_string(),
            description: layout.description.as_deref(),
        }
    }
}
