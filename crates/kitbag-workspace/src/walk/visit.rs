//! Visits the folders of a workspace, in parallel.
//!
//! Each folder is one job that reads its listing and queues its sub-folders, so the depth of a tree
//! never shows on a stack.

use std::ffi::OsString;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use kitbag_core::problem::{Problem, ProblemKind};
use rayon::Scope;

use super::SIZE_LIMIT;
use super::entry::{FileEntry, Skipped, Walk};
use super::role::Place;
use super::rules::{self, GitRules, RuleFiles, Rules, Start, Verdict};
use super::select::Selection;
use super::skip::{self, SkipReason};
use crate::relative::{folder_of, name_of};

/// Walks the tree once; nothing is sorted yet.
pub(super) fn visit(root: &Path, selection: &Selection, tracked: &[String], git: GitRules) -> Walk {
    let tree = Tree {
        root,
        real_root: root.canonicalize().unwrap_or_else(|_| root.to_path_buf()),
        start: Start::new(root, git),
        selection,
        walk: Mutex::new(Walk::default()),
    };
    let folder = Folder {
        path: String::new(),
        rules: tree.start.rules.clone(),
        tracked,
        only_tracked: tree.start.ignored,
        included: false,
        is_package: false,
        place: Place::default(),
    };
    rayon::scope(|scope| tree.folder(folder, scope));
    let walk = tree.walk.into_inner();
    walk.unwrap_or_else(PoisonError::into_inner)
}

/// The state that all jobs share.
struct Tree<'a> {
    root: &'a Path,
    real_root: PathBuf,
    start: Start,
    selection: &'a Selection,
    walk: Mutex<Walk>,
}

/// One folder to visit, with what the folders above it say.
struct Folder<'a> {
    /// Below the root; empty for the root, without a final `/` otherwise.
    path: String,
    rules: Option<Arc<Rules>>,
    /// The tracked paths below this folder.
    tracked: &'a [String],
    /// Git ignores the folder, so that only its tracked files count.
    only_tracked: bool,
    /// An include pattern takes the folder as a whole.
    included: bool,
    /// It has a `package.json`, so that its `dist` is what was built.
    is_package: bool,
    place: Place,
}

impl<'a> Tree<'a> {
    fn folder<'scope>(&'scope self, mut folder: Folder<'scope>, scope: &Scope<'scope>)
    where
        'a: 'scope,
    {
        let mut found = Walk::default();
        found.looked_at.push(folder.path.clone());
        let absolute = self.root.join(&folder.path);
        match listing(&absolute) {
            Ok(entries) => {
                if let Some(reason) = self.skip_by_listing(&folder, &entries) {
                    found.skipped.push(Skipped::new(folder.path, reason));
                } else {
                    self.add_rules(&mut folder, &absolute, &entries);
                    for (name, entry) in entries {
                        match name.into_string() {
                            Ok(name) if rules::is_rule_file(&name) => {
                                found.looked_at.push(join(&folder.path, &name));
                                self.entry(&folder, &name, &entry, &mut found, scope);
                            }
                            Ok(name) => self.entry(&folder, &name, &entry, &mut found, scope),
                            Err(name) => {
                                let path = join(&folder.path, &name.to_string_lossy());
                                found.skipped.push(Skipped::new(path, SkipReason::Name));
                            }
                        }
                    }
                }
            }
            Err(error) if folder.path.is_empty() => {
                let message = format!("the root cannot be read: {error}");
                let problem = Problem::new("", ProblemKind::Failed, message);
                found.problems.push(problem);
            }
            Err(error) => found
                .skipped
                .push(Skipped::new(folder.path, unreadable(&error))),
        }
        // Each folder gathers its own results first, so the lock is taken once per folder.
        let mut walk = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        walk.files.append(&mut found.files);
        walk.skipped.append(&mut found.skipped);
        walk.problems.append(&mut found.problems);
        walk.looked_at.append(&mut found.looked_at);
        walk.git_ignored |= found.git_ignored;
    }

    /// Some folders show only by what they hold that they are not the project's.
    fn skip_by_listing(
        &self,
        folder: &Folder<'_>,
        entries: &[(OsString, DirEntry)],
    ) -> Option<SkipReason> {
        let (name, parent) = (name_of(&folder.path), name_of(folder_of(&folder.path)));
        if name.is_empty() || self.selection.lifts_folder(name) {
            return None;
        }
        entries.iter().find_map(|(child, _)| {
            let child = child.to_str()?;
            skip::folder_by_child(name, parent, child).or_else(|| {
                let reason = skip::folder_by_mark(child)?;
                // Projects that deal with such folders have some among their tests.
                (!is_tracked(folder.tracked, &join(&folder.path, child))).then_some(reason)
            })
        })
    }

    /// Takes from the listing what holds for everything below.
    fn add_rules(
        &self,
        folder: &mut Folder<'_>,
        absolute: &Path,
        entries: &[(OsString, DirEntry)],
    ) {
        let mut files = RuleFiles::default();
        for (name, entry) in entries {
            let Some(name) = name.to_str() else { continue };
            folder.is_package |= name == "package.json";
            files.note(name, || entry.file_type().is_ok_and(|kind| kind.is_file()));
        }
        let slash = usize::from(!folder.path.is_empty());
        let start = self.start.prefix.len() + folder.path.len() + slash;
        folder.rules = self.start.child(&folder.rules, absolute, start, files);
    }

    fn entry<'scope>(
        &'scope self,
        folder: &Folder<'scope>,
        name: &str,
        entry: &DirEntry,
        found: &mut Walk,
        scope: &Scope<'scope>,
    ) where
        'a: 'scope,
    {
        if skip::never_shown(name) {
            return;
        }
        let path = join(&folder.path, name);
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => {
                found.skipped.push(Skipped::new(path, unreadable(&error)));
                return;
            }
        };
        let is_folder = kind.is_dir();
        // Before the rules: a file that the caller excludes is not reported as skipped.
        if self.selection.excludes(&path, is_folder) {
            return;
        }
        let verdict = self.verdict(folder, &path, is_folder);
        if verdict == Verdict::Ignored {
            return;
        }
        // Rules only mark a path: a `.gitignore` that ends in `/*` hides no file that git tracks.
        let ignored = folder.only_tracked || verdict == Verdict::IgnoredByGit;
        if is_folder {
            let tracked = below(folder.tracked, &path);
            // Git tracks files below ignored folders if they were added by force.
            if ignored && tracked.is_empty() {
                found.git_ignored = true;
                return;
            }
            let parent = name_of(&folder.path);
            let built = (folder.is_package && name == "dist").then_some(SkipReason::Generated);
            let skipped = skip::folder_by_name(name, parent)
                .or(built)
                .filter(|_| !self.selection.lifts_folder(name));
            if let Some(reason) = skipped {
                found.skipped.push(Skipped::new(path, reason));
                return;
            }
            let below = Folder {
                included: self.selection.includes(&path, true, folder.included),
                is_package: false,
                rules: folder.rules.clone(),
                tracked,
                only_tracked: ignored,
                place: folder.place.enter(name),
                path,
            };
            scope.spawn(move |scope| self.folder(below, scope));
            return;
        }
        if ignored && !is_tracked(folder.tracked, &path) {
            found.git_ignored = true;
            return;
        }
        // Folders are not held against the include patterns: `*.rs` takes files at any depth.
        if !self.selection.includes(&path, false, folder.included) {
            return;
        }
        match self.file(&path, name, entry, kind) {
            Ok((size, modified)) => found.files.push(FileEntry {
                path,
                size,
                modified,
                role: folder.place.role_of(name),
            }),
            Err(reason) => found.skipped.push(Skipped::new(path, reason)),
        }
    }

    fn verdict(&self, folder: &Folder<'_>, path: &str, is_folder: bool) -> Verdict {
        let Some(rules) = &folder.rules else {
            return Verdict::Kept;
        };
        // Below a folder that git ignores, no rule of git's adds anything.
        if folder.only_tracked && rules.only_git {
            return Verdict::IgnoredByGit;
        }
        if self.start.prefix.is_empty() {
            return rules.verdict(path, is_folder);
        }
        rules.verdict(&[self.start.prefix.as_str(), path].concat(), is_folder)
    }

    /// The size and the time of a file, or why it is skipped.
    fn file(
        &self,
        path: &str,
        name: &str,
        entry: &DirEntry,
        kind: fs::FileType,
    ) -> Result<(u64, Option<i64>), SkipReason> {
        if kind.is_symlink() {
            return Err(link(&self.real_root, &entry.path()));
        }
        if kind.is_file()
            && let Some(reason) = skip::file_by_name(name)
            && !self.selection.lifts_file(path, &reason)
        {
            return Err(reason);
        }
        about(entry.metadata(), SIZE_LIMIT)
    }
}

/// The size and the time of a regular file, which is not larger than this.
pub(super) fn about(
    metadata: io::Result<Metadata>,
    most: u64,
) -> Result<(u64, Option<i64>), SkipReason> {
    let metadata = metadata.map_err(|error| unreadable(&error))?;
    match metadata.len() {
        _ if !metadata.is_file() => Err(SkipReason::NotAFile),
        size if size > most => Err(SkipReason::Huge { size }),
        size => Ok((size, modified(&metadata))),
    }
}

/// The reason not to list a link. It is resolved, but its target is not opened.
fn link(real_root: &Path, absolute: &Path) -> SkipReason {
    let Ok(target) = absolute.canonicalize() else {
        return SkipReason::DeadLink;
    };
    match rules::below(real_root, &target) {
        Some(target) => SkipReason::LinkInside { target },
        None => SkipReason::LinkOutside,
    }
}

fn unreadable(error: &io::Error) -> SkipReason {
    SkipReason::Unreadable {
        message: error.to_string(),
    }
}

fn modified(metadata: &Metadata) -> Option<i64> {
    let time = metadata.modified().ok()?;
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).ok(),
        Err(before) => i64::try_from(before.duration().as_secs()).ok().map(|s| -s),
    }
}

fn listing(folder: &Path) -> io::Result<Vec<(OsString, DirEntry)>> {
    fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| (entry.file_name(), entry)))
        .collect()
}

/// The tracked paths below a folder.
fn below<'t>(tracked: &'t [String], folder: &str) -> &'t [String] {
    let inside = |path: &String| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    // Everything before the folder's files sorts before `folder/`; `folder-x` and `folder.c` do too.
    let start = tracked.partition_point(|path| {
        let path = path.as_bytes().iter();
        path.lt(folder.as_bytes().iter().chain(b"/"))
    });
    let from = tracked.get(start..).unwrap_or_default();
    let count = from.partition_point(inside);
    from.get(..count).unwrap_or_default()
}

fn is_tracked(tracked: &[String], path: &str) -> bool {
    tracked
        .binary_search_by(|tracked| tracked.as_str().cmp(path))
        .is_ok()
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        return name.to_owned();
    }
    [folder, "/", name].concat()
}
