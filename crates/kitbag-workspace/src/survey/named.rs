//! The files and definitions that the names of a task mean.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::text::{Word, words};

use super::candidate::Candidate;
use crate::language::Language;
use crate::query::{Names, Query, Symbol};
use crate::relevance::field::Document;
use crate::syntax::Syntax;
use crate::walk::{FileEntry, FileRole};

/// More definitions of one name than this are told apart by nothing in the task.
const MOST_DEFINITIONS: usize = 3;

/// More definitions than these are what the task talks about, and not what it asks for.
const MOST_NAMED_DEFINITIONS: usize = 5;

/// The files that are parsed to find the definition of a name: one that more files hold is defined in
/// one of the best of them.
const MOST_HOLDERS: usize = 24;

/// More names than these are what a report talks about: only the first are looked for in all files.
const MOST_SYMBOLS: usize = 20;

/// A path that could be any of more files than these is not told: it is a name such as `index.js`.
const MOST_NAMESAKES: usize = 6;

/// A file that a task names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedFile {
    /// The file, as an index into the workspace's files.
    pub file: usize,
    /// The path that the task has, where no file is there and this one has its name.
    pub instead_of: Option<String>,
    /// The part of the task that names it.
    pub by: NamedBy,
}

/// The part of a task that names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy {
    /// Its path, or the end of it.
    Path,
    /// The name of a definition that stands in it and nowhere else.
    Definition,
}

/// A path that a task names and that means no file, or could mean several.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnresolvedPath {
    /// The path as the task has it.
    pub path: String,
    /// The files that it could mean, as indices into the workspace's files.
    pub candidates: Vec<usize>,
}

/// The files that paths in the task mean, each once, in the order of the task, and the paths that
/// mean none.
pub(super) fn files(names: &Names, files: &[FileEntry]) -> (Vec<NamedFile>, Vec<UnresolvedPath>) {
    let (mut found, mut unresolved) = (Vec::new(), Vec::new());
    if names.paths.is_empty() && names.links.is_empty() && names.words.is_empty() {
        return (found, unresolved);
    }
    let wanted = names.paths.iter().chain(&names.links).chain(&names.words);
    let wanted = wanted.map(|path| (name_of(path), Vec::new()));
    let mut by_name: BTreeMap<&str, Vec<usize>> = wanted.collect();
    for (index, file) in files.iter().enumerate() {
        if let Some(namesakes) = by_name.get_mut(name_of(&file.path)) {
            namesakes.push(index);
        }
    }
    let path = |index: usize| files.get(index).map_or("", |file| file.path.as_str());
    let namesakes = |named: &str| by_name.get(name_of(named)).map_or(&[][..], Vec::as_slice);
    // The file with exactly this path, or all that end with it.
    let meant = |named: &str| {
        let namesakes = namesakes(named).iter().copied();
        let ending = namesakes.filter(|&file| ends(path(file), named));
        let ending: Vec<usize> = ending.collect();
        let exact = ending.iter().copied().find(|&file| path(file) == named);
        exact.map_or(ending, |file| vec![file])
    };
    let mut add = |file, instead_of| {
        if !found.iter().any(|named: &NamedFile| named.file == file) {
            found.push(NamedFile {
                file,
                instead_of,
                by: NamedBy::Path,
            });
        }
    };
    for named in &names.paths {
        match (meant(named).as_slice(), namesakes(named)) {
            ([file], _) => add(*file, None),
            // The folder is another one: the file was moved, or the path begins elsewhere.
            ([], [file]) if named.contains('/') => {
                let is_below = ends(named, path(*file));
                add(*file, (!is_below).then(|| named.clone()));
            }
            (candidates, _) if is_told(named, candidates) => unresolved.push(UnresolvedPath {
                path: named.clone(),
                candidates: candidates.to_vec(),
            }),
            _ => {}
        }
    }
    for word in &names.words {
        if let [file] = meant(word).as_slice() {
            add(*file, None);
        }
    }
    for link in &names.links {
        let namesakes = namesakes(link).iter().copied();
        // Manuals are linked to as a habit, code on purpose.
        let is_source =
            |file: usize| files.get(file).map(|file| file.role) == Some(FileRole::Source);
        let mut meant = namesakes.filter(|&file| is_source(file) && ends(link, path(file)));
        if let (Some(file), None) = (meant.next(), meant.next())
            && path(file).contains('/')
        {
            add(file, None);
        }
    }
    (found, unresolved)
}

/// Tells if a reader should know that a path means nothing: paths of other machines, hosts and files of
/// unknown kinds are no mistakes.
fn is_told(path: &str, candidates: &[usize]) -> bool {
    let first = path.split('/').next().unwrap_or(path);
    let is_host = path.contains('/') && first.trim_start_matches('.').contains('.');
    let is_elsewhere = path.starts_with(['/', '~']) || is_host;
    let is_known = Language::of(path, "").is_some() || FileRole::of(path) != FileRole::Source;
    match candidates.len() {
        0 => path.contains('/') && is_known && !is_elsewhere,
        count => count <= MOST_NAMESAKES,
    }
}

/// The files that hold the names of definitions, for each name in the order of the task. Names stand in
/// them as words of the query.
pub(super) fn holders(
    query: &Query,
    files: &[FileEntry],
    documents: &[Option<Document>],
) -> Vec<Vec<usize>> {
    let symbols = query.names.symbols.iter().take(MOST_SYMBOLS);
    let mut by_term: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for symbol in symbols {
        if let Some(term) = term_of(&symbol.name, query) {
            by_term.entry(term).or_default();
        }
    }
    if by_term.is_empty() {
        return Vec::new();
    }
    for (index, (document, file)) in documents.iter().zip(files).enumerate() {
        if !matches!(file.role, FileRole::Source | FileRole::Test) {
            continue;
        }
        for (term, _) in document.iter().flat_map(|document| &document.counts) {
            if let Some(holders) = by_term.get_mut(term) {
                holders.push(index);
            }
        }
    }
    by_term.into_values().collect()
}

/// The term of the query that a name is.
fn term_of(name: &str, query: &Query) -> Option<u16> {
    // Behind the words that a compound name is made of comes the whole of it.
    let (text, is_whole) = match words(name).last()? {
        Word::Part(text) => (text, false),
        Word::Whole(text) => (text, true),
    };
    let mut terms = query.terms.iter();
    let term = terms.position(|term| term.text == text && term.is_whole == is_whole)?;
    u16::try_from(term).ok()
}

/// The files to parse for the definitions of names: of too many that hold one, the first in `order`.
pub(super) fn to_parse(holders: &[Vec<usize>], order: impl FnOnce() -> Vec<usize>) -> Vec<usize> {
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let (many, few): (Vec<_>, Vec<_>) = holders
        .iter()
        .partition(|holders| holders.len() > MOST_HOLDERS);
    few.into_iter().for_each(|holders| chosen.extend(holders));
    if !many.is_empty() {
        let order = order();
        for holders in many {
            let best = order
                .iter()
                .filter(|file| holders.binary_search(file).is_ok());
            chosen.extend(best.take(MOST_HOLDERS));
        }
    }
    chosen.into_iter().collect()
}

/// Tells if a text has a definition of one of the names.
pub(super) fn defines(names: &Names, syntax: &Syntax) -> bool {
    let mut definitions = syntax.definitions.iter();
    definitions.any(|definition| {
        let mut symbols = names.symbols.iter();
        symbols.any(|symbol| symbol.name == definition.name)
    })
}

/// A definition by its place: the file, and the names around it.
type Place = (usize, Vec<String>);

/// Marks the units of candidates that the task names by their definitions. Returns the files of those
/// names that are defined once.
pub(super) fn mark(
    names: &Names,
    files: &[FileEntry],
    candidates: &mut [Candidate],
) -> Vec<NamedFile> {
    let mut named: Vec<NamedFile> = Vec::new();
    for symbol in &names.symbols {
        let mut places = places(symbol, FileRole::Source, files, candidates);
        if places.is_empty() {
            places = self::places(symbol, FileRole::Test, files, candidates);
        }
        let owned: BTreeMap<Place, Vec<usize>> = places
            .iter()
            .filter(|((file, parents), _)| is_owner(symbol, files.get(*file), parents))
            .map(|(place, units)| (place.clone(), units.clone()))
            .collect();
        let is_owned = !owned.is_empty();
        let places = if is_owned { owned } else { places };
        if places.len() > MOST_DEFINITIONS {
            continue;
        }
        let is_one = places.len() == 1 && (is_owned || symbol.owner.is_none());
        for ((file, _), units) in places {
            let candidate = candidates
                .iter_mut()
                .find(|candidate| candidate.file == file);
            let Some(candidate) = candidate else { continue };
            for unit in units {
                if let Some(worth) = candidate.units.get_mut(unit) {
                    worth.named = true;
                }
            }
            let is_new = !named.iter().any(|named| named.file == file);
            if is_one && is_new && named.len() < MOST_NAMED_DEFINITIONS {
                named.push(NamedFile {
                    file,
                    instead_of: None,
                    by: NamedBy::Definition,
                });
            }
        }
    }
    named
}

/// The places where files of a role define a name, with the units that show it. A definition that was cut
/// into parts is one all the same; one without a unit of its own stands in that of its type.
fn places(
    symbol: &Symbol,
    role: FileRole,
    files: &[FileEntry],
    candidates: &[Candidate],
) -> BTreeMap<Place, Vec<usize>> {
    let (mut as_units, mut inside) = (BTreeMap::<Place, Vec<usize>>::new(), BTreeMap::new());
    for candidate in candidates {
        if files.get(candidate.file).map(|file| file.role) != Some(role) {
            continue;
        }
        let units = &candidate.parsed.syntax.units;
        for (index, unit) in units.iter().enumerate() {
            if unit.name == symbol.name {
                let place = (candidate.file, unit.parents.clone());
                as_units.entry(place).or_default().push(index);
            }
        }
        let definitions = candidate.parsed.syntax.definitions.iter();
        for definition in definitions.filter(|definition| definition.name == symbol.name) {
            let around = units.partition_point(|unit| unit.last < definition.line);
            let parents = match definition.parent.as_str() {
                "" => Vec::new(),
                parent => vec![parent.to_owned()],
            };
            let place = (candidate.file, parents);
            let units: &mut Vec<usize> = inside.entry(place).or_default();
            units.push(around);
        }
    }
    match as_units.is_empty() {
        true => inside,
        false => as_units,
    }
}

/// Tells if the name before a symbol is that of what the definition stands in: a type, or a module.
fn is_owner(symbol: &Symbol, file: Option<&FileEntry>, parents: &[String]) -> bool {
    let (Some(owner), Some(file)) = (&symbol.owner, file) else {
        return false;
    };
    let mut parts = file.path.rsplit('/');
    let stem = parts
        .next()
        .map(|name| name.split('.').next().unwrap_or(name));
    let around = stem.into_iter().chain(parts.next());
    let mut around = around.chain(parents.last().map(String::as_str));
    around.any(|name| name.eq_ignore_ascii_case(owner))
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
        let (named, _) = files(&Query::new(task).names, &entries);
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
    fn p02_the_exact_path_wins() {
        let paths = ["README.md", "docs/README.md", "b/Makefile", "c/.gitignore"];
        let task = "update README.md, Makefile and .gitignore";
        let named = ["README.md", "b/Makefile", "c/.gitignore"];
        let named = named.map(|path| (path.to_owned(), None));
        assert_eq!(found(task, &paths), named);
    }

    #[test]
    fn p02_a_path_may_have_brackets() {
        let paths = ["app/[slug]/page.rs", "app/(shop)/[id].tsx", "notes/a.md"];
        let task = "app/[slug]/page.rs and app/(shop)/[id].tsx, see [the notes](notes/a.md)";
        let named = paths.map(|path| (path.to_owned(), None));
        assert_eq!(found(task, &paths), named);
    }

    #[test]
    fn p02_a_path_that_means_nothing_or_several_files_is_known() {
        let paths = ["a/io.py", "b/io.py", "c.py"];
        let entries = paths.map(|path| FileEntry::new(path, 1, None));
        let task = "io.py reads src/none.py, example.com/x.html and /usr/lib/y.py";
        let (_, unresolved) = files(&Query::new(task).names, &entries);
        let unresolved: Vec<_> = unresolved
            .iter()
            .map(|path| (path.path.as_str(), path.candidates.as_slice()))
            .collect();
        assert_eq!(unresolved, [("io.py", &[0, 1][..]), ("src/none.py", &[])]);
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
