//! The choice of the layout to render.

use std::path::Path;

use kitbag::engine::LayoutOverride;
use kitbag::layout::{FileProblem, Layout};

use super::Args;
use crate::failure::Failure;
use crate::input;
use crate::output::one_line;
use crate::project::say_problems;

/// The layout of the manifest, or the named one.
pub(super) fn layout(args: &Args) -> Result<Option<LayoutOverride>, Failure> {
    let named = args.layout.as_deref();
    Ok(match &args.file {
        Some(file) => Some(LayoutOverride::Given(Box::new(of_manifest(file, named)?))),
        None => named.map(|id| LayoutOverride::Named(id.to_owned())),
    })
}

fn of_manifest(file: &Path, id: Option<&str>) -> Result<Layout, Failure> {
    let (name, text) = input::read_data(file, "the manifest")?;
    let (mut layouts, problems) = Layout::read(&name, &text);
    say_problems(&problems);
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let find = |id: &str| layouts.iter().position(|layout| layout.id == id);
    let at = match id {
        // Manifests of older projects qualify their ids.
        Some(id) => find(id).or_else(|| find(&format!("crewx/{id}"))),
        None if layouts.len() == 1 => Some(0),
        None => find(&format!("crewx/{}", stem.unwrap_or_default())),
    };
    if let Some(at) = at {
        return Ok(layouts.swap_remove(at));
    }
    if problems.iter().any(FileProblem::is_error) {
        return Err(Failure::reported());
    }
    if layouts.is_empty() {
        return Err(Failure::new(format_args!("{name} has no layout")));
    }
    let ids: Vec<&str> = layouts.iter().map(|layout| layout.id.as_str()).collect();
    let failure = match id {
        Some(id) => Failure::new(format_args!("{name} has no layout `{}`", one_line(id))),
        None => Failure::usage(format_args!("{name} has {} layouts", layouts.len())),
    };
    let ids = one_line(&ids.join(", "));
    Err(failure.hint(format_args!("choose one with --layout: {ids}")))
}
