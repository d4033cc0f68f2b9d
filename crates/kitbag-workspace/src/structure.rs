//! The tree of a workspace as text, at several sizes.
//!
//! Two spaces of indent say what is inside what. Lines drawn between the entries would cost almost
//! three times the tokens for nothing that the indent does not say. Folders come before files, and
//! hidden folders (`.github`) are not opened.
//! Every file is either shown or counted: a folder that is not opened says how many files are
//! beneath it, and a folder with too many entries says how many it keeps back.
//!
//! The paths are those of a walk. What to leave out, and reading anything, is not decided here.

use std::cmp::Reverse;

use crate::shown::{counted, ever_shorter, shown};

/// The levels of folders that are opened unless a caller asks for more or less.
pub const DEFAULT_DEPTH: usize = 3;

/// More levels than this are never opened.
const MAX_DEPTH: usize = 12;

/// A tree of more lines than this is drawn with less in it.
const MAX_LINES: usize = 400;

/// The most entries of the root that are shown.
const ROOT_WIDTH: usize = 30;

/// The most entries of a folder that are shown, one number for each size of the tree.
const WIDTHS: [usize; 3] = [30, 10, 4];

/// Draws the tree of `paths`, as far as `depth` levels of folders and at every useful size, the most
/// detailed first and each shorter than the one before. Without files the list is empty.
///
/// A run of folders with nothing else in them counts as one level, and stands on one line. A tree
/// of very many lines is drawn narrower or less deep.
///
/// ```
/// use kitbag_workspace::structure::levels;
///
/// let paths = ["Cargo.toml", "src/cli/ask.rs", "src/cli/pack.rs", "src/lib.rs"];
/// let trees = levels(&paths, 3);
/// assert_eq!(trees[0], "src/\n  cli/\n    ask.rs\n    pack.rs\n  lib.rs\nCargo.toml\n");
/// assert_eq!(trees.last().unwrap(), "src/ (3 files)\nCargo.toml\n");
/// ```
#[must_use]
pub fn levels(paths: &[&str], depth: usize) -> Vec<String> {
    let mut paths: Vec<&str> = paths.to_vec();
    // An empty part has no name to show.
    paths.retain(|path| path.split('/').all(|part| !part.is_empty()));
    paths.sort_unstable();
    paths.dedup();
    let root = Folder {
        paths: &paths,
        prefix: 0,
    };

    let depths = (1..=depth.clamp(1, MAX_DEPTH)).rev();
    let sizes = depths.flat_map(|depth| WIDTHS.map(|width| (depth, width)));
    ever_shorter(sizes.filter_map(|(depth, width)| {
        let mut drawing = Drawing {
            width,
            text: String::new(),
            lines: 0,
        };
        drawing.folder(root, 0, depth);
        (drawing.lines <= MAX_LINES).then_some(drawing.text)
    }))
}

/// All paths that begin with the same folder. They are sorted, so that they stand together.
#[derive(Clone, Copy)]
struct Folder<'p> {
    paths: &'p [&'p str],
    /// The number of bytes of each path that name the folder, the slash at its end included.
    prefix: usize,
}

struct Entry<'p> {
    name: &'p str,
    /// None for a file.
    inside: Option<Folder<'p>>,
}

impl<'p> Folder<'p> {
    /// The folders inside, then the files.
    fn entries(self) -> (Vec<Entry<'p>>, Vec<Entry<'p>>) {
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        let mut rest = self.paths;
        while let Some(path) = rest.first() {
            let inside = self.inner(path).map_or(1, |prefix| {
                let name = path.get(..prefix);
                rest.partition_point(|other| other.get(..prefix) == name)
            });
            // At least one is taken, or the loop would not end.
            let Some((taken, left)) = rest.split_at_checked(inside.max(1)) else {
                break;
            };
            match self.inner(path) {
                None => files.push(self.file(path)),
                Some(prefix) => folders.push(self.folded(Self {
                    paths: taken,
                    prefix,
                })),
            }
            rest = left;
        }
        (folders, files)
    }

    /// The end of the name of the folder that holds `path`, one level further down.
    fn inner(self, path: &str) -> Option<usize> {
        let at = path.get(self.prefix..)?.find('/')?;
        Some(self.prefix + at + 1)
    }

    /// Goes down from `inner` as long as there is only one way to go.
    fn folded(self, mut inner: Self) -> Entry<'p> {
        let (first, last) = match inner.paths {
            [] => return self.file(""),
            [path] => return self.file(path),
            [first, .., last] => (first, last),
        };
        // What the first and the last share is shared by all between them.
        let shared = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b);
        let slashes = shared.enumerate().filter(|(_, (byte, _))| *byte == b'/');
        if let Some((at, _)) = slashes.last() {
            inner.prefix = inner.prefix.max(at + 1);
        }
        Entry {
            name: first.get(self.prefix..inner.prefix).unwrap_or(first),
            inside: Some(inner),
        }
    }

    fn file(self, path: &'p str) -> Entry<'p> {
        Entry {
            name: path.get(self.prefix..).unwrap_or(path),
            inside: None,
        }
    }
}

impl Entry<'_> {
    fn count(&self) -> usize {
        self.inside.map_or(1, |folder| folder.paths.len())
    }
}

struct Drawing {
    width: usize,
    text: String,
    lines: usize,
}

impl Drawing {
    fn folder(&mut self, folder: Folder<'_>, indent: usize, depth: usize) {
        let (mut folders, mut files) = folder.entries();
        let width = if indent == 0 { ROOT_WIDTH } else { self.width };
        let mut left_out = String::new();
        // One more may stay: the line that counts it would be as long.
        if folders.len() + files.len() > width + 1 {
            // Files keep a third of the places: a root shows its manifest, however many folders it has.
            let for_files = (width / 3).max(width.saturating_sub(folders.len()));
            let for_files = for_files.min(files.len());
            left_out = counted_out(
                &keep(&mut folders, width - for_files),
                &keep(&mut files, for_files),
            );
        }
        for entry in folders.into_iter().chain(files) {
            if self.lines > MAX_LINES {
                return;
            }
            let name = shown(entry.name);
            match entry.inside {
                None => self.line(indent, &name),
                Some(inside) if depth > 1 && !entry.name.starts_with('.') => {
                    self.line(indent, &name);
                    self.folder(inside, indent + 1, depth - 1);
                }
                Some(_) => {
                    let files = counted(entry.count(), "file");
                    self.line(indent, &format!("{name} ({files})"));
                }
            }
        }
        if !left_out.is_empty() {
            self.line(indent, &left_out);
        }
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.text.extend(std::iter::repeat_n("  ", indent));
        self.text.push_str(text);
        self.text.push('\n');
        self.lines += 1;
    }
}

/// Keeps the entries that say most, in their order, and gives back the others: those with most
/// files beneath, and hidden ones last.
fn keep<'p>(entries: &mut Vec<Entry<'p>>, places: usize) -> Vec<Entry<'p>> {
    let rank = |entry: &Entry<'p>| {
        let is_hidden = entry.name.starts_with('.');
        (is_hidden, Reverse(entry.count()), entry.name)
    };
    entries.sort_by_key(rank);
    let left_out = entries.split_off(places.min(entries.len()));
    entries.sort_by_key(|entry| entry.name);
    left_out
}

fn counted_out(folders: &[Entry<'_>], files: &[Entry<'_>]) -> String {
    let mut parts = Vec::new();
    if !folders.is_empty() {
        let beneath = counted(folders.iter().map(Entry::count).sum(), "file");
        parts.push(format!(
            "{} ({beneath})",
            counted(folders.len(), "more folder")
        ));
    }
    if !files.is_empty() {
        parts.push(counted(files.len(), "more file"));
    }
    format!("… {}", parts.join(", "))
}

#[cfg(test)]
mod tests;
