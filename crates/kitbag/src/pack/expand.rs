//! The text behind what a prompt only mentions.

mod handle;
pub mod references;

use std::path::Path;

use kitbag_workspace::language::Language;
use kitbag_workspace::syntax::{self, Syntax, Unit};
use kitbag_workspace::workspace::{OpenError, Workspace, WorkspaceOptions};

pub(super) use self::handle::{Handle, Part};
use crate::engine::clean;

/// Reads the text behind a handle: a file, some of its lines, or a definition in it. Secrets are
/// replaced.
///
/// # Errors
/// When the handle names nothing below the root.
pub fn expand(root: &Path, handle: &str) -> Result<String, ExpandError> {
    let Handle { path, part } = Handle::parse(handle, root)?;
    let mut options = WorkspaceOptions::default();
    options.named = vec![path.to_owned()];
    // Only what is named is read: nothing else need be listed, nor git asked.
    options.include = vec!["/.kitbag".to_owned()];
    options.use_git = false;
    let workspace = Workspace::open(root, &options)?;
    let missing = || ExpandError::NoText { path: path.into() };
    let text = workspace.read(path).ok_or_else(missing)?;
    let shown = clean(&text, path).text;
    match part {
        Part::Whole => Ok(shown.into_owned()),
        Part::Lines(ranges) => {
            let count = text.lines().count();
            if ranges.iter().any(|(first, _)| *first > count) {
                let path = path.to_owned();
                return Err(ExpandError::TooFewLines { path, count });
            }
            let parts = ranges
                .iter()
                .map(|&(first, last)| lines(&shown, first, last));
            Ok(parts.collect::<Vec<_>>().join("\n"))
        }
        Part::Name(name) => {
            let found = definitions(path, &text, name)?.into_iter();
            let parts: Vec<String> = found
                .map(|(first, last)| lines(&shown, first, last))
                .collect();
            Ok(parts.join("\n"))
        }
    }
}

/// An error while reading the text behind a handle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// The folder cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is no such file, or it is no text.
    #[error("there is no text file `{path}` below the root")]
    NoText {
        /// The path.
        path: String,
    },
    /// The handle names no definition, whose uses could be told.
    #[error("`{path}` does not name a definition")]
    NoName {
        /// The path.
        path: String,
    },
    /// The range of lines is none.
    #[error("`{range}` is not a range of lines: {why}")]
    NoRange {
        /// The range.
        range: String,
        /// The problem with it.
        why: &'static str,
    },
    /// The range begins behind the end of the file.
    #[error("`{path}` has only {count} lines")]
    TooFewLines {
        /// The file.
        path: String,
        /// Its lines.
        count: usize,
    },
    /// The file does not define the name.
    #[error("`{path}` defines no `{name}`")]
    Undefined {
        /// The file.
        path: String,
        /// The name.
        name: String,
        /// The first names that it defines.
        defined: Vec<String>,
    },
}

impl ExpandError {
    /// The remedy.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open(_) | Self::TooFewLines { .. } => None,
            Self::NoText { .. } => {
                let hint = "a handle is a path as the prompt shows it, such as `src/main.rs:10-80`";
                Some(hint.into())
            }
            Self::NoName { path } => Some(format!("name one behind a `#`, as `{path}#login`")),
            Self::NoRange { .. } => Some("write `:10-80`, `:10-` or `:10`".into()),
            Self::Undefined { defined, .. } if defined.is_empty() => {
                Some("name its lines instead, such as `:10-80`".into())
            }
            Self::Undefined { defined, .. } => Some(format!("it defines {}", defined.join(", "))),
        }
    }
}

fn lines(text: &str, first: usize, last: usize) -> String {
    text.split_inclusive('\n')
        .take(last)
        .skip(first.saturating_sub(1))
        .collect()
}

/// The lines of all that has this name, in order: a long function may have several parts, and
/// several types a method of that name.
pub(super) fn definitions(
    path: &str,
    text: &str,
    name: &str,
) -> Result<Vec<(usize, usize)>, ExpandError> {
    let undefined = |defined| ExpandError::Undefined {
        path: path.to_owned(),
        name: name.to_owned(),
        defined,
    };
    let language = Language::of_text(path, text).ok_or_else(|| undefined(Vec::new()))?;
    let syntax = syntax::parse(language, text);
    let mut found = named(&syntax, "", name);
    if found.is_empty()
        && let Some((parent, name)) = name.rsplit_once("::").or_else(|| name.rsplit_once('.'))
    {
        found = named(&syntax, parent, name);
    }
    if found.is_empty() {
        let mut names: Vec<String> = Vec::new();
        for definition in &syntax.definitions {
            if names.len() < 8 && !names.contains(&definition.name) {
                names.push(definition.name.clone());
            }
        }
        return Err(undefined(names));
    }
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for unit in found {
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let (first, last) = (size(unit.first), size(unit.last));
        match merged.last_mut() {
            Some(before) if before.1 + 1 >= first => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    Ok(merged)
}

/// The units with this name, or below it; where there is none, those that define it, for a small
/// type is one unit with all its methods. A parent that is not empty must be around it.
fn named<'s>(syntax: &'s Syntax, parent: &str, name: &str) -> Vec<&'s Unit> {
    let is_below = |parents: &[String]| parent.is_empty() || parents.iter().any(|p| p == parent);
    let is_named = |unit: &&Unit| {
        let is_inside = parent.is_empty() && unit.parents.iter().any(|parent| parent == name);
        is_inside || (unit.name == name && is_below(&unit.parents))
    };
    let units: Vec<&Unit> = syntax.units.iter().filter(is_named).collect();
    if !units.is_empty() {
        return units;
    }
    let defines = |unit: &&Unit| {
        syntax.definitions.iter().any(|definition| {
            definition.name == name
                && (parent.is_empty() || definition.parent == parent)
                && (unit.first..=unit.last).contains(&definition.line)
        })
    };
    syntax.units.iter().filter(defines).collect()
}
