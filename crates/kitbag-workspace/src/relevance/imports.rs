//! Finds the files of the workspace that an import means.
//!
//! No language's own rules: an import is a path whose last parts are those of a file or a folder.
//! What is found by fewer parts than it has must be the only one of that name.

use std::collections::HashMap;

use crate::relative::folder_of;
use crate::syntax::Import;
use crate::walk::FileEntry;

/// Most files that one import may stand for: a package of many files tells little about each.
const MOST_FILES: usize = 12;

/// Files that stand for the folder that they are in.
const FOLDER_FILES: [&str; 5] = ["index", "__init__", "mod", "lib", "main"];

/// The files of a workspace by the last part of their names, as places in its list.
#[derive(Debug, Default)]
pub(crate) struct PathIndex {
    by_stem: HashMap<Box<str>, Vec<usize>>,
    by_folder: HashMap<Box<str>, Vec<usize>>,
}

impl PathIndex {
    /// An index of these files, which are sorted by path.
    pub(crate) fn new(files: &[FileEntry]) -> Self {
        let mut index = Self::default();
        for (place, file) in files.iter().enumerate() {
            let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
            add(&mut index.by_stem, stem(name), place);
            if let Some(last) = folder.rsplit('/').next().filter(|last| !last.is_empty()) {
                add(&mut index.by_folder, last, place);
            }
        }
        index
    }

    /// The files that `import` in the file at `from` means, in the order of their paths. `files` are those of
    /// the index.
    pub(crate) fn resolve(&self, import: &Import, from: &str, files: &[FileEntry]) -> Vec<usize> {
        let mut found = Vec::new();
        let is_relative = import.relative || import.path.starts_with('.');
        if is_relative && !import.path.trim_start_matches('.').is_empty()
            || import.path.contains("./")
        {
            found.extend(self.files_relative_to(&import.path, from, files));
        }
        if found.is_empty() {
            let parts = parts(&import.path);
            // `from a import b` may mean the module `a/b.py`, which is nearer than `a` itself.
            for name in &import.names {
                let mut longer = parts.clone();
                longer.push(name);
                found.extend(self.ending(&longer, longer.len().min(2), files));
            }
            // The last parts may name things inside a file: `crate::fit::Budget` is in `fit.rs`.
            for length in (1..=parts.len()).rev() {
                if !found.is_empty() {
                    break;
                }
                let some = parts.get(..length).unwrap_or_default();
                found.extend(self.ending(some, parts.len().min(2), files));
            }
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(MOST_FILES);
        found
    }

    /// A path relative to the folder of `from`, with any extension.
    fn files_relative_to(&self, path: &str, from: &str, files: &[FileEntry]) -> Vec<usize> {
        let mut folder: Vec<&str> = from.split('/').collect();
        folder.pop();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    folder.pop();
                }
                part => folder.push(part),
            }
        }
        let wanted = folder.join("/");
        let without = wanted
            .rsplit_once('.')
            .map_or(wanted.as_str(), |(stem, _)| stem);
        let last = folder.last().copied().unwrap_or_default();
        let named = self.by_stem.get(stem(last)).into_iter().flatten();
        let inside = self.by_folder.get(last).into_iter().flatten();
        named
            .chain(inside)
            .copied()
            .filter(|&file| {
                let path = path_of(files, file);
                let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
                let stands_for = stem
                    .rsplit_once('/')
                    .filter(|(_, name)| FOLDER_FILES.contains(name));
                path == wanted
                    || stem == wanted
                    || stem == without
                    || stands_for.is_some_and(|(folder, _)| folder == wanted)
            })
            .collect()
    }

    /// The files, or the files of the folders, whose paths end with most of `parts`; at least with
    /// `least` of them, or there is only one.
    fn ending(&self, parts: &[&str], least: usize, files: &[FileEntry]) -> Vec<usize> {
        let Some((last, before)) = parts.split_last() else {
            return Vec::new();
        };
        let named = self.by_stem.get(stem(last)).into_iter().flatten();
        let named = named.map(|&file| (file, folder_of(path_of(files, file))));
        let inside = self.by_folder.get(*last).into_iter().flatten();
        let inside = inside.map(|&file| (file, folder_of(folder_of(path_of(files, file)))));
        let mut best = 0;
        let mut found = Vec::new();
        for (file, folder) in named.chain(inside) {
            let shared = 1 + folder
                .rsplit('/')
                .zip(before.iter().rev())
                .take_while(|(a, b)| a == *b)
                .count();
            if shared > best {
                best = shared;
                found.clear();
            }
            if shared == best {
                found.push(file);
            }
        }
        // A common last part alone, such as `utils`, would link files that have nothing to do with
        // each other.
        if best < least && found.len() > 1 {
            found.clear();
        }
        found
    }
}

fn add(places: &mut HashMap<Box<str>, Vec<usize>>, name: &str, place: usize) {
    match places.get_mut(name) {
        Some(known) => known.push(place),
        None => drop(places.insert(name.into(), vec![place])),
    }
}

fn path_of(files: &[FileEntry], file: usize) -> &str {
    files.get(file).map_or("", |file| &file.path)
}

fn stem(name: &str) -> &str {
    match name.split_once('.') {
        Some(("", _)) | None => name,
        Some((stem, _)) => stem,
    }
}

/// The parts of an import: `a.b`, `a::b`, `a\b`, `a/b.h`.
fn parts(path: &str) -> Vec<&str> {
    let is_path = path.contains('/');
    let separators: &[char] = if is_path { &['/'] } else { &['.', ':', '\\'] };
    let is_header = !is_path
        && path
            .rsplit_once('.')
            .is_some_and(|(_, extension)| matches!(extension, "h" | "hpp" | "hh" | "hxx" | "inc"));
    // The dot before its extension separates no names.
    if is_header {
        return vec![path];
    }
    path.split(separators)
        .filter(|part| !matches!(*part, "" | "." | ".." | "crate" | "self" | "super" | "*"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved<'p>(paths: &'p [&'p str], from: &str, path: &str, names: &[&str]) -> Vec<&'p str> {
        let import = Import {
            path: path.into(),
            names: names.iter().map(|&name| name.into()).collect(),
            ..Import::default()
        };
        let files: Vec<FileEntry> = paths
            .iter()
            .map(|path| FileEntry::new(*path, 1, None))
            .collect();
        let found = PathIndex::new(&files).resolve(&import, from, &files);
        found.into_iter().map(|file| paths[file]).collect()
    }

    #[test]
    fn x05_imports_of_the_common_languages_are_found() {
        let paths = [
            "app/models/__init__.py",
            "app/models/query.py",
            "include/server.h",
            "lib/site/tags.rb",
            "pkg/tpl/collections/sort.go",
            "src/Calculation/Functions.php",
            "src/fit/search.rs",
            "src/main/java/com/acme/Gson.java",
            "web/src/hooks/index.ts",
            "web/src/list.ts",
        ];
        let at = |from, path, names: &[&str]| resolved(&paths, from, path, names);
        assert_eq!(
            at("app/x.py", "app.models", &["query"]),
            ["app/models/query.py"]
        );
        assert_eq!(
            at("app/x.py", "app.models.query.QuerySet", &[]),
            ["app/models/query.py"]
        );
        assert_eq!(at("src/a.c", "server.h", &[]), ["include/server.h"]);
        assert_eq!(at("x.rb", "site/tags", &[]), ["lib/site/tags.rb"]);
        assert_eq!(
            at("x.go", "github.com/a/b/tpl/collections", &[]),
            ["pkg/tpl/collections/sort.go"]
        );
        assert_eq!(
            at("x.php", "Acme\\Calculation\\Functions", &[]),
            ["src/Calculation/Functions.php"]
        );
        assert_eq!(
            at("src/lib.rs", "crate::fit::search::go", &[]),
            ["src/fit/search.rs"]
        );
        assert_eq!(
            at("A.java", "com.acme.Gson", &[]),
            ["src/main/java/com/acme/Gson.java"]
        );
        assert_eq!(
            at("web/src/a.ts", "./hooks", &[]),
            ["web/src/hooks/index.ts"]
        );
        assert_eq!(
            at("web/src/hooks/index.ts", "../list.js", &[]),
            ["web/src/list.ts"]
        );
        assert!(at("a.py", "numpy", &["array"]).is_empty());
    }
}
