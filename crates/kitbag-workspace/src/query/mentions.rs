//! Files that a task names, by file name, by path, or by a dotted name.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern::pattern;

/// The paths, names and definitions that a task names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mentions {
    /// File names with extensions, in lower case.
    pub names: BTreeSet<String>,
    /// The last two parts of paths, in lower case.
    pub tails: BTreeSet<String>,
    /// Dotted names of at least two parts (`a.b`, `a::b`, `a\b`), as parts in lower case.
    pub dotted: BTreeSet<Vec<String>>,
}

impl Mentions {
    pub(super) fn of(task: &str) -> Self {
        let mut mentions = Self::default();
        for path in PATH.find_iter(task) {
            let path = path.as_str().replace('\\', "/").to_lowercase();
            let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
            let (Some(name), folder) = (parts.next(), parts.next()) else {
                continue;
            };
            mentions.names.insert(name.to_owned());
            if let Some(folder) = folder {
                mentions.tails.insert(format!("{folder}/{name}"));
            }
        }
        for name in DOTTED.find_iter(task) {
            let parts: Vec<String> = name
                .as_str()
                .split(['.', ':', '\\', '/'])
                .filter(|part| !part.is_empty())
                .map(str::to_lowercase)
                .collect();
            if (2..=12).contains(&parts.len()) {
                mentions.dotted.insert(parts);
            }
        }
        mentions
    }

    /// Returns true if the file at `path` is named by its file name.
    #[must_use]
    pub fn has_name(&self, path: &str) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        self.names.contains(&name.to_lowercase())
    }

    /// Returns true if the last two parts of `path` are in the task.
    #[must_use]
    pub fn has_tail(&self, path: &str) -> bool {
        if self.tails.is_empty() {
            return false;
        }
        let mut slashes = path.rmatch_indices('/').map(|(at, _)| at);
        let tail = match (slashes.next(), slashes.next()) {
            (Some(_), Some(second)) => path.get(second + 1..),
            (Some(_), None) => Some(path),
            (None, _) => None,
        };
        tail.is_some_and(|tail| self.tails.contains(&tail.to_lowercase()))
    }

    /// Whether two or more parts in a row of a dotted name are the end of `path` without its
    /// extension.
    #[must_use]
    pub fn has_dotted(&self, path: &str) -> bool {
        if self.dotted.is_empty() {
            return false;
        }
        let lower = path.to_lowercase();
        let stem = lower
            .rsplit_once('.')
            .map_or(lower.as_str(), |(stem, _)| stem);
        let stem = stem
            .strip_suffix("/__init__")
            .or_else(|| stem.strip_suffix("/index"))
            .or_else(|| stem.strip_suffix("/mod"))
            .unwrap_or(stem);
        let parts: Vec<&str> = stem.split('/').collect();
        self.dotted
            .iter()
            .any(|dotted| ends_with_part_of(&parts, dotted))
    }
}

/// Returns true if the last two or more of `parts` follow each other in `dotted`.
fn ends_with_part_of(parts: &[&str], dotted: &[String]) -> bool {
    let [.., folder, stem] = parts else {
        return false;
    };
    dotted.windows(2).any(|pair| match pair {
        [first, second] => first == folder && second == stem,
        _ => false,
    })
}

/// A name with an extension, and what stands before it as a path does. Routes of web frameworks have
/// brackets: `app/[slug]/page.rs`, `routes/$id.ts`, `(shop)/cart.tsx`.
pub(super) static PATH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?:[\w./\\@+$-]|\[[\w.-]+\]|\([\w.-]+\)/)*(?:[\w-]|\[[\w.-]+\])\.[A-Za-z][\w]{0,9}\b")
});

static DOTTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[A-Za-z_][\w]*(?:(?:\.|::|\\|/)[A-Za-z_][\w]*)+"));
