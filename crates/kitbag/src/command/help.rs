//! `/help`: the table of commands.

use super::CommandError;
use super::table::{COMMANDS, CommandSpec, HELP};

/// The width of the column of commands.
const WIDTH: usize = 18;

pub(super) fn help(word: &str) -> Result<String, CommandError> {
    if word.is_empty() {
        let lines: Vec<String> = COMMANDS.iter().map(short).collect();
        return Ok(lines.join("\n"));
    }
    // `/help /new` and `/help NEW` ask for the same.
    let name = word.trim_start_matches('/').to_lowercase();
    let known = COMMANDS.iter().find(|spec| spec.name == name);
    let spec = known.ok_or_else(|| CommandError::Usage {
        command: &HELP,
        problem: format!("knows no command `{word}`"),
    })?;
    Ok(format!("{}\n  {}", spec.usage(), spec.help))
}

/// The line of a command, with the name alone if its usage is long.
fn short(spec: &CommandSpec) -> String {
    let mut usage = spec.usage();
    if usage.len() > WIDTH {
        usage = format!("/{} …", spec.name);
    }
    format!("{usage:<WIDTH$}  {}", spec.help)
}
