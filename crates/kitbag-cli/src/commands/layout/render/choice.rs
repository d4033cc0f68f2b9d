//! Which layout is rendered.

use std::path::Path;

use kitbag::layout::layouts::UnknownLayout;
use kitbag::layout::{Agent, Layout, Problem};
use kitbag::project::Project;

use super::{Args, read_file};
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::project::say_problems;

/// The layout of the manifest, the one that was asked for, or the agent's.
pub(super) fn layout(
    args: &Args,
    project: &Project,
    agent: Option<&Agent>,
) -> Result<Layout, Failure> {
    if let Some(file) = &args.file {
        return of_manifest(file, args.layout.as_deref());
    }
    let found = project
        .layout(agent, args.layout.as_deref())
        .map_err(|error| unknown(&error))?;
    if let Some(unknown) = found.warning {
        let instead = one_line(&found.layout.id);
        let warning = format!("{unknown}; {instead} is used instead; {}", unknown.hint());
        output::say(format_args!("warning: {}", one_line(&warning)));
    }
    Ok(found.layout.clone())
}

/// What to tell about a layout that is not known.
pub(in super::super) fn unknown(error: &UnknownLayout) -> Failure {
    let hint = format!("{}; `kitbag layout list` shows all", error.hint());
    Failure::new(one_line(&error.to_string())).hint(one_line(&hint))
}

fn of_manifest(file: &Path, id: Option<&str>) -> Result<Layout, Failure> {
    let name = file.display().to_string();
    let (mut layouts, problems) = Layout::read(&name, &read_file(file)?);
    say_problems(&problems);
    let stem = file
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    let usual = format!("crewx/{stem}");
    let at = match id {
        Some(id) => layouts
            .iter()
            .position(|layout| layout.id == id)
            .or_else(|| {
                layouts
                    .iter()
                    .position(|layout| layout.id == format!("crewx/{id}"))
            }),
        None if layouts.len() == 1 => Some(0),
        None => layouts.iter().position(|layout| layout.id == usual),
    };
    if let Some(at) = at {
        return Ok(layouts.swap_remove(at));
    }
    if problems.iter().any(Problem::is_error) {
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
    Err(failure.hint(format_args!(
        "choose one with --layout: {}",
        one_line(&ids.join(", "))
    )))
}
