//! Reads the header of a skill.

use indexmap::IndexMap;

use super::name::{composed, wrong_with};
use super::{DASHES, SkillText, TRIGGERS};
use crate::problem::FileProblem;
use crate::yaml::{Field, NodeKind};

/// The fields of the format.
const FIELDS: [&str; 6] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

/// The spellings of null in YAML.
const NULLS: [&str; 4] = ["~", "null", "Null", "NULL"];

// Both limits are those of the format.
const LONGEST_DESCRIPTION: usize = 1_024;
const LONGEST_COMPATIBILITY: usize = 500;

/// Reads a header; none if it is unusable. Its text is needed for values that YAML takes for
/// numbers.
pub(super) fn read_header(root: &Field<'_>, text: &str, folder: &str) -> Option<SkillText> {
    root.map()?;
    let reader = Reader { root, text };
    reader.warn_of_what_others_refuse();
    let name = reader.name(folder);
    let description = reader.description();
    let compatibility = reader.text("compatibility");
    if let Some((field, text)) = &compatibility {
        warn_of_length(field, text, LONGEST_COMPATIBILITY);
    }
    let metadata = reader.metadata();
    let triggers = metadata
        .get(TRIGGERS)
        .map(String::as_str)
        .unwrap_or_default();
    let triggers = triggers.split(',').map(str::trim);
    let triggers = triggers.filter(|trigger| !trigger.is_empty());
    let triggers = triggers.map(str::to_owned).collect();
    let text = |name| reader.text(name).map(|(_, text)| text);
    // All problems have been reported, so a missing name or description may end this.
    Some(SkillText {
        name: name?,
        description: description?,
        license: text("license"),
        compatibility: compatibility.map(|(_, text)| text),
        allowed_tools: text("allowed-tools"),
        metadata,
        triggers,
        body: String::new(),
    })
}

struct Reader<'a, 'f> {
    root: &'a Field<'f>,
    text: &'a str,
}

impl<'f> Reader<'_, 'f> {
    fn name(&self, folder: &str) -> Option<String> {
        let Some((field, name)) = self.text("name") else {
            return self.missing("name");
        };
        let name = composed(&name);
        if let Some(problem) = wrong_with(&name) {
            let hint = "such as `pdf-forms`: lower case, at most 64 characters";
            return field.error_with_hint(problem, hint);
        }
        if composed(folder) != name {
            field.warning(format!("the folder is called `{folder}` and not `{name}`"));
        }
        Some(name)
    }

    fn description(&self) -> Option<String> {
        let Some((field, description)) = self.text("description") else {
            return self.missing("description");
        };
        warn_of_length(&field, &description, LONGEST_DESCRIPTION);
        Some(description.trim().to_owned())
    }

    fn missing<T>(&self, name: &str) -> Option<T> {
        let message = format!("a skill needs a `{name}` that is not empty");
        let problem = FileProblem::error(self.root.problems.file(), message);
        self.root.problems.add(problem.at(1, 1).of(name));
        None
    }

    fn entry(&self, name: &str) -> Option<Field<'f>> {
        self.root.entries().find(|entry| entry.name() == name)
    }

    /// The entry of this name with its text; none if it is missing or blank.
    fn text(&self, name: &str) -> Option<(Field<'f>, String)> {
        let entry = self.entry(name)?;
        let text = self.written(&entry)?;
        Some((entry, text)).filter(|(_, text)| !text.trim().is_empty())
    }

    fn metadata(&self) -> IndexMap<String, String> {
        let Some(metadata) = self.entry("metadata").filter(|entry| !entry.is_null()) else {
            return IndexMap::new();
        };
        let read = metadata.read_entries(|entry| self.written(entry));
        read.unwrap_or_default()
    }

    /// A value as the text that is written: in the format every value is a text, even `1.0` and
    /// `true`.
    fn written(&self, field: &Field<'_>) -> Option<String> {
        match &field.node.kind {
            NodeKind::Text(text) => Some(text.clone()),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) => {
                let line = self.line(field).unwrap_or_default();
                // A missing value has the place of whatever follows it, so its line proves nothing.
                let is_written =
                    !field.is_null() || NULLS.iter().any(|null| line.starts_with(null));
                let line = if is_written { line } else { "" };
                let end = line.find(" #").or_else(|| line.find([',', '}', ']']));
                let value = end.and_then(|end| line.get(..end)).unwrap_or(line);
                Some(value.trim().to_owned())
            }
            NodeKind::List(_) | NodeKind::Map(_) => field.text(),
        }
    }

    /// The line of a value from its first character on.
    fn line(&self, field: &Field<'_>) -> Option<&str> {
        let (line, column) = (field.node.line, field.node.column);
        // Line 1 of the file holds the dashes, so the header begins on line 2.
        let line = self
            .text
            .lines()
            .nth(usize::try_from(line).ok()?.checked_sub(2)?)?;
        let column = usize::try_from(column).ok()?.checked_sub(1)?;
        let at = line
            .char_indices()
            .nth(column)
            .map_or(line.len(), |(at, _)| at);
        line.get(at..)
    }

    /// Warns of notations that this reader understands and the reference validator refuses.
    fn warn_of_what_others_refuse(&self) {
        for entry in self.root.entries() {
            let name = entry.name();
            if !FIELDS.contains(&name) {
                let message = format!("the format of skills has no field `{name}`");
                let problem = FileProblem::warning(self.root.problems.file(), message);
                let problem = problem.at(entry.node.line, entry.node.column).of(name);
                let hint = "what only some programs know belongs under `metadata`";
                self.root.problems.add(problem.with_hint(hint));
            }
            self.warn_of_brackets(&entry);
        }
        let lines = self.text.lines().zip(2..);
        for (_, line) in lines.filter(|(text, _)| text.contains(DASHES)) {
            let message = "other readers take `---` for the end of the header";
            let problem = FileProblem::warning(self.root.problems.file(), message);
            self.root.problems.add(problem.at(line, 1));
        }
    }

    fn warn_of_brackets(&self, field: &Field<'_>) {
        let line = self.line(field).unwrap_or_default();
        let is_one = field.is_map() || field.is_list();
        if is_one && line.starts_with(['{', '[']) {
            field.warning(
                "other readers refuse maps and lists in brackets; write one line for each",
            );
        }
    }
}

fn warn_of_length(field: &Field<'_>, text: &str, most: usize) {
    let length = text.chars().count();
    if length > most {
        field.warning(format!("{length} characters are more than {most}"));
    }
}
