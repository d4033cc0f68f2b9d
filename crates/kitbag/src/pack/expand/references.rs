//! The places where a definition is used: what `kitbag expand --references` prints.
//!
//! Told by name, as a search for the word would, with the definition that each place stands in. It
//! knows no types: another definition of the same name counts too.

use std::path::Path;

use kitbag_workspace::language::Language;
use kitbag_workspace::syntax::{self, Syntax};
use kitbag_workspace::walk::FileRole;
use kitbag_workspace::workspace::{Workspace, WorkspaceOptions};
use rayon::prelude::*;
use serde::Serialize;

use super::{ExpandError, Handle, Part, definitions};
use crate::engine::clean;

/// A line that uses a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Reference {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The definition around it; empty at the top of a file.
    pub inside: String,
    /// The text of the line, without secrets.
    pub text: String,
}

/// Finds the lines that use the definition that a handle names, outside of the definition itself: in source
/// first, then in tests, then in whatever is no code, each by the paths of the files.
///
/// # Errors
/// When the handle names no definition below the root.
pub fn references(root: &Path, handle: &str) -> Result<Vec<Reference>, ExpandError> {
    let Handle { path, part } = Handle::parse(handle, root)?;
    let Part::Name(name) = part else {
        let path = path.to_owned();
        return Err(ExpandError::NoName { path });
    };
    let workspace = Workspace::open(root, &WorkspaceOptions::default())?;
    let missing = || ExpandError::NoText { path: path.into() };
    let text = workspace.read(path).ok_or_else(missing)?;
    let own = definitions(path, &text, name)?;
    let word = name.rsplit(['.', ':']).next().unwrap_or(name);
    let files = workspace.files().par_iter();
    let found = files.flat_map_iter(|file| {
        let text = workspace.read(&file.path).unwrap_or_default();
        let mut found = uses(&file.path, &text, word);
        if file.path == path {
            let is_own = |line: usize| {
                own.iter()
                    .any(|(first, last)| (*first..=*last).contains(&line))
            };
            found.retain(|reference| !is_own(reference.line));
        }
        found
    });
    let mut found: Vec<Reference> = found.collect();
    found.sort_by_cached_key(|found| (Place::of(&found.path), found.path.clone(), found.line));
    Ok(found)
}

/// The kinds of files in the order in which a reader wants their lines.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Source,
    Test,
    OtherCode,
    NoCode,
}

impl Place {
    fn of(path: &str) -> Self {
        let language = Language::of(path, "");
        let is_code = language.is_some_and(|language| language != Language::Markdown);
        match FileRole::of(path) {
            _ if !is_code => Self::NoCode,
            FileRole::Source => Self::Source,
            FileRole::Test => Self::Test,
            _ => Self::OtherCode,
        }
    }
}

/// The lines of a file that have the word.
fn uses(path: &str, text: &str, word: &str) -> Vec<Reference> {
    if !text.contains(word) {
        return Vec::new();
    }
    let shown = clean(text, path).text;
    let lines = text.lines().zip(shown.lines()).enumerate();
    let using = lines.filter(|(_, (line, _))| has_word(line, word));
    let mut syntax: Option<Option<Syntax>> = None;
    let found = using.map(|(index, (_, shown))| {
        let parse = || Some(syntax::parse(Language::of_text(path, text)?, text));
        let syntax = syntax.get_or_insert_with(parse);
        let inside = syntax.as_ref().and_then(|syntax| around(syntax, index + 1));
        Reference {
            path: path.to_owned(),
            line: index + 1,
            inside: inside.unwrap_or_default(),
            text: shown.trim().to_owned(),
        }
    });
    found.collect()
}

/// The name of the innermost definition around a line.
fn around(syntax: &Syntax, line: usize) -> Option<String> {
    let line = u32::try_from(line).ok()?;
    let units = syntax.units.iter();
    let units =
        units.filter(|unit| (unit.first..=unit.last).contains(&line) && !unit.name.is_empty());
    let unit = units.min_by_key(|unit| unit.last - unit.first)?;
    // A small type is one unit with all its methods.
    let definitions = syntax.definitions.iter();
    let before = definitions.filter(|found| (unit.first..=line).contains(&found.line));
    let Some(nearest) = before.max_by_key(|found| found.line) else {
        return Some(unit.name.clone());
    };
    Some(match nearest.parent.is_empty() {
        true => nearest.name.clone(),
        false => format!("{}.{}", nearest.parent, nearest.name),
    })
}

/// Looks for the word as a whole identifier.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let after = line
            .get(at + word.len()..)
            .and_then(|after| after.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
