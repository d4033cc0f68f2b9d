//! Checks skills, and reports all problems together.

use std::path::PathBuf;

use kitbag::layout::FileProblem;
use kitbag::skill::Skills;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, counted};
use crate::project::{ListArgs, say_problems};

/// Checks skills against the published format; exits with 1 if anything is wrong
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag skill check
  kitbag skill check .claude/skills/release-notes")]
pub(crate) struct Args {
    /// A skill's folder, or a folder of skills [default: the folders that `kitbag skill list` reads]
    folder: Option<PathBuf>,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let skills = match &args.folder {
        Some(folder) => Skills::in_folder(folder).map_err(|error| {
            Failure::new(format_args!("cannot read {}: {error}", folder.display()))
        })?,
        None => args.list.project.open_and_tell()?.skills,
    };
    let problems = &skills.problems;
    if args.list.json {
        let skills = skills.skills.iter();
        output::print_json(&Report {
            skills: skills.map(|skill| skill.text.name.as_str()).collect(),
            problems,
        })?;
    } else {
        say_problems(problems);
        output::print(&format!(
            "{} can be used; {}",
            counted(skills.skills.len() as u64, "skill", "skills"),
            counted(problems.len() as u64, "problem", "problems"),
        ))?;
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Failure::reported()),
    }
}

#[derive(Serialize)]
struct Report<'a> {
    /// The names of the skills that can be used.
    skills: Vec<&'a str>,
    problems: &'a [FileProblem],
}
