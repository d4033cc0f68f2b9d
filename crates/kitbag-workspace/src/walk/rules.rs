//! The ignore rules that hold in a folder.
//!
//! A chain of the folders that have rules, from the innermost out. The rules of `.kitbagignore`
//! win over `.ignore`, these over `.gitignore`, then the repository's `info/exclude` and the
//! user's own excludes. The rules of git end at the root of a repository; a nested repository
//! starts without them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use crate::text;

/// Ignore files larger than this are cut: no honest one comes near.
const RULES_LIMIT: u64 = 1 << 20;

/// The choice to apply or drop the rules of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitRules {
    Applied,
    Dropped,
}

/// The judgement of the rules on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Kept,
    /// Left out unless git tracks it.
    IgnoredByGit,
    /// Left out by `.ignore` or `.kitbagignore`.
    Ignored,
}

/// The files of a folder that have a meaning for the rules.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RuleFiles {
    gitignore: bool,
    ignore: bool,
    kitbagignore: bool,
    repository: bool,
}

/// Tells if a file of this name holds rules.
pub(super) fn is_rule_file(name: &str) -> bool {
    matches!(name, ".gitignore" | ".ignore" | ".kitbagignore")
}

impl RuleFiles {
    fn any(self) -> bool {
        self.gitignore || self.ignore || self.kitbagignore || self.repository
    }

    /// Looks them up in a folder that is not walked itself.
    fn look_up(folder: &Path) -> Self {
        let mut files = Self::default();
        for name in [".git", ".gitignore", ".ignore", ".kitbagignore"] {
            if let Ok(found) = fs::symlink_metadata(folder.join(name)) {
                files.note(name, || found.is_file());
            }
        }
        files
    }

    /// Notes an entry of the folder. As in git, a link is not followed; and a pipe would never end.
    pub(super) fn note(&mut self, name: &str, is_file: impl FnOnce() -> bool) {
        match name {
            ".git" => self.repository = true,
            ".gitignore" => self.gitignore = is_file(),
            ".ignore" => self.ignore = is_file(),
            ".kitbagignore" => self.kitbagignore = is_file(),
            _ => {}
        }
    }
}

/// The rules of the innermost folder that has any, and of the folders around it.
#[derive(Debug)]
pub(super) struct Rules {
    around: Option<Arc<Rules>>,
    /// Length of the folder's path with its final `/`; what follows is matched.
    start: usize,
    git: Vec<Gitignore>,
    ignore: Option<Gitignore>,
    kitbagignore: Option<Gitignore>,
    /// The rules of git end here.
    repository: bool,
    /// No folder out from here has rules of our own.
    pub(super) only_git: bool,
}

/// The place at which a walk begins, with the rules of the folders above it.
#[derive(Debug)]
pub(super) struct Start {
    /// The path to put before one below the root for the rules of the ancestors; empty or ending in `/`.
    pub(super) prefix: String,
    pub(super) rules: Option<Arc<Rules>>,
    /// Git ignores the root itself. Rules of our own that leave it out do not count: it was asked
    /// for.
    pub(super) ignored: bool,
    pub(super) git: GitRules,
}

impl Start {
    /// Collects the rules of the ancestors: up to the repository's root, or all without one.
    pub(super) fn new(root: &Path, git: GitRules) -> Self {
        let nowhere = Self {
            prefix: String::new(),
            rules: None,
            ignored: false,
            git,
        };
        let Ok(root) = root.canonicalize() else {
            return nowhere;
        };
        let repository = root
            .ancestors()
            .find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok());
        let base = repository.or_else(|| root.ancestors().last());
        let prefix = base.and_then(|base| below(base, &root));
        let (Some(base), Some(prefix)) = (base, prefix) else {
            return nowhere;
        };
        let mut start = nowhere;
        let mut folder = base.to_path_buf();
        for part in prefix.split('/').filter(|part| !part.is_empty()) {
            let mut files = RuleFiles::look_up(&folder);
            // Outside a work tree only the walked folders' own `.gitignore` files count.
            files.gitignore &= repository.is_some();
            start.rules = start.child(&start.rules, &folder, start.prefix.len(), files);
            start.prefix.push_str(part);
            let rules = start.rules.as_ref();
            let verdict = rules.map(|rules| rules.verdict(&start.prefix, true));
            start.ignored |= verdict == Some(Verdict::IgnoredByGit);
            start.prefix.push('/');
            folder.push(part);
        }
        // Without rules above the root, paths need no prefix, and each verdict saves a string.
        if start.rules.is_none() {
            start.prefix.clear();
        }
        start
    }

    /// The rules below `folder`, whose path has the length `start` in what is matched.
    pub(super) fn child(
        &self,
        around: &Option<Arc<Rules>>,
        folder: &Path,
        start: usize,
        files: RuleFiles,
    ) -> Option<Arc<Rules>> {
        if !files.any() {
            return around.clone();
        }
        let own = |wanted: bool, name: &str| wanted.then(|| from_files(&[folder.join(name)]));
        let ignore = own(files.ignore, ".ignore");
        let kitbagignore = own(files.kitbagignore, ".kitbagignore");
        let mut git = Vec::new();
        if self.git == GitRules::Applied {
            if files.gitignore {
                git.push(from_files(&[folder.join(".gitignore")]));
            }
            if files.repository {
                // In one list the later lines win, as the repository's do over the user's.
                let of_user = gitconfig_excludes_path();
                let excludes: Vec<_> = of_user.into_iter().chain(info_exclude(folder)).collect();
                git.push(from_files(&excludes));
            }
            git.retain(|rules| !rules.is_empty());
        }
        let only_git = ignore.is_none()
            && kitbagignore.is_none()
            && around.as_ref().is_none_or(|around| around.only_git);
        Some(Arc::new(Rules {
            around: around.clone(),
            start,
            git,
            ignore,
            kitbagignore,
            repository: files.repository,
            only_git,
        }))
    }
}

impl Rules {
    /// Judges a path, whose folders are known to be kept.
    pub(super) fn verdict(self: &Arc<Self>, path: &str, is_folder: bool) -> Verdict {
        // Our own rules reach beyond the root of a repository and win over those of git, so they
        // are asked first.
        if !self.only_git {
            let by = |own: fn(&Self) -> &Option<Gitignore>| {
                let mut rules = self.outwards();
                rules.find_map(|rules| rules.matched(own(rules).as_slice(), path, is_folder))
            };
            match by(|rules| &rules.kitbagignore).or_else(|| by(|rules| &rules.ignore)) {
                Some(true) => return Verdict::Ignored,
                Some(false) => return Verdict::Kept,
                None => {}
            }
        }
        for rules in self.outwards() {
            match rules.matched(&rules.git, path, is_folder) {
                Some(true) => return Verdict::IgnoredByGit,
                // A folder without a verdict leaves it to the one above, up to the root of the
                // repository.
                None if !rules.repository => {}
                Some(false) | None => break,
            }
        }
        Verdict::Kept
    }

    fn outwards(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |rules| rules.around.as_deref())
    }

    fn matched(&self, matchers: &[Gitignore], path: &str, is_folder: bool) -> Option<bool> {
        let path = path.get(self.start..)?;
        matchers
            .iter()
            .find_map(|matcher| match matcher.matched(path, is_folder) {
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
                Match::None => None,
            })
    }
}

/// The path below `base`, with `/` between its parts.
pub(super) fn below(base: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(base).ok()?.components();
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

/// The path of the own excludes of a repository; a linked work tree shares those of the main one.
fn info_exclude(work_tree: &Path) -> Option<PathBuf> {
    let mut folder = work_tree.join(".git");
    if fs::symlink_metadata(&folder).ok()?.is_file() {
        // A linked work tree has a file here that holds one path.
        let pointer = text::read_small(&folder, 4096).ok()?;
        let pointer = String::from_utf8(pointer).ok()?;
        folder = work_tree.join(pointer.strip_prefix("gitdir:")?.trim());
    }
    if let Ok(common) = text::read_small(&folder.join("commondir"), 4096) {
        folder = folder.join(String::from_utf8(common).ok()?.trim());
    }
    Some(folder.join("info").join("exclude"))
}

fn from_files(paths: &[PathBuf]) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for path in paths {
        let Ok(bytes) = text::read_small(path, RULES_LIMIT) else {
            continue;
        };
        let lines = String::from_utf8_lossy(&bytes);
        // Editors on Windows may put a byte order mark first, and git ignores it too.
        for line in lines.trim_start_matches('\u{feff}').lines() {
            // A line that is no pattern matches nothing, as in git.
            let _ = builder.add_line(None, &without_alternatives(line));
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Braces are plain characters for git.
fn without_alternatives(line: &str) -> std::borrow::Cow<'_, str> {
    if !line.contains(['{', '}']) {
        return line.into();
    }
    let mut escaped = String::with_capacity(line.len() + 4);
    let mut after_backslash = false;
    for c in line.chars() {
        if matches!(c, '{' | '}') && !after_backslash {
            escaped.push('\\');
        }
        after_backslash = c == '\\' && !after_backslash;
        escaped.push(c);
    }
    escaped.into()
}
