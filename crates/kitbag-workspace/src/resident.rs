//! A workspace that a process keeps from one survey to the next.
//!
//! Whatever was listed, read and parsed stays in memory. Before it is used again it is held against the
//! file system: the time, the size and the number of every file and folder that was looked at, of ignore
//! files, and of what git changes with each commit. Where anything differs, the tree is listed again, and
//! only what changed is read again. So a survey gives the same as one that begins with nothing.
//!
//! Between two surveys a process may work ahead: it parses the files that the next one may choose, and
//! counts the identifiers of all, so that their bytes need not be searched again.

mod stamp;
mod stamps;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::cache::{Cache, MAX_BYTES};
use crate::parsed::Parsed;
use crate::survey::structure;
use crate::text;
use crate::workspace::{OpenError, Texts, Workspace, WorkspaceOptions};
use stamps::Stamps;

/// The workspace that a process looked at last, with all that was read of it.
#[derive(Debug, Default)]
pub struct Resident {
    /// Locked only to read or replace it. Listing and reading run on a thread pool, where a thread that
    /// waits for another one's work takes up the next survey: it would wait for this lock for ever.
    kept: Mutex<Option<Arc<Kept>>>,
    cache: Mutex<Option<(Option<PathBuf>, Arc<Cache>)>>,
    /// The number of times that a workspace was opened.
    opened: AtomicU64,
    working_ahead: Mutex<()>,
}

/// A larger tree is not worked ahead for: most of it would never be asked for.
const MOST_AHEAD: u64 = 64 << 20;

#[derive(Debug)]
struct Kept {
    root: PathBuf,
    options: WorkspaceOptions,
    workspace: Arc<Workspace>,
    stamps: Stamps,
}

impl Resident {
    /// Opens a workspace as [`Workspace::open`] does, from what is in memory where the tree is still the
    /// same.
    ///
    /// # Errors
    /// When `root` is no folder that can be read.
    pub fn open(
        &self,
        root: &Path,
        options: &WorkspaceOptions,
    ) -> Result<Arc<Workspace>, OpenError> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        // Before anything is looked at: what changes from here on is seen as changed the next time.
        let begun = SystemTime::now();
        let known = lock(&self.kept)
            .clone()
            .filter(|kept| kept.root == root && kept.options == *options);
        let Some(known) = known else {
            let workspace = Workspace::open(root, options)?.keeping(Texts::default());
            return Ok(self.keep(options, workspace, begun));
        };
        let differing = known.stamps.differing(&known.workspace);
        if differing.is_empty() {
            return Ok(Arc::clone(&known.workspace));
        }
        let workspace = Workspace::open(root, options)?;
        let texts = Texts::taken_over(&known.workspace, &workspace, |path| {
            !differing.contains(path)
        });
        let workspace = workspace.keeping(texts);
        Ok(self.keep(options, workspace, begun))
    }

    /// Parses all files of the workspace that was opened last and counts their identifiers, one after
    /// another, until a workspace is opened again. `also` does what else can be done ahead with the path, the
    /// text and the structure of a file. What was done stays done. Nothing is done for a tree of more than
    /// 64 MiB. A survey gives the same with it and without.
    pub fn work_ahead(&self, also: impl Fn(&str, &str, &Parsed)) {
        // A second call would do the same work at the same time.
        let _alone = lock(&self.working_ahead);
        let opened = self.opened.load(Ordering::Relaxed);
        let workspace = lock(&self.kept)
            .as_ref()
            .map(|kept| Arc::clone(&kept.workspace));
        let cache = lock(&self.cache)
            .as_ref()
            .map(|(_, cache)| Arc::clone(cache));
        let (Some(workspace), Some(cache)) = (workspace, cache) else {
            return;
        };
        let Some(texts) = workspace
            .texts()
            .filter(|texts| texts.bytes() <= MOST_AHEAD)
        else {
            return;
        };
        // On Django this takes 1.6 s of processor time once, and halves that of the packs after it.
        for (index, file) in workspace.files().iter().enumerate() {
            // A survey has begun, and needs the processor for itself.
            if self.opened.load(Ordering::Relaxed) != opened {
                break;
            }
            let Some(Ok(bytes)) = texts.get(index) else {
                continue;
            };
            if texts.occurrences(index).is_none() {
                if let Some(text) = text::decode(bytes) {
                    let parse = || Parsed::new(structure(&file.path, &text, &cache));
                    let parsed = texts.parsed(index, parse);
                    parsed.look_ahead(&text, file.role);
                    also(&file.path, &text, &parsed);
                }
                texts.count_identifiers(index);
            }
        }
        // A process that is killed later has saved this work for the next one.
        cache.flush();
    }

    /// The cache in a folder, whose files are opened once.
    #[must_use]
    pub fn cache(&self, folder: Option<PathBuf>) -> Arc<Cache> {
        let mut kept = lock(&self.cache);
        match &*kept {
            Some((known, cache)) if *known == folder => Arc::clone(cache),
            _ => {
                let cache = Arc::new(Cache::open(folder.clone(), MAX_BYTES));
                *kept = Some((folder, Arc::clone(&cache)));
                cache
            }
        }
    }

    /// Keeps a workspace in the place of the one before. Of two that are opened at the same time the later
    /// stays: each is compared with the file system before it is used again.
    fn keep(
        &self,
        options: &WorkspaceOptions,
        workspace: Workspace,
        begun: SystemTime,
    ) -> Arc<Workspace> {
        let workspace = Arc::new(workspace);
        let kept = Kept {
            root: workspace.root().to_owned(),
            options: options.clone(),
            stamps: Stamps::of(&workspace, begun),
            workspace: Arc::clone(&workspace),
        };
        *lock(&self.kept) = Some(Arc::new(kept));
        workspace
    }
}

/// Locks even after a panic: nothing done under these locks leaves a half change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
