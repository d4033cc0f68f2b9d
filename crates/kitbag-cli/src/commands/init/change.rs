//! A change to a file of a coding agent: shown first, made only to the file that was shown, and undone without a trace.
//!
//! The caller says which part of the text changes. The ends of lines, a byte order mark, and files of somebody else
//! are kept here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use super::agent::Direction;
use crate::failure::Failure;
use crate::output::{folder_of, write_file};

/// A file before and after the change; `None` if it does not exist.
pub(super) struct Change {
    pub(super) file: PathBuf,
    /// Effects on something that the person may have written.
    pub(super) notes: Vec<String>,
    /// The folder that goes with the file when it holds nothing else; never the project's own.
    agents_folder: Option<PathBuf>,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

/// Changes a text, and notes what the person should know of it.
pub(super) type Edit<'e> = &'e dyn Fn(&str, Direction, &mut Vec<String>) -> Result<String, String>;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Toml,
}

impl Change {
    pub(super) fn plan(
        folder: &Path,
        name: &str,
        format: Format,
        direction: Direction,
        edit: Edit<'_>,
    ) -> Result<Self, Failure> {
        let file = folder.join(name);
        let shown = file.display();
        let before = read(&file)?;
        let mut notes = Vec::new();
        let after = after(before.as_deref(), format, direction, edit, &mut notes);
        let after = after.map_err(|problem| {
            Failure::new(format_args!("cannot change {shown}: {problem}"))
                .hint("nothing was written; correct the file, or edit it by hand")
        })?;
        let below = Path::new(name).parent();
        let below = below.filter(|below| !below.as_os_str().is_empty());
        Ok(Self {
            agents_folder: below.map(|below| folder.join(below)),
            notes,
            before,
            after,
            file,
        })
    }

    pub(super) fn shown(&self) -> String {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (before, after) = (text(&self.before), text(&self.after));
        let name = self.file.display().to_string();
        let of = |side: &Option<String>| match side {
            Some(_) => name.clone(),
            None => "/dev/null".to_owned(),
        };
        let diff = TextDiff::from_lines(&before, &after);
        let mut diff = diff.unified_diff();
        diff.header(&of(&self.before), &of(&self.after)).to_string()
    }

    pub(super) fn write(&self) -> Result<(), Failure> {
        let shown = self.file.display();
        // Somebody may have changed it while the question waited for an answer.
        if read(&self.file)? != self.before {
            let what = format_args!("{shown} has changed since the question");
            return Err(Failure::new(what).hint("nothing was written to it; run the command again"));
        }
        let failed = |error: io::Error| Failure::new(format_args!("cannot write {shown}: {error}"));
        match &self.after {
            Some(text) => {
                fs::create_dir_all(folder_of(&self.file)).map_err(failed)?;
                write_file(&self.file, text)
            }
            None => {
                fs::remove_file(&self.file).map_err(failed)?;
                if let Some(folder) = &self.agents_folder {
                    // One that holds something else stays.
                    drop(fs::remove_dir(folder));
                }
                Ok(())
            }
        }
    }
}

/// A file after its change; nothing where there is none then. Only a file that holds what we would write into one
/// of our own is removed: any other was there before us.
fn after(
    before: Option<&str>,
    format: Format,
    direction: Direction,
    edit: Edit<'_>,
    notes: &mut Vec<String>,
) -> Result<Option<String>, String> {
    let Some(before) = before else {
        let made = edit("", direction, notes)?;
        return Ok((!made.is_empty()).then_some(made));
    };
    let lines = LineEnds::of(before);
    let text = lines.plain(before);
    let changed = edit(&text, direction, notes)?;
    if changed == text {
        return Ok(Some(before.to_owned()));
    }
    let ours = edit("", Direction::Add, &mut Vec::new())?;
    let changed = match direction {
        // With nothing in it before, it would look like a file of our own.
        Direction::Add if changed == ours => format!("{changed}\n"),
        Direction::Remove if changed.is_empty() && text == ours => return Ok(None),
        Direction::Remove if changed.is_empty() && format == Format::Json => "{}\n".to_owned(),
        _ => changed,
    };
    Ok(Some(lines.restored(&changed)))
}

/// The ends of a file's lines, and its byte order mark. We write plain ones.
#[derive(Debug, Clone, Copy)]
struct LineEnds {
    has_mark: bool,
    are_windows: bool,
}

const MARK: char = '\u{feff}';

impl LineEnds {
    /// Lines that end in different ways are left as they are.
    fn of(text: &str) -> Self {
        let ends = text.matches('\n').count();
        Self {
            has_mark: text.starts_with(MARK),
            are_windows: ends > 0 && ends == text.matches("\r\n").count(),
        }
    }

    fn plain(self, text: &str) -> String {
        let text = text.strip_prefix(MARK).unwrap_or(text);
        match self.are_windows {
            true => text.replace("\r\n", "\n"),
            false => text.to_owned(),
        }
    }

    fn restored(self, text: &str) -> String {
        let text = match self.are_windows {
            true => text.replace('\n', "\r\n"),
            false => text.to_owned(),
        };
        match self.has_mark {
            true => format!("{MARK}{text}"),
            false => text,
        }
    }
}

/// The text of a file; nothing if there is none.
fn read(file: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let shown = file.display();
            Err(Failure::new(format_args!("cannot read {shown}: {error}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change to this text; a file of our own holds `{}`.
    fn plan(
        folder: &Path,
        name: &str,
        direction: Direction,
        after: &str,
    ) -> Result<Change, Failure> {
        Change::plan(folder, name, Format::Json, direction, &|text, _, _| {
            let is_empty = text.is_empty() && direction == Direction::Remove;
            Ok(if is_empty { "{}" } else { after }.to_owned())
        })
    }

    #[test]
    fn x11_a_file_that_has_changed_since_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".mcp.json");
        for before in [None, Some("{}")] {
            if let Some(before) = before {
                fs::write(&file, before).unwrap();
            }
            let planned = plan(folder.path(), ".mcp.json", Direction::Add, "{1}");
            fs::write(&file, "{\"theirs\": 1}").unwrap();
            assert!(planned.unwrap().write().is_err());
            assert_eq!(fs::read_to_string(&file).unwrap(), "{\"theirs\": 1}");
        }
    }

    #[test]
    fn x11_only_the_folder_of_the_agent_goes_with_its_file() {
        for (name, is_left) in [(".mcp.json", true), (".cursor/mcp.json", false)] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "{}").unwrap();
            let planned = plan(folder.path(), name, Direction::Remove, "");
            planned.unwrap().write().unwrap();
            assert!(folder.path().exists());
            assert_eq!(file.parent().unwrap().exists(), is_left);
        }
    }
}
