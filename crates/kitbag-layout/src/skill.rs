//! Reads the text of a SKILL.md file: a header in YAML between two lines of dashes, then
//! instructions.
//!
//! Everything that the published format and its reference validator (`skills-ref`) refuse is a
//! problem here. A readable skill is used nevertheless, since many are written for programs that
//! know more fields. The caller opens the files.

mod header;
mod name;

use indexmap::IndexMap;

use crate::problem::{FileProblem, Problems};
use crate::yaml::Field;
use header::read_header;

/// The entry of `metadata` that holds the triggers, separated by commas. The format reserves
/// `metadata` for additions of single programs, so the reference validator accepts it only there.
pub const TRIGGERS: &str = "kitbag-triggers";

/// A skill as its file describes it.
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
    /// Its name, which must be that of its folder.
    pub name: String,
    /// Its purpose, and when to use it.
    pub description: String,
    /// Its licence.
    pub license: Option<String>,
    /// Its requirements.
    pub compatibility: Option<String>,
    /// The tools that it asks to be allowed, as written. This is an experiment of the format, and
    /// ignored here.
    pub allowed_tools: Option<String>,
    /// Additions of programs, each value as written.
    pub metadata: IndexMap<String, String>,
    /// The words and phrases that call for it.
    pub triggers: Vec<String>,
    /// The instructions.
    pub body: String,
}

impl SkillText {
    /// Reads the text of a file in the folder of this name, and reports all problems. There is no
    /// skill if the header is no YAML, or lacks a usable name or a description.
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
        // An empty line replaces the line of dashes, so that line numbers are those of the file.
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

/// Splits a text into the header and the rest.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == DASHES)?;
    let rest = text.get(first.len()..)?;
    // By hand and not with `split_once`: a line of dashes inside a longer line is no end.
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
