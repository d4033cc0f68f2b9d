//! Checks all layouts and agents of a project, and reports all problems together.

use kitbag::layout::FileProblem;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, counted};
use crate::project::{ListArgs, say_problems};

pub(super) fn run(args: &ListArgs) -> Result<(), Failure> {
    let project = args.project.open()?;
    let problems = project.check();
    let report = Report {
        agents: project.config.agents.len(),
        layouts: project.layouts.iter().count(),
        problems: &problems,
    };
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    if args.json {
        output::print_json(&report)?;
    } else {
        // JSON holds the problems itself, so only people get them on stderr.
        say_problems(&problems);
        if project.files.is_empty() {
            output::say("note: no configuration was found; only the built-in layouts were checked");
        }
        let count = |count: usize, one: &str| counted(count as u64, one, &format!("{one}s"));
        output::print(&format!(
            "{} and {} checked: {}, {}",
            count(report.agents, "agent"),
            count(report.layouts, "layout"),
            count(errors, "error"),
            count(problems.len() - errors, "warning"),
        ))?;
    }
    match errors {
        0 => Ok(()),
        _ => Err(Failure::reported()),
    }
}

#[derive(Serialize)]
struct Report<'a> {
    agents: usize,
    layouts: usize,
    problems: &'a [FileProblem],
}
