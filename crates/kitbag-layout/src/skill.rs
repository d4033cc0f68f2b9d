//! The text of a SKILL.md file: a header in YAML between two lines of dashes, then instructions.
//!
//! Whatever the published format and its reference validator (`skills-ref`) refuse is a problem here. A
//! skill that is readable all the same is used: many are written for programs that know more fields.
//! Opening files is the caller's.

mod header;
mod name;

use indexmap::IndexMap;

use crate::problem::{FileProblem, Problems};
use crate::yaml::Field;
use header::read_header;

/// The entry of `metadata` that holds the triggers, separated by commas. The format keeps `metadata` for
/// what single programs add, so that the reference validator accepts it there and nowhere else.
pub const TRIGGERS: &str = "kitbag-triggers";

/// A skill as its file has it.
///
/// ```
/// use kitbag_layout::SkillText;
///
/// let text = "---\nname: baking\ndescription: Bakes bread.\nmetadata:\n  kitbag-triggers: sourdough, rye bread\n---\nFeed the starter.\n";
/// let (skill, problems) = SkillText::read("baking/SKILL.md", "baking", text);
/// let skill = skill.unwrap();
/// assert_eq!((skill.name.as_str(), skill.body.as_str()), ("baking", "Feed the starter."));
/// assert_eq!(skill.triggers, ["sourdough", "rye bread"]);
/// assert_eq!(problems, []);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillText {
    /// The name, also that of its folder.
    pub name: String,
    /// What it does, and when to use it.
    pub description: String,
    /// Its licence.
    pub license: Option<String>,
    /// What it needs.
    pub compatibility: Option<String>,
    /// The tools that it would have allowed, as it is written. An experiment of the format, which nothing here
    /// follows.
    pub allowed_tools: Option<String>,
    /// What programs add, each value as it is written.
    pub metadata: IndexMap<String, String>,
    /// Words and phrases that ask for it.
    pub triggers: Vec<String>,
    /// The instructions.
    pub body: String,
}

impl SkillText {
    /// Reads the text of a file in a folder of this name, and all that is wrong with it. Nothing comes of a
    /// header that is no YAML, or that has no usable name or no description.
    #[must_use]
    pub fn read(file: &str, folder: &str, text: &str) -> (Option<Self>, Vec<FileProblem>) {
        let Some((header, body)) = split(text) else {
            let (message, line) = match text.lines().next().map(str::trim_end) {
                Some(DASHES) => ("the header has no end", 1),
                _ => ("there is no header", 1),
            };
            let hint =
                "a skill begins with `---`, a line each for `name` and `description`, and `---`";
            let problem = FileProblem::error(file, message).at(line, 1);
            return (None, vec![problem.with_hint(hint)]);
        };
        let read = |root: &Field<'_>| Some(read_header(root, header, folder));
        // The line of dashes is left empty, so that lines are counted as those of the file.
        let lines = format!("\n{header}");
        let (skill, problems) = Problems::reading(file, &lines, read);
        let skill = skill.map(|skill| Self {
            body: body.trim().to_owned(),
            ..skill
        });
        (skill, problems)
    }
}

const DASHES: &str = "---";

/// The header and what follows it.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == DASHES)?;
    let rest = text.get(first.len()..)?;
    let mut at = 0;
    for line in lines {
        if line.trim_end() == DASHES {
            return Some((rest.get(..at)?, rest.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests;
