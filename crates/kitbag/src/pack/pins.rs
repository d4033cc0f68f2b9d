//! The parts that must be in a prompt: files, parts of files, folders and patterns, as files with
//! the lines to show.

use std::collections::BTreeMap;
use std::path::Path;

use globset::GlobBuilder;
use kitbag_core::chunk::{Detail, Level};
use kitbag_workspace::workspace::Workspace;

use super::PackError;
use super::expand::{ExpandError, Handle, Part, definitions};

/// The most files of a pinned folder or pattern: pinning more chooses nothing.
const MOST_FILES: usize = 200;

/// The pins of a request, resolved.
#[derive(Debug, Clone, Default)]
pub(super) struct Pins {
    /// The lines of each pinned file; none where it is pinned whole.
    files: BTreeMap<String, Vec<(u32, u32)>>,
}

impl Pins {
    /// The paths that a request names: files to list although they may be ignored.
    pub(super) fn named(root: &Path, pins: &[String]) -> Vec<String> {
        let pins = pins.iter().filter(|pin| !is_pattern(root, pin));
        let handles = pins.filter_map(|pin| Handle::parse(pin, root).ok());
        handles.map(|handle| handle.path.to_owned()).collect()
    }

    /// Finds what each pin means.
    pub(super) fn of(workspace: &Workspace, pins: &[String]) -> Result<Self, PackError> {
        let mut resolved = Self::default();
        for pin in pins {
            if is_pattern(workspace.root(), pin) {
                resolved.add_matching(workspace, pin)?;
            } else {
                resolved.add_handle(workspace, pin)?;
            }
        }
        Ok(resolved)
    }

    /// The pinned files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The level that shows the pinned lines of a file; none where all of it is pinned.
    pub(super) fn level(&self, path: &str, text: &str) -> Option<Level> {
        let lines = self.files.get(path).filter(|lines| !lines.is_empty())?;
        let part = |&(first, last): &(u32, u32)| {
            let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
            let all = text.split_inclusive('\n');
            all.take(size(last))
                .skip(size(first.saturating_sub(1)))
                .collect::<String>()
        };
        let parts: Vec<String> = lines.iter().map(part).collect();
        Some(Level::new(Detail::Slice, parts.join("\n")).with_lines(lines.as_slice()))
    }

    fn add_matching(&mut self, workspace: &Workspace, pin: &str) -> Result<(), PackError> {
        let none = || PackError::NoSuchPin { path: pin.into() };
        let folder = pin.trim_end_matches('/');
        let glob = GlobBuilder::new(folder).literal_separator(true).build();
        let glob = glob.map_err(|_| none())?.compile_matcher();
        let matches = |path: &str| {
            let below = path.strip_prefix(folder);
            folder == "." || glob.is_match(path) || below.is_some_and(|rest| rest.starts_with('/'))
        };
        let files = workspace.files().iter();
        let found: Vec<&str> = files
            .map(|file| file.path.as_str())
            .filter(|p| matches(p))
            .collect();
        if found.is_empty() {
            return Err(none());
        }
        if found.len() > MOST_FILES {
            let (path, files) = (pin.to_owned(), found.len());
            return Err(PackError::TooManyPins {
                path,
                files,
                most: MOST_FILES,
            });
        }
        for path in found {
            self.files.insert(path.to_owned(), Vec::new());
        }
        Ok(())
    }

    fn add_handle(&mut self, workspace: &Workspace, pin: &str) -> Result<(), PackError> {
        let Handle { path, part } = Handle::parse(pin, workspace.root())?;
        let missing = || PackError::NoSuchPin { path: path.into() };
        if !workspace.files().iter().any(|file| file.path == path) {
            return Err(missing());
        }
        let lines = match part {
            Part::Whole => {
                self.files.insert(path.to_owned(), Vec::new());
                return Ok(());
            }
            Part::Lines(ranges) => {
                let text = workspace.read(path).ok_or_else(missing)?;
                let count = text.lines().count();
                if ranges.iter().any(|(first, _)| *first > count) {
                    let path = path.to_owned();
                    return Err(ExpandError::TooFewLines { path, count }.into());
                }
                let within = ranges.into_iter();
                within
                    .map(|(first, last)| (first, last.min(count)))
                    .collect()
            }
            Part::Name(name) => {
                let text = workspace.read(path).ok_or_else(missing)?;
                definitions(path, &text, name)?
            }
        };
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let whole = self.files.get(path).is_some_and(Vec::is_empty);
        if !whole {
            let known = self.files.entry(path.to_owned()).or_default();
            known.extend(
                lines
                    .into_iter()
                    .map(|(first, last)| (number(first), number(last))),
            );
            known.sort_unstable();
            // Lines that two pins share are shown once.
            let mut merged: Vec<(u32, u32)> = Vec::with_capacity(known.len());
            for (first, last) in known.drain(..) {
                match merged.last_mut() {
                    Some(before) if first <= before.1.saturating_add(1) => {
                        before.1 = before.1.max(last);
                    }
                    _ => merged.push((first, last)),
                }
            }
            *known = merged;
        }
        Ok(())
    }
}

/// Tells a pin that is a folder or a pattern, and no file or part of one: names of files may have the
/// signs of patterns, as `app/[slug]/page.tsx` has.
fn is_pattern(root: &Path, pin: &str) -> bool {
    if root.join(pin).is_dir() {
        return true;
    }
    let is_file = Handle::parse(pin, root).is_ok_and(|handle| root.join(handle.path).is_file());
    !is_file && pin.contains(['*', '?', '[', '{'])
}
