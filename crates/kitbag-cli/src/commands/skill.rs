//! `kitbag skill`: the skills that prompts can use.

mod check;

use std::collections::BTreeMap;

use clap::Subcommand;
use kitbag::skill::{Skill, Skills};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::project::{ListArgs, say_problems};

/// Lists, shows and checks skills (folders with a SKILL.md)
#[derive(Subcommand)]
#[command(after_help = "Examples:
  kitbag skill list
  kitbag skill show release-notes
  kitbag skill check")]
pub(crate) enum Command {
    /// Lists the skills of the project and your own, with their origin
    #[command(after_help = "Example: kitbag skill list --json")]
    List(ListArgs),
    /// Shows a skill: its triggers, its MCP servers, and its text
    #[command(after_help = "Example: kitbag skill show release-notes")]
    Show {
        /// The skill's name
        skill: String,
        #[command(flatten)]
        args: ListArgs,
    },
    /// Checks skills against the published format; fails if anything is wrong
    Check(check::Args),
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::List(args) => list(&args.project.open_and_tell()?.skills, args.json),
        Command::Show { skill, args } => {
            let project = args.project.open_and_tell()?;
            show(&project.skills, skill, args.json)
        }
        Command::Check(args) => check::run(args),
    }
}

fn list(skills: &Skills, json: bool) -> Result<(), Failure> {
    // A skill with errors is missing from the list, so the reason comes with it.
    say_problems(&skills.problems);
    let skills = &skills.skills;
    if json {
        let skills: Vec<Report<'_>> = skills.iter().map(Report::of).collect();
        return Ok(output::print_json(&skills)?);
    }
    if skills.is_empty() {
        output::say(
            "there are no skills in .agents/skills or .claude/skills, here or in your home folder",
        );
        return Ok(());
    }
    let row = |skill: &Skill| {
        let triggers = skill.text.triggers.join(", ");
        [
            one_line(&skill.text.name),
            skill.origin.as_str().to_owned(),
            one_line(&triggers),
            one_line(&server_names(skill)),
            one_line(&skill.text.description),
        ]
    };
    let header = ["skill", "from", "triggers", "servers", "description"];
    Ok(output::print(&output::grid(
        &header,
        skills.iter().map(row),
    ))?)
}

fn show(skills: &Skills, name: &str, json: bool) -> Result<(), Failure> {
    // The names that exist are the best hint: most mistakes are slips of the keyboard.
    let Some(skill) = skills.get(name) else {
        let known: Vec<&str> = skills
            .skills
            .iter()
            .map(|it| it.text.name.as_str())
            .collect();
        let failure = Failure::new(format_args!("there is no skill `{}`", one_line(name)));
        return Err(match known.is_empty() {
            true => failure.hint("`kitbag skill list` names the folders of skills"),
            false => failure.hint(format_args!(
                "the skills are {}",
                one_line(&known.join(", "))
            )),
        });
    };
    if json {
        return Ok(output::print_json(&Report::of(skill))?);
    }
    let text = &skill.text;
    let origin = match skill.origin.is_trusted() {
        // Who wrote a skill decides if it may start programs, so it is said in words.
        true => "you",
        false => "the project: it starts no servers unless you allow its folder",
    };
    let mut shown = String::new();
    for (label, value) in [
        ("skill", text.name.clone()),
        ("about", text.description.clone()),
        ("file", skill.location.clone()),
        ("from", origin.to_owned()),
        ("triggers", text.triggers.join(", ")),
        ("servers", server_names(skill)),
        ("licence", text.license.clone().unwrap_or_default()),
        ("needs", text.compatibility.clone().unwrap_or_default()),
        ("tools", text.allowed_tools.clone().unwrap_or_default()),
    ] {
        // Most skills set only the first few of these.
        if !value.is_empty() {
            shown.push_str(&format!("{label:<9} {}\n", one_line(&value)));
        }
    }
    Ok(output::print(&format!("{shown}\n{}", text.body))?)
}

fn server_names(skill: &Skill) -> String {
    let names: Vec<&str> = skill.servers.iter().map(|it| it.name.as_str()).collect();
    names.join(", ")
}

/// A skill for programs.
#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compatibility: Option<&'a str>,
    #[serde(rename = "allowed-tools", skip_serializing_if = "Option::is_none")]
    allowed_tools: Option<&'a str>,
    metadata: BTreeMap<&'a str, &'a str>,
    triggers: &'a [String],
    location: &'a str,
    from: &'a str,
    servers: Vec<&'a str>,
    body: &'a str,
}

impl<'a> Report<'a> {
    fn of(skill: &'a Skill) -> Self {
        let text = &skill.text;
        let metadata = text.metadata.iter();
        Self {
            name: &text.name,
            description: &text.description,
            license: text.license.as_deref(),
            compatibility: text.compatibility.as_deref(),
            allowed_tools: text.allowed_tools.as_deref(),
            metadata: metadata
                .map(|(key, value)| (key.as_str(), value.as_str()))
                .collect(),
            triggers: &text.triggers,
            location: &skill.location,
            from: skill.origin.as_str(),
            servers: skill.servers.iter().map(|it| it.name.as_str()).collect(),
            body: &text.body,
        }
    }
}
