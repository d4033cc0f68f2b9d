//! The marks by which a change of the tree is seen.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ignore::gitignore::gitconfig_excludes_path;
use rayon::prelude::*;

use super::stamp::{Folder, Stamp};
use crate::workspace::Workspace;

/// A file system may give a change the time of the one before it, if they follow each other at once. So
/// what was changed this short before the look began, or while it lasted, counts as changed.
const UNSETTLED: Duration = Duration::from_millis(100);

/// Files of git that change with a commit, a checkout or a setting.
const GIT_FILES: [&str; 6] = [
    "HEAD",
    "index",
    "logs/HEAD",
    "packed-refs",
    "config",
    "info/exclude",
];

/// The time, the size and the number of everything that a workspace was made of.
#[derive(Debug)]
pub(super) struct Stamps {
    begun: SystemTime,
    /// In the order of the workspace's files.
    files: Vec<Option<Stamp>>,
    /// Folders, ignore files and files of git, below the root or with their whole paths.
    others: Vec<(PathBuf, Option<Stamp>)>,
}

/// The files and folders that changed since their marks were taken.
#[derive(Debug, Default)]
pub(super) struct Differing {
    files: HashSet<String>,
    has_others: bool,
}

impl Differing {
    pub(super) fn is_empty(&self) -> bool {
        !self.has_others && self.files.is_empty()
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.files.contains(path)
    }
}

impl Stamps {
    /// The marks of a workspace that somebody began to list at `begun`.
    pub(super) fn of(workspace: &Workspace, begun: SystemTime) -> Self {
        let root = workspace.root();
        let folder = Folder::open(root);
        let files = workspace.files().par_iter();
        let files = files
            .map(|file| folder.stamp(Path::new(&file.path)))
            .collect();
        let listed = workspace.looked_at().iter().map(PathBuf::from);
        let outside = git_files(root).into_iter().chain(rules_above(root));
        let others: Vec<PathBuf> = listed.chain(outside).collect();
        let others = others.into_par_iter();
        let others = others.map(|path| {
            let stamp = folder.stamp(&path);
            (path, stamp)
        });
        Self {
            begun,
            files,
            others: others.collect(),
        }
    }

    /// Looks at everything again.
    pub(super) fn differing(&self, workspace: &Workspace) -> Differing {
        let folder = Folder::open(workspace.root());
        let settled = self.begun.checked_sub(UNSETTLED);
        let is_same = |before: Option<Stamp>, path: &Path| {
            let is_settled = |stamp: Stamp| settled.is_some_and(|begun| stamp.modified < begun);
            // The same mark proves nothing for a file that was written just before the look began.
            before == folder.stamp(path) && before.is_none_or(is_settled)
        };
        let files = workspace.files().par_iter().zip(&self.files);
        let files = files.filter(|(file, before)| !is_same(**before, Path::new(&file.path)));
        let files = files.map(|(file, _)| file.path.clone()).collect();
        let has_others = self
            .others
            .par_iter()
            .any(|(path, before)| !is_same(*before, path));
        Differing { files, has_others }
    }
}

/// The files of rules above a folder, and the user's own, there or not.
fn rules_above(root: &Path) -> Vec<PathBuf> {
    let Ok(root) = root.canonicalize() else {
        return Vec::new();
    };
    let above = root.ancestors().skip(1).flat_map(|folder| {
        let names = [".gitignore", ".ignore", ".kitbagignore"];
        names.map(|name| folder.join(name))
    });
    above.chain(gitconfig_excludes_path()).collect()
}

/// The files of the repository that a folder is in, there or not.
fn git_files(root: &Path) -> Vec<PathBuf> {
    let Ok(root) = root.canonicalize() else {
        return Vec::new();
    };
    let mut above = root.ancestors().map(|folder| folder.join(".git"));
    let Some(found) = above.find(|path| path.exists()) else {
        return Vec::new();
    };
    let mut folders = vec![match fs::read_to_string(&found) {
        // A work tree of its own, or a submodule, says where its repository is.
        Ok(text) => match text.trim().strip_prefix("gitdir:") {
            Some(place) => found.with_file_name(place.trim()),
            None => found.clone(),
        },
        Err(_) => found.clone(),
    }];
    let shared = folders.first().and_then(|folder| {
        let common = fs::read_to_string(folder.join("commondir")).ok()?;
        Some(folder.join(common.trim()))
    });
    folders.extend(shared);
    let mut files = vec![found];
    for folder in &folders {
        files.extend(GIT_FILES.iter().map(|name| folder.join(name)));
    }
    // The branch moves with a commit also where no log is kept.
    let head = folders.first().map(|folder| folder.join("HEAD"));
    let head = head.and_then(|head| fs::read_to_string(head).ok());
    if let Some(branch) = head.as_deref().and_then(|head| head.strip_prefix("ref:")) {
        files.extend(folders.iter().map(|folder| folder.join(branch.trim())));
    }
    files
}
