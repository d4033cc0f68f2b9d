//! Which files and definitions the names of a task mean.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::Candidate;
use crate::query::Names;
use crate::walk::{FileEntry, FileRole};

/// More definitions of one name than this are told apart by nothing in the task.
const MOST_DEFINITIONS: usize = 3;

/// A file that a task names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedFile {
    /// The file, as an index into the workspace's files.
    pub file: usize,
    /// The path that the task has, where no file is there and this one has its name.
    pub instead_of: Option<String>,
}

/// The files that paths in the task mean, each once, in the order of the task. A path that could mean
/// several files means none.
pub(super) fn files(names: &Names, files: &[FileEntry]) -> Vec<NamedFile> {
    if names.paths.is_empty() && names.links.is_empty() {
        return Vec::new();
    }
    let wanted = names.paths.iter().chain(&names.links);
    let wanted = wanted.map(|path| (name_of(path), Vec::new()));
    let mut by_name: BTreeMap<&str, Vec<usize>> = wanted.collect();
    for (index, file) in files.iter().enumerate() {
        if let Some(namesakes) = by_name.get_mut(name_of(&file.path)) {
            namesakes.push(index);
        }
    }
    let path = |index: usize| files.get(index).map_or("", |file| file.path.as_str());
    let mut found: Vec<NamedFile> = Vec::new();
    let mut add = |file, instead_of| {
        if !found.iter().any(|named| named.file == file) {
            found.push(NamedFile { file, instead_of });
        }
    };
    for named in &names.paths {
        let namesakes = by_name.get(name_of(named)).map_or(&[][..], Vec::as_slice);
        let mut meant = namesakes.iter().filter(|&&file| ends(path(file), named));
        match (meant.next(), meant.next(), namesakes) {
            (Some(&file), None, _) => add(file, None),
            // The folder is another one: the file was moved, or the path begins elsewhere.
            (None, _, [file]) if named.contains('/') => {
                let is_below = ends(named, path(*file));
                add(*file, (!is_below).then(|| named.clone()));
            }
            _ => {}
        }
    }
    for link in &names.links {
        let namesakes = by_name.get(name_of(link)).into_iter().flatten();
        // Manuals are linked to as a habit, code on purpose.
        let is_source =
            |file: usize| files.get(file).map(|file| file.role) == Some(FileRole::Source);
        let mut meant = namesakes.filter(|&&file| is_source(file) && ends(link, path(file)));
        if let (Some(&file), None) = (meant.next(), meant.next())
            && path(file).contains('/')
        {
            add(file, None);
        }
    }
    found
}

/// Marks the units of candidates that the task names by their definitions.
pub(super) fn mark(names: &Names, files: &[FileEntry], candidates: &mut [Candidate]) {
    if names.symbols.is_empty() {
        return;
    }
    // A definition that was cut into parts is one all the same.
    let mut places: BTreeMap<String, BTreeSet<(usize, Vec<String>)>> = BTreeMap::new();
    for candidate in candidates.iter() {
        let role = files.get(candidate.file).map(|file| file.role);
        if role != Some(FileRole::Source) {
            continue;
        }
        let named = |name: &&crate::syntax::Unit| names.symbols.contains(&name.name);
        for unit in candidate.syntax.units.iter().filter(named) {
            let place = (candidate.file, unit.parents.clone());
            places.entry(unit.name.clone()).or_default().insert(place);
        }
    }
    places.retain(|_, places| places.len() <= MOST_DEFINITIONS);
    for candidate in candidates {
        let units = candidate.syntax.units.iter().zip(&mut candidate.units);
        for (unit, worth) in units {
            let place = places.get(&unit.name);
            let here = (candidate.file, unit.parents.clone());
            if place.is_some_and(|places| places.contains(&here)) {
                worth.named = true;
            }
        }
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns true if a path ends with another one, at a folder.
fn ends(path: &str, end: &str) -> bool {
    let rest = path.strip_suffix(end);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;

    fn found(task: &str, paths: &[&str]) -> Vec<(String, Option<String>)> {
        let entries: Vec<FileEntry> = paths
            .iter()
            .map(|path| FileEntry::new(*path, 1, None))
            .collect();
        let named = files(&Query::new(task).names, &entries);
        let path = |named: NamedFile| (paths[named.file].to_owned(), named.instead_of);
        named.into_iter().map(path).collect()
    }

    #[test]
    fn p02_a_path_means_the_one_file_that_it_ends_as() {
        let paths = ["a/io.py", "b/io.py", "docs/plots.md", "src/parse.rs"];
        let task = "Read `a/io.py`, io.py and src/parse.rs:12, then update plots.md";
        let named = ["a/io.py", "src/parse.rs", "docs/plots.md"];
        let named = named.map(|path| (path.to_owned(), None));
        assert_eq!(found(task, &paths), named);
    }

    #[test]
    fn p02_a_file_that_is_elsewhere_is_told() {
        let found = found("fix old/place/parse.rs", &["src/parse.rs"]);
        let instead = Some("old/place/parse.rs".to_owned());
        assert_eq!(found, [("src/parse.rs".to_owned(), instead)]);
    }

    #[test]
    fn p02_code_and_logs_name_nothing() {
        let task = "It fails\n\n```\nimport a/io.py\n```\n\n  at run (a/io.py:3:1)\n";
        assert!(found(task, &["a/io.py"]).is_empty());
        let link = "See https://host/x/blob/main/a/io.py#L3 and https://host/docs/plots.md";
        let named = found(link, &["a/io.py", "docs/plots.md"]);
        assert_eq!(named, [("a/io.py".to_owned(), None)]);
    }
}
